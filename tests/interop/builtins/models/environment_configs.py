"""function-environment-configs: data of EnvironmentConfigs, merged with each other, then laid over the environment and the defaults."""

from common import ENVIRONMENT, Fatal, add_result, begin, parse_path, put, quote
from selecting import COMPOSITE, KIND_NAMES, items_of, labels_of, some_data, some_items, some_selector, sort_by

NAME = "function-environment-configs"


# --- The rules ---


def merge(below, above):
    out = dict(below)
    for k, v in above.items():
        out[k] = merge(out[k], v) if isinstance(v, dict) and isinstance(out.get(k), dict) else v
    return out


def require(sources, composite):
    wanted = {}
    for i, s in enumerate(sources):
        head = {"apiVersion": "apiextensions.crossplane.io/v1beta1", "kind": "EnvironmentConfig"}
        kind = s.get("type") or "Reference"
        if kind == "Reference":
            wanted[f"environment-config-{i}"] = {**head, "matchName": s["ref"]["name"]}
        elif kind == "Selector":
            labels = labels_of(s["selector"], composite)
            if labels:
                wanted[f"environment-config-{i}"] = {**head, "matchLabels": {"labels": labels}}
    return wanted


def by_reference(source, found, is_optional):
    name = quote(source["ref"]["name"])
    if not found and not is_optional:
        raise Fatal(f"Required environment config {name} not found")
    if len(found) > 1:
        raise Fatal(f"expected exactly one required resource {name}, got {len(found)}")
    return found


def by_selector(selector, found):
    mode = selector.get("mode") or "Single"
    if mode == "Single":
        if len(found) != 1:
            raise Fatal(f"expected exactly one required resource, got {len(found)}")
        return found
    if mode != "Multiple":
        raise Fatal(f"unknown selector mode {quote(mode)}")
    if len(found) < selector.get("minMatch", 0):
        raise Fatal(f"expected at least {selector['minMatch']} required resources, got {len(found)}")
    found = sort_by(found, selector.get("sortByFieldPath") or "metadata.name", KIND_NAMES)
    return found[: selector.get("maxMatch", len(found))]


def select(spec, required):
    is_optional = spec.get("policy", {}).get("resolution") == "Optional"
    for i, s in enumerate(spec["environmentConfigs"]):
        name = f"environment-config-{i}"
        kind = s.get("type") or "Reference"
        if name not in required or kind not in ("Reference", "Selector"):
            continue
        found = items_of(required[name])
        try:
            found = by_reference(s, found, is_optional) if kind == "Reference" else by_selector(s["selector"], found)
        except Fatal as e:
            how = f"{quote(s['ref']['name'])} by reference, {quote(name)}" if kind == "Reference" else f"{quote(name)} by selector"
            raise Fatal(f"cannot get selected environment configs: cannot process environment config {how}: {e}")
        for config in found:
            yield s.get("toFieldPath"), config


def data_of(path, config):
    name = config.get("metadata", {}).get("name", "")
    if path:
        try:
            return put({}, parse_path(path), config.get("data"))
        except ValueError:
            raise Fatal(f"cannot get data from environment config {name} into path {quote(path)}")
    prefix = f"cannot get data from environment config {quote(name)}: "
    if "data" not in config:
        raise Fatal(prefix + "data: no such field")
    data = config["data"]
    if data is not None and not isinstance(data, dict):
        kinds = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}
        raise Fatal(f"{prefix}cannot unmarshal value from JSON: json: cannot unmarshal {kinds[type(data)]} into Go value of type map[string]interface {{}}")
    return data or {}


def merge_configs(selected):
    merged = {}
    for path, config in selected:
        try:
            merged = merge(merged, data_of(path, config))
        except Fatal as e:
            raise Fatal(f"cannot merge environment data: {e}")
    return merged


def with_kind(environment):
    version = environment.get("apiVersion") if isinstance(environment.get("apiVersion"), str) else ""
    kind = environment.get("kind") if isinstance(environment.get("kind"), str) else ""
    if version.count("/") > 1 or (version in ("", "/") and not kind):
        return {**environment, "apiVersion": "internal.crossplane.io/v1alpha1", "kind": "Environment"}
    return environment


def build(request, response):
    spec = request.get("input", {}).get("spec", {})
    if spec.get("environmentConfigs") is None:
        return
    composite = request.get("observed", {}).get("composite", {}).get("resource", {})
    try:
        response["requirements"] = {"resources": require(spec["environmentConfigs"], composite)}
    except Fatal as e:
        raise Fatal(f"cannot build requirements: {e}")
    required = request.get("requiredResources", {})
    if not required:
        return
    configs = merge_configs(list(select(spec, required)))
    existing = response.get("context", {}).get(ENVIRONMENT)
    environment = merge(existing if isinstance(existing, dict) else {}, configs)
    environment = merge(spec.get("defaultData") or {}, environment)
    response.setdefault("context", {})[ENVIRONMENT] = with_kind(environment)


def answer(request):
    response = begin(request)
    try:
        build(request, response)
    except Fatal as e:
        add_result(response, "FATAL", str(e))
    return response


# --- Requests ---


def some_source(r):
    s = {"ref": {"name": r.choice(["a", "b\"q"])}, "selector": some_selector(r)}
    if r.random() < 0.75:
        s["type"] = r.choice(["Selector"] * 6 + ["Reference", "", "Other"])
    if r.random() < 0.3:
        s["toFieldPath"] = r.choice(["p", "p.q", "l[1]", "l[0].x", "a.b", "", "x["])
    if r.random() < 0.75:
        s["selector"]["mode"] = r.choice(["Multiple"] * 8 + ["Single", "", "Foo"])
    return s


def some_environment(r):
    e = some_data(r)
    if isinstance(e, dict) and r.random() < 0.4:
        e["apiVersion"] = r.choice(["v1", "a/b", "a/b/c", "/", "", 5, "a/"])
    return e


def generate(r):
    sources = [some_source(r) for _ in range(r.choice([0, 1, 1, 2, 2, 3]))]
    spec = {"environmentConfigs": sources if r.random() < 0.97 else None}
    if r.random() < 0.4:
        data = some_environment(r)
        spec["defaultData"] = data if isinstance(data, dict) else None
    if r.random() < 0.3:
        spec["policy"] = {"resolution": r.choice(["Optional", "Optional", "Required", "optional"])}
    request = {"input": {"spec": spec}, "desired": {"composite": {"resource": {"k": 1}}}}
    if r.random() < 0.95:
        request["observed"] = {"composite": {"resource": COMPOSITE}}
    if r.random() < 0.6:
        request["context"] = {"other": 1}
        if r.random() < 0.7:
            request["context"][ENVIRONMENT] = some_environment(r)
    if r.random() < 0.9:
        request["requiredResources"] = {f"environment-config-{i}": some_items(r) for i in range(len(sources)) if r.random() < 0.95}
        if r.random() < 0.1:
            request["requiredResources"]["other"] = some_items(r)
    return request
