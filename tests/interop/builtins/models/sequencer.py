"""function-sequencer: resources of a sequence wait for those before them, and are kept from being deleted before those after them."""

import hashlib
import re

from common import CallError, Fatal, add_result, begin, duration, lower, quote

NAME = "function-sequencer"
VERSIONS = {"v1": "apiextensions.crossplane.io/v1beta1", "v2": "protection.crossplane.io/v1beta1"}
TTLS = {"5m": 300 * 10**9, "1h": 3600 * 10**9, "90s": 90 * 10**9, "1.5s": 1500 * 10**6, "-1s": -(10**9)}


# --- The rules ---


def compile_pattern(element):
    whole = element if element.startswith("^") or element.endswith("$") else f"^{element}$"
    try:
        return re.compile(whole)
    except re.error:
        rest = whole[whole.index("[") :] if "[" in whole else whole
        missing = "]" if "[" in whole else ")"
        raise Fatal(f"cannot compile regex {element}: error parsing regexp: missing closing {missing}: `{rest}`")


class Sequencer:
    def __init__(self, request):
        self.request = request
        self.response = begin(request)
        self.input = request.get("input", {})
        self.observed = request.get("observed", {}).get("resources", {})
        wanted = request.get("desired", {}).get("resources", {})
        self.desired = {k: {"resource": r.get("resource", {}), "ready": r.get("ready", 0)} for k, r in wanted.items()}
        self.usages = {}
        self.version = "v1" if self.input.get("usageVersion") == "v1" else "v2"

    def is_usage(self, o):
        kinds = ("Usage",) if self.version == "v1" else ("Usage", "ClusterUsage")
        return o.get("apiVersion") == VERSIONS[self.version] and o.get("kind") in kinds

    def usage(self, by, of):
        def text(o, *keys):
            for k in keys:
                o = o.get(k, {}) if isinstance(o, dict) else {}
            return o if isinstance(o, str) else ""

        def reference(o):
            return {"apiVersion": text(o, "apiVersion"), "kind": text(o, "kind"), "resourceRef": {"name": text(o, "metadata", "name")}}

        parts = lower("-".join(text(o, *k) for o in (by, of) for k in (("kind",), ("metadata", "name"))))
        end = hashlib.sha256(parts.encode()).hexdigest()[:6] + "-dependency"
        name = f"{parts}-{end}"
        if len(name.encode()) > 63:
            cut = parts.encode()[:45].decode(errors="ignore")
            name = (cut if cut.endswith("-") else cut + "-") + end
        space = text(of, "metadata", "namespace") if self.version == "v2" else ""
        return {
            "apiVersion": VERSIONS[self.version],
            "kind": "Usage" if space or self.version == "v1" else "ClusterUsage",
            "metadata": {"name": name, **({"namespace": space} if space else {})},
            "spec": {"by": reference(by), "of": reference(of), "reason": "dependency", "replayDeletion": bool(self.input.get("replayDeletion"))},
        }

    def protect(self, sequence):
        for before, after in zip(sequence, sequence[1:]):
            try:
                later, earlier = compile_pattern(after), compile_pattern(before)
            except Fatal as e:
                raise CallError(str(e))
            for user, c in self.observed.items():
                by = c.get("resource", {})
                if not later.search(user) or self.is_usage(by):
                    continue
                for used, k in self.observed.items():
                    if earlier.search(used) and used in self.desired:
                        self.usages[f"{user}-{used}-usage"] = {"resource": self.usage(by, k.get("resource", {})), "ready": 1}

    def hold_back(self, pattern):
        dropped = [k for k in self.desired if pattern.search(k) and k not in self.observed]
        for k in dropped:
            del self.desired[k]
        if dropped and self.input.get("resetCompositeReadiness"):
            if "composite" not in self.response.get("desired", {}):
                raise Fatal("cannot reset readiness of the composite resource: there is no desired one")
            self.response["desired"]["composite"]["ready"] = 2

    def create(self, sequence):
        for i, r in enumerate(sequence):
            if i == 0 or r in self.observed:
                continue
            for before in sequence[:i]:
                earlier, own = compile_pattern(before), compile_pattern(r)
                found = [d for k, d in self.desired.items() if earlier.search(k)]
                ready = sum(d["ready"] == 1 for d in found)
                if found and ready == len(found):
                    continue
                why = "does not exist yet" if not found else f"is not fully ready ({ready} of {len(found)})"
                add_result(self.response, "NORMAL", f"Delaying creation of resource(s) matching {quote(r)} because {quote(before)} {why}")
                self.hold_back(own)
                break

    def rules(self):
        ttl = self.input.get("cacheTTL")
        if ttl:
            if ttl not in TTLS:
                raise Fatal(f"cannot set cacheTTL: time: invalid duration {quote(ttl)}")
            self.response["meta"]["ttl"] = duration(TTLS[ttl])
        for rule in self.input.get("rules", []):
            sequence = rule.get("sequence", [])
            if rule.get("createOnly") and rule.get("deleteOnly"):
                raise Fatal(f"rule for sequence [{' '.join(sequence)}] cannot have both deleteOnly and createOnly set to true")
            if self.input.get("enableDeletionSequencing") and not rule.get("createOnly"):
                self.protect(sequence)
            if not rule.get("deleteOnly"):
                self.create(sequence)

    def answer(self):
        try:
            self.rules()
        except Fatal as e:
            add_result(self.response, "FATAL", str(e))
            return self.response
        for r in self.desired.values():
            r["ready"] = r["ready"] if r["ready"] in (1, 2) else 0
        self.response.setdefault("desired", {})["resources"] = {**self.desired, **self.usages}
        return self.response


def answer(request):
    return Sequencer(request).answer()


# --- Requests ---

NAMES = ["a", "b", "c", "ab", "b1", "b2", "x-y", "b-a-usage", "c-b-usage", "a-a-usage", "É"]
ELEMENTS = ["a", "b", "c", "ab", "b.*", "[ab]", "a|b", "^b", "b$", ".*", ".*-usage", "b-a-usage", "x-y", "none", "b\\d", "É", ".", "(a|b)"]
KINDS = ["Bucket", "VPC", "Usage", "ClusterUsage", "ÄΩ", "İx", "A" * 30]
OBJECT_NAMES = ["n", "Name", "n" * 20, "n" * 25, "ÜÑ" * 12, "x-" * 10]


def some_object(r):
    o = {}
    if r.random() < 0.9:
        o["apiVersion"] = r.choice(list(VERSIONS.values()) * 2 + ["v1", "s3/v1", "example.org/v1"])
    if r.random() < 0.9:
        o["kind"] = r.choice(KINDS)
    if r.random() < 0.9:
        o["metadata"] = {"name": r.choice(OBJECT_NAMES)}
        if r.random() < 0.4:
            o["metadata"]["namespace"] = r.choice(["ns", "", "other"])
    return o


def some_rule(r):
    rule = {"sequence": [r.choice(ELEMENTS) for _ in range(r.choice([0, 1, 2, 2, 2, 3, 3, 4, 5]))]}
    if r.random() < 0.02:
        rule["sequence"].insert(r.randint(0, len(rule["sequence"])), r.choice(["(", "["]))
    for k, p in (("createOnly", 0.15), ("deleteOnly", 0.12)):
        if r.random() < p:
            rule[k] = r.random() < 0.8
    return rule


def some_input(r):
    i = {"rules": [some_rule(r) for _ in range(r.choice([0, 1, 1, 2, 2, 3]))]}
    for k, p in (("enableDeletionSequencing", 0.6), ("replayDeletion", 0.3), ("resetCompositeReadiness", 0.4)):
        if r.random() < p:
            i[k] = r.random() < 0.9
    if r.random() < 0.5:
        i["usageVersion"] = r.choice(["v1", "v2", "v3", ""])
    if r.random() < 0.15:
        i["cacheTTL"] = r.choice([*TTLS, "", "x"])
    return i


def generate(r):
    request = {"input": some_input(r), "observed": {"resources": {}}}
    if r.random() < 0.3:
        request["meta"] = {"tag": "t"}
    for name in NAMES:
        if r.random() < 0.45:
            request["observed"]["resources"][name] = {"resource": some_object(r)} if r.random() < 0.95 else {}
    if r.random() < 0.95:
        desired = request["desired"] = {"resources": {}}
        if r.random() < 0.8:
            desired["composite"] = {"resource": {"spec": {"x": 1}}, "ready": r.choice([0, 1, 2, 7])}
        for name in NAMES:
            if r.random() < 0.55:
                desired["resources"][name] = {"ready": r.choice([1, 1, 1, 1, 0, 2, 9])}
                if r.random() < 0.9:
                    desired["resources"][name]["resource"] = {"y": r.randint(0, 9)}
                if r.random() < 0.2:
                    desired["resources"][name]["connectionDetails"] = {"k": "dg=="}
    return request
