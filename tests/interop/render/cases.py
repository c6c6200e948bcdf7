"""Writes RenderRequests in JSON, one file each: cases.py DIRECTORY ADDRESS. A dummy function, which answers what its input says, is at ADDRESS.

Not here, because we differ on purpose or upstream is random (docs/compatibility.md says more):
- observed resources without a controller that are no longer desired: v2.3.4 deletes them, later versions and we do not;
- a required resource whose apiVersion has two slashes: v2.3.4 looks for it as it is, we say what is wrong with it;
- conditions whose status is none of True, False and Unknown: we read them as Unknown;
- addresses of functions that no resolver can read: the texts are gRPC's;
- a desired resource with an empty name: its own name is random;
- which of several resources that cannot be composed an error names: the first that a random order finds.
"""

import json
import os
import sys

directory, address = sys.argv[1:]
UID = "eb117bae-5e34-5396-86f0-0d431b0d5302"  # of App web in default


def xr(ns="default", meta=None, spec=None, **rest):
    metadata = {"name": "web", **({"namespace": ns} if ns else {}), **(meta or {})}
    return {"apiVersion": "example.org/v1", "kind": "App", "metadata": metadata, "spec": spec or {"size": 3}, **rest}


def step(response, name="one", **rest):
    return {"step": name, "functionRef": {"name": "dummy"}, "input": {"apiVersion": "x/v1", "kind": "Response", "response": response}, **rest}


def composition(*steps, **spec):
    of = {"apiVersion": "example.org/v1", "kind": "App"}
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": "apps"},
        "spec": {"compositeTypeRef": of, "mode": "Pipeline", "pipeline": list(steps), **spec},
    }


def request(composite, comp, **rest):
    return {"composite": {"compositeResource": composite, "composition": comp, "functions": [{"name": "dummy", "address": address}], **rest}}


def resource(kind="Bucket", ready=None, **meta):
    r = {"resource": {"apiVersion": "s3.example.org/v1", "kind": kind, "spec": {"size": 3}}}
    if meta:
        r["resource"]["metadata"] = meta
    if ready:
        r["ready"] = ready
    return r


def desired(**resources):
    return {"desired": {"resources": resources}}


def config_map(**meta):
    return {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}}


def observed(key="bucket", name="b1", owner=UID, ns="default", **meta):
    m = {"name": name, "annotations": {"crossplane.io/composition-resource-name": key}, "uid": "u-" + name}
    m["labels"] = {"crossplane.io/composite": "web", "keep": "me"}
    if ns:
        m["namespace"] = ns
    if owner:
        m["ownerReferences"] = [{"apiVersion": "example.org/v1", "kind": "App", "name": "web", "uid": owner, "controller": True, "blockOwnerDeletion": True}]
    return {"apiVersion": "s3.example.org/v1", "kind": "Bucket", "metadata": {**m, **meta}, "spec": {"color": "red"}}


def condition(kind, status="True", reason="R", **rest):
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": "2020-01-01T00:00:00Z", **rest}


def result(severity, message, **rest):
    return {"severity": "SEVERITY_" + severity, "message": message, **rest}


def secret(name="sec", ns="n"):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": ns}, "data": {"a": "YQ=="}}


def xrd(version="v1", group="example.org", kind="App", **spec):
    return {
        "apiVersion": "apiextensions.crossplane.io/" + version,
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "apps.example.org"},
        "spec": {"group": group, "names": {"kind": kind, "plural": "apps"}, "versions": [], **spec},
    }


TRUE = "READY_TRUE"
FN_CONDITIONS = [{"type": t, "status": "STATUS_CONDITION_TRUE", "reason": "Up"} for t in ("Database", "Ready")]
BUCKET = {
    "desired": {
        "composite": {"resource": {"status": {"url": "x", "n": 1.5}}},
        "resources": {"bucket": resource(ready=TRUE), "other": resource()},
    },
    "results": [result("NORMAL", "hello"), result("WARNING", "careful", reason="Why"), result("UNSPECIFIED", "what")],
    "conditions": FN_CONDITIONS,
}
FATAL = {"results": [result("NORMAL", "first"), result("FATAL", "boom", reason="R"), result("NORMAL", "after")], "conditions": FN_CONDITIONS}
OLD = [condition("Database", "False", "Down"), condition("Gone", "True", "X")]
bucket, fatal = composition(step(BUCKET)), composition(step(FATAL))
credentials = [{"name": "c", "source": "Secret", "secretRef": {"namespace": "n", "name": "sec"}}]
foreign = [{"apiVersion": "v1", "kind": "K", "name": "kn", "uid": "ku", "controller": True}]
going = {"deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["composite.apiextensions.crossplane.io", "other"]}
asked = {"annotations": {"crossplane.io/reconcile-requested-at": "now"}}
by_name = {"apiVersion": "v1", "kind": "ConfigMap", "matchName": "cm", "namespace": "default"}
by_label = {"apiVersion": "v1", "kind": "ConfigMap", "matchLabels": {"labels": {"x": "y"}}}
no_labels = {k: v for k, v in observed()["metadata"].items() if k != "labels"}

cases = {
    # Shapes
    "namespaced": request(xr(), bucket),
    "cluster": request(xr(ns=None), bucket),
    "legacy": request(xr(ns=None, spec={"compositionRef": {"name": "old"}}), composition(step(BUCKET), writeConnectionSecretsToNamespace="sys"), compositeResourceDefinition=xrd()),
    "legacy-fatal": request(xr(ns=None), composition(step(FATAL), writeConnectionSecretsToNamespace="sys"), compositeResourceDefinition=xrd()),
    "xrd-v2": request(xr(), bucket, compositeResourceDefinition=xrd("v2")),
    "xrd-v2-legacy": request(xr(ns=None), bucket, compositeResourceDefinition=xrd("v2", scope="LegacyCluster")),
    "xrd-v1-cluster": request(xr(ns=None), bucket, compositeResourceDefinition=xrd(scope="Cluster")),
    "xrd-mismatch": request(xr(), bucket, compositeResourceDefinition=xrd(group="other.org", kind="Foo")),
    "generation": request(xr(meta={"generation": 4, "uid": "my-uid", "resourceVersion": "5", "labels": {"a": "b"}}, status={"old": 1, "conditions": OLD}), bucket),
    "empty": request(xr(), composition(step({}))),
    "no-steps": request(xr(), composition()),
    "two-steps": request(xr(), composition(step(BUCKET, "a"), step({**desired(third=resource("Topic")), "results": [result("NORMAL", "again")]}, "b"))),
    "numbers": request(
        xr(spec={"a": 1e20, "b": 0.1, "c": -3, "d": 9007199254740993}),
        composition(step({"desired": {"composite": {"resource": {"status": {"big": 1e20, "small": 1e-7, "i": 7}}}, "resources": {"x": {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "spec": {"f": 2.5, "n": None, "l": [], "o": {}}}}}}})),
    ),
    # Selection
    "same-ref": request(xr(spec={"crossplane": {"compositionRef": {"name": "apps"}, "resourceRefs": [{"apiVersion": "v1", "kind": "X", "name": "y"}]}}), bucket),
    "other-ref": request(xr(spec={"crossplane": {"compositionRef": {"name": "old"}}}), fatal),
    "manual": request(xr(spec={"crossplane": {"compositionRevisionRef": {"name": "rr"}, "compositionUpdatePolicy": "Manual", "compositionSelector": {"matchLabels": {"a": "b"}}}}), fatal),
    "labelled": request(xr(meta={"labels": {"crossplane.io/composite": "root"}}), fatal),
    "labelled-with-ref": request(xr(spec={"crossplane": {"compositionRef": {"name": "apps"}}}, meta={"labels": {"crossplane.io/composite": "root"}}), fatal),
    "nameless-composition": request(xr(), {**bucket, "metadata": {}}),
    "incompatible-kind": request(xr(), composition(compositeTypeRef={"apiVersion": "example.org/v1", "kind": "Other"})),
    "incompatible-version": request({**xr(), "apiVersion": "example.org/v2"}, bucket),
    "no-composition": {"composite": {"compositeResource": xr()}},
    "no-composite": {"composite": {}},
    "nothing": {},
    # Observed resources
    "observed": request(xr(), bucket, observedResources=[observed(), observed("gone", "g1"), observed("other", "o1", owner=None)]),
    "observed-twice": request(xr(), bucket, observedResources=[observed(), observed(name="b2")]),
    "observed-renamed": request(xr(), composition(step(desired(bucket=resource(name="renamed", generateName="gen-", namespace="default")))), observedResources=[observed(generateName="old-")]),
    "observed-moved": request(xr(ns=None), composition(step(desired(bucket=resource(namespace="zzz")))), observedResources=[observed(owner=None)]),
    "observed-in-cluster": request(xr(ns=None), fatal, observedResources=[observed("z", "z1", owner=None), observed("a", "a1", owner=None, ns=None)]),
    "observed-in-legacy": request(xr(ns=None), fatal, observedResources=[observed("z", "z1", owner=None), observed("a", "a1", owner=None, ns=None)], compositeResourceDefinition=xrd()),
    "observed-foreign": request(xr(), bucket, observedResources=[observed(ownerReferences=foreign), observed("x", "x1", ns="elsewhere")]),
    "observed-both-wrong": request(xr(), bucket, observedResources=[observed(ns="elsewhere", ownerReferences=foreign)]),
    "observed-nameless": request(xr(), bucket, observedResources=[observed(annotations={})]),
    "observed-secret": request(xr(), bucket, observedResources=[{**observed(), "spec": {"writeConnectionSecretToRef": {"name": "cs"}}}], credentials=[secret("cs", "default")]),
    "collected": request(xr(), composition(step({})), observedResources=[observed(labels={"crossplane.io/composite": "web"}), observed("n", "n1", labels={"crossplane.io/claim-name": "a", "crossplane.io/claim-namespace": "b"})]),
    "collected-without-labels": request(xr(), composition(step({})), observedResources=[{**observed(), "metadata": no_labels}]),
    # Names and metadata
    "namespace-overridden": request(xr(), composition(step(desired(Alpha=config_map(namespace="other"))))),
    "generate-name": request(xr(), composition(step(desired(a=config_map(generateName="abc"), b=config_map(generateName="abc-"))))),
    "bad-name": request(xr(), composition(step(desired(a=config_map(generateName="ABC-"))))),
    "long-name": request(xr(meta={"name": "a" * 49 + "-x"}), composition(step(desired(x=resource())))),
    "longer-name": request(xr(meta={"name": "very-long-parent-name-" * 3 + "z"}), composition(step(desired(x=resource())))),
    "colons": request(xr(ns=None), composition(step(desired(x={"resource": {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a:b:c"}}})))),
    "nameless": request({"apiVersion": "example.org/v1", "kind": "App", "metadata": {"namespace": "default"}}, composition(step(desired(bucket=resource())))),
    "kindless": request(xr(), composition(step(desired(x={"resource": {"apiVersion": "v1"}}, y={"resource": {"kind": "NoVersion"}})))),
    "given-uid": request(xr(ns=None), composition(step(desired(bucket=resource(namespace="zzz", uid="abc"))))),
    "claimed": request(xr(ns=None, meta={"labels": {"crossplane.io/claim-name": "cn", "crossplane.io/claim-namespace": "cns", "crossplane.io/composite": "root"}}), bucket),
    "controlled": request(xr(), composition(step(desired(a=config_map(name="n", ownerReferences=foreign))))),
    "owned": request(xr(), composition(step(desired(a=config_map(labels={"mine": "1"}, annotations={"an": "1"}, ownerReferences=[{**foreign[0], "controller": False}]))))),
    "composite-is-other": request(xr(), composition(step({"desired": {"composite": {"resource": {"apiVersion": "o/v1", "kind": "Other", "metadata": {"name": "o", "uid": "x"}, "spec": {"a": 1}}}}}))),
    # Readiness
    "two-unready": request(xr(), composition(step(desired(b=resource(), a=resource())))),
    "three-unready": request(xr(), composition(step(desired(**{k: resource() for k in "cba"})))),
    "five-unready": request(xr(), composition(step(desired(**{k: resource() for k in "dbcae"})))),
    "said-ready": request(xr(), composition(step({"desired": {"composite": {"ready": TRUE}, "resources": {"b": resource()}}}))),
    "said-unready": request(xr(), composition(step({"desired": {"composite": {"ready": "READY_FALSE"}, "resources": {"b": resource(ready=TRUE)}}}))),
    # Conditions
    "conditions": request(
        xr(status={"conditions": [condition("Synced", "True", "ReconcileSuccess"), condition("Ready", "True", "Available"), condition("Custom", extra=1), {"type": "Short", "status": "True"}]}),
        composition(step({"conditions": [{"type": "Custom", "status": "STATUS_CONDITION_UNSPECIFIED", "reason": "R"}, {"type": "Healthy", "status": "STATUS_CONDITION_TRUE", "reason": "R"}, {"type": "", "status": "STATUS_CONDITION_FALSE", "reason": ""}]})),
    ),
    "conditions-in-status": request(
        xr(status={"conditions": OLD}),
        composition(step({"desired": {"composite": {"resource": {"status": {"conditions": [condition("Gone", "False", "Mine"), {"type": "Ready", "status": "True"}, {"type": "Mine", "status": "True", "reason": "Z"}]}}}}})),
    ),
    "conditions-for-claims": request(
        xr(ns=None),
        composition(step({"conditions": [{"type": t, "status": "STATUS_CONDITION_UNKNOWN", "reason": "Up", "message": "m", "target": "TARGET_COMPOSITE_AND_CLAIM"} for t in ("C", "D", "C")]})),
        compositeResourceDefinition=xrd(),
    ),
    # Ends
    "fatal": request(xr(meta={"generation": 4}, status={"old": 1, "conditions": OLD}), composition(step(BUCKET, "zero"), step(FATAL))),
    "fatal-conditions": request(xr(status={"conditions": [condition("Ready"), {"type": "Short", "status": "True"}]}), fatal),
    "fatal-requirements": request(xr(), composition(step({**FATAL, "requirements": {"resources": {"a": by_name}}}, requirements={"requiredResources": [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "cm", "namespace": "q"}]}))),
    "paused": request(xr(meta={"generation": 4, "annotations": {"crossplane.io/paused": "true"}}, status={"conditions": OLD}), bucket),
    "paused-and-going": request(xr(meta={**going, "annotations": {"crossplane.io/paused": "true", **asked["annotations"]}}), bucket),
    "going": request(xr(meta=going, status={"conditions": OLD}), bucket),
    "going-and-asked": request(xr(meta={**going, **asked}), bucket),
    "asked": request(xr(meta=asked), bucket),
    "asked-and-handled": request(xr(meta=asked, status={"lastHandledReconcileAt": "now"}), fatal),
    # What steps need
    "unknown-function": request(xr(), composition(step(BUCKET, functionRef={"name": "nope"}))),
    "credentials": request(xr(), composition(step(BUCKET, credentials=credentials)), credentials=[secret()]),
    "credentials-missing": request(xr(), composition(step(BUCKET, credentials=credentials))),
    "credentials-elsewhere": request(xr(), composition(step(BUCKET, credentials=[{"name": "none", "source": "None"}, *credentials])), credentials=[secret(ns="other")]),
    "requirements": request(
        xr(),
        composition(step({"requirements": {"resources": {"a": by_name, "b": by_label, "c": {"apiVersion": "z.org/v1", "kind": "None", "matchName": "n"}}}})),
        requiredResources=[{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm", "namespace": "default"}}],
    ),
    "requirements-all": request(xr(), composition(step({"requirements": {"resources": {"a": {"apiVersion": "v1", "kind": "ConfigMap", "matchLabels": {"labels": {}}}, "b": {"apiVersion": "v1", "kind": "ConfigMap"}}}}))),
    "requirements-bootstrap": request(
        xr(),
        composition(step(BUCKET, requirements={"requiredResources": [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "cm"}, {"requirementName": "q", "apiVersion": "v1", "kind": "ConfigMap", "matchLabels": {"x": "y"}}], "requiredSchemas": [{"requirementName": "s", "apiVersion": "v1", "kind": "ConfigMap"}]})),
    ),
    "schemas": request(xr(), composition(step(FATAL, requirements={"requiredSchemas": [{"requirementName": "s", "apiVersion": "example.org/v1", "kind": "App"}]}))),
}

for name, case in cases.items():
    with open(os.path.join(directory, name + ".json"), "w") as f:
        json.dump(case, f)
