"""A client of the Kubernetes API in Python: runs unchanged on any server and prints what it has seen."""
import base64
import json
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "python"
GROUP = "python.example.org"

config.load_kube_config()
core = client.CoreV1Api()
custom = client.CustomObjectsApi()


def say(what, value):
    print(what, json.dumps(value, sort_keys=True))


def refused(what, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
        say(what, "was not refused")
    except ApiException as e:
        body = json.loads(e.body)
        say(what, [e.status, body.get("reason"), body.get("message")])


def eventually(what, done):
    end = time.time() + 60
    while not done():
        if time.time() > end:
            raise SystemExit("never: " + what)
        time.sleep(0.02)


def exists(call, *args):
    try:
        call(*args)
        return True
    except ApiException as e:
        if e.status != 404:
            raise
        return False


def objects():
    core.create_namespace({"metadata": {"name": NAMESPACE}})
    refused("namespace again", core.create_namespace, {"metadata": {"name": NAMESPACE}})
    made = core.create_namespaced_config_map(NAMESPACE, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="a", labels={"x": "1"}), data={"k": "v"}))
    say("created", [made.metadata.name, made.data, made.metadata.labels])
    patched = core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"k": None, "l": "w"}})
    say("patched", patched.data)
    patched.data["m"] = "z"
    replaced = core.replace_namespaced_config_map("a", NAMESPACE, patched)
    say("replaced", replaced.data)
    refused("replaced again", core.replace_namespaced_config_map, "a", NAMESPACE, patched)
    secret = core.create_namespaced_secret(NAMESPACE, client.V1Secret(metadata=client.V1ObjectMeta(name="s"), string_data={"p": "hidden"}))
    say("secret", [secret.type, base64.b64decode(secret.data["p"]).decode()])
    refused("missing", core.read_namespaced_config_map, "none", NAMESPACE)
    refused("bad", core.create_namespaced_config_map, NAMESPACE, {"metadata": {"name": "Bad_Name"}})
    say("managers", [[m.manager, m.operation, m.fields_v1] for m in core.read_namespaced_config_map("a", NAMESPACE).metadata.managed_fields])


def pages():
    for i in range(7):
        core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": f"page{i}", "labels": {"page": "yes"}}})
    token, names = None, []
    while True:
        page = core.list_namespaced_config_map(NAMESPACE, label_selector="page=yes", limit=3, _continue=token)
        names.append([m.metadata.name for m in page.items])
        token = page.metadata._continue
        if not token:
            break
    say("pages", names)


def kinds():
    extensions = client.ApiextensionsV1Api()
    extensions.create_custom_resource_definition({
        "metadata": {"name": "snakes." + GROUP},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": "snakes", "kind": "Snake"},
                 "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                               "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                                   "spec": {"type": "object", "properties": {"length": {"type": "integer", "minimum": 1}}},
                                   "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}}}}]}})
    snakes = (GROUP, "v1", NAMESPACE, "snakes")
    eventually("snakes are served", lambda: exists(custom.list_namespaced_custom_object, *snakes))
    start = custom.list_namespaced_custom_object(*snakes)["metadata"]["resourceVersion"]
    body = {"apiVersion": GROUP + "/v1", "kind": "Snake", "metadata": {"name": "kaa"}, "spec": {"length": 3}}
    custom.create_namespaced_custom_object(*snakes, body)
    refused("too short", custom.create_namespaced_custom_object, *snakes, {**body, "metadata": {"name": "worm"}, "spec": {"length": 0}})
    custom.patch_namespaced_custom_object(*snakes, "kaa", {"spec": {"length": 4}})
    custom.patch_namespaced_custom_object_status(*snakes, "kaa", {"status": {"phase": "Asleep"}})
    say("snake", {k: custom.get_namespaced_custom_object(*snakes, "kaa")[k] for k in ("spec", "status")})
    custom.delete_namespaced_custom_object(*snakes, "kaa")
    seen = []
    for event in watch.Watch().stream(custom.list_namespaced_custom_object, *snakes, resource_version=start, timeout_seconds=30):
        seen.append([event["type"], event["object"]["spec"], event["object"].get("status")])
        if event["type"] == "DELETED":
            break
    say("watched", seen)


def dynamics():
    d = dynamic.DynamicClient(client.ApiClient())
    api = d.resources.get(api_version=GROUP + "/v1", kind="Snake")
    say("found", [api.name, api.namespaced, sorted(api.verbs)])
    body = {"apiVersion": GROUP + "/v1", "kind": "Snake", "metadata": {"name": "nag"}, "spec": {"length": 2}}
    applied = d.server_side_apply(api, body=body, name="nag", namespace=NAMESPACE, field_manager="python")
    say("applied", [applied.spec.to_dict(), [m["manager"] for m in applied.metadata.to_dict()["managedFields"]]])
    say("names", [s.metadata.name for s in api.get(namespace=NAMESPACE).items])
    api.delete(name="nag", namespace=NAMESPACE)
    maps = d.resources.get(api_version="v1", kind="ConfigMap")
    say("by label", sorted(m.metadata.name for m in maps.get(namespace=NAMESPACE, label_selector="page=yes").items))


def rights():
    api = client.AuthorizationV1Api()
    review = api.create_self_subject_access_review({"spec": {"resourceAttributes": {"verb": "create", "resource": "configmaps", "namespace": NAMESPACE}}})
    say("allowed", review.status.allowed)
    say("version", client.VersionApi().get_code().major)


def end():
    utils.create_from_dict(client.ApiClient(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "last", "namespace": NAMESPACE}})
    core.delete_collection_namespaced_config_map(NAMESPACE, label_selector="page=yes")
    say("left", sorted(m.metadata.name for m in core.list_namespaced_config_map(NAMESPACE).items if m.metadata.name != "kube-root-ca.crt"))
    core.delete_namespace(NAMESPACE)
    eventually("the namespace goes", lambda: not exists(core.read_namespace, NAMESPACE))
    client.ApiextensionsV1Api().delete_custom_resource_definition("snakes." + GROUP)


for part in (objects, pages, kinds, dynamics, rights, end):
    part()
