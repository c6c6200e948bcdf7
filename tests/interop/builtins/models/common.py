"""What the models share: the texts of Go, field paths, and responses as the subject prints them."""

import copy
import json

TTL = 60 * 10**9
ENVIRONMENT = "apiextensions.crossplane.io/environment"


class Fatal(Exception):
    """Becomes a fatal result; the response is otherwise what it was when it was raised."""


class CallError(Exception):
    """Fails the call itself."""


def quote(text):
    """strconv.Quote, for printable text."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def lower(text):
    """strings.ToLower: every character on its own, by the simple mapping."""
    return "".join("i" if c == "\u0130" else c.lower() if len(c.lower()) == 1 else c for c in text)


def go_type(v):
    if isinstance(v, bool):
        return "bool"
    if isinstance(v, (int, float)):
        return "float64"
    return {str: "string", list: "[]interface {}", dict: "map[string]interface {}"}[type(v)]


def go_kind(v):
    return {"[]interface {}": "slice", "map[string]interface {}": "map"}.get(go_type(v), go_type(v))


# --- Field paths: keys and indexes, without wildcards and quotes ---


def parse_path(path):
    segments, rest = [], path
    while rest:
        if rest[0] == "[":
            end = rest.find("]")
            if end < 0:
                raise ValueError
            segments.append(int(rest[1:end]))
            rest = rest[end + 1 :].removeprefix(".")
        else:
            cut = min(i for i in (rest.find("."), rest.find("["), len(rest)) if i >= 0)
            segments.append(rest[:cut])
            rest = rest[cut:].removeprefix(".")
    return segments


def get(root, path):
    """The value, or a LookupError (not found) or TypeError (something else on the way) with upstream's text."""
    v, walked = root, ""
    for key in path.split("."):
        here = f"{walked}.{key}" if walked else key
        if v is None:
            raise LookupError(f"{walked}: expected map, got nil")
        if not isinstance(v, dict):
            raise TypeError(f"{walked}: not an object")
        if key not in v:
            raise LookupError(f"{here}: no such field")
        v, walked = v[key], here
    return v


def put(root, segments, value):
    """Sets the value below root, which is a new object or list or None."""
    if not segments:
        return value
    first, rest = segments[0], segments[1:]
    if isinstance(first, int):
        items = list(root or [])
        items += [None] * (first + 1 - len(items))
        items[first] = put(items[first], rest, value)
        return items
    members = dict(root or {})
    members[first] = put(members.get(first), rest, value)
    return members


# --- Responses ---


def duration(ns):
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    seconds, rest = divmod(ns, 10**9)
    if rest == 0:
        return f"{sign}{seconds}s"
    digits = f"{rest:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{sign}{seconds}.{digits}s"


def begin(request):
    """The response that every function begins with."""
    response = {"meta": {"ttl": duration(TTL)}, "results": []}
    tag = request.get("meta", {}).get("tag")
    if tag:
        response["meta"]["tag"] = tag
    for part in ("desired", "context"):
        if part in request:
            response[part] = copy.deepcopy(request[part])
    return response


def add_result(response, severity, message):
    response["results"].append({"severity": f"SEVERITY_{severity}", "message": message, "target": "TARGET_COMPOSITE"})


READY = {0: "READY_UNSPECIFIED", 1: "READY_TRUE", 2: "READY_FALSE"}


def plain_resource(resource):
    r = {k: v for k, v in resource.items() if k != "connectionDetails" or v}
    if "ready" in r:
        r["ready"] = READY.get(r["ready"], r["ready"])
        if r["ready"] == "READY_UNSPECIFIED":
            del r["ready"]
    return r


def canonical(response):
    """As protobuf has it: what is empty or has its default is not there, all numbers are doubles."""
    r = {k: v for k, v in response.items() if v or k not in ("results", "conditions")}
    if "desired" in r:
        state = {k: v for k, v in r["desired"].items() if k != "resources" or v}
        if "composite" in state:
            state["composite"] = plain_resource(state["composite"])
        if "resources" in state:
            state["resources"] = {k: plain_resource(v) for k, v in state["resources"].items()}
        r["desired"] = state
    if "requirements" in r:
        r["requirements"] = {k: v for k, v in r["requirements"].items() if v}
    return json.loads(json.dumps(r), parse_int=float)
