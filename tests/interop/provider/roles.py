"""Prints the roles of a provider's revision from `kubectl get clusterroles -o json` on standard input: names without the revision, labels and
rules. The argument is the revision."""

import json
import sys

revision = sys.argv[1]
prefix = "crossplane:provider:%s:" % revision
roles = {}
for role in json.load(sys.stdin)["items"]:
    name = role["metadata"]["name"]
    if name.startswith(prefix):
        roles[name[len(prefix) :]] = {"labels": role["metadata"].get("labels"), "rules": role["rules"]}
print(json.dumps(roles, indent=2, sort_keys=True).replace(revision, "REVISION"))
