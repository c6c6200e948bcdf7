"""Gives a real Crossplane claims, and ours what it had before it: claims.py SUBJECT. KUBECTL reaches the API. No Composition fits, so that nothing but
the claim controller writes to a composite's spec. Prints TAP."""

import copy
import json
import os
import subprocess
import sys
import time

SUBJECT = sys.argv[1]
API = "c.example.org/v1"
OLD = "2020-01-01T00:00:00Z"
XRD = {
    "apiVersion": "apiextensions.crossplane.io/v1",
    "kind": "CompositeResourceDefinition",
    "metadata": {"name": "xdbs.c.example.org"},
    "spec": {
        "group": "c.example.org",
        "names": {"kind": "XDb", "plural": "xdbs"},
        "claimNames": {"kind": "Db", "plural": "dbs"},
        "versions": [
            {
                "name": version,
                "served": True,
                "referenceable": version == "v1",
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"size": {"type": "integer"}}},
                            "status": {"type": "object", "properties": {"url": {"type": "string"}, "n": {"type": "integer"}}},
                        },
                    }
                },
            }
            for version in ("v1beta1", "v1")
        ],
    },
}
ENFORCING = copy.deepcopy(XRD)
ENFORCING["metadata"]["name"] = "xqs.c.example.org"
ENFORCING["spec"].update(names={"kind": "XQ", "plural": "xqs"}, claimNames={"kind": "Q", "plural": "qs"}, enforcedCompositionRef={"name": "enforced"})


def kubectl(*args, given=None):
    done = subprocess.run([os.environ["KUBECTL"], *args], input=json.dumps(given) if given else None, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 and "json" in args else None if done.returncode else done.stdout


def get(kind, name):
    return kubectl("get", kind + ".c.example.org", name, "-n", "default", "-o", "json")


def create(o):
    if kubectl("create", "-f", "-", given=o) is None:
        sys.exit(f"cannot create {o}")


def ours(case):
    done = subprocess.run([SUBJECT, "claim"], input=json.dumps(case) + "\n", capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def merge(into, over):
    """What a server-side apply of `over` makes of `into`, where nothing is taken away."""
    for k, v in over.items():
        into[k] = merge(dict(into[k]), v) if isinstance(v, dict) and isinstance(into.get(k), dict) else v
    return into


def seen(o):
    """What of an object is compared: its labels, annotations, generateName and spec, less what an API or another controller puts there."""
    m = o["metadata"]
    annotations = {k: v for k, v in m.get("annotations", {}).items() if "kubernetes.io" not in k}
    spec = {k: v for k, v in o.get("spec", {}).items() if (k, v) not in (("compositionUpdatePolicy", "Automatic"), ("compositeDeletePolicy", "Background"))}
    return {"labels": m.get("labels", {}), "annotations": annotations, "spec": spec}


def forget_now(status):
    status = copy.deepcopy(status)
    for c in status.get("conditions", []):
        if c.get("lastTransitionTime") != OLD:
            c["lastTransitionTime"] = "now"
    return status


def until(question, seconds=30):
    end = time.monotonic() + seconds
    while not (answer := question()) and time.monotonic() < end:
        time.sleep(0.1)
    return answer


number = 0
failed = False


def report(name, theirs, ours_):
    global number, failed
    number += 1
    print("ok" if theirs == ours_ else "not ok", number, "- claim", name)
    if theirs != ours_:
        failed = True
        print("# theirs", json.dumps(theirs, sort_keys=True), "\n# ours  ", json.dumps(ours_, sort_keys=True))


def claim(name, spec, kind="Db", api=API, **meta):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "default", **meta}, "spec": spec}


def composite(name, spec, **meta):
    return {"apiVersion": API, "kind": "XDb", "metadata": {"name": name, **meta}, "spec": spec}


def bound(kind, name):
    """The claim and its composite, once they are synced."""
    c = get(kind, name)
    if not c or not any(x["type"] == "Synced" for x in c.get("status", {}).get("conditions", [])):
        return None
    x = get("x" + kind, c["spec"].get("resourceRef", {}).get("name", "none"))
    return [c, x] if x and x["spec"].get("claimRef", {}).get("name") == name else None


def bind(name, c, xrd=XRD, before=None):
    """Theirs and ours of one claim, with the composite that was there before."""
    kind = xrd["spec"]["claimNames"]["plural"]
    if before:
        create(before)
        before = get("x" + kind, before["metadata"]["name"])
    create(c)
    both = until(lambda: bound(kind, c["metadata"]["name"]))
    if not both:
        sys.exit(f"{name}: there is no composite: {get(kind, c['metadata']['name'])}")
    after, last = passes(c, xrd, before, both[1]["metadata"]["name"])

    def settled():
        both[:] = bound(kind, c["metadata"]["name"]) or both
        return seen(both[1]) == seen(after) and seen(both[0]) == seen(last)

    until(settled)
    report(name + ": the composite", seen(both[1]), seen(after))
    report(name + ": the claim", seen(both[0]), seen(last))
    return both


def passes(c, xrd, before, name):
    """Ours until nothing changes: a pass of the claim's controller sees what the last one made of the composite, and what the composite's made
    of it, which is the enforced Composition."""
    after, last = copy.deepcopy(before), "nothing yet"
    while after != last:
        last = copy.deepcopy(after)
        got = ours({"xrd": xrd, "claim": c, "name": name, **({"composite": after} if after else {})})
        after, c = merge(after or {"metadata": {}}, got["composite"]), got["claim"]
        if "enforcedCompositionRef" in xrd["spec"]:
            after["spec"]["compositionRef"] = xrd["spec"]["enforcedCompositionRef"]
    return after, c


def status(name, conditions, **fields):
    """A composite's status, and what the claim makes of it."""
    before, xr = bind(name, claim("s-" + name, {"size": 1}))
    patch = {"status": {**fields, "conditions": conditions}}
    kubectl("patch", "xdb", xr["metadata"]["name"], "--subresource", "status", "--type", "merge", "-p", json.dumps(patch))
    end = {}

    def settled():
        end["theirs"], end["xr"] = get("dbs", before["metadata"]["name"]), get("xdbs", xr["metadata"]["name"])
        end["ours"] = ours({"claim": before, "reconciled": end["xr"]})["claim"]
        return forget_now(end["theirs"]["status"]) == forget_now(end["ours"]["status"])

    until(settled)
    report(name + ": the status", forget_now(end["theirs"]["status"]), forget_now(end["ours"]["status"]))


def condition(kind, value="True", reason="R", **rest):
    return {"type": kind, "status": value, "reason": reason, "lastTransitionTime": OLD, **rest}


for definition in (XRD, ENFORCING):
    create(definition)
    kubectl("wait", "--for", "condition=Offered", "--timeout", "60s", "xrd/" + definition["metadata"]["name"])

bind("new", claim("new", {"size": 3, "deep": {"a": [1, {"b": None}]}}))
bind("in an older version", claim("older", {"size": 3}, api="c.example.org/v1beta1"))
bind("metadata", claim("metadata", {}, labels={"a": "1", "x.k8s.io/a": "2", "kubernetes.io": "3"}, annotations={"e.org/kubernetes.io": "4", "a.kubernetes.io/b": "5"}))
bind("fields of composites", claim("fields", {"resourceRefs": [{"apiVersion": "v1", "kind": "K", "name": "theirs"}], "claimRef": {"apiVersion": "v1", "kind": "K", "name": "o", "namespace": "n"}, "writeConnectionSecretToRef": {"name": "s"}, "compositeDeletePolicy": "Foreground"}))
bind("selection", claim("selection", {"compositionSelector": {"matchLabels": {"a": "b"}}, "compositionUpdatePolicy": "Manual", "compositionRevisionSelector": {"matchLabels": {"c": "d"}}, "compositionRevisionRef": {"name": "r"}}))
bind("a Composition", claim("composition", {"compositionRef": {"name": "none"}}))
bind("an enforced Composition", claim("enforced", {"compositionRef": {"name": "other"}, "size": 1}, kind="Q"), xrd=ENFORCING)
bind("a name that it chose", claim("chosen", {"resourceRef": {"apiVersion": API, "kind": "XDb", "name": "chosen-one"}}))
bind("a composite that is there", claim("adopts", {"size": 2, "resourceRef": {"apiVersion": API, "kind": "XDb", "name": "adopted"}}, annotations={"crossplane.io/external-name": "mine"}), before=composite("adopted", {"size": 1, "own": True, "compositionRef": {"name": "none"}, "compositionRevisionSelector": {"matchLabels": {"a": "b"}}}, annotations={"crossplane.io/external-name": "real"}, labels={"theirs": "1"}))
bind("a composite with a revision", claim("automatic", {"resourceRef": {"apiVersion": API, "kind": "XDb", "name": "automatic"}, "compositionRevisionRef": {"name": "mine"}}), before=composite("automatic", {"compositionUpdatePolicy": "Automatic", "compositionRevisionRef": {"name": "real"}, "compositionRef": {"name": "none"}}))
bind("a composite that is updated by hand", claim("manual", {"resourceRef": {"apiVersion": API, "kind": "XDb", "name": "manual"}, "compositionUpdatePolicy": "Manual", "compositionRevisionRef": {"name": "mine"}, "compositionRef": {"name": "none"}}), before=composite("manual", {"compositionUpdatePolicy": "Manual", "compositionRevisionRef": {"name": "real"}, "compositionRef": {"name": "none"}}))
status("waits", [condition("Ready", "False", "Creating")], url="u", n=3)
status("ready", [condition("Ready")], url="u")
status("conditions", [condition("Database", "False", "Down", message="m"), condition("Other"), condition("Ready")], claimConditionTypes=["Database"], n=1)
print(f"1..{number}")
sys.exit(failed)
