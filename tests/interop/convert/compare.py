"""Compares the pipelines of two conversions: compare.py THEIRS OURS. Theirs is the converted Composition in JSON, ours a list of steps.

The real conversion reads transforms into structs and writes what those have: absent values of a `match` come out as null and an empty list not at all."""

import difflib
import json
import sys


def tidy(v):
    if isinstance(v, list):
        return [tidy(i) for i in v]
    if not isinstance(v, dict):
        return v
    v = {k: tidy(i) for k, i in v.items()}
    if isinstance(v.get("match"), dict):
        v["match"] = {k: i for k, i in v["match"].items() if i is not None}
        for pattern in v["match"].get("patterns", []):
            if pattern.get("result", 1) is None:
                del pattern["result"]
    return v


def text(steps):
    return json.dumps(tidy(steps), indent=1, sort_keys=True).split("\n")


with open(sys.argv[1]) as f:
    theirs = text(json.load(f)["spec"]["pipeline"])
with open(sys.argv[2]) as f:
    ours = text(json.load(f))
for line in difflib.unified_diff(theirs, ours, "theirs", "ours", lineterm="", n=3):
    print(line)
sys.exit(theirs != ours)
