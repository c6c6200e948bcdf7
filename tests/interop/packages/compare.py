"""Runs the scenarios of tests/e2e/packages on a real Crossplane and on `weft up` at once, and compares all objects of a scenario after each of
its steps: compare.py THEIRS OURS ci|full [SCENARIO...]. Prints TAP."""

import concurrent.futures
import json
import os
import re
import sys
import threading
import time
import traceback

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "e2e", "packages"))
from registry import Registry
from scenario import Failed, Kube, Refused, load_all

KINDS = ["Function", "FunctionRevision", "Provider", "ProviderRevision", "Configuration", "ConfigurationRevision",
         "CompositeResourceDefinition", "Composition", "ManagedResourceDefinition", "CustomResourceDefinition"]
PATIENCE_S = 60

# What the two say in other words: what Go's libraries say about registries and schemes, and the version of a Crossplane that was built
# without one.
WORDS = [(r"to digest: .*", "to digest: ..."), (r'registered for version "v1".*', 'registered for version "v1"'),
         (r"Crossplane version \(.*", "Crossplane version"), (r"\(UID [^)]*\)", "(UID)")]


def conditions(o, runs):
    """Providers do not run here; programs of Functions are processes here and Deployments there."""
    found = {}
    for c in o.get("status", {}).get("conditions") or []:
        # Two controllers of Crossplane write one status, so that RuntimeActive may be lost until the next change.
        if c["type"] != "RuntimeActive" and not (runs and c["type"] in ("Healthy", "RuntimeHealthy")):
            text = c.get("message", "")
            for pattern, word in WORDS:
                text = re.sub(pattern, word, text, flags=re.S)
            found[c["type"]] = f"{c['status']} {c['reason']} {c.get('observedGeneration')} {text}"
    return found


def plain(o):
    runs = o["kind"].removesuffix("Revision") == "Provider"
    meta, status = o["metadata"], dict(o.get("status", {}))
    for key in ("conditions", "controllers", "acceptedNames", "storedVersions"):
        status.pop(key, None)
    for key in ("tlsServerSecretName", "tlsClientSecretName") if runs else ():
        status.pop(key, None)
    status["objectRefs"] = [{k: r[k] for k in r if k != "uid"} for r in status.get("objectRefs", [])]
    # Only we say which objects are owned by a function's revision: inputs, which Crossplane does not install.
    if o["kind"] == "FunctionRevision":
        status.pop("objectRefs")
    owners = [(r["kind"], r["name"], r.get("controller"), r.get("blockOwnerDeletion")) for r in meta.get("ownerReferences", [])]
    spec = o["spec"] if o["kind"] != "CustomResourceDefinition" else {}
    return {"labels": meta.get("labels"), "annotations": {k: v for k, v in meta.get("annotations", {}).items()} or None,
            # Crossplane's update of an object may remove the finalizers of other controllers, until those run again.
            "finalizers": sorted(meta.get("finalizers", [])) if o["apiVersion"].startswith("pkg.") else [], "owners": sorted(owners, key=str), "spec": spec, "status": status,
            "conditions": conditions(o, runs)}


def take(scenario, side):
    found = {}
    for kind in KINDS:
        for o in side.request("GET", scenario.path(side, kind))["items"]:
            if scenario.key in re.split(r"[-.]", o["metadata"]["name"]):
                o["kind"], o["apiVersion"] = kind, "pkg." if "Definition" not in kind and kind != "Composition" else ""
                found[kind + " " + o["metadata"]["name"]] = plain(o)
    lock = side.request("GET", scenario.path(side, "Lock", "lock")).get("packages", [])
    own = [p for p in lock if re.search(r"[/-]" + scenario.key + "/", p["source"])]
    found["Lock"] = sorted(({k: v for k, v in p.items() if v is not None} for p in own), key=lambda p: p["name"])
    return found


def differences(theirs, ours, path=""):
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return [d for k in sorted(set(theirs) | set(ours), key=str)
                for d in ([f"{path}/{k}: only theirs: {json.dumps(theirs[k])[:300]}"] if k not in ours else
                          [f"{path}/{k}: only ours: {json.dumps(ours[k])[:300]}"] if k not in theirs else
                          differences(theirs[k], ours[k], f"{path}/{k}"))]
    return [] if theirs == ours else [f"{path}: theirs {json.dumps(theirs)[:400]}\n  ours {json.dumps(ours)[:400]}"]


def settled(scenario, sides):
    """Both come to the same: what is not equal yet gets time."""
    end, found = time.monotonic() + PATIENCE_S, []
    while time.monotonic() < end:
        found = differences(take(scenario, sides[0]), take(scenario, sides[1]))
        if not found:
            return
        time.sleep(0.2)
    raise Failed("differs:\n" + "\n".join(found))


def make_available(side, is_over):
    """Plays the part of Deployments' controller."""
    path = "/apis/apps/v1/namespaces/crossplane-system/deployments"
    body = {"status": {"conditions": [{"type": "Available", "status": "True", "reason": "Test", "message": "it is"}]}}
    while not is_over.wait(0.3):
        for d in side.request("GET", path)["items"]:
            try:
                if not d.get("status", {}).get("conditions"):
                    side.request("PATCH", f"{path}/{d['metadata']['name']}/status", body, "application/merge-patch+json")
            except Refused:
                pass  # it is gone


def main():
    theirs, ours = Kube("crossplane", sys.argv[1]), Kube("weft", sys.argv[2])
    registry = Registry()
    scenarios = [s for s in load_all(sys.argv[4:]) if sys.argv[3] == "full" or s.data.get("ci") or sys.argv[4:]]
    is_over = threading.Event()
    threading.Thread(target=make_available, args=(theirs, is_over), daemon=True).start()

    def run(s):
        try:
            s.run([theirs, ours], registry, settled)
        except Exception as e:  # one scenario must not hide the others
            return s, str(e) if isinstance(e, Failed) else traceback.format_exc()
        return s, ""

    def run_twice(s, why):
        """Crossplane's revisions of different packages disturb each other: while two revisions of one source are in the Lock, all packages are
        unhealthy. Once more, alone and under another name."""
        print("# again:", s.name, "after", why.replace("\n", "\n# "), flush=True)
        s.key += "again"
        return run(s)

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        done = list(pool.map(run, scenarios))
        for i, (s, why) in enumerate(run_twice(s, why) if why else (s, why) for s, why in done):
            print("not ok" if why else "ok", i + 1, "-", s.name + ":", s.data["shows"], flush=True)
            if why:
                print("# " + why.replace("\n", "\n# "), flush=True)
            failures += bool(why)
    is_over.set()
    print(f"1..{len(scenarios)}")
    sys.exit(failures > 0)


main()
