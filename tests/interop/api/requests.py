#!/usr/bin/env python3
"""Requests that an API server refuses or answers in an unusual way.
  requests.py ask                 sends them to the server of KUBE_URL with KUBE_TOKEN; prints the answers as JSON
  requests.py compare OURS THEIRS compares two such files; TAP on standard output
What is compared: the status, of Status objects everything, of others the kind, the Warning headers, the Content-Type. Numbers that differ
from run to run (versions, uids, times) are masked."""
import http.client
import json
import os
import re
import ssl
import sys
import time
from urllib.parse import urlsplit

JSON = {"Content-Type": "application/json"}
YAML = {"Content-Type": "application/yaml"}
MERGE = {"Content-Type": "application/merge-patch+json"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
TABLE = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
CMS = "/api/v1/namespaces/default/configmaps"
WS = "/apis/example.org/v1/namespaces/default/widgets"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.org"},
    "spec": {"group": "example.org", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"}, "versions": [{
        "name": "v1", "served": True, "storage": True,
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}, "replicas": {"type": "integer"}}},
            "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}}}}]}}

cases = []


def case(method, path, fields=None, body=None, differs=None):
    """differs: why ours differs, on purpose or in words that nobody reads. Such a case is sent, but its answer is not compared."""
    cases.append((method, path, fields or {}, body, differs))


def widget(name, spec=None, **more):
    return json.dumps({"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec or {}} | more)


def add_paths():
    for path in ("/nope", "/api/v1/nopes", "/apis/no.org/v1/nopes", "/apis/example.org/v1/nopes", "/apis/example.org/v9/widgets",
                 "/apis/apps/v1/nopes", "/apis/apps/v9/deployments", "/api/v1/configmaps/a", "/api/v1/namespaces/x/namespaces",
                 "/api/v1/namespaces/x/nodes", "/apis/example.org/v1/widgets/a", "/healthz/nope", "/readyz/ping",
                 "/api/v1/namespaces/Bad_NS/configmaps"):
        case("GET", path)
    case("GET", "/api/v1/%2e%2e/x")
    case("POST", "/api/v1/configmaps", JSON, "{}")
    case("POST", "/apis/example.org/v1/widgets", JSON, widget("a"))
    case("POST", "/version", JSON, "{}")
    case("POST", "/healthz")


def add_types():
    case("POST", CMS, {"Content-Type": "text/plain"}, "{}")
    case("POST", CMS, {}, '{"metadata":{"name":"plain"}}')
    case("POST", CMS, {"Content-Type": "application/json; charset=utf-8"}, '{"metadata":{"name":"charset"}}')
    case("PATCH", CMS + "/plain", JSON, "{}")
    for fields in (JSON, STRATEGIC, {}):
        case("PATCH", WS + "/a", fields, "{}")
    for path in (CMS, WS, CMS + "/plain"):
        case("GET", path, {"Accept": "text/html"})
        case("GET", path, {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v2"})
    case("GET", WS, {"Accept": "application/vnd.kubernetes.protobuf"}, differs="the refusal is JSON, not protobuf")
    case("GET", CMS + "?watch=1&timeoutSeconds=1", {"Accept": "application/yaml"})
    case("GET", CMS, {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"})
    case("GET", CMS + "?includeObject=Foo", TABLE)
    case("POST", CMS, JSON, '{"metadata":{"name":"x"}}' + " " * (3 << 20))
    case("POST", CMS, JSON | {"Content-Encoding": "gzip"}, "{}", differs="bodies may be compressed")
    case("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", JSON | TABLE, '{"spec":{}}')


def add_bodies():
    for body in ("{", "", "[1]", "null", '"x"', "{}", '{"metadata":5}', '{"kind":"Secret","apiVersion":"v1"}',
                 '{"metadata":{"name":"Bad_Name"}}', '{"metadata":{"name":"x","namespace":"other"}}',
                 '{"metadata":{"name":"label","labels":{"a":5}}}', '{"metadata":{"name":"n1","resourceVersion":"5"}}', "x" * 50):
        case("POST", CMS, JSON, body)
    case("POST", CMS, JSON, '{"metadata":{"name":"big"},"data":{"x":1E400}}', differs="the number is judged before its place")
    case("POST", CMS + "?fieldValidation=Strict", JSON, '{"metadata":{"name":"st"},"foo":1,"data":{"a":"b","a":"c"}}',
         differs="duplicate fields stand before unknown ones")
    for body in ("{", "", "[1]", "null", "{}", '{"kind":"Widget"}', '{"apiVersion":"example.org/v1","kind":"Foo","metadata":{"name":"x"}}',
                 '{"apiVersion":"example.org/v2","kind":"Widget","metadata":{"name":"x"}}', widget("w", {"size": "x"}), widget("w", {"size": 1}),
                 '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"big"},"spec":{"size":1E400}}', "x: [",
                 '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"s"},"spec":{"size":1,"size":2,"foo":1}}'):
        case("POST", WS, JSON, body)
    case("POST", WS + "?fieldValidation=Strict", JSON,
         '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"s2","bar":1},"spec":{"size":1,"size":2,"foo":1}}')
    twice = "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: %s}\nspec:\n  size: 1\n  size: 2\n"
    case("POST", WS + "?fieldValidation=Strict", YAML, twice % "y1")
    case("POST", WS, YAML, twice % "y2")
    case("POST", WS, YAML, "apiVersion: example.org/v1\nkind: Widget\nspec: [\n")
    case("POST", CMS, YAML, "kind: [\n")
    case("POST", "/api/v1/namespaces/nonexist/configmaps", JSON, '{"metadata":{"name":"x"}}')


def add_patches():
    for body in ("{", "[1]", '"x"', "null", "", '{"metadata":{"name":"other"}}', '{"metadata":{"resourceVersion":"1"}}'):
        for fields, path in ((MERGE, CMS + "/plain"), (MERGE, WS + "/w"), (STRATEGIC, CMS + "/plain")):
            case("PATCH", path, fields, body)
    for body in ("{", "{}", "null", "[]", '[{"op":"x"}]', '[{"op":"remove","path":"/nope"}]', '[{"op":"test","path":"/kind","value":"X"}]',
                 '[{"op":"replace","path":"","value":{}}]', "[5]", '[{"op":5}]', '[{"op":"add","path":"/spec/foo","value":1,"bar":2}]',
                 json.dumps([{"op": "test", "path": "/kind", "value": "Widget"}] * 10001)):
        case("PATCH", WS + "/w", JSON_PATCH, body)
    for body in ("{", "", "[1]", "null", "a: [", '{"apiVersion":"example.org/v1","kind":"Widget"}', widget("zz"),
                 '{"apiVersion":"example.org/v2","kind":"Widget","metadata":{"name":"w"}}', widget("w", {"foo": 1}), widget("w", {"size": "x"}),
                 '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w","managedFields":[]}}'):
        case("PATCH", WS + "/w?fieldManager=m", APPLY, body)
    case("PATCH", WS + "/w", APPLY, "{}")
    for force in ("true", "false"):
        case("PATCH", WS + "/w?force=" + force, MERGE, "{}")
    case("PATCH", WS + "/w/scale", MERGE, '{"spec":{"replicas":-1}}')


def add_verbs():
    case("PATCH", WS + "/nope", MERGE, "{}")
    case("PUT", WS + "/nope", JSON, widget("nope"))
    case("PUT", WS + "/w", JSON, widget("w"))
    case("PUT", WS + "/w", JSON, widget("x"))
    for path in (WS, CMS):
        case("PUT", path, JSON, "{}")
        case("PATCH", path, MERGE, "{}")
        case("FOO", path)
    case("POST", CMS + "/a", JSON, "{}")
    case("POST", WS + "/a", JSON, widget("by-item"))
    case("DELETE", WS + "/w/status")
    case("POST", WS + "/w/status", JSON, "{}")
    for path in (WS + "/w/bogus", CMS + "/plain/status", CMS + "/plain/bogus", WS + "/w/scale"):
        case("GET", path)
    case("OPTIONS", WS + "/w")
    case("FOO", WS + "/w")


def add_options():
    for query in ("dryRun=x", "dryRun=", "fieldValidation=x", "fieldManager=" + "x" * 200):
        case("POST", CMS + "?" + query, JSON, '{"metadata":{"name":"o"}}')
    case("POST", CMS + "?dryRun=All", JSON, '{"metadata":{"generateName":"g-"}}')
    for query in ("limit=x", "timeout=abc", "resourceVersion=abc", "watch=1&resourceVersion=abc", "continue=abc",
                  "resourceVersionMatch=Foo&resourceVersion=1", "resourceVersionMatch=Exact", "resourceVersionMatch=Exact&resourceVersion=0",
                  "sendInitialEvents=true", "watch=1&sendInitialEvents=true", "watch=1&resourceVersionMatch=NotOlderThan",
                  "watch=1&continue=x", "labelSelector=a+b", "fieldSelector=foo", "fieldSelector=data.x=y", "watch=1&fieldSelector=data.x=y"):
        case("GET", CMS + "?" + query)
    case("GET", WS + "?fieldSelector=spec.x=y")
    case("GET", CMS + "/plain?resourceVersion=abc")
    case("GET", CMS + "/plain?resourceVersion=99999999")


def add_deletes():
    for body in ('{"kind":"Pod","apiVersion":"v1"}', "{", "[]", '{"dryRun":["x"]}', '{"propagationPolicy":"x"}',
                 '{"propagationPolicy":"Orphan","orphanDependents":true}', '{"preconditions":{"uid":"x"}}',
                 '{"preconditions":{"resourceVersion":"1"}}', '{"gracePeriodSeconds":"x"}', '"x"', '{"dryRun":"All"}'):
        case("DELETE", WS + "/w", JSON, body)
        case("DELETE", CMS + "/plain", JSON, body)
    for path in ("/w?propagationPolicy=x", "/w?gracePeriodSeconds=x", "/w?dryRun=All", "/nope", "?dryRun=All", "?labelSelector=a+b", "/w"):
        case("DELETE", WS + path)
    for path in ("/api/v1/configmaps", "/apis/apps/v1/deployments", "/apis/example.org/v1/widgets", "/api/v1/namespaces?dryRun=All"):
        case("DELETE", path)
    case("DELETE", WS + "/w", {"Content-Type": "text/plain"}, "{}")
    case("DELETE", CMS + "/plain")
    case("DELETE", "/api/v1/namespaces/default")


for add in (add_paths, add_types, add_bodies, add_patches, add_verbs, add_options, add_deletes):
    add()

MASKS = ((r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"), (r"current: \d+", "current: N"),
         (r"in record \(\d+\)", "in record (N)"))


def mask(text):
    for pattern, mark in MASKS:
        text = re.sub(pattern, mark, text)
    return text


class Server:
    def __init__(self):
        url = urlsplit(os.environ["KUBE_URL"])
        self.make = lambda: http.client.HTTPSConnection(url.hostname, url.port,
                                                        context=ssl.create_default_context(cafile=os.environ["KUBE_CA"]))
        self.connection = self.make()

    def ask(self, method, path, fields, body):
        fields = {"Authorization": "Bearer " + os.environ["KUBE_TOKEN"], "User-Agent": "requests/1"} | fields
        for attempt in (1, 2):
            try:
                self.connection.request(method, path, body=body, headers=fields)
                answer = self.connection.getresponse()
                return answer, answer.read().decode(errors="replace")
            except (http.client.HTTPException, OSError):
                # A server that refuses a body before it has it all closes the connection.
                self.connection = self.make()
                if attempt == 2:
                    raise


def shown(answer, text):
    try:
        value = json.loads(text)
        text = value if value.get("kind") == "Status" else value.get("kind")
    except (ValueError, AttributeError):
        pass
    warnings = sorted(v for k, v in answer.getheaders() if k.lower() == "warning")
    return json.loads(mask(json.dumps([answer.status, answer.getheader("Content-Type"), warnings, text], sort_keys=True)))


def ask():
    server = Server()
    server.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", JSON, json.dumps(CRD))
    end = time.monotonic() + 30
    while server.ask("GET", WS, {}, None)[0].status != 200:
        if time.monotonic() > end:
            sys.exit("requests.py: the CRD is not served")
        time.sleep(0.1)
    time.sleep(1)  # kube-apiserver answers 404 now and then until all of its parts know of the CRD
    json.dump([shown(*server.ask(*c[:4])) for c in cases], sys.stdout)


def compare(ours_name, theirs_name):
    with open(ours_name) as a, open(theirs_name) as b:
        ours, theirs = json.load(a), json.load(b)
    failed = 0
    for number, (c, x, y) in enumerate(zip(cases, ours, theirs), 1):
        name = "%s %s %s %s" % (c[0], c[1][:90], " ".join(c[2].values())[:60], repr(c[3] or "")[:80])
        name = name.replace("#", "")
        if x == y or c[4]:
            print("ok %d - %s%s" % (number, name, " # " + c[4] if c[4] else ""))
            continue
        failed = 1
        print("not ok %d - %s\n#   ours   %s\n#   theirs %s" % (number, name, json.dumps(x), json.dumps(y)))
    print("1..%d" % len(cases))
    sys.exit(failed)


if sys.argv[1:] == ["ask"]:
    ask()
elif len(sys.argv) == 4 and sys.argv[1] == "compare":
    compare(sys.argv[2], sys.argv[3])
else:
    sys.exit(__doc__)
