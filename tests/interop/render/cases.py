"""Writes RenderRequests in JSON, one file each: cases.py DIRECTORY DUMMY SCRIPT. Functions are at the addresses DUMMY, which answers what its input
says, and SCRIPT, which can also be asked to show its request, to answer differently the next time and to fail (peers/render/script).

Not here, because we differ on purpose or upstream is random (docs/compatibility.md says more):
- a required resource whose apiVersion has two slashes: v2.3.4 looks for it as it is, we say what is wrong with it;
- conditions whose status is none of True, False and Unknown: we read them as Unknown;
- a composite whose spec is no object: v2.3.4 cannot note the selection in it and says nothing about it; nor, in a status that is none, that
  it is responsive;
- a desired resource whose metadata is null: v2.3.4 cannot put a name into it and says that its name is invalid, for us it has no metadata;
- a Composition with fields of other types: the texts are of Go's JSON decoder; with mode Resources: v2.3.4 runs its pipeline all the same;
- results of a severity that the protocol does not know: v2.3.4 makes an event without a text of it;
- addresses of functions that no resolver can read: the texts are gRPC's;
- a desired resource with an empty name: its own name is random;
- which of several resources that cannot be composed an error names: the first that a random order finds.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from objects import cm, composition, result, secret, selector, xr

directory, dummy, script = sys.argv[1:]
UID = "eb117bae-5e34-5396-86f0-0d431b0d5302"  # of App web in default


FUNCTIONS = [{"name": "dummy", "address": dummy}, {"name": "script", "address": script}]


def step(response, name="one", **rest):
    return {"step": name, "functionRef": {"name": "dummy"}, "input": {"apiVersion": "x/v1", "kind": "Response", "response": response}, **rest}


def ask(*responses, name="one", script=None, **rest):
    """A step of the scripted function."""
    return {"step": name, "functionRef": {"name": "script"}, "input": {"step": name, "responses": list(responses), **(script or {})}, **rest}


def show(*responses, name="one", field="seen", **rest):
    """The same, and the composite's status shows the last request."""
    return ask(*responses, name=name, script={"pass": True, "echo": field}, **rest)


def request(composite, comp, **rest):
    return {"composite": {"compositeResource": composite, "composition": comp, "functions": FUNCTIONS, **rest}}


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


def xrd(version="v1", group="example.org", kind="App", **spec):
    return {
        "apiVersion": "apiextensions.crossplane.io/" + version,
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "apps.example.org"},
        "spec": {"group": group, "names": {"kind": kind, "plural": "apps"}, "versions": [], **spec},
    }


def wants(**resources):
    return {"requirements": {"resources": resources}}


def status(**fields):
    return {"desired": {"composite": {"resource": {"status": fields}}}}


def nested(depth, inner):
    for i in range(depth):
        inner = {"o": inner} if i % 2 else [inner]
    return inner


POOL = [cm(x="y"), cm("b", x="y"), cm("a", "other", x="z"), cm("c", None), {**cm(), "kind": "Other"}, cm("a-b", "default", x="y"), cm("ab", "de", x="y")]
BOOT = [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "cm", "namespace": "default"}]
APP = {"apiVersion": "example.org/v1", "kind": "App"}
OPENAPI = {
    "components": {
        "schemas": {
            "App": {"properties": {"spec": {"$ref": "#/components/schemas/Spec"}, "more": {"type": "array", "items": {"$ref": "#/components/schemas/Spec"}}}, "x-kubernetes-group-version-kind": [{"group": "example.org", "version": "v1", "kind": "App"}]},
            "Spec": {"type": "object", "properties": {"size": {"type": "integer"}, "next": {"allOf": [{"$ref": "#/components/schemas/Leaf"}], "default": {}}}},
            "Leaf": {"type": "string", "enum": ["a"]},
            "Two": {"x-kubernetes-group-version-kind": [{"group": "example.org", "version": "v1", "kind": "Two"}, {"group": "example.org", "version": "v2", "kind": "Two"}]},
        }
    }
}
LEAF = {"$ref": "#/components/schemas/Leaf"}
REFERENCES = {
    "components": {
        "schemas": {
            "App": {
                "x-kubernetes-group-version-kind": [{"group": "example.org", "version": "v1", "kind": "App"}],
                "properties": {
                    "beside": {**LEAF, "description": "d", "default": {"x": 1}},
                    "all": {"allOf": [{"type": "integer"}, LEAF, {"$ref": "#/components/schemas/Cycle"}], "properties": {"q": LEAF}},
                    "notOf": {"anyOf": [LEAF], "oneOf": [LEAF], "not": LEAF, "patternProperties": {"a": LEAF}, "x-other": LEAF, "allOf": [{"properties": {"q": LEAF}}]},
                    "map": {"additionalProperties": {"allOf": [LEAF], "default": {}}},
                    "any": {"additionalProperties": True},
                    "list": {"items": LEAF},
                    "twice": {"$ref": "#/components/schemas/Chain"},
                    "bare": {"$ref": "#/components/schemas/Bare"},
                    "cycle": {"$ref": "#/components/schemas/Cycle"},
                    "itself": {"$ref": "#/components/schemas/App"},
                },
            },
            "Leaf": {"type": "string", "description": "leaf", "default": "a"},
            "Chain": {"allOf": [LEAF], "description": "chain"},
            "Bare": LEAF,
            "Cycle": {"type": "object", "properties": {"me": {"$ref": "#/components/schemas/Cycle"}, "all": {"allOf": [{"$ref": "#/components/schemas/Cycle"}]}, "leaf": LEAF}},
        }
    }
}
HOSTILE = {
    "numbers": [0, -0.0, 1.5, -1, 1e20, 1e21, 1e-7, 1e308, 5e-324, 9007199254740991, 9007199254740992, 2**63, -(2**63), 123456789.125],
    "texts": ["", " ", "\u0000", "a\u0000b", "\u2028", "\U0001F600", "\ufffd", "\u00e9", "e\u0301", "<>&", "\\", '"', "\t\n\r", "true", "null", "1"],
    "nothing": None,
    "empty": {"list": [], "object": {}, "text": ""},
    "": "empty key",
    "a.b/c": {"": {"": None}},
    "\u00e9\u0000": 1,
    "nulls": [None, [None], {"a": None}],
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
ODD = 'o"\\d\u00e9\n\u0007\u2028'
CONNECTION = {"desired": {"composite": {"connectionDetails": {"a": "YQ==", "b": "AP8="}, "ready": TRUE}, "resources": {"b": {**resource(ready=TRUE), "connectionDetails": {"c": "Yw=="}}}}}
TO_SECRET = {"writeConnectionSecretToRef": {"name": "cs", "namespace": "n"}}
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
    # What functions see
    "sees-namespaced": request(xr(meta={"labels": {"a": "b"}, "annotations": {"c": "d"}, "generation": 3}, status={"old": 1, "conditions": OLD}), composition(show(BUCKET))),
    "sees-cluster": request(xr(ns=None, spec={"crossplane": {"compositionRef": {"name": "apps"}, "resourceRefs": []}}), composition(show({}))),
    "sees-legacy": request(xr(ns=None, spec={"compositionRef": {"name": "old"}, "resourceRefs": [{"apiVersion": "v1", "kind": "X", "name": "y"}]}), composition(show({}), writeConnectionSecretsToNamespace="sys"), compositeResourceDefinition=xrd()),
    "sees-legacy-connection": request(xr(ns=None, spec={"writeConnectionSecretToRef": {"name": "cs", "namespace": "n"}}), composition(show({})), credentials=[secret("cs")], compositeResourceDefinition=xrd()),
    "sees-no-connection": request(xr(spec={"writeConnectionSecretToRef": {"name": "cs", "namespace": "n"}}), composition(show({})), credentials=[secret("cs"), secret("cs", "default")]),
    "sees-observed": request(xr(), composition(show(BUCKET)), observedResources=[{**observed(), "status": {"ready": True}}, observed("gone", "g1", deletionTimestamp="2024-01-01T00:00:00Z"), observed("other", "o1")]),
    "sees-observed-connection": request(xr(), composition(show({})), observedResources=[{**observed(), "spec": {"writeConnectionSecretToRef": {"name": "cs", "namespace": "ignored"}}}, {**observed("b", "b2"), "spec": {"writeConnectionSecretToRef": {"name": "none"}}}], credentials=[secret("cs", "default"), secret("none", "n")]),
    "sees-observed-connection-of-cluster": request(xr(ns=None, meta={"uid": "cu"}), composition(show({})), observedResources=[{**observed(owner="cu", ns=None), "spec": {"writeConnectionSecretToRef": {"name": "cs", "namespace": "n"}}}], credentials=[secret("cs")]),
    "sees-earlier-steps": request(xr(), composition(ask({**BUCKET, "context": {"a": {"b": [1, None]}}}, name="x"), show({"context": {"c": 2}}, name="y", field="second"), show({}, name="z", field="third"))),
    "sees-nothing-of-earlier": request(xr(), composition(ask({**BUCKET, "context": {}}, name="x"), ask({}, name="y"), ask({}, name="z", script={"echo": "seen"}))),
    "sees-connection-of-earlier": request(xr(), composition(ask({"desired": {"composite": {"connectionDetails": {"k": "dg=="}, "ready": TRUE}, "resources": {"b": {**resource(), "connectionDetails": {"x": "AAH/"}, "ready": "READY_FALSE"}}}}, name="x"), show({}, name="y"))),
    "sees-credentials": request(xr(), composition(show({}, credentials=[{"name": "z", "source": "Secret", "secretRef": {"namespace": "n", "name": "sec"}}, {"name": "a", "source": "Secret", "secretRef": {"namespace": "m", "name": "two"}}, {"name": "none", "source": "None"}])), credentials=[{**secret(), "data": {"b": "AP8=", "a": "", "z": "eg=="}}, {**secret("two", "m"), "data": None, "stringData": {"s": "t"}}]),
    "sees-credentials-of-one-step": request(xr(), composition(show({}, name="x", field="first", credentials=credentials), show({}, name="y", field="second")), credentials=[secret()]),
    "sees-bootstrap": request(xr(), composition(show({}, requirements={"requiredResources": [*BOOT, {"requirementName": "q", "apiVersion": "v1", "kind": "ConfigMap", "matchLabels": {"x": "y"}}, {"requirementName": "none", "apiVersion": "v1", "kind": "ConfigMap", "name": "zz"}, {"requirementName": "in", "apiVersion": "v1", "kind": "ConfigMap", "matchLabels": {"x": "y"}, "namespace": "de"}], "requiredSchemas": [{"requirementName": "s", **APP}, {"requirementName": "t", "apiVersion": "v1", "kind": "None"}]})), requiredResources=POOL, requiredSchemas=[OPENAPI]),
    "sees-bootstrap-of-one-step": request(xr(), composition(show({}, name="x", field="first", requirements={"requiredResources": BOOT}), show({}, name="y", field="second")), requiredResources=POOL),
    "sees-hostile-values": request(xr(spec=HOSTILE), composition(show({}))),
    "no-input": request(xr(), composition({"step": "one", "functionRef": {"name": "script"}})),
    "same-function-twice": request(xr(), composition(show({}, name="x", field="first"), show({}, name="x", field="second"))),
    # What functions ask for
    "asks-by-name": request(xr(), composition(show(wants(a=selector("cm", namespace="default"), b=selector("cm"), c=selector("c"), d=selector("c", namespace="default"), e=selector("none", namespace="default"), f=selector("", namespace="default")))), requiredResources=POOL),
    "asks-by-labels": request(xr(), composition(show(wants(a=selector(labels={"x": "y"}), b=selector(labels={"x": "y"}, namespace="default"), c=selector(labels={"x": "none"}), d=selector(labels={"x": "y", "z": "z"})))), requiredResources=POOL),
    "asks-for-all": request(xr(), composition(show(wants(a=selector(labels={}), b=selector(), c=selector(namespace="default"), d=selector(kind="None"), e=selector(labels={}, namespace="")))), requiredResources=POOL),
    "asks-in-the-old-field": request(xr(), composition(show({"requirements": {"extraResources": {"a": selector("cm", namespace="default"), "b": selector(labels={"x": "y"}), "c": selector("none")}}})), requiredResources=POOL),
    "asks-in-both-fields": request(xr(), composition(show({"requirements": {"extraResources": {"a": selector("cm", namespace="default")}, "resources": {"a": selector("b", namespace="default")}}})), requiredResources=POOL),
    "asks-for-observed": request(xr(), composition(show(wants(a=selector("b1", kind="Bucket", apiVersion="s3.example.org/v1", namespace="default")))), observedResources=[observed()]),
    "asks-for-itself": request(xr(), composition(show(wants(a={**APP, "matchName": "web", "namespace": "default"})))),
    "asks-for-secrets": request(xr(), composition(show(wants(a=selector("sec", kind="Secret", namespace="n"), b=selector(kind="Secret")))), credentials=[secret()], requiredResources=[secret("other")]),
    "asks-for-schemas": request(xr(), composition(show({"requirements": {"schemas": {"a": APP, "b": {"apiVersion": "example.org/v1", "kind": "None"}, "c": {"apiVersion": "example.org/v1", "kind": "Two"}, "d": {"apiVersion": "v1", "kind": "App"}}}})), requiredSchemas=[OPENAPI]),
    "asks-for-schemas-with-references": request(xr(), composition(show({"requirements": {"schemas": {"a": APP}}})), requiredSchemas=[REFERENCES]),
    "asks-for-schemas-with-lost-references": request(xr(), composition(show({"requirements": {"schemas": {"a": APP}}})), requiredSchemas=[{"components": {"schemas": {"App": {**OPENAPI["components"]["schemas"]["App"], "properties": {"a": {"items": {"$ref": "#/nowhere"}}}}}}}]),
    "asks-for-schemas-of-none": request(xr(), composition(show({"requirements": {"schemas": {"a": APP}}}))),
    "asks-for-both": request(xr(), composition(show({"requirements": {"schemas": {"a": APP}, "resources": {"a": selector("cm", namespace="default")}}})), requiredResources=POOL, requiredSchemas=[OPENAPI]),
    "asks-twice": request(xr(), composition(show(wants(a=selector("cm", namespace="default")), wants(a=selector("cm", namespace="default"), b=selector("b", namespace="default")))), requiredResources=POOL),
    "asks-for-less": request(xr(), composition(show(wants(a=selector("cm", namespace="default"), b=selector("b", namespace="default")), wants(b=selector("b", namespace="default")))), requiredResources=POOL),
    "asks-six-times": request(xr(), composition(show(*(wants(**{"n%d" % min(i, 4): selector("cm", namespace="default")}) for i in range(6)))), requiredResources=POOL),
    "asks-forever": request(xr(), composition(show(*(wants(**{"n%d" % i: selector("cm", namespace="default")}) for i in range(9)))), requiredResources=POOL),
    "asks-back-and-forth": request(xr(), composition(show(*[wants(a=selector("cm")), wants(b=selector("cm"))] * 4))),
    "asks-and-asks-no-more": request(xr(), composition(show(wants(a=selector("cm", namespace="default")), {})), requiredResources=POOL),
    "asks-for-nothing": request(xr(), composition(show({"requirements": {}}, {"requirements": {}}))),
    "asks-for-nothing-once": request(xr(), composition(show({"requirements": {}}, {}))),
    "asks-for-bootstrap": request(xr(), composition(show(wants(r=selector("cm", namespace="default")), wants(q=selector("b", namespace="default")), requirements={"requiredResources": BOOT})), requiredResources=POOL),
    "asks-for-bootstrap-that-is-not-there": request(xr(), composition(show(wants(none=selector("zz", namespace="default")), wants(q=selector("b", namespace="default")), requirements={"requiredResources": [{"requirementName": "none", "apiVersion": "v1", "kind": "ConfigMap", "name": "zz", "namespace": "default"}]})), requiredResources=POOL),
    "asks-for-part-of-bootstrap": request(xr(), composition(show({"requirements": {"resources": {"r": selector("cm", namespace="default")}, "schemas": {"s": APP}}}, {}, requirements={"requiredResources": [*BOOT, {**BOOT[0], "requirementName": "q"}], "requiredSchemas": [{"requirementName": "s", **APP}]})), requiredResources=POOL, requiredSchemas=[OPENAPI]),
    "asks-for-bootstrap-otherwise": request(xr(), composition(show(wants(r=selector(labels={"x": "y"}, namespace="de")), {}, requirements={"requiredResources": [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "ab", "namespace": "de"}]})), requiredResources=POOL),
    "asks-for-bootstrap-in-the-older-field": request(xr(), composition(show({"requirements": {"extraResources": {"r": selector("cm", namespace="default")}}}, {}, requirements={"requiredResources": BOOT})), requiredResources=POOL),
    "asks-then-fails": request(xr(), composition(ask(wants(a=selector("cm", namespace="default")), FATAL)), requiredResources=POOL),
    "asks-and-fails": request(xr(), composition(ask({**FATAL, **wants(a=selector("cm", namespace="default"))}, {})), requiredResources=POOL),
    "asks-and-says": request(xr(), composition(ask({**BUCKET, **wants(a=selector("cm"))}, {**wants(a=selector("cm")), "results": [result("NORMAL", "last")], "conditions": [{"type": "Last", "status": "STATUS_CONDITION_TRUE", "reason": "L"}]}))),
    "asks-over-bootstrap": request(xr(), composition(show(wants(r=selector("b", namespace="default"), s=selector("cm", namespace="default")), requirements={"requiredResources": BOOT})), requiredResources=POOL),
    "asks-in-one-step-alone": request(xr(), composition(show(wants(a=selector("cm", namespace="default")), name="x", field="first"), show({}, name="y", field="second")), requiredResources=POOL),
    "asks-in-two-steps": request(xr(), composition(show(wants(a=selector("cm", namespace="default")), name="x", field="first"), show(wants(a=selector("b", namespace="default")), name="y", field="second")), requiredResources=POOL),
    "asks-with-context": request(xr(), composition(show({**wants(a=selector("cm")), "context": {"k": "first"}}, {**wants(a=selector("cm")), "context": {"k": "second"}}, name="x", field="first"), show({}, name="y", field="second"))),
    "asks-for-bad-schema": request(xr(), composition(ask({"requirements": {"schemas": {"a": {"apiVersion": "a/b/c", "kind": "K"}}}}))),
    "bootstrap-bad-schema": request(xr(), composition(ask({}, requirements={"requiredSchemas": [{"requirementName": "s", "apiVersion": "a/b/c", "kind": "K"}]}))),
    # What functions say
    "results-of-all-sorts": request(xr(), composition(ask({"results": [result(s, s + " " + t, reason="Why", target="TARGET_" + t) for s in ("NORMAL", "WARNING", "UNSPECIFIED") for t in ("UNSPECIFIED", "COMPOSITE", "COMPOSITE_AND_CLAIM")]}))),
    "results-oddly": request(xr(), composition(ask({"results": [{}, result("NORMAL", ""), result("NORMAL", "empty reason", reason=""), result("WARNING", "a\nb \u00e9 %s"), result("NORMAL", "x" * 5000)]}))),
    "results-of-claimed": request(xr(ns=None, spec={"claimRef": {"apiVersion": "example.org/v1", "kind": "C", "name": "c", "namespace": "n"}}), composition(ask({"results": [result("NORMAL", "both", target="TARGET_COMPOSITE_AND_CLAIM")]})), compositeResourceDefinition=xrd()),
    "fatal-first-of-two": request(xr(), composition(ask(FATAL, name="x"), ask(BUCKET, name="y"))),
    "fatal-second-of-two": request(xr(), composition(ask(BUCKET, name="x"), ask({**FATAL, "results": [result("WARNING", "before"), *FATAL["results"]]}, name="y")), observedResources=[observed(), observed("gone", "g1")]),
    "fatal-with-target": request(xr(), composition(ask({"results": [result("FATAL", "for all", reason="Mine", target="TARGET_COMPOSITE_AND_CLAIM")]}))),
    "fatal-without-words": request(xr(), composition(ask({"results": [result("FATAL", "")]}))),
    "fatal-twice": request(xr(), composition(ask({"results": [result("FATAL", "one"), result("FATAL", "two")]}))),
    "error-internal": request(xr(), composition(ask(script={"code": 13, "error": "a 100% failure"}))),
    "error-unimplemented": request(xr(), composition(ask(script={"code": 12, "error": "not me"}))),
    "error-canceled": request(xr(), composition(ask(script={"code": 1, "error": "gone"}))),
    "error-unauthenticated": request(xr(), composition(ask(script={"code": 16, "error": "who?"}))),
    "error-texts": request(xr(), composition(ask(script={"code": 2, "error": "line\nline \u00e9 %s \"quoted\""}))),
    "error-without-text": request(xr(), composition(ask(script={"code": 5, "error": ""}))),
    "error-after-a-step": request(xr(status={"conditions": OLD}), composition(ask(BUCKET, name="x"), ask(name="y", script={"code": 13, "error": "late"}))),
    "unknown-fields": request(xr(), composition(ask(BUCKET, script={"unknown": "uj4DYWJj"}))),
    "output-ignored": request(xr(), composition(ask({**BUCKET, "output": {"a": 1}, "meta": {"tag": "other", "ttl": "3600s"}}))),
    # Conditions
    "condition-targets": request(xr(ns=None), composition(ask({"conditions": [{"type": "T" + str(i), "status": "STATUS_CONDITION_FALSE", "reason": "R", "target": t} for i, t in enumerate(("TARGET_UNSPECIFIED", "TARGET_COMPOSITE", "TARGET_COMPOSITE_AND_CLAIM", 9))]})), compositeResourceDefinition=xrd()),
    "condition-system-types": request(xr(), composition(ask({"conditions": [{"type": t, "status": "STATUS_CONDITION_FALSE", "reason": "Mine"} for t in ("Ready", "Synced", "Healthy", "UpToDate", "Responsive", "ready", "Other")]}))),
    "condition-duplicates": request(xr(), composition(ask({"conditions": [{"type": "A", "status": "STATUS_CONDITION_TRUE", "reason": "One"}, {"type": "B", "status": "STATUS_CONDITION_TRUE", "reason": "One"}]}, name="x"), ask({"conditions": [{"type": "A", "status": "STATUS_CONDITION_FALSE", "reason": "Two", "message": "second"}]}, name="y"))),
    "condition-unchanged": request(xr(status={"conditions": [condition("A", reason="Same"), condition("B", message="m"), condition("C", observedGeneration=7)]}), composition(ask({"conditions": [{"type": "A", "status": "STATUS_CONDITION_TRUE", "reason": "Same"}, {"type": "B", "status": "STATUS_CONDITION_TRUE", "reason": "R", "message": "n"}, {"type": "C", "status": "STATUS_CONDITION_TRUE", "reason": "R"}]}))),
    "condition-empty-message": request(xr(), composition(ask({"conditions": [{"type": "A", "status": "STATUS_CONDITION_TRUE", "reason": "R", "message": ""}]}))),
    "condition-of-fatal": request(xr(meta={"generation": 2}, status={"conditions": [condition("Database", "False", "Up"), condition("Gone"), condition("Synced"), condition("Healthy")]}), composition(ask({"conditions": FN_CONDITIONS}, name="x"), ask({**FATAL, "conditions": [{"type": "Second", "status": "STATUS_CONDITION_UNKNOWN", "reason": "S"}]}, name="y"))),
    # Connection details, naming, garbage
    "connection-legacy": request(xr(ns=None, spec={"writeConnectionSecretToRef": {"name": "cs", "namespace": "n"}}), composition(ask({"desired": {"composite": {"connectionDetails": {"a": "YQ=="}}, "resources": {"b": {**resource(), "connectionDetails": {"b": "Yg=="}}}}})), compositeResourceDefinition=xrd(connectionSecretKeys=["a"])),
    "connection-modern": request(xr(spec={"crossplane": {"writeConnectionSecretToRef": {"name": "cs"}}}), composition(ask({"desired": {"composite": {"connectionDetails": {"a": "YQ=="}}}}))),
    "names-from-odd-keys": request(xr(), composition(ask({"desired": {"resources": {k: resource(ready=TRUE) for k in ("A", "a b", "a/b", "\u00e9", "x" * 300, "1", "a.b", "-")}}}))),
    "names-given": request(xr(), composition(ask(desired(a=config_map(name="given"), b=config_map(name="with-both", generateName="x-"), c=config_map(generateName="-"), d=config_map(generateName="a--"), e=config_map(name="", generateName=""))))),
    "name-too-long": request(xr(), composition(ask(desired(a=config_map(name="a" * 254))))),
    "name-with-dot": request(xr(), composition(ask(desired(a=config_map(name="a.b"), b=config_map(name="1"))))),
    "name-of-colon": request(xr(), composition(ask(desired(a=config_map(name="a:b"))))),
    "odd-root": request(xr(meta={"labels": {"crossplane.io/composite": "Root_1"}}), composition(ask(desired(a=config_map(name="fine"))))),
    "odd-root-named": request(xr(meta={"labels": {"crossplane.io/composite": "Root_1"}}), composition(ask(desired(a=config_map())))),
    "other-owner-of-same-uid": request(xr(), composition(ask(desired(a=config_map(ownerReferences=[{"apiVersion": "v9", "kind": "Old", "name": "old", "uid": UID}]))))),
    "kind-changed": request(xr(), composition(ask(desired(bucket={"resource": {"apiVersion": "v1", "kind": "ConfigMap"}}))), observedResources=[observed()]),
    "garbage-of-many": request(xr(), composition(ask(desired(b=resource("Bucket")))), observedResources=[observed(k, k + "1", finalizers=["f"]) for k in "abc"]),
    "garbage-going": request(xr(), composition(ask({})), observedResources=[observed(deletionTimestamp="2024-01-01T00:00:00Z", finalizers=["f"])]),
    "garbage-without-controller": request(xr(), composition(ask({})), observedResources=[observed("a", "a1", owner=None), observed("b", "b1")]),
    "garbage-without-controller-of-cluster": request(xr(ns=None), composition(ask(desired(c=resource(ready=TRUE)))), observedResources=[observed("a", "a1", owner=None, ns=None), observed("c", "c1", owner=None, ns=None)]),
    "garbage-of-cluster": request(xr(ns=None, meta={"uid": "cu"}), composition(ask({})), observedResources=[observed(owner="cu", ns="x"), observed("b", "b2", owner="cu", ns=None)]),
    "two-hundred": request(xr(), composition(ask({"desired": {"resources": {"r%03d" % i: resource(ready=TRUE if i % 2 else None) for i in range(200)}}}))),
    # Ends
    "paused-not-quite": request(xr(meta={"annotations": {"crossplane.io/paused": "True"}}), bucket),
    "paused-false": request(xr(meta={"annotations": {"crossplane.io/paused": "false"}}, status={"conditions": [condition("Synced", "False", "ReconcilePaused")]}), bucket),
    "paused-legacy": request(xr(ns=None, meta={"annotations": {"crossplane.io/paused": "true"}}, status={"conditions": [condition("Ready", "True", "Available")]}), bucket, compositeResourceDefinition=xrd()),
    "going-without-finalizers": request(xr(meta={"deletionTimestamp": "2024-01-01T00:00:00Z"}), bucket),
    "going-legacy": request(xr(ns=None, meta=going, status={"conditions": [condition("Ready", "True", "Available")]}), bucket, compositeResourceDefinition=xrd(), observedResources=[observed(owner=None, ns=None)]),
    "asked-otherwise": request(xr(meta=asked, status={"lastHandledReconcileAt": "before"}), bucket),
    "asked-for-nothing": request(xr(meta={"annotations": {"crossplane.io/reconcile-requested-at": ""}}), bucket),
    "asked-and-paused": request(xr(meta={"annotations": {"crossplane.io/paused": "true", **asked["annotations"]}}), bucket),
    # Hostile values
    "hostile-status": request(xr(), composition(ask(status(**HOSTILE)))),
    "hostile-resource": request(xr(), composition(ask(desired(a={"resource": {"apiVersion": "v1", "kind": "ConfigMap", "spec": HOSTILE, "": None, "list": [HOSTILE]}})))),
    "hostile-context": request(xr(), composition(ask({"context": HOSTILE}, name="x"), show({}, name="y"))),
    "hostile-observed": request(xr(), composition(show({})), observedResources=[{**observed(), "spec": HOSTILE}]),
    "deep": request(xr(spec={"deep": nested(60, "x")}), composition(show(status(deep=nested(60, 1))))),
    "long": request(xr(spec={"long": "x" * 300000}), composition(show(status(long="\u00e9" * 100000)))),
    "many-members": request(xr(spec={"k%d" % i: i for i in range(2000)}), composition(show({}))),
    "metadata-ill-typed": request(xr(), composition(ask(desired(a={"resource": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n", "labels": {"a": 1}}}})))),
    "status-is-text": request(xr(), composition(ask({"desired": {"composite": {"resource": {"status": "text"}}}}))),
    # Input that is not what it should be
    "versionless": request({"kind": "App", "metadata": {"name": "web"}, "spec": {}}, bucket),
    "composition-is-other": request(xr(), {**cm(), "spec": {}}),
    "function-twice": {"composite": {"compositeResource": xr(), "composition": composition(ask(BUCKET)), "functions": [{"name": "script", "address": script}, {"name": "script", "address": "127.0.0.1:1"}]}},
    "credentials-without-ref": request(xr(), composition(ask({}, credentials=[{"name": "c", "source": "Secret"}]))),
    "credentials-second-missing": request(xr(), composition(ask({}, credentials=[*credentials, {"name": "d", "source": "Secret", "secretRef": {"namespace": "n", "name": "none"}}])), credentials=[secret()]),
    "resource-refs-of-others": request(xr(spec={"crossplane": {"resourceRefs": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "cm"}, {"apiVersion": "v1", "kind": "ConfigMap"}]}}), composition(show({})), requiredResources=[{**cm(), "metadata": {**observed()["metadata"], "name": "cm"}}]),
    "xrd-without-names": request(xr(), bucket, compositeResourceDefinition={"apiVersion": "apiextensions.crossplane.io/v1", "kind": "CompositeResourceDefinition", "metadata": {"name": "x"}, "spec": {}}),
    "xrd-v2-cluster": request(xr(ns=None), composition(show({})), compositeResourceDefinition=xrd("v2", scope="Cluster")),
    "xrd-v1-odd-scope": request(xr(ns=None), composition(show({})), compositeResourceDefinition=xrd(scope="Odd")),
    "xrd-v2-odd-scope": request(xr(ns=None), composition(show({})), compositeResourceDefinition=xrd("v2", scope="Odd")),
    "old-function-name": request(xr(), composition({"step": "one", "functionRef": {"name": ""}})),
    # Connection secrets and scopes
    "connection-cluster": request(xr(ns=None, spec={"crossplane": {"writeConnectionSecretToRef": {"name": "cs", "namespace": "n"}}}), composition(show(CONNECTION))),
    "connection-legacy-of-all-keys": request(xr(ns=None, spec=TO_SECRET), composition(show(CONNECTION)), compositeResourceDefinition=xrd()),
    "connection-legacy-of-other-keys": request(xr(ns=None, spec=TO_SECRET), composition(show(CONNECTION)), compositeResourceDefinition=xrd(connectionSecretKeys=["z", "b"])),
    "connection-legacy-foreign": request(xr(ns=None, spec=TO_SECRET), composition(show(CONNECTION)), credentials=[{**secret("cs"), "metadata": {"name": "cs", "namespace": "n", "uid": "su", "ownerReferences": foreign}}], compositeResourceDefinition=xrd()),
    "connection-legacy-and-fatal": request(xr(ns=None, spec=TO_SECRET), composition(ask(CONNECTION, name="x"), ask(FATAL, name="y")), compositeResourceDefinition=xrd()),
    "connection-without-name": request(xr(ns=None, spec={"writeConnectionSecretToRef": {"namespace": "n"}}), composition(show(CONNECTION)), compositeResourceDefinition=xrd()),
    "connection-observed-oddly": request(
        xr(),
        composition(show({})),
        observedResources=[{**observed(k, k + "1"), "spec": {"writeConnectionSecretToRef": ref}} for k, ref in (("a", {"name": "empty"}), ("b", {"name": "bytes"}), ("c", {}), ("d", {"name": ""}))],
        credentials=[{**secret("empty", "default"), "data": {}}, {**secret("bytes", "default"), "data": {"\u00e9": "/wA=", "none": ""}}],
    ),
    # Credentials
    "credentials-without-data": request(xr(), composition(show({}, credentials=credentials)), credentials=[{k: v for k, v in secret().items() if k != "data"}]),
    "credentials-of-nothing": request(xr(), composition(show({}, credentials=credentials)), credentials=[{**secret(), "data": None, "stringData": {"s": "t"}}]),
    "credentials-named-alike": request(xr(), composition(show({}, credentials=[*credentials, {"name": "c", "source": "Secret", "secretRef": {"namespace": "n", "name": "two"}}])), credentials=[secret(), {**secret("two"), "data": {"b": "Yg=="}}]),
    "credentials-given-twice": request(xr(), composition(show({}, credentials=credentials)), credentials=[secret(), {**secret(), "data": {"b": "Yg=="}}]),
    # Requirements from one call to the next
    "asks-otherwise": request(xr(), composition(show(wants(a=selector("cm", namespace="default")), wants(a=selector(labels={"x": "y"})), wants(a=selector("b", namespace="default")))), requiredResources=POOL),
    "asks-for-another-sort": request(xr(), composition(show(wants(a=selector("cm", namespace="default")), {"requirements": {"schemas": {"a": APP}}}, {"requirements": {"extraResources": {"a": selector("b", namespace="default")}}})), requiredResources=POOL, requiredSchemas=[OPENAPI]),
    "asks-and-changes-its-mind": request(xr(), composition(ask({**BUCKET, **wants(a=selector("cm"))}, {**desired(last=resource("Topic")), **wants(b=selector("cm"))}, {**desired(end=resource("Queue", ready=TRUE)), **wants(b=selector("cm"))}))),
    "asks-less-than-bootstrap": request(xr(), composition(show(wants(r=selector("none")), wants(q=selector("cm", namespace="default")), requirements={"requiredResources": BOOT})), requiredResources=POOL),
    "asks-then-the-next-fails": request(xr(), composition(ask({**BUCKET, **wants(a=selector("cm", namespace="default"))}, name="x"), ask({**FATAL, **wants(b=selector("b"))}, name="y")), requiredResources=POOL, observedResources=[observed(), observed("gone", "g1")]),
    # Context
    "context-of-environment": request(xr(), composition(ask({"context": {"apiextensions.crossplane.io/environment": {"a": {"b": None}}, "gone": 1}}, name="x"), ask({"context": {"kept": []}}, name="y"), show({}, name="z"))),
    "context-of-calls": request(xr(), composition(show({**wants(a=selector("cm")), "context": {"k": 1, "l": {}}}, {**wants(b=selector("cm")), "context": {"k": {"m": 2}}}, wants(b=selector("cm")), name="x", field="first"), show({}, name="y", field="second"))),
    # Conditions that clash
    "conditions-there-twice": request(xr(status={"conditions": [condition("A", reason="One"), condition("A", "False", "Two"), condition("Ready"), condition("Ready", "False", "Again")]}), composition(ask({"conditions": [{"type": "A", "status": "STATUS_CONDITION_UNKNOWN", "reason": "Three"}]}))),
    "conditions-of-status-and-function": request(xr(meta={"generation": 9}), composition(ask({**status(conditions=[condition("A", "False", "Mine"), condition("Synced", "False", "Mine"), condition("Responsive", "False", "Mine")]), "conditions": [{"type": "A", "status": "STATUS_CONDITION_TRUE", "reason": "Theirs"}]}))),
    "conditions-of-claimed": request(xr(ns=None, spec={"claimRef": {"apiVersion": "example.org/v1", "kind": "C", "name": "c", "namespace": "n"}}, status={"claimConditionTypes": ["Old", "Keep"], "conditions": [condition("Old")]}), composition(ask({"conditions": [{"type": t, "status": "STATUS_CONDITION_TRUE", "reason": "R", "target": "TARGET_COMPOSITE_AND_CLAIM"} for t in ("Keep", "Ready", "New")]})), compositeResourceDefinition=xrd()),
    # Names at their limits
    "name-of-63": request(xr(meta={"name": "n" * 63}), composition(ask(desired(a=resource(), b=resource(name="b" * 253))))),
    "name-of-253": request(xr(meta={"name": ("n" * 62 + ".") * 4 + "n"}), composition(ask(desired(a=resource())))),
    "name-of-64-labelled": request(xr(meta={"name": "web", "labels": {"crossplane.io/composite": "r" * 64}}), composition(ask(desired(a=resource())))),
    "generate-name-of-letters": request(xr(), composition(ask(desired(a=config_map(generateName="\u00e9-"))))),
    "generate-name-cut": request(xr(), composition(ask(desired(a=config_map(generateName="g" * 49 + "-h-"), b=config_map(generateName="g" * 300), c=config_map(generateName="g" * 48 + ".-"))))),
    "generate-name-cut-in-letter": request(xr(), composition(ask(desired(a=config_map(name="fine"), b=config_map(generateName="g" * 49 + "\u00e9"))))),
    "name-of-letters": request(xr(meta={"name": "w\u00e9b"}), composition(ask(desired(a=config_map(name="fine"))))),
    "named-alike": request(xr(), composition(ask(desired(a=config_map(name="same"), b=config_map(name="same"))))),
    "composes-itself": request(xr(), composition(ask(desired(a={"resource": {**APP, "metadata": {"name": "web"}}})))),
    # Owners
    "owned-by-itself": request(xr(), composition(ask(desired(a=config_map(ownerReferences=[{**APP, "name": "web", "uid": UID, "controller": False}]), b=config_map(ownerReferences=[{**APP, "name": "web", "uid": UID, "controller": True, "blockOwnerDeletion": False}]))))),
    "owned-by-several": request(xr(), composition(ask(desired(bucket=resource(ownerReferences=[{**foreign[0], "controller": False, "uid": "u%d" % i} for i in range(3)])))), observedResources=[observed(ownerReferences=[*observed()["metadata"]["ownerReferences"], {**foreign[0], "controller": False}])]),
    # Garbage
    "garbage-of-one-name": request(xr(), composition(ask(desired(b=resource(ready=TRUE)))), observedResources=[observed("a", "a1"), observed("a", "a2"), observed("b", "b1"), {**observed("c", "a1"), "kind": "Topic"}, observed("d", "d1", deletionTimestamp="2024-01-01T00:00:00Z", finalizers=["f"])]),
    "garbage-of-legacy": request(xr(ns=None, meta={"uid": "lu"}, spec={"resourceRefs": [{"apiVersion": "s3.example.org/v1", "kind": "Bucket", "name": n} for n in ("z1", "a1", "m1")]}), composition(ask(desired(m=resource(ready=TRUE)))), observedResources=[observed(k, k + "1", owner="lu", ns=None) for k in "zam"], compositeResourceDefinition=xrd()),
    "garbage-and-error": request(xr(), composition(ask(BUCKET, name="x"), ask(name="y", script={"code": 14, "error": "away"})), observedResources=[observed(), observed("gone", "g1")]),
    # Ends
    "paused-legacy-and-going": request(xr(ns=None, meta={**going, "generation": 3, "annotations": {"crossplane.io/paused": "true"}}, status={"conditions": OLD}), bucket, compositeResourceDefinition=xrd(), observedResources=[observed(owner=None, ns=None)]),
    "paused-with-all": request(xr(meta={"annotations": {"crossplane.io/paused": "true"}, "labels": {"a": "b"}}, spec={"crossplane": {"compositionRef": {"name": "apps"}, "resourceRefs": [{"apiVersion": "v1", "kind": "X", "name": "y"}]}}, status={"conditions": [condition("Synced", "False", "ReconcilePaused", message="Reconciliation (including deletion) is paused via the pause annotation"), condition("Ready")]}), bucket, observedResources=[observed()]),
    "going-with-others": request(xr(meta={"deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["a", "composite.apiextensions.crossplane.io", "b"], "generation": 2}, spec={"crossplane": {"resourceRefs": [{"apiVersion": "s3.example.org/v1", "kind": "Bucket", "name": "b1"}]}}), bucket, observedResources=[observed(), observed("gone", "g1")]),
    "fatal-after-a-ready-state": request(xr(ns=None, spec=TO_SECRET, status={"conditions": [condition("Ready"), condition("Synced")]}), composition(ask({**CONNECTION, **wants(a=selector("cm")), "results": [result("NORMAL", "ready", target="TARGET_COMPOSITE_AND_CLAIM")]}, name="x"), ask({**desired(more=resource()), "results": [result("WARNING", "close", reason="Near", target="TARGET_COMPOSITE_AND_CLAIM"), result("FATAL", "over", target="TARGET_COMPOSITE")]}, name="y")), observedResources=[observed("b", "b1", owner=None, ns=None)], compositeResourceDefinition=xrd()),
    # Names in quotes
    "quotes-unready": request(xr(), composition(ask({"desired": {"resources": {ODD: config_map(namespace="other")}}}, name=ODD))),
    "quotes-invalid": request(xr(), composition(ask({"desired": {"resources": {ODD: config_map(name=ODD)}}}))),
    "quotes-nameless": request({"apiVersion": "example.org/v1", "kind": "App", "metadata": {"namespace": "default"}}, composition(ask({"desired": {"resources": {ODD: config_map()}}}))),
    "quotes-results": request(xr(), composition(ask({"results": [result(s, ODD, reason=ODD) for s in ("NORMAL", "WARNING", "UNSPECIFIED")]}, name=ODD))),
    "quotes-fatal": request(xr(), composition(ask({"results": [result("FATAL", ODD)]}, name=ODD))),
    "quotes-error": request(xr(), composition(ask(name=ODD, script={"code": 13, "error": ODD}))),
    "quotes-unknown": request(xr(), composition({"step": ODD, "functionRef": {"name": ODD}})),
    "quotes-credentials": request(xr(), composition(ask({}, name=ODD, credentials=[{"name": ODD, "source": "Secret", "secretRef": {"namespace": "n", "name": ODD}}]))),
    "quotes-bootstrap": request(xr(), composition(ask({}, name=ODD, requirements={"requiredSchemas": [{"requirementName": ODD, "apiVersion": "a/b/c", "kind": ODD}]}))),
    "quotes-asked": request(xr(), composition(ask({"requirements": {"schemas": {ODD: {"apiVersion": "a/b/c", "kind": ODD}}}}, name=ODD))),
    "quotes-observed": request(xr(), bucket, observedResources=[observed(name=ODD, ns="elsewhere"), observed("b", ODD + "2", ownerReferences=foreign)]),
    "quotes-controlled": request(xr(), composition(ask({"desired": {"resources": {ODD: config_map(name="n", ownerReferences=[{**foreign[0], "kind": ODD, "name": ODD, "uid": ODD}])}}}))),
    "quotes-selected": request(xr(), composition(ask({}), meta={"name": ODD})),
    "quotes-definition": request(xr(), bucket, compositeResourceDefinition=xrd(group=ODD, kind=ODD)),
    "quotes-types": request(xr(), composition(compositeTypeRef={"apiVersion": ODD, "kind": ODD})),
    # Desired state with parts missing
    "resource-of-nothing": request(xr(), composition(ask({"desired": {"resources": {"a": {"ready": TRUE}}}}))),
    "resource-of-empty": request(xr(), composition(ask({"desired": {"resources": {"a": {"resource": {}}}}}))),
    "resource-with-status": request(xr(), composition(ask(desired(a={"resource": {"apiVersion": "v1", "kind": "ConfigMap", "spec": None, "status": {"conditions": [condition("Ready")]}}})))),
    "composite-of-everything": request(xr(ns=None, meta={"labels": {"mine": "1"}}), composition(ask({"desired": {"composite": {"resource": {"metadata": {"labels": {"theirs": "1"}, "annotations": {"a": "b"}}, "spec": {"size": 9, "more": {"a": None}}, "status": {"s": {"t": None}}}}}})), compositeResourceDefinition=xrd()),
    "conditions-are-odd": request(xr(status={"conditions": {"a": "b"}}), composition(show({}))),
}

for name, case in cases.items():
    with open(os.path.join(directory, name + ".json"), "w") as f:
        json.dump(case, f)
