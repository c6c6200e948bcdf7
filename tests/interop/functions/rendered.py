"""Prints what is in a RenderResponse in JSON: a line for each composed resource and one for each event."""

import json
import sys

with open(sys.argv[1]) as f:
    composite = json.load(f)["composite"]

# Crossplane goes through composed resources in any order.
for r in sorted(composite.get("composedResources", []), key=lambda r: r["metadata"]["annotations"]["crossplane.io/external-name"]):
    meta = r["metadata"]
    name = meta["annotations"]["crossplane.io/composition-resource-name"]
    external = meta["annotations"]["crossplane.io/external-name"]
    print(r["kind"], name, external, r["spec"]["forProvider"]["color"], meta["labels"]["crossplane.io/composite"], meta["ownerReferences"][0]["kind"])

events = [" ".join((e["type"], e["reason"], e["message"])) for e in composite["events"]]
about = [e for e in events if "Composed resource" in e]
for e in [e for e in events if e not in about] + sorted(about):
    print(e)
