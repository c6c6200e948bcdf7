"""Makes the RenderRequest of one composite resource: request.py WEFT DIRECTORY FUNCTIONS LINE. LINE is a line of a case's peer.json:

    xr, composition, xrd, observed   FILE or FILE#NUMBER, the object of that number in the file (0 unless said)
    required                         a list of files, all of their objects
    claim                            the object of `xr` is a claim: the request is for the composite that it stands for

FUNCTIONS is an object from names of functions to addresses; a step's function has the address of the longest name that its own name ends in, or that
its Function says. Defaults of definitions and composites of claims are made here, by the rules that Crossplane has for them: the peer is given what
an API would give it."""

import hashlib
import json
import subprocess
import sys

weft, directory, functions, line = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])


def load_all(path):
    """All objects of a file, with those of Lists one by one."""
    text = subprocess.check_output([weft, "json", f"{directory}/{path}"], text=True)
    objects, at, decoder = [], 0, json.JSONDecoder()
    while at < len(text.rstrip()):
        o, at = decoder.raw_decode(text, at)
        while at < len(text) and text[at].isspace():
            at += 1
        objects += o["items"] if o.get("kind") == "List" else [o]
    return objects


def load(path):
    path, _, number = path.partition("#")
    return load_all(path)[int(number or 0)]


def with_defaults(schema, value):
    if isinstance(value, dict):
        for key, property in schema.get("properties", {}).items():
            if key not in value and "default" in property:
                value[key] = json.loads(json.dumps(property["default"]))
            if key in value:
                with_defaults(property, value[key])
    elif isinstance(value, list):
        for item in value:
            with_defaults(schema.get("items", {}), item)
    return value


def schema_of(xrd, api_version):
    return next(v["schema"]["openAPIV3Schema"] for v in xrd["spec"]["versions"] if api_version.endswith("/" + v["name"]))


def is_reserved(key):
    owner = key.split("/")[0]
    return owner.endswith("kubernetes.io") or owner.endswith("k8s.io")


def stable_name(claim):
    """Ours alone: a control plane adds five random characters."""
    group = claim["apiVersion"].split("/")[0]
    metadata = claim["metadata"]
    identity = f"{group}/{claim['kind']}/{metadata['namespace']}/{metadata['name']}"
    return metadata["name"] + "-" + hashlib.sha256(identity.encode()).hexdigest()[:12]


def composite_of(claim, xrd):
    spec, metadata = dict(claim["spec"]), claim["metadata"]
    name = spec.get("resourceRef", {}).get("name") or stable_name(claim)
    for own in ("compositionRevisionRef", "compositeDeletePolicy", "resourceRef", "writeConnectionSecretToRef", "resourceRefs"):
        spec.pop(own, None)
    if "enforcedCompositionRef" in xrd["spec"]:
        spec.pop("compositionRef", None)
    version = next(v["name"] for v in xrd["spec"]["versions"] if v["referenceable"])
    spec["claimRef"] = {"apiVersion": claim["apiVersion"], "kind": claim["kind"], "name": metadata["name"], "namespace": metadata["namespace"]}
    labels = {k: v for k, v in metadata.get("labels", {}).items() if not is_reserved(k)}
    labels.update({"crossplane.io/claim-name": metadata["name"], "crossplane.io/claim-namespace": metadata["namespace"]})
    annotations = {k: v for k, v in metadata.get("annotations", {}).items() if not is_reserved(k)}
    return {
        "apiVersion": f"{xrd['spec']['group']}/{version}",
        "kind": xrd["spec"]["names"]["kind"],
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": spec,
    }


def address_of(name):
    for f in line.get("functions", []):
        for function in load_all(f):
            if function["metadata"]["name"] == name:
                name = function["spec"]["package"].split("/")[-1].split(":")[0]
    return next(functions[n] for n in functions if name.endswith(n))


composition, xr = load(line["composition"]), load(line["xr"])
request = {"composition": composition, "requiredResources": [o for f in line.get("required", []) for o in load_all(f)]}
if "xrd" in line:
    request["compositeResourceDefinition"] = xrd = load(line["xrd"])
    if line.get("claim"):
        xr = composite_of(xr, xrd)
    with_defaults(schema_of(xrd, xr["apiVersion"]), xr)
if "observed" in line:
    request["observedResources"] = load_all(line["observed"])
request["compositeResource"] = xr
names = {s["functionRef"]["name"] for s in composition["spec"]["pipeline"]}
request["functions"] = [{"name": n, "address": address_of(n)} for n in sorted(names)]
print(json.dumps({"composite": request}))
