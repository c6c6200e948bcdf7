"""Scenarios of packages as data (README.md): steps that change a cluster or the registry, and what must become of it."""

import glob
import json
import os
import re
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "composition"))
from kube import Kube, Refused  # noqa: E402,F401

GIVE_UP_S = float(os.environ.get("SCENARIO_PATIENCE", 90))
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"


class Failed(Exception):
    pass


def load_all(wanted=()):
    found = []
    for path in sorted(glob.glob(os.path.join(here, "scenarios", "*.yaml"))):
        done = subprocess.run([os.environ["WEFT"], "json", path], capture_output=True, text=True, check=True)
        found += [Scenario(name, data) for name, data in json.loads(done.stdout).items()]
    if missing := set(wanted) - {s.name for s in found}:
        sys.exit("there is no scenario " + ", ".join(sorted(missing)))
    return [s for s in found if (not wanted or s.name in wanted) and not (s.data.get("program") and "FUNCTION_PROGRAM" not in os.environ)]


class Scenario:
    def __init__(self, name, data):
        self.name, self.data = name, data
        self.key = name.replace("-", "")  # the beginning of all names

    def text_of(self, data, registry):
        text = json.dumps(data).replace("<key>", self.key).replace("<registry>", registry.host)
        digests = {r: d for repo, tags in registry.tags.items() for r, d in ((repo + ":" + t, d) for t, d in tags.items())}
        return json.loads(re.sub(r"<digest ([^>]+)>", lambda m: digests[m.group(1)], text))

    def run(self, sides, registry, on_settled=None):
        """Runs the steps on all sides at once; on_settled(sides) after each `wants`."""
        for reference, documents in self.text_of(self.data.get("packages", {}), registry).items():
            registry.push(reference, documents, self.data.get("program", False))
        for step in self.data["steps"]:
            step = self.text_of(step, registry)
            for reference, documents in step.get("push", {}).items():
                registry.push(reference, documents)
            for side in sides:
                self.change(side, step)
            for wanted in step.get("wants", []):
                for side in sides:
                    self.await_object(side, wanted)
            if "wants" in step and on_settled:
                on_settled(self, sides)

    def change(self, side, step):
        for o in step.get("apply", []):
            kind = side.find(lambda k: k.kind == o["kind"] and o["apiVersion"] == ((k.group + "/") if k.group else "") + k.version)
            path = kind.path(o["metadata"].get("namespace"), o["metadata"]["name"])
            side.request("PATCH", path + "?fieldManager=scenario&force=true", o, APPLY)
        for p in step.get("patch", []):
            name = self.name_of(side, p)
            side.request("PATCH", self.path(side, p["kind"], name), p["body"], MERGE)
        for d in step.get("delete", []):
            side.request("DELETE", self.path(side, d["kind"], d["name"]))

    def path(self, side, kind, name=None):
        return side.find(lambda k: k.kind == kind and k.group in ("pkg.crossplane.io", "apiextensions.crossplane.io",
                                                                  "apiextensions.k8s.io")).path(None, name)

    def name_of(self, side, p):
        """By name, or the revision of a package with a number."""
        if "name" in p:
            return p["name"]
        for o in side.request("GET", self.path(side, p["kind"]))["items"]:
            if o["metadata"].get("labels", {}).get("pkg.crossplane.io/package") == p["of"] and o["spec"]["revision"] == p.get("revision", 1):
                return o["metadata"]["name"]
        raise Failed(f"{side.name}: there is no {p['kind']} {p.get('revision', 1)} of {p['of']}")

    def await_object(self, side, wanted):
        end, why = time.monotonic() + GIVE_UP_S, ""
        while time.monotonic() < end:
            why = self.lacks(side, wanted)
            if not why:
                return
            time.sleep(0.1)
        raise Failed(f"{side.name}: {wanted['kind']} {wanted.get('name') or wanted.get('of')}: {why}")

    def lacks(self, side, wanted):
        """What the object lacks; "" if nothing."""
        try:
            o = side.request("GET", self.path(side, wanted["kind"], self.name_of(side, wanted)))
        except (Refused, Failed) as e:
            return "" if wanted.get("absent") and ("404" in str(e) or isinstance(e, Failed)) else str(e)
        if wanted.get("absent"):
            return "it is there"
        conditions = {c["type"]: c for c in (o.get("status", {}).get("conditions") or [])}
        for kind, text in wanted.get("conditions", {}).items():
            c, text = conditions.get(kind), str(text)
            got = f"{c['status']} {c['reason']} {c.get('message', '')}".strip() if c else "no condition"
            if not got.startswith(text) and not (text.startswith("*") and text[1:] in got):
                return f"{kind} is {got}, not {text}"
        return match(o, wanted.get("has", {}), "")


def match(got, wanted, path):
    if isinstance(wanted, dict) and isinstance(got, dict):
        for k, v in wanted.items():
            if k not in got and v is not None:
                return f"{path}.{k} is absent"
            if v is None and k in got:
                return f"{path}.{k} is {got[k]!r}"
            if v is not None and (why := match(got[k], v, f"{path}.{k}")):
                return why
        return ""
    if isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        return next((why for i, (g, w) in enumerate(zip(got, wanted)) if (why := match(g, w, f"{path}[{i}]"))), "")
    return "" if got == wanted else f"{path} is {got!r}, not {wanted!r}"
