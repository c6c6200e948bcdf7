"""function-extra-resources: resources that the input asks for, as lists in the context."""

from common import Fatal, add_result, begin, quote
from selecting import COMPOSITE, TYPE_NAMES, items_of, labels_of, some_items, some_selector, sort_by

NAME = "function-extra-resources"
KEY = "apiextensions.crossplane.io/extra-resources"


# --- The rules ---


def require(sources, composite):
    wanted = {}
    for s in sources:
        head = {k: s[k] for k in ("apiVersion", "kind", "namespace") if k in s}
        kind = s.get("type") or "Reference"
        if kind == "Reference":
            wanted[s["into"]] = {**head, "matchName": s["ref"]["name"]}
        elif kind == "Selector":
            labels = labels_of(s["selector"], composite)
            if labels:
                wanted[s["into"]] = {**head, "matchLabels": {"labels": labels}}
    return wanted


def verify(spec, required):
    out = {}
    for s in spec.get("extraResources") or []:
        into, kind = s["into"], s.get("type") or "Reference"
        if into not in required:
            raise Fatal(f"cannot find expected extra resource {quote(into)}")
        found = items_of(required[into])
        if kind == "Reference":
            if len(found) > 1:
                raise Fatal(f"expected exactly one extra resource {quote(into)}, got {len(found)}")
            if not found and spec.get("policy", {}).get("resolution") != "Optional":
                raise Fatal(f"Required extra resource {quote(into)} not found")
            if not found:
                continue
        elif kind == "Selector":
            selector = s["selector"]
            if len(found) < selector.get("minMatch", 0):
                raise Fatal(f"expected at least {selector['minMatch']} extra resources {quote(into)}, got {len(found)}")
            found = sort_by(found, selector.get("sortByFieldPath") or "metadata.name", TYPE_NAMES)
            found = found[: selector.get("maxMatch", len(found))]
        out[into] = found
    return out


def build(request, response):
    spec = request.get("input", {}).get("spec", {})
    composite = request.get("observed", {}).get("composite", {}).get("resource", {})
    try:
        response["requirements"] = {"resources": require(spec.get("extraResources") or [], composite)}
    except Fatal as e:
        raise Fatal(f"could not build extra resource requirements: {e}")
    required = request.get("requiredResources", {})
    if not required:
        return
    try:
        found = verify(spec, required)
    except Fatal as e:
        raise Fatal(f"verifying and sorting extra resources: {e}")
    response.setdefault("context", {})[spec.get("context", {}).get("key", KEY)] = found


def answer(request):
    response = begin(request)
    try:
        build(request, response)
    except Fatal as e:
        add_result(response, "FATAL", str(e))
    return response


# --- Requests ---


def some_source(r):
    s = {"into": r.choice(["x", "y", "z", "w"]), "ref": {"name": "a"}, "selector": some_selector(r), "kind": "K", "apiVersion": "v1"}
    if r.random() < 0.8:
        s["type"] = r.choice(["Selector"] * 7 + ["Reference", "", "Other"])
    if r.random() < 0.3:
        s["namespace"] = r.choice(["ns", ""])
    return s


def generate(r):
    sources = [some_source(r) for _ in range(r.choice([0, 1, 1, 2, 3]))]
    spec = {"extraResources": sources if r.random() < 0.97 else None}
    if r.random() < 0.3:
        spec["policy"] = {"resolution": r.choice(["Optional", "Optional", "Required"])}
    if r.random() < 0.3:
        spec["context"] = {"key": r.choice(["mine", "", "other"])}
    request = {"input": {"spec": spec}, "desired": {"composite": {"resource": {"k": 1}}}}
    if r.random() < 0.95:
        request["observed"] = {"composite": {"resource": COMPOSITE}}
    if r.random() < 0.5:
        request["context"] = {"other": {"a": 1}, KEY: {"lost": []}}
    if r.random() < 0.9:
        names = {s["into"] for s in sources}
        request["requiredResources"] = {n: some_items(r) for n in sorted(names) if r.random() < 0.97}
        if r.random() < 0.1:
            request["requiredResources"]["unasked"] = some_items(r)
    return request
