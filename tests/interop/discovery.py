"""Compares discovery and OpenAPI documents with those of a real API; see tests/interop/discovery. Prints TAP."""
import http.client
import json
import os
import random
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

URL, TOKEN = os.environ["KUBE_URL"], os.environ["KUBE_TOKEN"]
CONTEXT = ssl.create_default_context(cafile=os.environ["KUBE_CA"])
V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
COUNT = 12 * int(os.environ.get("INTEROP_FACTOR", "1"))
R = random.Random(int(os.environ.get("INTEROP_SEED", "1")))

# Accept headers. Left out: protobuf and v2beta1, which only one side has; application/* and capitals, which the real API does not always take.
ACCEPTS = ["", "*/*", "application/json", "application/yaml", "text/html", "text/html,*/*;q=0.1", V2, V2 + ",application/json", "application/json," + V2,
           V2 + ";profile=nopeer", "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io", "application/json;g=apidiscovery.k8s.io;v=v2",
           "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
           "application/json;q=0.1," + V2 + ";q=0.9", "application/yaml;q=0.9,application/json;q=0.8", "application/json;q=0.9,application/yaml", "application/json; charset=utf-8",
           V2.replace("json", "yaml"), "text/*", "application/xml,application/json;q=0.2", "application/json ; q=0.5"]

# Of the real API only: features that we do not have.
ONLY_THEIRS = {"shardSelector", "ignoreStoreReadErrorWithClusterBreakingPotential"}


def call(method, path, body=None, accept="application/json"):
    for _ in range(30):
        try:
            return call_once(method, path, body, accept)
        except http.client.IncompleteRead:  # the real API cuts off an index of documents that changes meanwhile
            time.sleep(0.3)
    sys.exit("the API does not answer %s as a whole" % path)


def call_once(method, path, body, accept):
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json", "Accept": accept}
    request = urllib.request.Request(URL + path, None if body is None else json.dumps(body).encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request, context=CONTEXT) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, json.loads(text) if text.startswith(b"{") else {}


def content_type(path, accept):
    """The status and, of an answer, its type."""
    headers = {"Authorization": "Bearer " + TOKEN, "Accept": accept}
    try:
        with urllib.request.urlopen(urllib.request.Request(URL + path, None, headers), context=CONTEXT) as answer:
            return answer.status, answer.headers["Content-Type"]
    except urllib.error.HTTPError as error:
        return error.code, None


# --- Generated CRDs ---

def pick(*of):
    return R.choice(of)


def maybe(chance=0.5):
    return R.random() < chance


def scalar():
    kind = pick("string", "integer", "number", "boolean")
    s = {"type": kind}
    if kind == "string":
        s.update(pick({}, {"enum": ["a", "b"]}, {"pattern": "^a", "maxLength": 5}, {"format": "date-time"}, {"minLength": 0}, {"default": "x"}))
    if kind == "integer":
        s.update(pick({}, {"format": "int32"}, {"minimum": 0, "maximum": 10}, {"minimum": 1, "exclusiveMinimum": maybe()}, {"multipleOf": 2}, {"default": 3}))
    if kind == "number":
        s.update(pick({}, {"format": "double"}, {"minimum": 0.5}, {"default": 1.5}))
    return s


def schema(depth):
    """A structural schema."""
    kind = R.randint(0, 11 if depth > 0 else 3)
    if kind <= 3:
        s = scalar()
    elif kind == 4:
        s = {"x-kubernetes-int-or-string": True}
        s.update(pick({}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "^x"}, {"anyOf": [{"pattern": "^a"}, {"minimum": 1}]},
                      {"allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"maximum": 4}]}))
    elif kind == 5:
        s = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    elif kind == 6:
        s = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
        if maybe():
            s = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": schema(depth - 1)}, **pick({}, {"required": ["spec"]}, {"required": ["kind"]})}
    elif kind == 7:
        s = {"type": "array", "items": schema(depth - 1), **pick({}, {"minItems": 1, "maxItems": 3}, {"x-kubernetes-list-type": "atomic"})}
    elif kind == 8:
        s = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
             "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "more": schema(depth - 1)}}}
    elif kind == 9:
        s = {"type": "object", "additionalProperties": pick(True, schema(depth - 1), scalar()), **pick({}, {"x-kubernetes-map-type": "atomic"}, {"minProperties": 1})}
    else:
        s = {"type": "object", "properties": {n: schema(depth - 1) for n in R.sample("abcdef", R.randint(1, 4))}}
        names = list(s["properties"])
        s.update(pick({}, {"required": names[:1]}, {"oneOf": [{"required": names[:1]}, {"properties": {names[0]: {}}, "not": {"required": names[-1:]}}]},
                      {"x-kubernetes-validations": [{"rule": "true", "message": "m"}]}, {"not": {"required": names}}, {"anyOf": [{"required": names[:1]}]}))
    if maybe(0.3):
        s["description"] = pick("A <b>text</b>.", "Two\nlines", "")
    if maybe(0.1) and "x-kubernetes-embedded-resource" not in s:
        s["nullable"] = pick(True, False)
    if maybe(0.1):
        s["title"] = "T"
    return s


def version(name, storage):
    root = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"color": {"type": "string"}, "replicas": {"type": "integer"}, "x": schema(4), "y": schema(3)}},
                                             "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "sel": {"type": "string"}}}}}
    if maybe(0.2):
        root = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if maybe(0.2):
        root["properties"] = {**root.get("properties", {}), "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}}
    v = {"name": name, "served": maybe(0.85) or storage, "storage": storage, "schema": {"openAPIV3Schema": root}}
    if maybe() and "spec" in root.get("properties", {}):
        v["subresources"] = pick({"status": {}}, {"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}},
                                 {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.sel"}})
        if maybe():
            v["selectableFields"] = [{"jsonPath": ".spec.color"}]
    if maybe(0.2):
        v["deprecated"] = True
    return v


def crd(i):
    group = pick("example.org", "more.example.org", "with-dash.example.org", "k.example.k8s.io.example.com")
    names = {"plural": "thing%ds" % i, "kind": "Thing%d" % i, **pick({}, {"singular": "th%d" % i}), **pick({}, {"listKind": "ManyThing%d" % i}),
             **pick({}, {"shortNames": ["t%d" % i, "tt%d" % i]}), **pick({}, {"categories": ["all", "things"]})}
    versions = R.sample(["v1", "v2", "v1beta1", "v1beta2", "v1alpha1", "other", "v10"], R.randint(1, 4))
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": names["plural"] + "." + group},
            "spec": {"group": group, "scope": pick("Namespaced", "Cluster"), "names": names, "versions": [version(v, n == 0) for n, v in enumerate(versions)]}}


# --- Comparison ---

def without_descriptions(v):
    """Also without the allOf around a reference that only had to stand beside a description."""
    if isinstance(v, dict):
        out = {k: without_descriptions(x) for k, x in v.items() if not (k == "description" and isinstance(x, str))}
        return out["allOf"][0] if list(out) == ["allOf"] and len(out["allOf"]) == 1 and list(out["allOf"][0]) == ["$ref"] else out
    return [without_descriptions(x) for x in v] if isinstance(v, list) else v


def differences(ours, theirs, path=""):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for k in sorted(set(ours) | set(theirs)):
            if k not in ours or k not in theirs:
                yield "%s.%s only %s: %s" % (path, k, "theirs" if k in theirs else "ours", json.dumps(theirs.get(k, ours.get(k)))[:200])
            else:
                yield from differences(ours[k], theirs[k], path + "." + k)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            yield from differences(a, b, "%s[%d]" % (path, i))
    elif ours != theirs or isinstance(ours, bool) != isinstance(theirs, bool):
        yield "%s: %s, not %s" % (path, json.dumps(ours)[:300], json.dumps(theirs)[:300])


class Report:
    number, good = 0, True

    def case(self, name, wrong):
        wrong = list(wrong)
        self.number += 1
        self.good = self.good and not wrong
        print("%s %d - %s" % ("not ok" if wrong else "ok", self.number, name))
        for w in wrong[:8]:
            print("# " + w)


def operation(o, shared, custom):
    """What of an operation is compared. Parameters that all operations of a path have may stand at the path."""
    kept = {k: o[k] for k in o if k.startswith("x-kubernetes") or k in ("tags", "operationId")}
    if not custom:
        kept.pop("operationId", None)
        kept.pop("tags", None)
        kept["patches"] = sorted(t for t in o.get("requestBody", {}).get("content", {}) if "patch" in t)
        return kept
    kept["parameters"] = sorted(p["name"] + p["in"] + p["schema"]["type"] for p in o.get("parameters", []) + shared if p["name"] not in ONLY_THEIRS)
    kept["body"] = o.get("requestBody")
    kept["responses"] = o["responses"]
    return kept


def paths(document, custom):
    out = {}
    for path, item in document["paths"].items():
        out[path] = {m: operation(o, item.get("parameters", []), custom) for m, o in item.items() if m != "parameters"}
    return without_descriptions(out)


def schemas(document, custom):
    """Components; a CRD's own keep their descriptions, but for those of apiVersion, kind and metadata."""
    out = {}
    for name, s in document["components"]["schemas"].items():
        if name.endswith(".DeleteOptions") or name.endswith(".WatchEvent"):
            s = {k: v for k, v in s.items() if k != "x-kubernetes-group-version-kind"}
        out[name] = without_descriptions(s)
    return out


def described(s):
    """The descriptions of a CRD's component below spec and status, by path."""
    out = {}

    def walk(v, path):
        if isinstance(v, dict):
            embedded = v.get("x-kubernetes-embedded-resource")
            for k, x in v.items():
                if k == "description" and isinstance(x, str):
                    out[path] = x
                elif k == "properties" and (embedded or path == ""):
                    walk({n: y for n, y in x.items() if n not in ("apiVersion", "kind", "metadata")}, path + "." + k)
                else:
                    walk(x, path + "." + k)
        elif isinstance(v, list):
            for i, x in enumerate(v):
                walk(x, path + "[%d]" % i)
    walk(s, "")
    return out


def compare_openapi(report, ours, theirs, gv, custom):
    a, b = ours["body"], theirs
    if custom:
        report.case("paths of " + gv, differences(paths(a, True), paths(b, True)))
        report.case("schemas of " + gv, differences(schemas(a, True), schemas(b, True)))
        own = {n: described(s) for n, s in a["components"]["schemas"].items() if not n.startswith("io.k8s.") and not n.split(".")[-1].startswith("Many") and not n.endswith("List")}
        their = {n: described(s) for n, s in b["components"]["schemas"].items() if n in own}
        report.case("descriptions in schemas of " + gv, differences(own, their))
        return
    mine, their = paths(a, False), paths(b, False)
    report.case("paths of " + gv, differences(mine, {p: {m: o for m, o in i.items() if m in mine[p]} for p, i in their.items() if p in mine}))
    mine, their = schemas(a, False), schemas(b, False)
    report.case("schemas of " + gv, differences(mine, {n: s for n, s in their.items() if n in mine}))


def resources(document):
    """Aggregated discovery: (group, version, resource) -> the entry; and the order of groups and versions."""
    entries, order = {}, []
    for item in document["items"]:
        group = item["metadata"].get("name", "")
        for v in item["versions"]:
            order.append((group, v["version"]))
            for r in v["resources"]:
                entries[(group, v["version"], r["resource"])] = r
    return entries, order


def text_keys(d):
    return {" ".join(k): v for k, v in d.items()}


def settle(crds):
    """Waits until the API shows every version of every CRD, in discovery and in OpenAPI."""
    wanted = {(c["spec"]["group"], v["name"], c["spec"]["names"]["plural"]) for c in crds for v in c["spec"]["versions"] if v["served"]}
    end = time.time() + 60
    while time.time() < end:
        have = set(resources(call("GET", "/apis", accept=V2)[1])[0])
        index = call("GET", "/openapi/v3")[1]["paths"]
        if wanted <= have and all("apis/%s/%s" % (g, v) in index for g, v, _ in wanted):
            documents = {gv: call("GET", "/openapi/v3/apis/%s/%s" % gv)[1]["paths"] for gv in {(g, v) for g, v, _ in wanted}}
            if all(any(p.endswith("/" + r) for p in documents[(g, v)]) for g, v, r in wanted):
                return
        time.sleep(0.3)
    sys.exit("the API does not show all CRDs")


def main(subject):
    report = Report()
    crds = []
    for i in range(COUNT):
        one = crd(i)
        code, answer = call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", one)
        if code == 201:
            crds.append(one)
        else:
            print("# left out: %s" % answer.get("message", "")[:300])
    settle(crds)
    custom = sorted({(c["spec"]["group"], v["name"]) for c in crds for v in c["spec"]["versions"] if v["served"]})
    requests = [{"path": "/api", "accept": V2}, {"path": "/apis", "accept": V2}]
    requests += [{"path": "/apis/" + g} for g in sorted({g for g, _ in custom})]
    requests += [{"path": "/apis/%s/%s" % gv} for gv in custom]
    requests += [{"path": p, "accept": a, "kind of answer": True} for a in ACCEPTS for p in ("/apis", "/api/v1")]
    index = call("GET", "/openapi/v3")[1]["paths"]
    documents = [p for p in index if p == "api/v1" or p.startswith("apis/") and p.count("/") == 2]
    requests += [{"path": "/openapi/v3"}] + [{"path": "/openapi/v3/" + p} for p in documents]
    done = subprocess.run([subject, "discovery"], input=json.dumps({"objects": crds, "requests": requests}) + "\n", capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    answers = json.loads(done.stdout)
    if "error" in answers:
        sys.exit(answers["error"])
    ours = {r["path"]: a for r, a in zip(requests, answers) if "kind of answer" not in r}

    for root in "/api", "/apis":
        mine, order = resources(ours[root]["body"])
        their, their_order = resources(call("GET", root, accept=V2)[1])
        for k, v in their.items():  # we do not have every subresource of built-in kinds
            have = {x["subresource"] for x in mine.get(k, {}).get("subresources", [])}
            if "subresources" in v:
                v["subresources"] = [x for x in v["subresources"] if x["subresource"] in have or v["responseKind"]["group"]]
        report.case("aggregated discovery of " + root, differences(text_keys(mine), text_keys({k: v for k, v in their.items() if k in mine})))
        report.case("order of groups in " + root, [] if order == [o for o in their_order if o in order] else [str(order), str(their_order)])
    for r, a in zip(requests, answers):
        if "kind of answer" in r:
            code, kind = content_type(r["path"], r["accept"])
            ours_is = (a["status"], a.get("type") if a["status"] == 200 else None)
            report.case("%s with Accept %s" % (r["path"], r["accept"]), [] if ours_is == (code, kind) else ["%s, not %s" % (ours_is, (code, kind))])
    for r in requests:
        if r["path"].startswith("/apis/") and "kind of answer" not in r:
            a, b = ours[r["path"]]["body"], call("GET", r["path"])[1]
            for d in a, b:
                if "resources" in d:
                    d["resources"] = {x["name"]: x for x in d["resources"]}
            report.case("discovery of " + r["path"], differences(a, b))
    missing = [p for p in documents if tuple(p.split("/")[1:]) in custom and p not in ours["/openapi/v3"]["body"]["paths"]]
    report.case("index of OpenAPI documents", missing)
    for p in documents:
        if ours["/openapi/v3/" + p]["status"] == 200:
            compare_openapi(report, ours["/openapi/v3/" + p], call("GET", "/openapi/v3/" + p)[1], p, tuple(p.split("/")[1:]) in custom)
    print("1..%d" % report.number)
    return 0 if report.good else 1


sys.exit(main(sys.argv[1]))
