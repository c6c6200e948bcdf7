"""Writes Compositions and what goes with them, one file each: cases.py DIRECTORY SEED N. A case is a name and an object of
`composition`, `composite`, `observed` and `required`; its name begins with the command that converts it: `resources` or `environment`.

Not here, because we differ on purpose:
- connection details without a type or a name, patterns and transforms without a type: the real conversion leaves them so, and the function
  refuses what comes out; we fill in what Crossplane's engine inferred, or refuse them too;
- transforms of type string with `replace`, and members nobody knows: the real conversion drops them;
- members that are null: we take them as absent everywhere, the real conversion only in some places;
- some resources with names and some without, names given twice, patch sets in patch sets: errors of ours, which Crossplane's admission refused;
- patches that fail: `mode: Resources` goes on with the other resources, the function does not (docs/spec/engine 8.3).
"""

import json
import random
import sys

directory, seed, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rnd = random.Random(seed)

COMPOSITE = {
    "apiVersion": "example.org/v1",
    "kind": "App",
    "metadata": {"name": "web", "namespace": "default", "labels": {"stage": "prod"}},
    "spec": {"text": "Hello", "number": 3, "object": {"a": {"x": 1}, "b": [1, 2]}, "list": ["p", "q"], "flag": True, "size": "10Gi"},
}
CONFIGS = [
    {"metadata": {"name": "one"}, "data": {"number": 1, "object": {"a": {"e": 1}}, "text": "env"}},
    {"metadata": {"name": "two", "labels": {"stage": "prod"}}, "data": {"priority": 2, "text": "two", "object": {"b": 2}}},
    {"metadata": {"name": "three", "labels": {"stage": "prod"}}, "data": {"priority": 1, "text": "three", "object": {"c": 3}}},
]
REQUIRED = [{"apiVersion": "apiextensions.crossplane.io/v1beta1", "kind": "EnvironmentConfig", **c} for c in CONFIGS]
HEAD = {"apiVersion": "apiextensions.crossplane.io/v1", "kind": "Composition", "metadata": {"name": "apps"}}
TYPE = {"apiVersion": "example.org/v1", "kind": "App"}
BASE = {"apiVersion": "e.org/v1", "kind": "Thing", "spec": {"keep": True, "object": {"a": {"y": 2}, "b": [0]}}}


def observed(key, name, ready, i):
    return {
        "apiVersion": "e.org/v1",
        "kind": "Thing",
        "metadata": {"name": name, "namespace": "default", "annotations": {"crossplane.io/composition-resource-name": key}},
        "spec": {"keep": True},
        "status": {
            "id": f"id-{i}",
            "count": i,
            "nested": {"k": [i]},
            "conditions": [{"type": "Ready", "status": "True" if ready else "False", "reason": "R", "lastTransitionTime": "2024-05-01T00:00:00Z"}],
        },
    }


# --- By hand ---

def resource(*patches, name="a", base=BASE, **rest):
    return {**({"name": name} if name else {}), "base": base, **({"patches": list(patches)} if patches else {}), **rest}


def transforms(*t, path="spec.text"):
    return {"fromFieldPath": path, "toFieldPath": "spec.out", "transforms": list(t)}


def policy(**p):
    return {"fromFieldPath": "spec.object", "toFieldPath": "spec.object", "policy": p}


COMBINE = {"variables": [{"fromFieldPath": "spec.text"}, {"fromFieldPath": "spec.number"}], "strategy": "string", "string": {"fmt": "%s-%v"}}
SELECTOR = {"type": "Selector", "selector": {"mode": "Multiple", "sortByFieldPath": "data.priority", "matchLabels": [
    {"type": "FromCompositeFieldPath", "key": "stage", "valueFromFieldPath": "metadata.labels[stage]"}]}}

BY_HAND = {
    "one": {"resources": [resource()]},
    "explicit mode": {"mode": "Resources", "resources": [resource()]},
    "no names": {"resources": [resource(name=None), resource(name=None, base={"apiVersion": "v1", "kind": "ConfigMap"}), resource(name=None)]},
    "no resources": {"resources": []},
    "a secret's namespace": {"resources": [resource()], "writeConnectionSecretsToNamespace": "ns"},
    "store config": {"resources": [resource()], "publishConnectionDetailsWithStoreConfigRef": {"name": "default"}},
    "untyped patch": {"resources": [resource({"fromFieldPath": "spec.text"})]},
    "typed patch": {"resources": [resource({"type": "FromCompositeFieldPath", "fromFieldPath": "spec.text", "toFieldPath": "spec.t"})]},
    "combine": {"resources": [resource({"type": "CombineFromComposite", "combine": COMBINE, "toFieldPath": "spec.t"})]},
    "combine with transforms": {"resources": [resource({"type": "CombineFromComposite", "combine": COMBINE, "toFieldPath": "spec.t", "transforms": [
        {"type": "string", "string": {"convert": "ToUpper"}}]})]},
    "to the composite": {"resources": [resource({"type": "ToCompositeFieldPath", "fromFieldPath": "status.id", "toFieldPath": "status.id"})]},
    "combine to the composite": {"resources": [resource({"type": "CombineToComposite", "toFieldPath": "status.all", "combine": {
        "variables": [{"fromFieldPath": "status.id"}, {"fromFieldPath": "status.count"}], "strategy": "string", "string": {"fmt": "%s/%v"}}})]},
    "required": {"resources": [resource({"fromFieldPath": "spec.text", "policy": {"fromFieldPath": "Required"}})]},
    "optional": {"resources": [resource({"fromFieldPath": "spec.none", "policy": {"fromFieldPath": "Optional"}})]},
    "empty policy": {"resources": [resource({"fromFieldPath": "spec.text", "policy": {}})]},
    "no merge options": {"resources": [resource(policy(fromFieldPath="Required"))]},
    "empty merge options": {"resources": [resource(policy(mergeOptions={}))]},
    "keep": {"resources": [resource(policy(mergeOptions={"keepMapValues": True}))]},
    "append": {"resources": [resource(policy(mergeOptions={"appendSlice": True}))]},
    "keep and append": {"resources": [resource(policy(mergeOptions={"keepMapValues": True, "appendSlice": True}))]},
    "neither": {"resources": [resource(policy(mergeOptions={"keepMapValues": False, "appendSlice": False}))]},
    "merge and required": {"resources": [resource(policy(fromFieldPath="Required", mergeOptions={"keepMapValues": True, "appendSlice": False}))]},
    "math": {"resources": [resource(transforms({"math": {"multiply": 2}}, path="spec.number"))]},
    "math with one type": {"resources": [resource(transforms({"type": "math", "math": {"multiply": 2}}, path="spec.number"))]},
    "math with types": {"resources": [resource(transforms({"type": "math", "math": {"type": "Multiply", "multiply": 2}}, path="spec.number"))]},
    "clampMin": {"resources": [resource(transforms({"math": {"clampMin": 5}}, path="spec.number"))]},
    "clampMax": {"resources": [resource(transforms({"type": "math", "math": {"clampMax": 1}}, path="spec.number"))]},
    "two clamps": {"resources": [resource(transforms({"math": {"clampMin": 5, "clampMax": 7}}, path="spec.number"))]},
    "multiply and clamp": {"resources": [resource(transforms({"math": {"multiply": 5, "clampMax": 1}}, path="spec.number"))]},
    "format": {"resources": [resource(transforms({"string": {"fmt": "<%s>"}}))]},
    "format with one type": {"resources": [resource(transforms({"type": "string", "string": {"fmt": "<%s>"}}))]},
    "convert a string": {"resources": [resource(transforms({"string": {"convert": "ToBase64"}}))]},
    "format and convert": {"resources": [resource(transforms({"string": {"fmt": "<%s>", "convert": "ToUpper"}}))]},
    "regexp": {"resources": [resource(transforms({"string": {"regexp": {"match": "H(.)l", "group": 1}}}))]},
    "convert and regexp": {"resources": [resource(transforms({"string": {"convert": "ToLower", "regexp": {"match": "H"}}}))]},
    "trim": {"resources": [resource(transforms({"type": "string", "string": {"type": "TrimPrefix", "trim": "He"}}))]},
    "join": {"resources": [resource(transforms({"type": "string", "string": {"type": "Join", "join": {"separator": "+"}}}, path="spec.list"))]},
    "math and string": {"resources": [resource(transforms({"math": {"multiply": 2}, "string": {"fmt": "%v"}}, path="spec.number"))]},
    "map": {"resources": [resource(transforms({"type": "map", "map": {"Hello": {"deep": [1, None]}, "z": 1}}))]},
    "match": {"resources": [resource(transforms({"type": "match", "match": {"patterns": [
        {"type": "literal", "literal": "no", "result": 1}, {"type": "regexp", "regexp": "^He", "result": {"a": 1}}], "fallbackValue": "f"}}))]},
    "match with the input": {"resources": [resource(transforms({"type": "match", "match": {"patterns": [
        {"type": "literal", "literal": "no", "result": 1}], "fallbackTo": "Input"}}))]},
    "convert": {"resources": [resource(transforms({"type": "convert", "convert": {"toType": "float64", "format": "quantity"}}, path="spec.size"))]},
    "several": {"resources": [resource(transforms({"math": {"multiply": 2}}, {"type": "convert", "convert": {"toType": "string"}}, {"string": {"fmt": "%s!"}},
        path="spec.number"))]},
    "patch set": {"patchSets": [{"name": "s", "patches": [{"fromFieldPath": "spec.text"}, policy(mergeOptions={"appendSlice": True})]}],
        "resources": [resource({"type": "PatchSet", "patchSetName": "s"}, {"fromFieldPath": "spec.number"})]},
    "two patch sets": {"patchSets": [{"name": "s", "patches": [{"fromFieldPath": "spec.text"}]}, {"name": "t", "patches": [
        transforms({"string": {"convert": "ToUpper"}})]}], "resources": [resource({"type": "PatchSet", "patchSetName": "t"}), resource(
        {"type": "PatchSet", "patchSetName": "s"}, {"type": "PatchSet", "patchSetName": "t"}, name="b")]},
    "an empty patch set": {"patchSets": [{"name": "s", "patches": []}], "resources": [resource({"type": "PatchSet", "patchSetName": "s"})]},
    "no patch sets": {"patchSets": [], "resources": [resource()]},
    "readiness": {"resources": [resource(readinessChecks=[{"type": "MatchString", "fieldPath": "status.id", "matchString": "id-0"}]), resource(
        name="b", readinessChecks=[{"type": "None"}]), resource(name="c", readinessChecks=[{"type": "MatchCondition", "matchCondition": {
        "type": "Ready", "status": "True"}}, {"type": "NonEmpty", "fieldPath": "status.id"}])]},
    "connection details": {"resources": [resource(connectionDetails=[{"name": "k", "type": "FromConnectionSecretKey", "fromConnectionSecretKey": "k"},
        {"name": "v", "type": "FromValue", "value": "v"}, {"name": "f", "type": "FromFieldPath", "fromFieldPath": "status.id"}])]},
    "environment by name": {"environment": {"environmentConfigs": [{"type": "Reference", "ref": {"name": "one"}}]},
        "resources": [resource({"type": "FromEnvironmentFieldPath", "fromFieldPath": "text", "toFieldPath": "spec.t"})]},
    "environment by label": {"environment": {"environmentConfigs": [{"ref": {"name": "one"}}, SELECTOR]},
        "resources": [resource({"type": "FromEnvironmentFieldPath", "fromFieldPath": "object", "toFieldPath": "spec.o"})]},
    "environment with defaults": {"environment": {"defaultData": {"d": 1, "text": "d"}, "policy": {"resolution": "Optional"}, "environmentConfigs": [
        {"ref": {"name": "none"}}]}, "resources": [resource({"type": "FromEnvironmentFieldPath", "fromFieldPath": "text", "toFieldPath": "spec.t"})]},
    "environment patches": {"environment": {"environmentConfigs": [{"ref": {"name": "one"}}], "patches": [{"fromFieldPath": "spec.text", "toFieldPath": "t"},
        {"type": "ToCompositeFieldPath", "fromFieldPath": "number", "toFieldPath": "status.n", "transforms": [{"math": {"multiply": 2}}]}]},
        "resources": [resource({"type": "FromEnvironmentFieldPath", "fromFieldPath": "t", "toFieldPath": "spec.t"})]},
    "environment patches alone": {"environment": {"patches": [{"fromFieldPath": "spec.text", "toFieldPath": "t"}]},
        "resources": [resource({"type": "FromEnvironmentFieldPath", "fromFieldPath": "t", "toFieldPath": "spec.t"})]},
    "combine from the environment": {"environment": {"environmentConfigs": [{"ref": {"name": "one"}}]}, "resources": [resource({"type": "CombineFromEnvironment",
        "combine": {"variables": [{"fromFieldPath": "text"}], "strategy": "string", "string": {"fmt": "%s"}}, "toFieldPath": "spec.t"})]},
    "resolve policy": {"environment": {"environmentConfigs": [{"ref": {"name": "one"}}], "policy": {"resolve": "Always", "resolution": "Required"}},
        "resources": [resource()]},
    "an empty environment": {"environment": {}, "resources": [resource()]},
}

STEPS = [{"step": "pt", "functionRef": {"name": "function-patch-and-transform"}, "input": {
    "apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": [{"name": "a", "base": BASE, "patches": [
        {"type": "FromEnvironmentFieldPath", "fromFieldPath": "text", "toFieldPath": "spec.t"}]}]}}]
ENVIRONMENTS = {
    "by name": {"environmentConfigs": [{"ref": {"name": "one"}}]},
    "by label": {"environmentConfigs": [{"type": "Reference", "ref": {"name": "one"}}, SELECTOR]},
    "with defaults": {"defaultData": {"a": 1}, "environmentConfigs": [{"ref": {"name": "two"}}]},
    "optional": {"policy": {"resolution": "Optional"}, "environmentConfigs": [{"ref": {"name": "none"}}, {"ref": {"name": "one"}}]},
    "required": {"policy": {"resolution": "Required"}, "environmentConfigs": [{"ref": {"name": "one"}}]},
    "no configs": {"environmentConfigs": []},
    "one of several": {"environmentConfigs": [{"type": "Selector", "selector": {"mode": "Multiple", "maxMatch": 1, "minMatch": 1, "matchLabels": [
        {"type": "Value", "key": "stage", "value": "prod"}]}}]},
}


# --- By chance ---

def some(*choices):
    return rnd.choice(choices)


def maybe(p, **members):
    return members if rnd.random() < p else {}


def number_transforms():
    return [some({"math": {"multiply": rnd.randrange(9)}}, {"type": "math", "math": {"clampMin": rnd.randrange(9)}}, {"math": {"clampMax": rnd.randrange(9)}},
                 {"type": "math", "math": {"type": "Multiply", "multiply": -2}})] + some([], [{"string": {"fmt": "%v"}}], [{"type": "convert", "convert": {"toType": "string"}}])


def text_transforms():
    return [some({"string": {"fmt": "%s."}}, {"string": {"convert": some("ToUpper", "ToLower", "ToSha1", "ToBase64", "ToJson")}},
                 {"type": "string", "string": {"type": "TrimSuffix", "trim": "o"}}, {"string": {"regexp": {"match": "[a-zA-Z]+"}}},
                 {"type": "map", "map": {"Hello": "h", "env": "e"}} if rnd.random() < 0.3 else {"string": {"fmt": "%10s"}},
                 {"type": "match", "match": {"patterns": [{"type": "regexp", "regexp": ".*", "result": rnd.randrange(5)}], "fallbackValue": None}})
            for _ in range(1)]


def from_patch(source="spec."):
    kind = some("text", "number", "object", "list", "flag", "none")
    patch = {"fromFieldPath": source + kind, **maybe(0.7, toFieldPath=some("spec.out", "metadata.annotations[x]" if kind == "text" else "spec.o"))}
    if kind == "number":
        patch.update(maybe(0.6, transforms=number_transforms()))
    if kind == "text" and "toFieldPath" in patch:
        patch.update(maybe(0.6, transforms=text_transforms()))
        if patch["toFieldPath"].startswith("metadata") and "match" in str(patch.get("transforms")):
            patch["toFieldPath"] = "spec.out"
    policy = {**maybe(0.2, fromFieldPath="Optional"), **maybe(0.7 if kind == "object" else 0, mergeOptions={**maybe(0.5, keepMapValues=some(True, False)), **maybe(0.5, appendSlice=some(True, False))})}
    if kind == "object" and "toFieldPath" in patch:
        patch["toFieldPath"] = "spec.object"
    patch.update(maybe(0.6, policy=policy))
    return patch


def any_patch(sets, has_environment):
    choice = rnd.randrange(10)
    if choice == 0 and sets:
        return {"type": "PatchSet", "patchSetName": rnd.choice(sets)["name"]}
    if choice == 1:
        return {"type": "CombineFromComposite", "combine": COMBINE, "toFieldPath": "spec.combined", **maybe(0.3, transforms=[{"string": {"fmt": "%s"}}])}
    if choice == 2:
        return {"type": "ToCompositeFieldPath", "fromFieldPath": some("status.id", "status.count", "status.none"), "toFieldPath": some("status.x", "status.y.z")}
    if choice == 3 and has_environment:
        return {"type": "FromEnvironmentFieldPath", "fromFieldPath": some("text", "number", "nothing"), "toFieldPath": "spec.environment"}
    return {**maybe(0.4, type="FromCompositeFieldPath"), **from_patch()}


def any_resource(i, is_named, sets, has_environment):
    return {
        **({"name": f"r{i}"} if is_named else {}),
        "base": {"apiVersion": "e.org/v1", "kind": "Thing", "spec": {"i": i, "object": {"a": {"y": 2}}}},
        **maybe(0.8, patches=[any_patch(sets, has_environment) for _ in range(rnd.randrange(5))]),
        **maybe(0.3, readinessChecks=[some({"type": "None"}, {"type": "NonEmpty", "fieldPath": "status.id"}, {"type": "MatchString", "fieldPath": "status.id",
            "matchString": "id-1"}, {"type": "MatchCondition", "matchCondition": {"type": "Ready", "status": "True"}})]),
        **maybe(0.3, connectionDetails=[some({"name": "v", "type": "FromValue", "value": "x"}, {"name": "f", "type": "FromFieldPath", "fromFieldPath": "status.id"})]),
    }


def any_environment():
    return {
        **maybe(0.4, defaultData={"text": "default", "deep": {"a": [1]}}),
        **maybe(0.3, policy={"resolution": "Optional"}),
        "environmentConfigs": rnd.sample([{"ref": {"name": "one"}}, SELECTOR, {"type": "Reference", "ref": {"name": "two"}}], rnd.randrange(1, 4)),
    }


def any_spec():
    sets = [{"name": f"s{i}", "patches": [from_patch() for _ in range(rnd.randrange(3))]} for i in range(rnd.randrange(3))]
    environment = {**some({}, any_environment()), **maybe(0.3, patches=[{"fromFieldPath": "spec.text", "toFieldPath": "nothing"}])}
    is_named = rnd.random() < 0.7
    return {
        **maybe(0.3, mode="Resources"),
        **({"environment": environment} if environment else {}),
        **({"patchSets": sets} if sets else {}),
        "resources": [any_resource(i, is_named, sets, bool(environment)) for i in range(rnd.randrange(1, 5))],
    }


def any_observed(spec):
    names = [r.get("name", f"resource-{i}") for i, r in enumerate(spec["resources"])]
    return [observed(k, f"thing-{k}", rnd.random() < 0.5, i) for i, k in enumerate(names) if rnd.random() < 0.5]


def write(name, spec, resources):
    case = {
        "composition": {**HEAD, "spec": {"compositeTypeRef": TYPE, **spec}},
        "composite": COMPOSITE,
        "observed": resources,
        "required": REQUIRED,
    }
    with open(f"{directory}/{name.replace(' ', '-')}.json", "w") as f:
        json.dump(case, f)


for name, spec in BY_HAND.items():
    write("resources " + name, spec, [observed("a", "thing-a", True, 0)] if name != "one" and "no " not in name else [])
for name, environment in ENVIRONMENTS.items():
    write("environment " + name, {"mode": "Pipeline", "environment": environment, "pipeline": STEPS}, [])
for i in range(n):
    spec = any_spec()
    write(f"resources {seed}-{i}", spec, any_observed(spec))
