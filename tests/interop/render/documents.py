"""Prints what `render` shows of a RenderResponse in JSON: documents.py FILE. The composite resource with fixed times, then what it is composed
of by name."""

import json
import sys

with open(sys.argv[1]) as f:
    composite = json.load(f)["composite"]
xr = composite["compositeResource"]
for c in xr["status"]["conditions"]:
    c["lastTransitionTime"] = "2024-01-01T00:00:00Z"
key = "crossplane.io/composition-resource-name"
for document in [xr, *sorted(composite.get("composedResources", []), key=lambda r: r["metadata"]["annotations"][key])]:
    print(json.dumps(document))
