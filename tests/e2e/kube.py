#!/usr/bin/env python3
"""A small client of the Kubernetes API for tests.
  kube.py KUBECONFIG METHOD PATH [--body JSON] [--token TOKEN] [--anonymous] [--header NAME:VALUE]... [--field a.b.c] [--stream]
          [--show-header NAME]
Prints the status and the body, one field of the body, or the status and one header. With a token or as anonymous the kubeconfig's certificate is not sent.
--stream prints what comes, line by line, until the server ends the answer."""
import argparse
import base64
import http.client
import json
import re
import ssl
import sys
import tempfile

p = argparse.ArgumentParser()
p.add_argument("kubeconfig")
p.add_argument("method")
p.add_argument("path")
p.add_argument("--body")
p.add_argument("--token")
p.add_argument("--anonymous", action="store_true")
p.add_argument("--header", action="append", default=[])
p.add_argument("--field")
p.add_argument("--stream", action="store_true")
p.add_argument("--show-header")
a = p.parse_args()

text = open(a.kubeconfig).read()


def data(key):
    return base64.b64decode(re.search(r"%s: (\S+)" % key, text).group(1)).decode()


context = ssl.create_default_context(cadata=data("certificate-authority-data"))
if not a.token and not a.anonymous:
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(data("client-certificate-data") + data("client-key-data"))
        f.flush()
        context.load_cert_chain(f.name)
host = re.search(r"server: https://(\S+)", text).group(1)
headers = dict(h.split(":", 1) for h in a.header)
if a.token:
    headers["Authorization"] = "Bearer " + a.token
if a.body:
    headers.setdefault("Content-Type", "application/json")
c = http.client.HTTPSConnection(host, context=context, timeout=60)
c.request(a.method, a.path, body=a.body, headers=headers)
r = c.getresponse()
if a.stream:
    print(r.status, flush=True)
    for line in r:
        print(line.decode().rstrip("\n"), flush=True)
    print("end", flush=True)
    sys.exit()
body = r.read().decode()
if a.show_header:
    print(r.status, r.getheader(a.show_header))
elif a.field:
    v = json.loads(body)
    for part in a.field.split("."):
        v = v[int(part) if part.isdigit() else part]
    print(v if isinstance(v, str) else json.dumps(v, sort_keys=True))
else:
    print(r.status)
    print(body)
