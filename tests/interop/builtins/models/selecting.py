"""What environment-configs and extra-resources share: selectors, their labels, and the order of what was selected."""

from common import Fatal, get, go_kind, go_type, quote


def labels_of(selector, composite):
    labels = {}
    for label in selector.get("matchLabels", []):
        kind = label.get("type") or "FromCompositeFieldPath"
        if kind == "Value":
            if label.get("value") is None:
                raise Fatal("Value cannot be nil for type 'Value'")
            labels[label.get("key", "")] = label["value"]
        elif kind == "FromCompositeFieldPath":
            path = label.get("valueFromFieldPath")
            if path is None:
                raise Fatal("ValueFromFieldPath cannot be nil for type 'FromCompositeFieldPath'")
            try:
                v = get(composite, path)
                if not isinstance(v, str):
                    raise TypeError(f"{path}: not a string")
            except (LookupError, TypeError) as e:
                if label.get("fromFieldPathPolicy") == "Optional":
                    continue
                raise Fatal(f"cannot get value from field path {quote(path)}: {e.args[0]}")
            labels[label.get("key", "")] = v
    return labels


def sort_by(objects, path, name_of):
    """A sorted copy; name_of is how an error calls what cannot be sorted by."""
    keys, first = [], None
    for o in objects:
        try:
            key = get(o, path)
        except LookupError:
            key = None
        except TypeError as e:
            raise Fatal(e.args[0])
        if key is not None and first is not None and go_type(first) != go_type(key):
            raise Fatal(f'cannot sort values of different types "{go_type(first)}" and "{go_type(key)}"')
        first = key if first is None else first
        keys.append(key)
    if first is None or len(objects) < 2:
        return list(objects)
    if go_type(first) not in ("string", "float64"):
        raise Fatal(f'unsupported type "{name_of(first)}" for sorting')
    zero = b"" if isinstance(first, str) else 0
    order = [zero if k is None else k.encode() if isinstance(k, str) else k for k in keys]
    return [objects[i] for i in sorted(range(len(objects)), key=order.__getitem__)]


# --- Requests ---

COMPOSITE = {"spec": {"x": "hello", "num": 5, "nul": None, "deep": {"s": "there"}}, "metadata": {"name": "xr"}}
PATHS = ["spec.x", "spec.x", "spec.deep.s", "spec.q", "spec.num", "spec.nul", "spec.x.y", "none.x"]


def some_labels(r):
    labels = []
    for _ in range(r.choice([0, 1, 1, 1, 2, 3])):
        label = {"key": r.choice(["a", "b", ""])}
        if r.random() < 0.5:
            label["type"] = r.choice(["Value"] * 6 + ["FromCompositeFieldPath", "Other"])
        if r.random() < 0.95:
            label["value"] = r.choice(["v", "w", ""])
        if r.random() < 0.97:
            label["valueFromFieldPath"] = r.choice(PATHS[:3]) if r.random() < 0.8 else r.choice(PATHS)
        if r.random() < 0.4:
            label["fromFieldPathPolicy"] = r.choice(["Optional", "Optional", "Required", ""])
        labels.append(label)
    return labels


def some_selector(r):
    s = {"matchLabels": some_labels(r)}
    if r.random() < 0.3:
        s["minMatch"] = r.randint(0, 3)
    if r.random() < 0.3:
        s["maxMatch"] = r.randint(0, 3)
    if r.random() < 0.5:
        s["sortByFieldPath"] = r.choice(["metadata.name", "order", "order", "data.a", "mixed", "flag", "", "order.x"])
    return s


def some_data(r, depth=2):
    v = r.random()
    if depth == 0 or v < 0.35:
        return r.choice([1, 2, 0, -1.5, "s", "", True, None, [1], [{"x": 1}], {}])
    return {k: some_data(r, depth - 1) for k in ("a", "b", "c", "kind") if r.random() < 0.5}


def some_item(r):
    o = {"metadata": {"name": r.choice(["a", "b", "c", "é", "B"])}, "order": r.randint(0, 4)}
    if r.random() < 0.2:
        del o["order"]
    if r.random() < 0.5:
        o["mixed"] = r.choice([1, "1", [1], {}, None])
    if r.random() < 0.2:
        o["flag"] = True
    if r.random() < 0.95:
        data = some_data(r)
        o["data"] = data if isinstance(data, dict) or r.random() < 0.1 else {"a": data}
    return {"resource": o} if r.random() < 0.99 else {}


def some_items(r):
    return {"items": [some_item(r) for _ in range(r.choice([0, 1, 1, 1, 2, 3, 4]))]}


def items_of(found):
    return [i.get("resource", {}) for i in found.get("items", [])]


KIND_NAMES = go_kind
TYPE_NAMES = go_type
