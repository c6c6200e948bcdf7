"""One scenario: a file of scenarios/, run against one API or against two that must come to the same. README.md says what a file holds."""

import json
import os
import re
import signal
import subprocess
import time

from kube import SHORT, Refused
from match import mismatch

PATIENCE = float(os.environ.get("SCENARIO_PATIENCE", "120"))  # seconds until a state is there


class Failed(Exception):
    """The scenario does not hold."""


def merged(into, over):
    """`over` laid over `into`, mappings key by key."""
    if not isinstance(into, dict) or not isinstance(over, dict):
        return over
    return {**into, **{k: merged(into[k], v) if k in into else v for k, v in over.items()}}


def schema(more):
    """What every definition of a scenario has: two fields to write, two to read."""
    text = {"type": "string"}
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    spec = {"size": text, "count": {"type": "integer"}, "names": {"type": "array", "items": text}}
    status = {"text": text, "seen": free}
    return merged(
        {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}, "status": {"type": "object", "properties": status}}}, more or {}
    )


def definition(given, group):
    """The XRD that `xrd:` is short for."""
    given = dict(given)
    kind = given.pop("kind", "Thing")
    claim = given.pop("claim", None)
    more = given.pop("schema", None)
    versions = given.pop("versions", ["v1"])
    is_legacy = claim or given.get("scope") == "LegacyCluster"
    spec = {
        "group": group,
        "names": {"kind": kind, "plural": kind.lower() + "s"},
        "versions": [{"name": v, "served": True, "referenceable": v == versions[0], "schema": {"openAPIV3Schema": schema(more)}} for v in versions],
    }
    if claim:
        spec["claimNames"] = {"kind": claim, "plural": claim.lower() + "s"}
    metadata = merged({"name": f"{kind.lower()}s.{group}"}, given.pop("metadata", {}))
    given.pop("waits", None)
    version = "v1" if is_legacy else "v2"
    return {"apiVersion": "apiextensions.crossplane.io/" + version, "kind": "CompositeResourceDefinition", "metadata": metadata, "spec": merged(spec, given)}


def step_of(name, function, given):
    return {"step": name, "functionRef": {"name": function}, **({"input": given} if given else {})}


def composition(given, group, namespace):
    """The Composition that `compose:` is short for: templates, resources of patch-and-transform, or a whole pipeline; then auto-ready."""
    given = dict(given)
    kind = given.pop("kind", "Thing")
    metadata = merged({"name": given.pop("name", f"{namespace}-{kind.lower()}s")}, given.pop("metadata", {}))
    pipeline = list(given.pop("pipeline", []))
    if "response" in given:
        pipeline.append(step_of("answer", "function-dummy", {"apiVersion": "dummy.fn.crossplane.io/v1beta1", "kind": "Response", "response": given.pop("response")}))
    if "template" in given:
        source = {"apiVersion": "gotemplating.fn.crossplane.io/v1beta1", "kind": "GoTemplate", "source": "Inline", "inline": {"template": given.pop("template")}}
        pipeline.append(step_of("templates", "function-go-templating", source))
    if "resources" in given:
        resources = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": given.pop("resources")}
        pipeline.append(step_of("resources", "function-patch-and-transform", resources))
    if given.pop("auto", True):
        pipeline.append(step_of("ready", "function-auto-ready", None))
    spec = {"compositeTypeRef": {"apiVersion": f"{group}/{given.pop('version', 'v1')}", "kind": kind}, "mode": "Pipeline", "pipeline": pipeline}
    return {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition", "metadata": metadata, "spec": merged(spec, given)}


class Scenario:
    def __init__(self, name, data):
        self.name, self.data = name, data
        self.namespace = name
        self.group = name + ".example.org"

    # --- Words ---

    def fill(self, v, words):
        """The value with <words> replaced in all its texts."""
        if isinstance(v, str):
            return re.sub(r"<([a-z][a-z0-9-]*)>", lambda m: words.get(m.group(1), m.group(0)), v)
        if isinstance(v, list):
            return [self.fill(x, words) for x in v]
        if isinstance(v, dict):
            return {self.fill(k, words): self.fill(x, words) for k, x in v.items()}
        return v

    # --- Steps ---

    def run(self, sides, processes=None, compare=None):
        """Raises Failed. `compare` is called with the sides after every `want`."""
        self.processes = processes or {}
        words = {s.name: {"ns": self.namespace, "group": self.group} for s in sides}
        for s in sides:
            s.apply("default", [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}])
        for i, step in enumerate(self.data["steps"]):
            for s in sides:
                try:
                    self.do(s, self.fill(step, words[s.name]), words[s.name])
                except (Failed, Refused) as e:
                    raise Failed(f"step {i + 1} ({', '.join(step)}) on {s.name}: {e}") from e
            if compare and "want" in step:
                compare(self, i + 1, sides)

    def do(self, side, step, words):
        for verb, given in step.items():
            getattr(self, "do_" + verb)(side, given, words)

    def objects(self, given):
        """Objects with what every one has filled in."""
        given = given if isinstance(given, list) else [given]
        return [merged({"apiVersion": f"{self.group}/v1"}, o) for o in given]

    def do_apply(self, side, given, words):
        side.apply(self.namespace, self.objects(given))

    def do_apply_soon(self, side, given, words):
        """As apply, until the API takes it: a server may be behind a definition that just changed."""

        def refusal():
            try:
                self.do_apply(side, given, words)
            except Refused as e:
                return str(e)
            return ""

        self.until(refusal)

    def do_create(self, side, given, words):
        side.create(self.namespace, self.objects(given))

    def do_xrd(self, side, given, words):
        """Applies a definition, and waits until it is served unless it says `waits: false`."""
        xrd = definition(given, self.group)
        side.apply(self.namespace, [xrd])
        if given.get("waits", True):
            conditions = {"Established": "True WatchingCompositeResource"}
            if "claimNames" in xrd["spec"]:
                conditions["Offered"] = "True WatchingCompositeResourceClaim"
            self.do_want(side, {"xrds/" + xrd["metadata"]["name"]: {"status": {"conditions": conditions}}}, words)
            for version in xrd["spec"]["versions"]:
                if version["served"]:
                    side.kind_of({"apiVersion": f"{self.group}/{version['name']}", "kind": xrd["spec"]["names"]["kind"]})

    def do_compose(self, side, given, words):
        side.apply(self.namespace, [composition(g, self.group, self.namespace) for g in (given if isinstance(given, list) else [given])])

    def do_patch(self, side, given, words):
        for key, body in given.items():
            resource, _, name = key.partition("/")
            how = "json" if isinstance(body, list) else "merge"
            subresource = None
            if "!" in name:
                name, _, subresource = name.partition("!")
            side.patch(self.namespace, side.kind(resource, self.group), name, how, body, subresource)

    def do_delete(self, side, given, words):
        for key in given if isinstance(given, list) else [given]:
            words_ = key.split()
            resource, _, name = words_[0].partition("/")
            side.delete(self.namespace, side.kind(resource, self.group), name, words_[1] if len(words_) > 1 else "background")

    def do_let(self, side, given, words):
        """Names for what is found: { name: "things/a spec.x.y" }."""
        for name, where in given.items():
            key, path = where.split()
            self.do_want(side, {key: self.at(path, "*")}, words)
            value = self.one(side, key)
            for part in path.split("."):
                value = value[int(part)] if isinstance(value, list) else value[part]
            words[name] = str(value)

    def at(self, path, wanted):
        first, _, rest = path.partition(".")
        if first.isdigit() or rest.split(".")[0].isdigit():
            return {first: "*"} if not first.isdigit() else "*"
        return {first: self.at(rest, wanted) if rest else wanted}

    def do_refuse(self, side, given, words):
        """A step that the API must refuse, with what it says."""
        step = {k: v for k, v in given.items() if k != "says"}
        try:
            self.do(side, step, words)
        except Refused as e:
            if given["says"] not in str(e):
                raise Failed(f"refused with {str(e)!r}, and should say {given['says']!r}") from e
            return
        raise Failed(f"not refused, and should say {given['says']!r}")

    def do_signal(self, side, given, words):
        """Signals to functions that run beside: { function-x: STOP }. START starts one again that was killed."""
        for name, sig in given.items():
            if sig == "START":
                self.processes[name].start()
            else:
                self.processes[name].signal(getattr(signal, "SIG" + sig))

    def do_describe(self, side, given, words):
        """What `kubectl describe` says of objects; without kubectl the step has nothing to look at."""
        for key, texts in given.items() if side.has_kubectl else []:
            resource, _, name = key.partition("/")
            kind = side.kind(resource, self.group)

            def missing():
                said = side.kubectl("describe", kind.name, name, "-n", self.namespace)
                left = [t for t in texts if t not in said and t not in " ".join(said.split())]
                return f"kubectl describe {key} does not say {left[0]!r}:\n{said}" if left else ""

            self.until(missing)

    def do_want(self, side, given, words):
        self.until(lambda: next((why for key, wanted in given.items() if (why := self.why_not(side, key, wanted))), ""))

    def until(self, question):
        """Until it has no answer."""
        end = time.monotonic() + PATIENCE
        pause = 0.02
        while why := question():
            if time.monotonic() > end:
                raise Failed(why)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)

    # --- States ---

    def composed(self, side, resource, composite, name):
        """What a composite has composed under that name."""
        kind = side.kind(resource, self.group)
        found = side.list(kind, self.namespace if kind.is_namespaced else None, "crossplane.io/composite=" + composite)
        return [o for o in found if not name or o["metadata"].get("annotations", {}).get("crossplane.io/composition-resource-name") == name]

    def found(self, side, key):
        """The objects that a key names: resource/name, resource[composite/composed], or resource?selector."""
        if m := re.fullmatch(r"([^\[]+)\[([^/\]]+)/?(.*)\]", key):
            return self.composed(side, m.group(1), m.group(2), m.group(3))
        if "?" in key:
            resource, _, selector = key.partition("?")
            kind = side.kind(resource, self.group)
            return side.list(kind, self.namespace if kind.is_namespaced else None, selector)
        resource, _, name = key.partition("/")
        o = side.get(side.kind(resource, self.group), self.namespace, name)
        return [o] if o else []

    def one(self, side, key):
        return next(iter(self.found(side, key)), None)

    def why_not(self, side, key, wanted):
        if key == "events":
            return next((why for on, texts in wanted.items() if (why := self.missing_event(side, on, texts))), "")
        if wanted == "absent" and not self.is_served(side, key):
            return ""
        found = self.found(side, key)
        if wanted == "absent":
            return f"{key} is there: {[o['metadata'] for o in found]}" if found else ""
        if isinstance(wanted, dict) and set(wanted) == {"count"}:
            return mismatch(wanted, found, key)
        if not found:
            return f"{key} is absent"
        return next((why for o in found if (why := mismatch(wanted, o, key))), "")

    def is_served(self, side, key):
        """Whether the API has the resource of a key: a deleted definition takes it away."""
        resource = re.split(r"[/\[?]", key)[0]
        if resource in SHORT or "." in resource:
            return True
        side.discover()
        return any(k.resource == resource and (k.group == self.group or "example" not in k.group) for k in side.kinds)

    def missing_event(self, side, on, texts):
        resource, _, name = on.partition("/")
        kind = side.kind(resource, self.group)
        events = side.list(side.kind("events", self.group), self.namespace if kind.is_namespaced else "default")
        said = [f"{e['type']} {e['reason']}: {e.get('message', '')}" for e in events if (e["involvedObject"].get("kind"), e["involvedObject"].get("name")) == (kind.kind, name)]
        for t in texts:
            head, _, text = t.partition(": ")
            if not any(s.startswith(head + ":") and text in s for s in said):
                return f"{on} has no event {t!r}, but {said}"
        return ""


class Process:
    """A function that runs beside, and can be stopped and started again at the same address."""

    def __init__(self, command, log):
        self.command, self.log = command, log
        self.process = None

    def start(self):
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *self.command], stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + PATIENCE
        while "serving" not in open(self.log).read():
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failed(f"{self.command} does not serve: {open(self.log).read()}")
            time.sleep(0.02)

    def signal(self, number):
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait()
