"""Compares predictions with a real API; see tests/interop/openapi. Prints TAP."""
import json
import os
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

URL, TOKEN = os.environ["KUBE_URL"], os.environ["KUBE_TOKEN"]
CONTEXT = ssl.create_default_context(cafile=os.environ["KUBE_CA"])
DOCUMENTS = ["api/v1", "apis/apps/v1", "apis/batch/v1", "apis/policy/v1", "apis/autoscaling/v1", "apis/autoscaling/v2",
             "apis/certificates.k8s.io/v1", "apis/events.k8s.io/v1", "apis/rbac.authorization.k8s.io/v1",
             "apis/networking.k8s.io/v1", "apis/apiextensions.k8s.io/v1", "apis/authentication.k8s.io/v1"]
TYPES = {"apply": "application/apply-patch+yaml", "strategic": "application/strategic-merge-patch+json",
         "merge": "application/merge-patch+json"}


def call(method, path, body=None, content="application/json"):
    data = None if method == "GET" else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Authorization": "Bearer " + TOKEN, "Content-Type": content}, method=method)
    try:
        with urllib.request.urlopen(request, context=CONTEXT) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        return error.read()


def ask(*arguments):
    return json.loads(call(*arguments))


POD = {"containers": [{"name": "a", "image": "i", "ports": [{"containerPort": 80}], "env": [{"name": "X", "value": "1"}]},
                      {"name": "b", "image": "j", "resources": {"limits": {"cpu": "1"}}}],
       "volumes": [{"name": "v", "emptyDir": {}}]}


def named(api, kind, name, **more):
    meta = more.pop("meta", {})
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "default", **meta}, **more}


def deployment(**spec):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec.pop("pod", POD)}
    return named("apps/v1", "Deployment", "d", spec={"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec})


def service(**spec):
    return named("v1", "Service", "s", spec={"ports": [{"port": 80, "targetPort": 8080}], "selector": {"a": "b"}, **spec})


def config(**more):
    return named("v1", "ConfigMap", "c", **more)


def pod(**more):
    meta = {"labels": {"a": "b"}, "annotations": {"x": "y"}, "finalizers": ["example.org/one"], **more}
    return named("v1", "Pod", "p", meta=meta, spec=POD)


def images(**names):
    return {**POD, "containers": [{**c, "image": names.get(c["name"], c["image"])} for c in POD["containers"]]}


def containers(*items):
    return {"spec": {"template": {"spec": {"containers": list(items)}}}}


# Where objects are, what is applied first, and what is tried on them then: (verb, manager, body).
CASES = [
    ("/api/v1/namespaces/default/configmaps/c", config(data={"a": "1", "b": "2"}, meta={"labels": {"l": "1"}}), [
        ("apply", "one", config(data={"a": "1", "b": "2"}, meta={"labels": {"l": "1"}})),
        ("apply", "one", config(data={"a": "2"})),
        ("apply", "two", config(data={"a": "1"})),
        ("apply", "two", config(data={"c": "3"}, binaryData={"d": "eA=="})),
        ("apply", "one", config()),
        ("merge", "three", {"data": {"a": None, "z": "1"}}),
        ("merge", "three", {"unknown": {"a": 1}}),
        ("strategic", "three", {"data": {"a": None, "z": "1"}, "metadata": {"labels": {"$patch": "replace", "m": "1"}}}),
        ("strategic", "three", {"data": {"$patch": "delete"}}),
        ("strategic", "three", {"data": {"$retainKeys": ["b"], "b": "4"}}),
        ("strategic", "three", {"metadata": {"finalizers": ["example.org/a", "example.org/b"]}}),
    ]),
    ("/api/v1/namespaces/default/services/s", service(), [
        ("apply", "one", service()),
        ("apply", "one", service(selector={"a": "c"})),
        ("apply", "one", service(ports=[{"port": 80, "targetPort": 8080, "protocol": "TCP"}])),
        ("apply", "one", service(ports=[{"port": 80, "targetPort": "http"}])),
        ("apply", "two", service(ports=[{"port": 80, "targetPort": 8080}])),
        ("apply", "two", service(sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 60}})),
        ("merge", "three", {"spec": {"selector": {"x": "y"}}}),
        ("strategic", "three", {"spec": {"ports": [{"port": 80, "targetPort": 81}]}}),
        ("strategic", "three", {"spec": {"ports": [{"port": 80, "name": "a"}, {"port": 81, "protocol": "TCP", "targetPort": 81, "name": "b"}]}}),
    ]),
    ("/apis/apps/v1/namespaces/default/deployments/d", deployment(), [
        ("apply", "one", deployment()),
        ("apply", "one", deployment(replicas=3)),
        ("apply", "one", deployment(pod=images(a="k"))),
        ("apply", "two", deployment(pod=images(b="k"))),
        ("apply", "two", deployment()),
        ("apply", "one", deployment(minReadySeconds=5, pod={**POD, "nodeSelector": {"x": "y"}})),
        ("merge", "three", {"spec": {"replicas": 2}}),
        ("strategic", "three", containers({"name": "a", "image": "z"})),
        ("strategic", "three", containers({"name": "b", "$patch": "delete"})),
        ("strategic", "three", containers({"name": "a", "env": [{"$patch": "replace"}, {"name": "Q"}]})),
        ("strategic", "three", containers({"name": "a", "env": [{"name": "N", "valueFrom": {"$patch": "replace", "fieldRef": {
            "fieldPath": "metadata.name", "apiVersion": "v1"}}}]})),
        ("strategic", "three", {"spec": {"template": {"spec": {"affinity": {"nodeAffinity": {"$patch": "replace"}}}}}}),
        ("strategic", "three", {"spec": {"template": {"spec": {"nodeSelector": {"$patch": "other", "m": "1"}}}}}),
        ("strategic", "three", {"spec": {"template": {"spec": {"nodeSelector": {"$patch": "replace", "m": "1"}}}}}),
        ("strategic", "three", {"spec": {"template": {"spec": {"nodeSelector": {"$patch": "delete", "m": "1"}}}}}),
        ("strategic", "three", {"spec": {"template": {"spec": {"imagePullSecrets": [{"name": "x"}, {"name": "y", "$patch": "delete"}]}}}}),
        ("strategic", "three", {"spec": {"template": {"spec": {"imagePullSecrets": [{"name": "x"}, {"$patch": "replace"}]}}}}),
        ("strategic", "three", {"spec": {"template": {"spec": {"$setElementOrder/imagePullSecrets": [{"name": "y"}, {"name": "x"}],
                                                               "imagePullSecrets": [{"name": "y"}, {"name": "x"}]}}}}),
        ("strategic", "three", containers({"name": "a", "env": [{"name": "Y", "value": "2"}, {"name": "X", "$patch": "delete"}]})),
        ("strategic", "three", {"spec": {"template": {"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}}}),
        ("strategic", "three", {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
        ("strategic", "three", {"spec": {"template": {"spec": {"volumes": [
            {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x", "type": ""}}]}}}}),
    ]),
    ("/api/v1/namespaces/default/pods/p", pod(), [
        ("apply", "one", pod()),
        ("apply", "one", pod(labels={"a": "c"})),
        ("apply", "two", pod(annotations={"x": "y", "z": "1"})),
        ("apply", "one", {**pod(), "spec": images(a="k")}),
        ("merge", "three", {"metadata": {"labels": {"a": None}}}),
        ("strategic", "three", {"spec": {"containers": [{"name": "b", "image": "z"}]}}),
        ("strategic", "three", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.org/one"]}}),
        ("strategic", "three", {"metadata": {"labels": {"$patch": "merge", "m": "1"}}}),
        ("strategic", "three", {"metadata": {"labels": {"$patch": "other", "m": "1"}}}),
        ("strategic", "three", {"spec": {"containers": [{"image": "z"}]}}),
        ("strategic", "three", {"metadata": {"finalizers": ["example.org/two"]}}),
        ("strategic", "three", {"metadata": {"finalizers": ["example.org/two"], "$setElementOrder/finalizers": ["example.org/one"]}}),
        ("strategic", "three", {"metadata": {"finalizers": ["example.org/two"],
                                             "$setElementOrder/finalizers": ["example.org/one", "example.org/two"]}}),
        ("strategic", "three", {"metadata": {"$deleteFromPrimitiveList": ["a"]}}),
        ("strategic", "three", {"metadata": {"finalizers": [["a"]]}}),
        ("strategic", "three", {"metadata": {"finalizers": [1]}}),
        ("strategic", "three", []),
        ("strategic", "three", None),
        ("strategic", "three", {"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"}]}}),
        ("strategic", "three", {"metadata": {"labels": {"$retainKeys": ["a"], "m": "1"}}}),
    ]),
]


def comparable(answer):
    """Without what no prediction can know: the version and the times."""
    if answer.get("kind") == "Status":
        return {"error": answer["message"]}
    meta = answer.get("metadata", {})
    meta.pop("resourceVersion", None)
    for entry in meta.get("managedFields", []):
        entry.pop("time", None)
    return answer


def resources(document):
    found = ask("GET", "/" + document)
    return {(document.split("/", 1)[1], r["name"]): (r["kind"], r["namespaced"], sorted(r["verbs"])) for r in found["resources"]}


def collect(first, tried, path):
    live = ask("PATCH", path + "?fieldManager=one&force=true", first, TYPES["apply"])
    for verb, manager, body in tried:
        force = "&force=true" if verb == "apply" else ""
        answer = ask("PATCH", path + "?dryRun=All&fieldManager=" + manager + force, body, TYPES[verb])
        yield {"verb": verb, "manager": manager, "body": body, "live": live}, comparable(answer)


def main():
    directory = tempfile.mkdtemp()
    files, wanted, cases = [], {}, []
    for document in DOCUMENTS:
        files.append(os.path.join(directory, document.replace("/", "_")))
        with open(files[-1], "wb") as f:
            f.write(call("GET", "/openapi/v3/" + document))
        wanted.update(resources(document))
    for path, first, tried in CASES:
        cases += collect(first, tried, path)
    out = subprocess.run([sys.argv[1], *files], input="".join(json.dumps(c) + "\n" for c, _ in cases), stdout=subprocess.PIPE,
                         text=True, check=True).stdout
    kinds, answers = out.split("\n\n", 1)
    got = {}
    for line in kinds.splitlines():
        r = json.loads(line)
        got[(r["groupVersion"], r["name"])] = (r["kind"], r["namespaced"], sorted(r["verbs"]))
    failed = wanted != got
    for key in sorted(set(wanted) | set(got)):
        if wanted.get(key) != got.get(key):
            print("#", key, "is", got.get(key), "wanted", wanted.get(key))
    print("not ok 1 - discovery" if failed else "ok 1 - discovery")
    for i, ((case, real), line) in enumerate(zip(cases, answers.splitlines())):
        ours = comparable(json.loads(line))
        name = "%s %s %s" % (case["verb"], case["live"]["kind"], json.dumps(case["body"])[:100])
        if ours != real:
            failed = True
            print("# ours", json.dumps(ours, sort_keys=True))
            print("# real", json.dumps(real, sort_keys=True))
        print("%s %d - %s" % ("ok" if ours == real else "not ok", i + 2, name))
    print("1..%d" % (len(cases) + 1))
    sys.exit(failed)


main()
