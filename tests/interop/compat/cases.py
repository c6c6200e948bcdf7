"""Writes file sets for `crossplane render` v2.2.1: cases.py DIRECTORY ADDRESS. A function that does what its input says (peers/render/script) is
at ADDRESS. Each set is a directory of files and `args`, one argument a line.

Not here, because we differ on purpose (docs/compatibility.md says more): files whose fields have other types than Go's structs, several files behind
one `-e`, and condition statuses that the protocol does not know."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from objects import cm as config_map, composition, result, secret, selector, xr

directory, address = sys.argv[1:]


def step(*responses, name="one", function="fn", script=None, **rest):
    return {"step": name, "functionRef": {"name": function}, "input": {"step": name, "responses": list(responses), **(script or {})}, **rest}


def function(name="fn", target=address, version="v1", kind="Function", **annotations):
    a = {"render.crossplane.io/runtime": "Development", "render.crossplane.io/runtime-development-target": target}
    a.update({"render.crossplane.io/" + k.replace("_", "-"): v for k, v in annotations.items()})
    return {
        "apiVersion": "pkg.crossplane.io/" + version,
        "kind": kind,
        "metadata": {"name": name, "annotations": a},
        "spec": {"package": "registry.example.org/x/y:v1"},
    }


def files(composite, comp, *args, functions=None, **more):
    """more: files by name, with _ for dots in front of the ending; a list is several documents, a text is as it is."""
    f = {"xr.yaml": composite, "composition.yaml": comp, "functions.yaml": functions or [function()]}
    f.update({k.replace("__", "/").replace("_", "."): v for k, v in more.items()})
    return f, ["xr.yaml", "composition.yaml", "functions.yaml", *args]


def resource(kind="Bucket", ready=None, spec=None, **meta):
    r = {"resource": {"apiVersion": "s3.example.org/v1", "kind": kind, "spec": spec or {"size": 3}}}
    if meta:
        r["resource"]["metadata"] = meta
    if ready:
        r["ready"] = "READY_" + ready
    return r


def desired(**resources):
    return {"desired": {"resources": resources}}


def condition(kind, status="TRUE", reason="R", **rest):
    return {"type": kind, "status": "STATUS_CONDITION_" + status, "reason": reason, **rest}


def stored(kind, status="True", reason="R", **rest):
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": "2020-01-01T00:00:00Z", **rest}


def observed(key="bucket", name="b1", ns="default", owner=None, annotations=None, **meta):
    m = {"name": name, "annotations": {"crossplane.io/composition-resource-name": key} if annotations is None else annotations, "uid": "u-" + name}
    if ns:
        m["namespace"] = ns
    if owner:
        m["ownerReferences"] = [{"apiVersion": "v1", "kind": "K", "name": "kn", "uid": owner, "controller": True, "blockOwnerDeletion": True}]
    return {"apiVersion": "s3.example.org/v1", "kind": "Bucket", "metadata": {**m, **meta}, "spec": {"color": "red"}}


def xrd(version="v1", names=("v1",), kind="CompositeResourceDefinition", schema=None, **spec):
    s = schema or {"type": "object", "properties": {"spec": {"type": "object", "properties": {"tier": {"type": "string", "default": "gold"}, "deep": {"type": "object", "default": {}, "properties": {"n": {"type": "integer", "default": 7}}}}}}}
    return {
        "apiVersion": "apiextensions.crossplane.io/" + version,
        "kind": kind,
        "metadata": {"name": "apps.example.org"},
        "spec": {"group": "example.org", "names": {"kind": "App", "plural": "apps"}, "versions": [{"name": n, "served": True, "referenceable": True, "schema": {"openAPIV3Schema": s}} for n in names], **spec},
    }


def needs(**resources):
    return {"requirements": {"resources": resources}}


ECHO = {"script": {"echo": "seen"}}
BUCKET = {
    "desired": {
        "composite": {"resource": {"status": {"url": "x", "n": 1.5}}},
        "resources": {"bucket": resource(ready="TRUE"), "other": resource("Topic")},
    },
    "results": [result("NORMAL", "hello"), result("WARNING", "careful", reason="Why"), result("UNSPECIFIED", "what")],
    "conditions": [condition("Database", reason="Up"), condition("Ready", "FALSE", "Mine")],
}
FATAL = {"results": [result("NORMAL", "first"), result("FATAL", "boom", reason="R"), result("NORMAL", "after")]}
bucket = composition(step(BUCKET))
echo = composition(step(BUCKET, **ECHO))
credentials = [{"name": "c", "source": "Secret", "secretRef": {"namespace": "n", "name": "sec"}}]
pool = [config_map(x="y"), config_map("b", x="y"), config_map("a", "other", x="z"), config_map("c", None), {**config_map(), "kind": "Other"}]
same = [config_map("cm", "z", x="y"), config_map("cm", "b", x="y"), config_map("cm", None, x="y"), config_map("aa", "q", x="y")]
cart = {"apiVersion": "example.org/v1", "kind": "App"}
openapi = {
    "openapi": "3.0.0",
    "components": {
        "schemas": {
            "org.example.v1.App": {"type": "object", "properties": {"spec": {"$ref": "#/components/schemas/org.example.v1.Spec"}}, "x-kubernetes-group-version-kind": [{"group": "example.org", "version": "v1", "kind": "App"}]},
            "org.example.v1.Spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
        }
    },
}

cases = {
    # The layout
    "plain": files(xr(), bucket),
    "results": files(xr(), bucket, "-r"),
    "results-of-steps": files(xr(), composition(step(BUCKET, name="a"), step({"results": [result("WARNING", "second")]}, name="b", script={"pass": True})), "-r"),
    "context": files(xr(), composition(step({"context": {"a": {"b": [1, 2.5, None]}}})), "-c"),
    "context-passed-on": files(xr(), composition(step({}, script={"pass": True})), "-c"),
    "context-of-no-steps": files(xr(), composition(), "-c"),
    "context-empty": files(xr(), bucket, "-c"),
    "context-of-nothing": files(xr(), composition(step({"context": {}})), "-c"),
    "context-of-nothing-passed-on": files(xr(), composition(step({"context": {}}, name="x"), step(name="y", script={"pass": True})), "-c"),
    "everything": files(xr(), bucket, "-r", "-x", "-c"),
    "empty": files(xr(), composition(step({}))),
    "no-steps": files(xr(), composition()),
    "cluster": files(xr(ns=None), bucket),
    "full-xr": files(xr(meta={"labels": {"a": "b"}, "annotations": {"c": "d"}, "uid": "my-uid"}, status={"old": 1}), composition(step({"desired": {"composite": {"resource": {"metadata": {"labels": {"theirs": "x"}}, "spec": {"theirs": 1}, "status": {"new": 2}}}}})), "-x"),
    "composite-as-returned": files(xr(meta={"uid": "my-uid", "labels": {"a": "b"}}, status={"old": 1}), composition(step({"desired": {"composite": {"resource": {"apiVersion": "o/v1", "kind": "Other", "metadata": {"name": "o", "namespace": "p", "labels": {"theirs": "x"}}, "spec": {"theirs": 1}, "extra": True}}}}))),
    "sorted": files(xr(), composition(step(desired(**{k: resource(k.title()) for k in ("zeta", "alpha", "Beta", "a10", "a9", "ä")})))),
    "values": files(
        xr(spec={"texts": ["yes", "y", "12", "1_000", "12:30:45", "2001-01-01", "", "a: b", " x", "#f", "-", "a\tb", "\U0001F600", "one\ntwo\n", "one\ntwo", "  lead\nx\n\n", "word " * 40, "null", "~", "0x1f", "1e3", ".5", "é", "\u0007", "'", '"', "\\"]}),
        composition(step({"desired": {"composite": {"resource": {"status": {"numbers": [1, 1.0, 0.1, 1e20, 1e-7, -0.0, 9007199254740993, 1e308, 123456789012, 2**63, 1e21], "none": None, "list": [], "object": {}, "": "empty key", "a b": 1, "true": 1, "5": 1}}}}})),
        "-x",
    ),
    "yaml-types": (
        {
            "xr.yaml": "# a comment\napiVersion: example.org/v1\nkind: App\nmetadata: {name: web}\nspec:\n  n: 2\n  list: [yes, No, on, 017, 0o17, 0x1F, 2001-01-01, ~, 1.50, 1e3]\n  text: |\n    a\n    b\n  ref: &x {a: 1}\n  again: *x\n",
            "composition.yaml": composition(step({}, **ECHO)),
            "functions.yaml": [function()],
        },
        ["xr.yaml", "composition.yaml", "functions.yaml", "-x"],
    ),
    "infinity": files("apiVersion: example.org/v1\nkind: App\nspec: {a: .inf}\n", bucket),
    "json-files": ({"xr.json": json.dumps(xr()), "composition.json": json.dumps(bucket), "functions.json": json.dumps(function())}, ["xr.json", "composition.json", "functions.json"]),
    # Names and metadata
    "generate-name": files(xr(), composition(step(desired(a=resource(generateName="abc"), b=resource(name="given"), c=resource(name="x", generateName="y-"))))),
    "long-names": files(xr(meta={"name": "very-long-parent-name-" * 3 + "z"}), composition(step(desired(a=resource())))),
    "bad-name": files(xr(), composition(step(desired(a=resource(name="ABC_"))))),
    "nested": files(xr(meta={"labels": {"crossplane.io/composite": "root"}}), bucket),
    "claimed": files(xr(ns=None, meta={"labels": {"crossplane.io/claim-name": "cn", "crossplane.io/claim-namespace": "cns"}}, spec={"claimRef": {"apiVersion": "v1", "kind": "C", "name": "x", "namespace": "y"}}), bucket),
    "claimed-by-half": files(xr(ns=None, meta={"labels": {"crossplane.io/claim-name": "cn"}}), bucket),
    "claim-ref": files(xr(ns=None, spec={"claimRef": {"apiVersion": "v1", "kind": "C", "name": "x", "namespace": "y"}}), bucket, "--xrd", "xrd.yaml", xrd_yaml=xrd()),
    "uid": files(xr(meta={"uid": "my-uid"}), bucket),
    "own-metadata": files(xr(), composition(step(desired(a=resource(labels={"mine": "1", "crossplane.io/composite": "no"}, annotations={"an": "1", "crossplane.io/composition-resource-name": "no"}, namespace="other", ownerReferences=[{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}]))))),
    "controlled": files(xr(meta={"uid": "u1"}), composition(step(desired(a=resource(name="n", ownerReferences=[{"apiVersion": "v1", "kind": "K", "name": "kn", "uid": "u", "controller": True}]))))),
    "kindless": files(xr(), composition(step(desired(a={"resource": {"apiVersion": "v1"}}, b={"resource": {"kind": "NoVersion"}}, c={"resource": {}}, d={})))),
    "namespaces-of-cluster": files(xr(ns=None), composition(step(desired(a=resource(namespace="zzz"))))),
    "nameless": files({"apiVersion": "example.org/v1", "kind": "App", "metadata": {"namespace": "default"}}, composition(step(desired(a=resource())))),
    "generated-xr": files({"apiVersion": "example.org/v1", "kind": "App", "metadata": {"generateName": "web-"}}, composition(step(desired(a=resource())))),
    # Readiness and conditions
    "unready": files(xr(), composition(step(desired(**{k: resource() for k in "dbcae"})))),
    "unready-two": files(xr(), composition(step(desired(b=resource(), a=resource(ready="FALSE"), c=resource(ready="TRUE"))))),
    "unready-three": files(xr(), composition(step(desired(**{k: resource() for k in "cba"})))),
    "said-ready": files(xr(), composition(step({"desired": {"composite": {"ready": "READY_TRUE"}, "resources": {"b": resource()}}}))),
    "said-unready": files(xr(), composition(step({"desired": {"composite": {"ready": "READY_FALSE"}, "resources": {"b": resource(ready="TRUE")}}}))),
    "conditions": files(
        xr(status={"conditions": [stored("Synced"), stored("Custom")]}),
        composition(step({"conditions": [condition(t, s, message="m " + t) for t, s in (("Custom", "UNSPECIFIED"), ("Synced", "TRUE"), ("Healthy", "TRUE"), ("Responsive", "FALSE"), ("UpToDate", "TRUE"), ("Other", "UNKNOWN"), ("Custom", "FALSE"))]})),
    ),
    "conditions-of-steps": files(xr(), composition(step({"conditions": [condition("A"), condition("B")]}, name="x"), step({"conditions": [condition("A", "FALSE", "Later", target="TARGET_COMPOSITE_AND_CLAIM")]}, name="y"))),
    "conditions-in-status": files(
        xr(status={"conditions": [stored("Gone")]}),
        composition(step({"desired": {"composite": {"resource": {"status": {"conditions": [stored("Gone", "False", "Mine", extra=1), {"type": "Ready", "status": "True"}, {"type": "Mine", "status": "True"}]}}}}, "conditions": [condition("Mine", "FALSE", "New")]})),
    ),
    "conditions-generation": files(xr(meta={"generation": 4}), bucket),
    "conditions-kept": files(xr(), composition(step({"desired": {"composite": {"resource": {"status": {"conditions": [stored("Same"), {"type": "NoTime", "status": "False"}, {"type": "Gen", "status": "True", "observedGeneration": 5}]}}}}, "conditions": [condition("Same")]}))),
    "status-is-text": files(xr(), composition(step({"desired": {"composite": {"resource": {"status": "text"}}}}))),
    "unknown-readiness": files(xr(), composition(step({"desired": {"composite": {"ready": 9}, "resources": {"a": {**resource(), "ready": 9}}}}))),
    "odd-results": files(xr(), composition(step({"results": [{"severity": "SEVERITY_NORMAL"}, {"message": "m", "severity": 9}, result("WARNING", "a: 'b' \n c")]})), "-r"),
    # Observed resources
    "observed": files(xr(), echo, "-o", "observed.yaml", observed_yaml=[observed(), observed("gone", "g1")]),
    "observed-renamed": files(xr(), composition(step(desired(bucket=resource(name="renamed", generateName="gen-"), other=resource()))), "-o", "observed.yaml", observed_yaml=[observed(generateName="old-"), observed("other", "o1")]),
    "observed-foreign": files(xr(), echo, "-o", "observed.yaml", observed_yaml=[observed(owner="ku"), observed("other", "o1", ns="elsewhere")]),
    "observed-nameless": files(xr(), echo, "-o", "observed.yaml", observed_yaml=[observed(annotations={})]),
    "observed-without-key": files(xr(), composition(step({"desired": {"resources": {"": resource()}}})), "-o", "o.yaml", o_yaml=[observed(annotations={})]),
    "observed-prefix": files(xr(), composition(step(desired(bucket=resource(name="n")))), "-o", "o.yaml", o_yaml=[{"apiVersion": "v1", "kind": "X", "metadata": {"annotations": {"crossplane.io/composition-resource-name": "bucket"}, "generateName": "g-"}}]),
    "observed-elsewhere": files(xr(ns=None), composition(step(desired(bucket=resource(namespace="a")))), "-o", "o.yaml", o_yaml=[observed(ns="b")]),
    "observed-twice": files(xr(), echo, "-o", "observed.yaml", observed_yaml=[observed(), observed(name="b2")]),
    "observed-directory": files(xr(), echo, "-o", "observed", observed__z_yaml=[observed(name="z1")], observed__a_yml=[observed(name="a1"), observed("x", "x1")], observed__b_json=[observed("y", "y1")], observed__sub__c_yaml=[observed("s", "s1")]),
    # What steps need
    "required": files(xr(), composition(step(needs(a=selector("cm"), b=selector(labels={"x": "y"}), c=selector(labels={}), d=selector(), e=selector("none"), f=selector("cm", namespace="nowhere"), g=selector(labels={"x": "z"}, namespace="default")), **ECHO)), "-e", "pool.yaml", pool_yaml=pool),
    "required-and-extra": files(xr(), composition(step(needs(a=selector(labels={})), **ECHO)), "-e", "pool.yaml", "--extra-resources", "extra.yaml", pool_yaml=pool[:2], extra_yaml=pool[2:]),
    "extra-by-old-name": files(xr(), composition(step({"requirements": {"extraResources": {"a": selector("cm"), "b": selector(labels={"x": "y"})}}}, **ECHO)), "--extra-resources", "pool.yaml", pool_yaml=pool),
    "required-none": files(xr(), composition(step(needs(a=selector("cm")), **ECHO))),
    "required-of-one-name": files(xr(), composition(step(needs(a=selector("cm"), b=selector(labels={"x": "y"})), **ECHO)), "-e", "pool.yaml", "--extra-resources", "extra.yaml", pool_yaml=same, extra_yaml=[config_map("cm", "a", x="y")]),
    "required-by-both-names": files(xr(), composition(step({"requirements": {"extraResources": {"a": selector("cm")}, "resources": {"a": selector("aa")}}}, **ECHO)), "-e", "pool.yaml", pool_yaml=same),
    "required-oddly": files(xr(), composition(step(needs(a={"apiVersion": "a/b/c", "kind": "K"}, b={}), **ECHO)), "-e", "pool.yaml", pool_yaml=pool),
    "required-nothing": files(xr(), composition(step({"requirements": {}}, {"results": [result("NORMAL", "second")]})), "-r", "-c"),
    "required-later": files(xr(), composition(step(needs(a=selector("cm")), needs(a=selector("cm"), b=selector("b")), **ECHO)), "-e", "pool.yaml", pool_yaml=pool),
    "required-forever": files(xr(), composition(step(*(needs(**{"n" + str(i): selector("cm")}) for i in range(9)))), "-e", "pool.yaml", pool_yaml=pool),
    "bootstrap": files(xr(), composition(step({}, requirements={"requiredResources": [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "cm"}, {"requirementName": "q", "apiVersion": "v1", "kind": "ConfigMap", "matchLabels": {"x": "y"}}, {"requirementName": "all", "apiVersion": "v1", "kind": "ConfigMap"}, {"requirementName": "none", "apiVersion": "v1", "kind": "ConfigMap", "name": "zz"}]}, **ECHO)), "-e", "pool.yaml", pool_yaml=pool),
    "bootstrap-extra": files(xr(), composition(step({}, requirements={"requiredResources": [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "cm"}]}, **ECHO)), "--extra-resources", "pool.yaml", pool_yaml=pool),
    "bootstrap-namespace": files(xr(), composition(step({}, requirements={"requiredResources": [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "cm", "namespace": "nowhere"}]}, **ECHO)), "-e", "pool.yaml", pool_yaml=same),
    "bootstrap-overridden": files(xr(), composition(step(needs(r=selector("aa")), requirements={"requiredResources": [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "cm"}]}, **ECHO)), "-e", "pool.yaml", pool_yaml=same),
    "bootstrap-bad-schema": files(xr(), composition(step({}, requirements={"requiredSchemas": [{"requirementName": "s", "apiVersion": "a/b/c", "kind": "K"}]}))),
    "bootstrap-and-asked": files(xr(), composition(step(needs(a=selector("b")), requirements={"requiredResources": [{"requirementName": "r", "apiVersion": "v1", "kind": "ConfigMap", "name": "cm"}]}, **ECHO)), "-e", "pool.yaml", pool_yaml=pool),
    "schemas": files(xr(), composition(step({"requirements": {"schemas": {"a": cart, "b": {"apiVersion": "example.org/v1", "kind": "None"}, "c": {"apiVersion": "v1", "kind": "ConfigMap"}}}}, requirements={"requiredSchemas": [{"requirementName": "s", **cart}]}, **ECHO)), "-s", "schemas", schemas__deep__app_json=json.dumps(openapi)),
    "schemas-bad-version": files(xr(), composition(step({"requirements": {"schemas": {"a": {"apiVersion": "a/b/c", "kind": "K"}}}}))),
    "schemas-none": files(xr(), composition(step({"requirements": {"schemas": {"a": cart}}}, **ECHO))),
    "credentials": files(xr(), composition(step({}, credentials=credentials, **ECHO)), "--function-credentials", "secrets.yaml", secrets_yaml=[secret("x"), secret(stringData={"b": "text"}), secret(ns="other")]),
    "credentials-missing": files(xr(), composition(step({}, credentials=credentials))),
    "credentials-elsewhere": files(xr(), composition(step({}, credentials=credentials)), "--function-credentials", "secrets.yaml", secrets_yaml=[secret(ns="other")]),
    "credentials-none": files(xr(), composition(step({}, credentials=[{"name": "n", "source": "None"}, {"name": "m", "source": "Secret"}], **ECHO))),
    "credentials-twice": files(xr(), composition(step({}, credentials=credentials + credentials, **ECHO)), "--function-credentials", "secrets.yaml", secrets_yaml=[secret(), {**secret(), "data": {"z": "eg=="}}]),
    "credentials-other-kind": files(xr(), composition(step({}, credentials=credentials, **ECHO)), "--function-credentials", "secrets.yaml", secrets_yaml=[secret(kind="Sauce")]),
    "context-given": files(xr(), composition(step({}, script={"pass": True, "echo": "seen"})), "-c", "--context-values", 'a={"b": 1};c=x', "--context-values=d=", "--context-files", "a=file.yaml;f=file.yaml", file_yaml="bare text\n"),
    "context-between-steps": files(xr(), composition(step({"context": {"a": 1}}, name="x"), step({}, name="y", script={"echo": "seen"})), "-c"),
    "desired-between-steps": files(xr(), composition(step(BUCKET, name="x"), step(desired(third=resource("Third", ready="TRUE")), name="y", script={"pass": True, "echo": "seen"}))),
    "desired-forgotten": files(xr(), composition(step(BUCKET, name="x"), step({}, name="y"))),
    "request": files(xr(meta={"labels": {"a": "b"}}, status={"old": 1, "conditions": [stored("Synced")]}), echo),
    "connection": files(xr(), composition(step({"desired": {"composite": {"connectionDetails": {"a": "YQ=="}}, "resources": {"bucket": {**resource(), "connectionDetails": {"b": "Yg=="}}}}}))),
    # Definitions
    "xrd": files(xr(), bucket, "--xrd", "xrd.yaml", "-x", xrd_yaml=xrd()),
    "xrd-seen": files(xr(), echo, "--xrd", "xrd.yaml", xrd_yaml=xrd("v2", names=("v2", "v1"))),
    "xrd-other-version": files(xr(), bucket, "--xrd", "xrd.yaml", xrd_yaml=xrd(names=("v2",))),
    "xrd-of-another-kind": files(xr(), bucket, "--xrd", "xrd.yaml", xrd_yaml=config_map()),
    "xrd-missing": files(xr(), bucket, "--xrd", "xrd.yaml"),
    # Files
    "documents": (
        {
            "xr.yaml": "---\n" + json.dumps(xr()) + "\n---\n" + json.dumps(xr(meta={"name": "second"})),
            "composition.yaml": json.dumps(bucket) + "\n---\n" + json.dumps(composition()),
            "functions.yaml": "---\n---\n" + json.dumps(function()) + "\n---\n" + json.dumps(function("other", version="v1beta1")),
        },
        ["xr.yaml", "composition.yaml", "functions.yaml"],
    ),
    "empty-document": files(xr(), bucket, functions=json.dumps(function()) + "\n---\n# nothing\n---\n"),
    "bad-separator": files(xr(), bucket, functions=json.dumps(function()) + "\n---x\n" + json.dumps(function("b"))),
    "blank-separator": files(xr(), bucket, functions=json.dumps(function()) + "\n--- \n" + json.dumps(function("b"))),
    "list-of-functions": files(xr(), bucket, functions="apiVersion: v1\nkind: List\nitems: []\n"),
    "observed-empty": files(xr(), bucket, "-o", "o.yaml", o_yaml=""),
    "cleaned-paths": ({"dir/xr.yaml": xr(), "composition.yaml": bucket, "functions.yaml": [function()]}, ["./dir/../dir//xr.yaml", "composition.yaml", "dir/../none.yaml"]),
    "functions-directory": ({"xr.yaml": xr(), "composition.yaml": bucket, "fns/a.yaml": [function("x")], "fns/b.yml": [function()], "fns/c.txt": "nothing"}, ["xr.yaml", "composition.yaml", "fns"]),
    "functions-directory-empty": ({"xr.yaml": xr(), "composition.yaml": bucket, "fns/c.txt": "nothing"}, ["xr.yaml", "composition.yaml", "fns"]),
    "function-twice": files(xr(), bucket, functions=[function(target="127.0.0.1:1"), function()]),
    "unused-function": files(xr(), bucket, functions=[function(), function("unused", target="127.0.0.1:1")]),
    "annotations": files(xr(), bucket, "-a", "render.crossplane.io/runtime=Development", "--function-annotations", "render.crossplane.io/runtime-development-target=" + address, functions=[function(target="127.0.0.1:1", runtime="Foo")]),
    # Errors
    "fatal": files(xr(), composition(step(BUCKET, name="zero"), step(FATAL)), "-r"),
    "grpc-error": files(xr(), composition(step(script={"code": 13, "error": "a 100% failure"}))),
    "unknown-function": files(xr(), composition(step({}, function="nope"))),
    "misspelt-reference": files(xr(), composition({"step": "one", "functionReff": {"name": "fn"}})),
    "unsupported-runtime": files(xr(), bucket, functions=[function(runtime="Foo")]),
    "bad-annotation": files(xr(), bucket, "-a", "foo"),
    "no-mode": files(xr(), composition(step({}), mode=None)),
    "mode-resources": files(xr(), composition(mode="Resources", resources=[])),
    "other-kind": files({**xr(), "kind": "Web"}, bucket),
    "other-version": files({**xr(), "apiVersion": "example.org/v2"}, bucket),
    "label-missing": files(xr(spec={"crossplane": {"compositionSelector": {"matchLabels": {"chan": "beta"}}}}), bucket),
    "label-differs": files(xr(spec={"crossplane": {"compositionSelector": {"matchLabels": {"chan": "beta"}}}}), composition(step({}), meta={"labels": {"chan": "stable"}})),
    "label-fits": files(xr(spec={"crossplane": {"compositionSelector": {"matchLabels": {"chan": "beta"}}}}), composition(step({}), meta={"labels": {"chan": "beta"}})),
    "label-legacy": files(xr(spec={"compositionSelector": {"matchLabels": {"chan": "beta"}}}), bucket, "--xrd", "xrd.yaml", xrd_yaml=xrd()),
    "no-composition": files(xr(), config_map()),
    "composition-v2alpha1": files(xr(), {**bucket, "apiVersion": "apiextensions.crossplane.io/v2alpha1"}),
    "no-function": files(xr(), bucket, functions=[function(kind="Provider")]),
    "function-of-old": files(xr(), bucket, functions=[function(version="v1alpha1")]),
    "xr-missing": ({"composition.yaml": bucket, "functions.yaml": [function()]}, ["xr.yaml", "composition.yaml", "functions.yaml"]),
    "composition-missing": ({"xr.yaml": xr(), "functions.yaml": [function()]}, ["xr.yaml", "composition.yaml", "functions.yaml"]),
    "functions-missing": ({"xr.yaml": xr(), "composition.yaml": bucket}, ["xr.yaml", "composition.yaml", "functions.yaml"]),
    "observed-missing": files(xr(), bucket, "-o", "none.yaml"),
    "required-missing": files(xr(), bucket, "-e", "none.yaml"),
    "extra-missing": files(xr(), bucket, "--extra-resources", "none.yaml"),
    "credentials-file-missing": files(xr(), bucket, "--function-credentials", "none.yaml"),
    "schemas-missing": files(xr(), bucket, "-s", "none"),
    "schemas-empty": files(xr(), bucket, "-s", "schemas", schemas__a_txt="x"),
    "schemas-bad": files(xr(), bucket, "-s", "schemas", schemas__a_json="{"),
    "kindless-xr": files("foo: 1\n", bucket),
    "comment-first": files("# nothing\n---\n" + json.dumps(xr()), bucket),
    "empty-xr": files("---\n# nothing\n---\n" + json.dumps(xr()), bucket),
    "bad-yaml": files("a: [\n", bucket),
    "bad-composition": files(xr(), "a: [\n"),
    "bad-functions": files(xr(), bucket, functions="a: [\n"),
    "bad-observed": files(xr(), bucket, "-o", "o.yaml", o_yaml="a: [\n"),
    "bad-required": files(xr(), bucket, "-e", "o.yaml", o_yaml="foo: 1\n"),
    "bad-extra": files(xr(), bucket, "--extra-resources", "o.yaml", o_yaml="5\n"),
    "bad-secret": files(xr(), bucket, "--function-credentials", "o.yaml", o_yaml="[1]\n"),
    "bad-xrd": files(xr(), bucket, "--xrd", "o.yaml", o_yaml="text\n"),
    "number-for-xr": files("5\n", bucket),
    "kind-is-number": files("kind: 5\n", bucket),
    "only-kind": files("kind: App\n", bucket),
    "nothing-at-all": files("", bucket),
    "number-for-composition": files(xr(), "5\n"),
    "full-xr-without-spec": files({"apiVersion": "example.org/v1", "kind": "App", "metadata": {"name": "web"}}, composition(step({})), "-x"),
    "full-xr-without-metadata": files({"apiVersion": "example.org/v1", "kind": "App", "spec": {}}, composition(step({})), "-x"),
    "fatal-and-asking": files(xr(), composition(step({**FATAL, **needs(a=selector("cm"))}))),
    # Which error comes first
    "first-credentials": files(xr(), composition(step({}, function="nope", credentials=credentials))),
    "first-runtime": files(xr(), bucket, "--context-values", "a={", functions=[function(runtime="Foo")]),
    "first-xrd": files(xr(), bucket, "--function-credentials", "none", "--xrd", "xrd.yaml", xrd_yaml=xrd(names=("v2",))),
    "first-secrets": files(xr(), bucket, "--function-credentials", "none", "-o", "nope"),
    "first-observed": files(xr(), bucket, "-e", "none", "-o", "nope"),
    "first-required": files(xr(), bucket, "--extra-resources", "none", "-e", "nope"),
    "first-extra": files(xr(), bucket, "--context-files", "a=none", "--extra-resources", "nope"),
    "first-context": files(xr(), bucket, "--context-files", "a=none", "-s", "none"),
    "first-mode": files(xr(), composition(step({}), mode=None), functions=[function(kind="Provider")]),
    "first-functions": files(xr(), bucket, "-a", "foo", functions=[function(kind="Provider")]),
    "first-annotations": files(xr(), bucket, "-a", "foo", "--xrd", "xrd.yaml", xrd_yaml=xrd(names=("v2",))),
    "first-parsed-context": files(xr(), composition(step({}, credentials=credentials)), "--context-values", "a={"),
    # The command line
    "context-without-value": files(xr(), bucket, "--context-values", "a"),
    "xr-is-directory": ({"dir/xr.yaml": xr(), "composition.yaml": bucket, "functions.yaml": [function()]}, ["dir", "composition.yaml", "functions.yaml"]),
    "no-arguments": ({}, []),
    "one-argument": ({"xr.yaml": xr()}, ["xr.yaml"]),
    "four-arguments": files(xr(), bucket, "again"),
    "bad-context": files(xr(), bucket, "--context-values", "a={"),
    "context-file-missing": files(xr(), bucket, "--context-files", "a=none.yaml"),
    "no-functions": ({"xr.yaml": xr(), "composition.yaml": bucket}, ["xr.yaml", "composition.yaml"]),
}


def text(content):
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n---\n".join(json.dumps(c, ensure_ascii=False) for c in content)
    return json.dumps(content, ensure_ascii=False)


for name, (contents, args) in cases.items():
    for path, content in contents.items():
        full = os.path.join(directory, name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as f:
            f.write(text(content))
    os.makedirs(os.path.join(directory, name), exist_ok=True)
    with open(os.path.join(directory, name, "args"), "w") as f:
        f.writelines(a + "\n" for a in args)
