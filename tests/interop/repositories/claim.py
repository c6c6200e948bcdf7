"""Prints the documents of a render, with the claim before them if LINE shows it: claim.py LINE REQUEST DOCUMENTS WEFT DIRECTORY. What a claim
says of its composite is made here from what the peer made of the composite, by the rules of Crossplane's claim controller."""

import json
import subprocess
import sys

line = json.loads(sys.argv[1])
with open(sys.argv[2]) as f:
    request = json.load(f)["composite"]
with open(sys.argv[3]) as f:
    documents = [json.loads(text) for text in f]


def condition(type, status, reason, **rest):
    return {"lastTransitionTime": "2024-01-01T00:00:00Z", "reason": reason, "status": status, "type": type, **rest}


if line.get("show"):
    xr = documents[0]
    claim = json.loads(subprocess.check_output([sys.argv[4], "json", f"{sys.argv[5]}/{line['xr']}"], text=True))
    claim["spec"]["resourceRef"] = {"apiVersion": xr["apiVersion"], "kind": xr["kind"], "name": xr["metadata"]["name"]}
    claim["spec"].setdefault("compositionRef", {"name": request["composition"]["metadata"]["name"]})
    is_ready = any(c["type"] == "Ready" and c["status"] == "True" for c in xr["status"]["conditions"])
    waits = {"message": "Claim is waiting for composite resource to become Ready"}
    ready = condition("Ready", "True", "Available") if is_ready else condition("Ready", "False", "Waiting", **waits)
    own = ("conditions", "connectionDetails", "claimConditionTypes")
    claim["status"] = {k: v for k, v in xr["status"].items() if k not in own}
    claim["status"]["conditions"] = [condition("Synced", "True", "ReconcileSuccess"), ready]
    print(json.dumps(claim))
for document in documents:
    print(json.dumps(document))
