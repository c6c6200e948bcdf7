#!/usr/bin/env python3
"""Waits until so many composites are ready in a color; prints the time of day when the last one was. KUBE_URL, KUBE_CA, KUBE_TOKEN.
  await.py COUNT COLOR"""
import http.client
import json
import os
import ssl
import sys
import time

count, color = int(sys.argv[1]), sys.argv[2]
quoted = b'"%s"' % color.encode()
context = ssl.create_default_context(cafile=os.environ["KUBE_CA"])
path = "/apis/bench.example.org/v1/namespaces/default/apps?watch=1&resourceVersion=0"


def is_done(o):
    status = o.get("status", {})
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", []))
    return ready and status.get("color") == color


done = set()
end = time.time() + 900
while time.time() < end:
    connection = http.client.HTTPSConnection(os.environ["KUBE_URL"].split("//")[1], context=context, timeout=900)
    connection.request("GET", path, headers={"Authorization": "Bearer " + os.environ["KUBE_TOKEN"]})
    for line in connection.getresponse():
        # The measured programs share the processors with this one, so it looks closely only at what may be ready: the color stands in
        # the spec and in the status then.
        if line.count(quoted) < 2 or b'"Ready"' not in line:
            continue
        o = json.loads(line)["object"]
        if is_done(o):
            done.add(o["metadata"]["name"])
        if len(done) == count:
            print("%.6f" % time.time())
            sys.exit(0)
sys.exit("only %d of %d are ready" % (len(done), count))
