"""function-dummy: the response in its input, read as protobuf's JSON and merged onto the usual one."""

import json
import re

from common import Fatal, add_result, begin, duration

NAME = "function-dummy"
WRONG = "cannot unmarshal RunFunctionResponse from *v1.RunFunctionRequest: proto: "

SEVERITY = ["SEVERITY_UNSPECIFIED", "SEVERITY_FATAL", "SEVERITY_WARNING", "SEVERITY_NORMAL"]
TARGET = ["TARGET_UNSPECIFIED", "TARGET_COMPOSITE", "TARGET_COMPOSITE_AND_CLAIM"]
STATUS = ["STATUS_CONDITION_UNSPECIFIED", "STATUS_CONDITION_UNKNOWN", "STATUS_CONDITION_TRUE", "STATUS_CONDITION_FALSE"]
READY = ["READY_UNSPECIFIED", "READY_TRUE", "READY_FALSE"]

# A type is "string", "struct", "duration", a list of the names of an enum, a message as a dict, or a pair of "list" or "map" and a type.
RESOURCE = {"resource": "struct", "ready": READY}
SELECTOR = {"apiVersion": "string", "kind": "string", "matchName": "string", "namespace": "string"}
RESULT = {"severity": SEVERITY, "message": "string", "reason": "string", "target": TARGET}
RESULT_OPTIONAL = ("reason", "target")
CONDITION_OPTIONAL = ("message", "target")
CONDITION = {"type": "string", "status": STATUS, "reason": "string", "message": "string", "target": TARGET}
RESPONSE = {
    "meta": {"tag": "string", "ttl": "duration"},
    "desired": {"composite": RESOURCE, "resources": ("map", RESOURCE)},
    "results": ("list", RESULT),
    "context": "struct",
    "requirements": {"resources": ("map", SELECTOR)},
    "conditions": ("list", CONDITION),
}


# --- Reading: values with their places in the text ---


def scan(text, at):
    """The value that begins there, as (place, value), and its end. Members of objects are (place, key, (place, value))."""
    if text[at] == "{":
        members, end = [], at + 1
        while text[end] != "}":
            place = end = end + (text[end] == ",")
            key, end = json.JSONDecoder().raw_decode(text, end)
            value, end = scan(text, end + 1)
            members.append((place, key, value))
        return (at, tuple(members)), end + 1
    if text[at] == "[":
        items, end = [], at + 1
        while text[end] != "]":
            value, end = scan(text, end + (text[end] == ","))
            items.append(value)
        return (at, items), end + 1
    value, end = json.JSONDecoder().raw_decode(text, at)
    return (at, value), end


class Reader:
    def __init__(self, text):
        self.text = text

    def token(self, at):
        return self.text[at] if self.text[at] in "{[" else self.text[at : json.JSONDecoder().raw_decode(self.text, at)[1]]

    def fail(self, at, what):
        raise Fatal(f"{WRONG}(line 1:{at + 1}): {what}")

    def unexpected(self, at):
        raise Fatal(f"{WRONG}syntax error (line 1:{at + 1}): unexpected token {self.token(at)}")

    def read(self, kind, name, node):
        at, value = node
        if isinstance(kind, dict):
            return self.message(kind, node)
        if isinstance(kind, tuple) and kind[0] == "list":
            if not isinstance(value, list):
                self.unexpected(at)
            return [self.read(kind[1], name, item) for item in value]
        if isinstance(kind, tuple):
            if not isinstance(value, tuple):
                self.unexpected(at)
            return {key: self.read(kind[1], name, item) for _, key, item in value}
        if isinstance(kind, list):
            if isinstance(value, str) and value in kind:
                return kind.index(value)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            self.fail(at, f"invalid value for enum field {name}: {self.token(at)}")
        if kind == "string" and not isinstance(value, str):
            self.fail(at, f"invalid value for string field {name}: {self.token(at)}")
        if kind == "duration":
            return self.duration(at, value)
        if kind == "struct":
            if not isinstance(value, tuple):
                self.unexpected(at)
            return json.loads(json.dumps(json.JSONDecoder().raw_decode(self.text, at)[0]))
        return value

    def duration(self, at, value):
        if not isinstance(value, str):
            self.unexpected(at)
        m = re.fullmatch(r"(\d+)(?:\.(\d{1,9}))?s", value)
        if not m:
            self.fail(at, f"invalid google.protobuf.Duration value {self.token(at)}")
        return int(m[1]), int((m[2] or "").ljust(9, "0"))

    def message(self, fields, node):
        at, members = node
        if not isinstance(members, tuple):
            self.unexpected(at)
        out = {}
        for place, key, value in members:
            if key not in fields:
                self.fail(place, f"unknown field {json.dumps(key, ensure_ascii=False)}")
            if value[1] is not None:
                out[key] = self.read(fields[key], key, value)
        return out


# --- Merging, as protobuf does it ---


def merge_resource(below, above):
    out = dict(below)
    if "resource" in above:
        out["resource"] = {**below.get("resource", {}), **above["resource"]}
    if above.get("ready"):
        out["ready"] = above["ready"]
    return out


def merge_desired(response, above):
    state = response.setdefault("desired", {})
    if "composite" in above:
        state["composite"] = merge_resource(state.get("composite", {}), above["composite"])
    if above.get("resources"):
        state["resources"] = {**state.get("resources", {}), **above["resources"]}


def named(message, fields, optional):
    """A message as the subject prints it: enums by name, and without defaults unless the field can tell them from nothing."""
    out = {}
    for k, v in message.items():
        if v in (0, "") and k not in optional:
            continue
        kind = fields[k]
        out[k] = kind[v] if isinstance(kind, list) and v < len(kind) else v
    return out


def overlay(response, above):
    meta = above.get("meta", {})
    if meta.get("tag"):
        response["meta"]["tag"] = meta["tag"]
    seconds, nanos = meta.get("ttl", (0, 0))
    response["meta"]["ttl"] = duration((seconds or 60) * 10**9 + nanos)
    if "desired" in above:
        merge_desired(response, above["desired"])
    if "context" in above:
        response["context"] = {**response.get("context", {}), **above["context"]}
    for part, fields, optional in (("results", RESULT, RESULT_OPTIONAL), ("conditions", CONDITION, CONDITION_OPTIONAL)):
        response.setdefault(part, []).extend(named(m, fields, optional) for m in above.get(part, []))
    if "requirements" in above:
        wanted = above["requirements"].get("resources", {})
        response["requirements"] = {"extraResources": {k: selector(v) for k, v in wanted.items()}}


def selector(s):
    """A name to match and a namespace are there even if empty."""
    return {k: v for k, v in s.items() if v != "" or k in ("matchName", "namespace")}


def answer(request):
    response = begin(request)
    given = request.get("input", {}).get("response")
    try:
        if given is None:
            raise Fatal(WRONG + "syntax error (line 1:1): unexpected token ")
        text = json.dumps(given, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        overlay(response, Reader(text).message(RESPONSE, scan(text, 0)[0]))
    except Fatal as e:
        add_result(response, "FATAL", str(e))
    return response


# --- Requests ---

TEXTS = ["", "a", "x y", "é", "\u2028", "\u2029<>&", "日本", "\"q\"\\", "\t\n", "😀"]


def some_value(r, kind):
    if isinstance(kind, dict):
        return {k: some_value(r, t) for k, t in kind.items() if r.random() < 0.5}
    if isinstance(kind, tuple) and kind[0] == "list":
        return [some_value(r, kind[1]) for _ in range(r.randint(0, 3))]
    if isinstance(kind, tuple):
        return {k: some_value(r, kind[1]) for k in ("a", "b", "é\u2028", "k.k") if r.random() < 0.4}
    if isinstance(kind, list):
        return r.choice([r.choice(kind), r.choice(kind), r.randrange(len(kind)), 9])
    if kind == "duration":
        return r.choice(["5s", "0s", "1.5s", "0.000000001s", "90.25s"])
    if kind == "struct":
        return {k: r.choice([1, "s", None, [1, {}], {"x": 1}, True, 1.5]) for k in ("a", "b", "\u2029") if r.random() < 0.5}
    return r.choice(TEXTS)


def spoil(r, v, kind):
    """Makes one mistake somewhere in the message."""
    places = [k for k in v if k in kind]
    if not places or r.random() < 0.3:
        v[r.choice(["foo", "zoo", "z\u2028", "Meta", "a"])] = r.choice([1, {}, None, "x"])
        return
    k = r.choice(places)
    inner = kind[k]
    if isinstance(inner, dict) and isinstance(v[k], dict) and r.random() < 0.7:
        spoil(r, v[k], inner)
    elif isinstance(inner, tuple) and isinstance(inner[1], dict) and v[k] and r.random() < 0.7:
        spoil(r, r.choice(v[k]) if inner[0] == "list" else v[k][r.choice(sorted(v[k]))], inner[1])
    else:
        v[k] = r.choice([5, True, "X", "5m", "é", [], {}, 1.5, None])


def generate(r):
    given = some_value(r, RESPONSE)
    if r.random() < 0.4:
        spoil(r, given, RESPONSE)
    request = {"input": {"response": given if r.random() < 0.98 else r.choice([None, [], 5, "é\u2028", True])}}
    if r.random() < 0.5:
        request["meta"] = {"tag": "t"}
    if r.random() < 0.6:
        request["desired"] = {"composite": {"resource": {"a": {"y": 1}, "z": 1}, "ready": r.randrange(3)}, "resources": {"a": {"resource": {"q": 1}, "ready": 1}}}
    if r.random() < 0.6:
        request["context"] = {"a": {"old": 1}, "c": 1}
    return request
