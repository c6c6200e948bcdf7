"""Compares two answers to one RenderRequest: compare.py THEIRS OURS. Of each there are .out (a RenderResponse in JSON, or nothing), .err and
.status. Upstream goes through resources in any order, so lists of them are compared as sets; times of now are all the same; their program
indents the further lines of an error."""

import difflib
import json
import re
import sys


def read(base, ending):
    with open(base + ending, errors="surrogateescape") as f:
        return f.read()


def forget_now(v):
    if isinstance(v, dict):
        if isinstance(v.get("lastTransitionTime"), str) and v["lastTransitionTime"] > "2026":
            v["lastTransitionTime"] = "now"
        v = list(v.values())
    if isinstance(v, list):
        for item in v:
            forget_now(item)


def response(text):
    if not text.strip():
        return None
    r = json.loads(text)
    composite = r.get("composite", {})
    for key in ("composedResources", "deletedResources", "requiredResources", "requiredSchemas"):
        composite.get(key, []).sort(key=lambda v: json.dumps(v, sort_keys=True))
    events = composite.get("events", [])
    about = [e for e in events if re.match("Composed resource|cannot create composed resource", e["message"])]
    composite["events"] = [e for e in events if e not in about] + sorted(about, key=lambda e: e["message"])
    forget_now(r)
    return json.dumps(r, indent=1, sort_keys=True)


def answer(base):
    error = re.sub("^(crossplane: error|weft internal render): ", "", read(base, ".err")).replace("\n" + " " * 19, "\n")
    return f"{response(read(base, '.out'))}\n{error}{read(base, '.status')}".split("\n")


theirs, ours = (answer(base) for base in sys.argv[1:])
for line in difflib.unified_diff(theirs, ours, "theirs", "ours", lineterm="", n=3):
    print(line.encode(errors="backslashreplace").decode())
sys.exit(theirs != ours)
