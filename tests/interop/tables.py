"""Compares tables with those of a real API; see tests/interop/tables. Prints TAP."""
import json
import os
import random
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime

URL, TOKEN = os.environ["KUBE_URL"], os.environ["KUBE_TOKEN"]
CONTEXT = ssl.create_default_context(cafile=os.environ["KUBE_CA"])
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
COUNT = 16 * int(os.environ.get("INTEROP_FACTOR", "1"))
R = random.Random(int(os.environ.get("INTEROP_SEED", "1")))


def call(method, path, body=None, accept="application/json", content="application/json"):
    headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": content, "Accept": accept}
    request = urllib.request.Request(URL + path, None if body is None else json.dumps(body).encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request, context=CONTEXT) as answer:
            return answer.status, json.loads(answer.read()), answer.headers
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, json.loads(text) if text.startswith(b"{") else {}, error.headers


# --- Pieces of content ---

def pick(*of):
    return R.choice(of)


def maybe(chance=0.5):
    return R.random() < chance


def some(make, most=4):
    return [make(i) for i in range(R.randint(0, most))]


def past(most=3 * 365 * 86400):
    """A time up to so many seconds ago, the recent ones more often."""
    seconds = int(most ** R.random())
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds - 5))


def micro():
    return past()[:-1] + ".%06dZ" % R.randint(0, 999999)


def without_none(v):
    if isinstance(v, dict):
        return {k: without_none(x) for k, x in v.items() if x is not None}
    return [without_none(x) for x in v] if isinstance(v, list) else v


def labels(most=3):
    return {pick("a", "b", "app", "example.org/x", "z"): pick("", "1", "two", "a-b") for _ in range(R.randint(0, most))}


def selector():
    s = {"matchLabels": {"app": "x"}}
    if maybe():
        s["matchLabels"]["tier"] = pick("a", "b")
    if maybe():
        s["matchExpressions"] = [{"key": "k", "operator": pick("In", "NotIn"), "values": ["b", "a"][:R.randint(1, 2)]},
                                 {"key": "e", "operator": pick("Exists", "DoesNotExist")}][:R.randint(1, 2)]
    return s


def container(i):
    return {"name": "c%d" % i, "image": pick("nginx", "example.org/app:v1", "busybox@sha256:" + "0" * 64)}


def pod_spec(**more):
    return {"containers": [container(i) for i in range(R.randint(1, 3))], **more}


def template(**more):
    return {"metadata": {"labels": {"app": "x", "tier": "a", "k": "a", "e": "1"}}, "spec": pod_spec(**more)}


def workload(**more):
    s = {"matchLabels": {"app": "x"}}
    if maybe():
        s["matchExpressions"] = [{"key": "tier", "operator": "In", "values": ["b", "a"]}, {"key": "none", "operator": "DoesNotExist"}]
    return {"selector": s, "template": template(**more)}


def replicas(*names):
    top = R.randint(0, 5)
    return {"observedGeneration": 1, **{n: R.randint(0, top) for n in names}, "replicas": top}


# --- Kinds: (object without metadata, its metadata, its status or None) ---

def config_map():
    return {"data": {"k%d" % i: "v" for i in range(R.randint(0, 3))}, "binaryData": {"b%d" % i: "AA==" for i in range(R.randint(0, 2))}}, {}, None


def secret():
    return {"type": pick("Opaque", "example.org/x"), "data": {"k%d" % i: "AA==" for i in range(R.randint(0, 3))}}, {}, None


def endpoints():
    def subset(_):
        return {"addresses": [{"ip": pick("10.1.2.%d" % i, "fd00::%d" % i)} for i in range(1, R.randint(2, 5))],
                "ports": [{"name": "p%d" % i, "port": 80 + i} for i in range(R.randint(0, 3))]}
    return {"subsets": some(subset, 3)}, {}, None


def event():
    series = {"count": R.randint(2, 9), "lastObservedTime": micro()} if maybe(0.3) else None
    new = series or maybe(0.3)
    return {"involvedObject": {"kind": pick("Pod", "XBucket", ""), "name": pick("a", "b.c", ""), "namespace": "default",
                               "fieldPath": pick(None, "spec.containers{a}")},
            "reason": "R", "message": pick("plain", "  spaces \n", ""), "type": pick("Normal", "Warning"),
            "source": {"component": pick(None, "kubelet"), "host": pick(None, "node-1")},
            "firstTimestamp": None if new else pick(None, past()), "lastTimestamp": None if new else pick(None, past()),
            "count": None if new else pick(None, 3), "eventTime": micro() if new else None, "series": series,
            "action": "Do" if new else None, "reportingComponent": "example.org/c" if new or maybe() else "",
            "reportingInstance": "i-1" if new or maybe() else ""}, {}, None


def new_event():
    series = {"count": R.randint(2, 9), "lastObservedTime": micro()} if maybe(0.3) else None
    return {"regarding": {"kind": pick("Pod", "XBucket"), "name": pick("a", ""), "namespace": "default"}, "reason": "R",
            "note": pick("plain", " x "), "type": pick("Normal", "Warning"), "action": "Do", "eventTime": micro(), "series": series,
            "reportingController": "example.org/c", "reportingInstance": "i-1"}, {}, None


def namespace():
    return {}, {"namespace": None}, None


def node():
    l = {pick("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/worker", "kubernetes.io/role"):
         pick("", "worker", "edge") for _ in range(R.randint(0, 3))}
    conditions = [{"type": "Ready", "status": pick("True", "False", "Unknown")}] if maybe(0.7) else []
    addresses = [{"type": pick("InternalIP", "ExternalIP", "Hostname"), "address": "10.0.%d.1" % i} for i in range(R.randint(0, 4))]
    info = {k: "" for k in ("machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion",
                            "kubeProxyVersion", "operatingSystem", "architecture")}
    info.update({k: pick("", "v1.2.3", "Debian 12") for k in ("kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion", "architecture")})
    return {"spec": {"unschedulable": maybe(0.3)}}, {"namespace": None, "labels": l}, {"conditions": conditions, "addresses": addresses, "nodeInfo": info}


def modes(most=3):
    return R.sample(["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"], R.randint(1, most))


def claim():
    bound = maybe()
    meta = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}} if maybe(0.2) else {}
    meta["finalizers"] = ["example.org/x"] if maybe(0.3) else None
    spec = {"accessModes": modes(), "resources": {"requests": {"storage": pick("1Gi", "1500M", "2048Ki")}},
            "volumeName": "pv-1" if bound else None, "volumeMode": pick(None, "Block", "Filesystem"),
            "storageClassName": None if "annotations" in meta else pick(None, "", "fast"), "volumeAttributesClassName": pick(None, "gold")}
    return {"spec": spec}, meta, {"phase": pick("Bound", "Pending", "Lost"), "accessModes": modes(), "capacity": {"storage": pick("1Gi", "1000M")}}


def volume():
    spec = {"capacity": {"storage": pick("1Gi", "0.5Ti", "1e9")}, "accessModes": modes(), "hostPath": {"path": "/x"},
            "persistentVolumeReclaimPolicy": pick("Retain", "Delete", "Recycle"), "storageClassName": pick(None, "slow"),
            "claimRef": {"namespace": "default", "name": "c"} if maybe() else None, "volumeMode": pick(None, "Block")}
    return {"spec": spec}, {"namespace": None, "finalizers": ["example.org/x"] if maybe(0.3) else None}, \
        {"phase": pick("Available", "Released", "Failed"), "reason": pick("", "Broken")}


def state(last=False):
    ended = {"terminated": {"exitCode": pick(0, 0, 1, 137), "reason": pick("Completed", "Error", "", None), "signal": pick(0, 0, 9), "startedAt": past(),
                            "finishedAt": past()}}
    if last:
        return pick({}, ended)
    return pick({"running": {"startedAt": past()}}, ended, {"waiting": {"reason": pick("ContainerCreating", "CrashLoopBackOff", "PodInitializing", None)}}, {})


def container_status(name):
    s = state()
    return {"name": name, "image": "i", "imageID": "", "ready": maybe(0.7), "restartCount": R.randint(0, 4), "state": s, "lastState": state(True),
            "started": pick(None, True, False)}


def pod():
    init = [{**container(i), "name": "i%d" % i, "restartPolicy": pick(None, "Always")} for i in range(R.randint(0, 3))]
    spec = pod_spec(initContainers=init, restartPolicy=pick("Always", "Never"), nodeName=pick(None, "node-1"),
                    readinessGates=[{"conditionType": "example.org/" + g} for g in R.sample("abc", R.randint(0, 2))])
    conditions = [{"type": t, "status": pick("True", "False")} for t in R.sample(["Ready", "Initialized", "example.org/a", "example.org/b"], R.randint(0, 4))]
    if maybe(0.15):
        conditions.append({"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"})
    status = {"phase": pick("Pending", "Running", "Succeeded", "Failed"), "reason": pick(None, None, "Evicted", "NodeLost"), "conditions": conditions,
              "nominatedNodeName": pick(None, "n"), "podIPs": [{"ip": "10.0.0.9"}] if maybe() else None, "podIP": None,
              "initContainerStatuses": [container_status(c["name"]) for c in init[:R.randint(0, 3)]],
              "containerStatuses": [container_status(c["name"]) for c in spec["containers"][:R.randint(0, 3)]]}
    if status["podIPs"]:
        status["podIP"] = "10.0.0.9"
    return {"spec": spec}, {"finalizers": ["example.org/x"] if maybe(0.3) else None}, status


def pod_template():
    t = template()
    t["metadata"]["labels"] = labels()
    return {"template": t}, {}, None


def replication_controller():
    return {"spec": {"replicas": R.randint(0, 4), "selector": {"app": "x", "tier": "a"}, "template": template()}}, {}, replicas("readyReplicas")


def quota():
    hard = {pick("cpu", "requests.memory", "limits.cpu", "limits.memory", "pods", "count/secrets"): pick("1", "500m", "2Gi", "1e3") for _ in range(R.randint(0, 4))}
    return {"spec": {"hard": hard}}, {}, {"hard": hard, "used": {k: "1" for k in hard if maybe()}}


def service():
    kind = pick("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")
    spec = {"type": kind, "ports": [{"name": "p%d" % i, "port": 80 + i, "protocol": pick("TCP", "UDP")} for i in range(1, R.randint(2, 4))],
            "selector": labels(), "externalIPs": ["192.0.2.%d" % i for i in range(1, R.randint(1, 4))] or None}
    if kind == "ExternalName":
        spec = {"type": kind, "externalName": "db.example.org", "selector": labels(), "ports": spec["ports"] if maybe() else None}
    elif kind == "ClusterIP" and maybe():
        spec["clusterIP"] = "None"
        if maybe():
            spec["ports"] = None
    ingress = [{"ip": pick("203.0.113.9", "203.0.113.1")} if maybe() else {"hostname": "lb%d.example.org" % i} for i in range(R.randint(0, 3))]
    return {"spec": spec}, {}, {"loadBalancer": {"ingress": ingress}} if kind == "LoadBalancer" else None


def service_account():
    return {}, {}, None


def controller_revision():
    owner = {"apiVersion": pick("apps/v1", "v1"), "kind": "StatefulSet", "name": "web", "uid": "u", "controller": pick(True, None)}
    return {"revision": R.randint(0, 9), "data": {"a": 1}}, {"ownerReferences": [owner] if maybe(0.7) else None}, None


def daemon_set():
    s = replicas("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable", "numberMisscheduled")
    del s["replicas"]
    return {"spec": workload(nodeSelector=labels())}, {}, s


def deployment():
    s = replicas("updatedReplicas")
    s["readyReplicas"] = R.randint(0, s["replicas"])
    s["availableReplicas"] = R.randint(0, s["readyReplicas"])
    return {"spec": {"replicas": R.randint(0, 4), **workload()}}, {}, s


def replica_set():
    s = replicas("readyReplicas")
    return {"spec": {"replicas": pick(None, 0, 3), **workload()}}, {}, s


def stateful_set():
    s = replicas("readyReplicas")
    return {"spec": {"replicas": pick(None, 0, 3), "serviceName": "s", **workload()}}, {}, s


def metric():
    kind = pick("Resource", "Pods", "Object", "External", "ContainerResource")
    name = pick("cpu", "memory")
    target = pick({"type": "AverageValue", "averageValue": pick("100m", "1500")}, {"type": "Value", "value": "2k"})
    current = {"averageValue": pick("50m", "7"), "value": "3"}
    if kind in ("Resource", "ContainerResource"):
        target = pick({"type": "Utilization", "averageUtilization": 60}, {"type": "AverageValue", "averageValue": "100m"})
        current = {"averageValue": "50m", "averageUtilization": pick(None, 33)}
        source, now = {"name": name, "target": target}, {"name": name, "current": current}
        if kind == "ContainerResource":
            source["container"] = now["container"] = "c"
    elif kind == "Pods":
        source, now = {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}}, {"metric": {"name": "m"}, "current": current}
    elif kind == "Object":
        of = {"apiVersion": "v1", "kind": "Service", "name": "s"}
        source, now = {"metric": {"name": "m"}, "target": target, "describedObject": of}, {"metric": {"name": "m"}, "current": current, "describedObject": of}
    else:
        source, now = {"metric": {"name": "m"}, "target": target}, {"metric": {"name": "m"}, "current": pick(current, {"value": "3"})}
    key = kind[0].lower() + kind[1:]
    return {"type": kind, key: source}, {"type": kind, key: now}


def autoscaler():
    metrics = [metric() for _ in range(R.randint(0, 4))]
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "minReplicas": pick(None, 2), "maxReplicas": 5,
            "metrics": [m[0] for m in metrics]}
    return {"spec": spec}, {}, {"currentReplicas": 3, "desiredReplicas": 3, "conditions": [], "currentMetrics": [m[1] for m in metrics[:R.randint(0, 4)]]}


def autoscaler_v1():
    spec = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "minReplicas": pick(None, 2), "maxReplicas": 5,
            "targetCPUUtilizationPercentage": pick(None, 50)}
    return {"spec": spec}, {}, {"currentReplicas": 3, "desiredReplicas": 3, "currentCPUUtilizationPercentage": pick(None, 20)}


def cron_job():
    active = [{"kind": "Job", "name": "j%d" % i, "namespace": "default"} for i in range(R.randint(0, 2))]
    spec = {"schedule": pick("* * * * *", "@daily"), "timeZone": pick(None, "Europe/Berlin", "Etc/UTC"), "suspend": pick(None, True),
            "jobTemplate": {"spec": {"template": {"spec": pod_spec(restartPolicy="Never")}}}}
    return {"spec": spec}, {}, {"active": active, "lastScheduleTime": pick(None, past())}


def job():
    start = time.time() - R.randint(100, 10 ** R.randint(3, 7))
    text = lambda t: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t))
    status = {"succeeded": pick(None, 1), "startTime": text(start)}
    if maybe(0.5):
        status["conditions"] = [{"type": pick("Suspended", "FailureTarget"), "status": pick("True", "False"), "lastTransitionTime": text(start)}]
    elif maybe():
        status.update(succeeded=1, completionTime=text(start + R.randint(1, 90)), conditions=[
            {"type": "SuccessCriteriaMet", "status": "True", "lastTransitionTime": text(start)}, {"type": "Complete", "status": "True", "lastTransitionTime": text(start)}])
    return {"spec": {"completions": pick(None, 1, 3), "parallelism": pick(None, 1, 2), "template": {"spec": pod_spec(restartPolicy="Never")}}}, \
        {"finalizers": ["example.org/x"] if maybe(0.3) else None}, status if maybe(0.8) else None


CSR = None


def signing_request():
    global CSR
    if not CSR:
        command = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -subj /CN=a 2>/dev/null | base64 -w0"
        CSR = subprocess.run(command, shell=True, capture_output=True, text=True).stdout
    return {"spec": {"request": CSR, "signerName": "example.org/x", "usages": ["client auth"], "expirationSeconds": pick(None, 600, 86400)}}, {"namespace": None}, None


def ingress_class():
    parameters = {"apiGroup": pick(None, "example.org"), "kind": "P", "name": "p", "scope": "Cluster"} if maybe() else None
    annotations = {"ingressclass.kubernetes.io/is-default-class": pick("true", "false")} if maybe() else None
    return {"spec": {"controller": "example.org/c", "parameters": parameters}}, {"namespace": None, "annotations": annotations}, None


def ingress():
    back = {"service": {"name": "s", "port": {"number": 80}}}
    rules = [{"host": pick(None, "h%d.example.org" % i, "*.x%d.org" % i)} for i in range(R.randint(0, 6))]
    status = {"loadBalancer": {"ingress": [{"ip": "203.0.113.%d" % R.randint(1, 3)} if maybe() else {"hostname": "h.example.org"} for _ in range(R.randint(0, 3))]}}
    return {"spec": {"defaultBackend": back, "rules": rules, "ingressClassName": pick(None, "c"), "tls": [{"hosts": ["a.org"]}] if maybe() else None}}, {}, status


def network_policy():
    return {"spec": {"podSelector": pick({}, selector())}}, {}, None


def service_cidr():
    return {"spec": {"cidrs": ["10.%d.0.0/16" % R.randint(1, 200)] + (["fd00:%x::/112" % R.randint(1, 999)] if maybe() else [])}}, {"namespace": None}, None


def ip_address():
    return {"spec": {"parentRef": {"group": pick("", "example.org"), "resource": "services", "namespace": pick("", "default"), "name": "s"}}}, \
        {"namespace": None, "name": "10.9.%d.%d" % (R.randint(0, 250), R.randint(1, 250))}, None


def disruption_budget():
    spec = {"selector": selector(), pick("minAvailable", "maxUnavailable"): pick(1, "50%")} if maybe(0.8) else {}
    return {"spec": spec}, {}, {"disruptionsAllowed": R.randint(0, 3), "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}


def role():
    return {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}, {}, None


def cluster(make):
    def made():
        body, meta, status = make()
        return body, {**meta, "namespace": None}, status
    return made


def binding():
    def subject(i):
        return pick({"kind": "User", "name": "u%d" % i, "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "Group", "name": "g%d" % i, "apiGroup": "rbac.authorization.k8s.io"},
                    {"kind": "ServiceAccount", "name": "s%d" % i, "namespace": "default"})
    return {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}, "subjects": some(subject)}, {}, None


def csi_driver():
    return {"spec": {"attachRequired": pick(None, False), "podInfoOnMount": pick(None, True), "storageCapacity": pick(None, True),
                     "tokenRequests": pick(None, [{"audience": "a"}, {"audience": "b"}]), "requiresRepublish": pick(None, True),
                     "volumeLifecycleModes": pick(None, ["Persistent", "Ephemeral"])}}, {"namespace": None}, None


def csi_node():
    return {"spec": {"drivers": [{"name": "d%d" % i, "nodeID": "n"} for i in range(R.randint(0, 3))]}}, {"namespace": None}, None


def storage_class():
    annotations = {pick("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"): pick("true", "false")} if maybe() else None
    return {"provisioner": "example.org/p", "reclaimPolicy": pick(None, "Retain"), "volumeBindingMode": pick(None, "WaitForFirstConsumer"),
            "allowVolumeExpansion": pick(None, True)}, {"namespace": None, "annotations": annotations}, None


def volume_attachment():
    return {"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "pv"}}}, {"namespace": None}, {"attached": maybe()}


def volume_attributes_class():
    return {"driverName": "example.org/d", "parameters": {"a": "b"}}, {"namespace": None}, None


def webhooks(kind):
    def made():
        hook = lambda i: {"name": "h%d.example.org" % i, "clientConfig": {"url": "https://127.0.0.1:1/x"}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
                          "failurePolicy": "Ignore", "rules": [{"apiGroups": ["none.example.org"], "apiVersions": ["*"], "resources": ["nothing"], "operations": ["CREATE"]}]}
        return {"webhooks": some(hook)}, {"namespace": None}, None
    return made


def policy():
    return {"spec": {"paramKind": pick(None, {"apiVersion": "v1", "kind": "ConfigMap"}), "validations": [{"expression": "true"}] * R.randint(1, 3),
                     "matchConstraints": {"resourceRules": [{"apiGroups": ["none.example.org"], "apiVersions": ["*"], "resources": ["nothing"], "operations": ["CREATE"]}]}}}, \
        {"namespace": None}, None


def policy_binding():
    of = pick(None, {"name": "n", "namespace": pick(None, "ns")}, {"selector": selector()})
    if of:
        of["parameterNotFoundAction"] = "Allow"
    return {"spec": {"policyName": "none", "validationActions": ["Audit"], "paramRef": of}}, {"namespace": None}, None


def priority_class():
    return {"value": R.randint(-5, 100000), "preemptionPolicy": pick(None, "Never")}, {"namespace": None}, None


def lease():
    return {"spec": {"holderIdentity": pick(None, "me"), "leaseDurationSeconds": 15}}, {}, None


def runtime_class():
    return {"handler": pick("runc", "kata")}, {"namespace": None}, None


def endpoint_slice():
    return {"addressType": "IPv4", "endpoints": some(lambda i: {"addresses": ["10.3.%d.%d" % (i, j) for j in range(1, R.randint(2, 4))]}),
            "ports": some(lambda i: {"name": "p%d" % i, "port": pick(None, 80 + i), "protocol": pick("TCP", "UDP")})}, {}, None


def limit_range():
    return {"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}}, {}, None


KINDS = {
    "api/v1": {
        "configmaps": config_map, "secrets": secret, "endpoints": endpoints, "events": event, "namespaces": namespace, "nodes": node,
        "persistentvolumeclaims": claim, "persistentvolumes": volume, "pods": pod, "podtemplates": pod_template,
        "replicationcontrollers": replication_controller, "resourcequotas": quota, "services": service, "serviceaccounts": service_account,
        "limitranges": limit_range,
    },
    "apis/events.k8s.io/v1": {"events": new_event},
    "apis/apps/v1": {"controllerrevisions": controller_revision, "daemonsets": daemon_set, "deployments": deployment, "replicasets": replica_set,
                     "statefulsets": stateful_set},
    "apis/autoscaling/v2": {"horizontalpodautoscalers": autoscaler},
    "apis/autoscaling/v1": {"horizontalpodautoscalers": autoscaler_v1},
    "apis/batch/v1": {"cronjobs": cron_job, "jobs": job},
    "apis/certificates.k8s.io/v1": {"certificatesigningrequests": signing_request},
    "apis/networking.k8s.io/v1": {"ingressclasses": ingress_class, "ingresses": ingress, "networkpolicies": network_policy, "servicecidrs": service_cidr,
                                  "ipaddresses": ip_address},
    "apis/policy/v1": {"poddisruptionbudgets": disruption_budget},
    "apis/rbac.authorization.k8s.io/v1": {"roles": role, "clusterroles": cluster(role), "rolebindings": binding, "clusterrolebindings": cluster(binding)},
    "apis/storage.k8s.io/v1": {"csidrivers": csi_driver, "csinodes": csi_node, "storageclasses": storage_class, "volumeattachments": volume_attachment,
                               "volumeattributesclasses": volume_attributes_class},
    "apis/admissionregistration.k8s.io/v1": {"validatingwebhookconfigurations": webhooks("v"), "mutatingwebhookconfigurations": webhooks("m"),
                                             "validatingadmissionpolicies": policy, "validatingadmissionpolicybindings": policy_binding},
    "apis/scheduling.k8s.io/v1": {"priorityclasses": priority_class},
    "apis/coordination.k8s.io/v1": {"leases": lease},
    "apis/node.k8s.io/v1": {"runtimeclasses": runtime_class},
    "apis/discovery.k8s.io/v1": {"endpointslices": endpoint_slice},
    "apis/apiextensions.k8s.io/v1": {"customresourcedefinitions": None},
    "apis/apiregistration.k8s.io/v1": {"apiservices": None},
}


# --- CRDs ---

PATHS = [".spec.s", ".spec.i", ".spec.n", ".spec.b", ".spec.o", ".spec.l", ".spec.l[*]", ".spec.l[0]", ".spec.l[-1]", ".spec.t", ".spec.o.x", ".spec.none",
         ".metadata.name", ".metadata.creationTimestamp", ".metadata.labels", ".metadata.labels.a\\.b", ".metadata.generation", ".status.conditions[?(@.type=='Ready')].status",
         ".status.conditions[?(@.type==\"Ready\")].reason", ".spec.l[0:2]", ".spec['s']", ".spec.l.*", ".spec..x", ".spec.any", ".spec"]


def column(i):
    return without_none({"name": "C%d" % i, "type": pick("string", "string", "integer", "number", "boolean", "date"), "jsonPath": pick(*PATHS),
                         "priority": pick(None, 0, 1), "description": pick(None, "text"), "format": pick(None, "int32", "date-time", "byte")})


def crd(i):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things%d.example.org" % i},
            "spec": {"group": "example.org", "scope": "Namespaced", "names": {"plural": "things%d" % i, "kind": "Thing%d" % i},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
                                   "additionalPrinterColumns": [column(j) for j in range(R.randint(0, 8))]}]}}


def scalar():
    return pick("text", "", "5", "<&>", 7, -1, 2.5, 1e21, 3.0, True, None, past(), "null")


def thing(kind):
    def made():
        spec = {"s": scalar(), "i": scalar(), "n": scalar(), "b": scalar(), "o": {"x": scalar(), "y": [1, "<"]}, "l": [scalar() for _ in range(R.randint(0, 3))],
                "t": pick(past(), "2999-01-01T00:00:00Z", "soon", ""), "any": pick(scalar(), {"b": 1, "a": [True, None]}, [])}
        for k in list(spec):
            if maybe(0.15):
                del spec[k]
        conditions = [{"type": pick("Ready", "Synced"), "status": pick("True", "False"), "reason": pick("A", "B")} for _ in range(R.randint(0, 3))]
        return {"spec": spec, "status": {"conditions": conditions}}, {"labels": {"a.b": "1"} if maybe() else {}}, None
    return made


# --- The comparison ---

def collection(base, plural, meta):
    namespace = meta.get("namespace", "default")
    return "/%s/%s%s" % (base, "namespaces/%s/" % namespace if namespace else "", plural)


def mark(base):
    """A name for the objects of one group and version: some kinds are in several, with the same objects."""
    return base.replace("/", "-").replace(".", "-")


def create(base, plural, api, kind, make):
    """Creates objects; those that the API refuses are left out."""
    for i in range(COUNT):
        body, meta, status = make()
        meta = {"name": "%s-t%d" % (mark(base), i), **meta}
        meta["labels"] = {**(meta.get("labels") or {}), "tables": mark(base)}
        path = collection(base, plural, meta)
        meta.setdefault("namespace", "default")
        code, answer, _ = call("POST", path, without_none({"apiVersion": api, "kind": kind, "metadata": meta, **body}))
        if code != 201:
            if os.environ.get("VERBOSE"):
                print("#", plural, code, answer.get("message", "")[:300])
            continue
        if status is not None:
            code, answer, _ = call("PATCH", path + "/" + meta["name"] + "/status", {"status": without_none(status)}, content="application/merge-patch+json")
            if code != 200 and os.environ.get("VERBOSE"):
                print("#", plural, "status", code, answer.get("message", "")[:300])
        if meta.get("finalizers"):
            call("DELETE", path + "/" + meta["name"])


def ask(subject, cases):
    text = "".join(json.dumps(c) + "\n" for c in cases)
    done = subprocess.run([subject, "table"], input=text, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-3000:])
        sys.exit(1)
    return [json.loads(line) for line in done.stdout.splitlines()]


def columns_of(table):
    return [[c["name"], c["type"], c["format"], c["priority"]] for c in table["columnDefinitions"]]


def compare(subject, base, plural, kind, definition):
    """Returns the number of rows and what differs."""
    group, version = (base.split("/") + [""])[1:3] if base != "api/v1" else ("", "v1")
    selector = "" if plural in ("apiservices", "customresourcedefinitions") else "?labelSelector=tables%3D" + mark(base)
    path = "/%s/%s%s" % (base, plural, selector)
    _, table, headers = call("GET", path, accept=TABLE)
    _, objects, _ = call("GET", path)
    now = int(parsedate_to_datetime(headers["Date"]).timestamp())
    items = {(o["metadata"].get("namespace"), o["metadata"]["name"]): o for o in objects["items"]}
    rows = [r for r in table["rows"] or [] if (r["object"]["metadata"].get("namespace"), r["object"]["metadata"]["name"]) in items]
    cases = [{"group": group, "version": version, "kind": kind, "crd": definition, "now": [now + d for d in (0, -1, 1, 2)],
              "object": {"apiVersion": group + "/" + version if group else version, "kind": kind,
                         **items[(r["object"]["metadata"].get("namespace"), r["object"]["metadata"]["name"])]}} for r in rows]
    wrong = []
    GOLDEN.extend(golden(table, rows, cases, ask(subject, cases)))
    for row, case, answer in zip(rows, cases, ask(subject, cases)):
        if answer["columns"] != columns_of(table):
            wrong.append("columns: %s, not %s" % (answer["columns"], columns_of(table)))
            break
        for i, cell in enumerate(row["cells"][:len(answer["columns"])]):
            if not any(same(cell, one["cells"][i]) for one in answer["rows"]):
                wrong.append("%s of %s: %r, not %r\n#   %s" % (answer["columns"][i][0], row["object"]["metadata"]["name"], answer["rows"][0]["cells"][i], cell,
                                                         json.dumps({k: v for k, v in case["object"].items() if k != "metadata"})[:900]))
        if row.get("conditions") != answer["rows"][0].get("conditions"):
            wrong.append("conditions: %s, not %s" % (answer["rows"][0].get("conditions"), row.get("conditions")))
    return len(rows), wrong


GOLDEN = []


def golden(table, rows, cases, answers):
    """A few rows as tests/golden/tables has them: with the time at which all ages are those of the table."""
    for row, case, answer in list(zip(rows, cases, answers))[:3]:
        fits = [now for now, one in zip(case["now"], answer["rows"]) if one["cells"] == row["cells"]]
        if fits:
            meta = {k: v for k, v in case["object"]["metadata"].items() if k != "managedFields"}
            yield {**case, "now": fits[0], "object": {**case["object"], "metadata": meta}, "columns": columns_of(table),
                   "cells": row["cells"], "conditions": row.get("conditions")}


def same(a, b):
    return type(a) == type(b) and a == b or isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool) and not isinstance(b, bool) and a == b


def report(number, name, rows, wrong, least):
    ok = not wrong and rows >= least
    print("%s %d - table of %s, %d rows" % ("ok" if ok else "not ok", number, name, rows))
    for w in wrong[:6]:
        print("# " + w)
    if rows < least:
        print("# wanted at least %d rows" % least)
    return ok


def main(subject):
    number, good = 0, True
    for base, kinds in KINDS.items():
        _, resources, _ = call("GET", "/" + base)
        names = {r["name"]: r["kind"] for r in resources["resources"]}
        for plural, make in kinds.items():
            if make:
                create(base, plural, resources["groupVersion"], names[plural], make)
            number += 1
            rows, wrong = compare(subject, base, plural, names[plural], None)
            good = report(number, base.split("/", 1)[1] + " " + plural, rows, wrong, COUNT // 3 if make else 0) and good
    for i in range(COUNT):
        definition = crd(i)
        plural, kind = "things%d" % i, "Thing%d" % i
        code, answer, _ = call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        if code != 201:
            print("# %s: %s" % (plural, answer.get("message")))
            continue
        end = time.time() + 30
        while call("GET", "/apis/example.org/v1/" + plural)[0] != 200 and time.time() < end:
            time.sleep(0.05)
        create("apis/example.org/v1", plural, "example.org/v1", kind, thing(kind))
        number += 1
        rows, wrong = compare(subject, "apis/example.org/v1", plural, kind, definition)
        good = report(number, "columns " + " ".join(c["type"] + ":" + c["jsonPath"] for c in definition["spec"]["versions"][0]["additionalPrinterColumns"]), rows, wrong, COUNT // 3) and good
    print("1..%d" % number)
    if "TABLES_GOLDEN" in os.environ:
        with open(os.environ["TABLES_GOLDEN"], "w") as out:
            out.writelines(json.dumps(g, sort_keys=True) + "\n" for g in GOLDEN)
    return 0 if good else 1


sys.exit(main(sys.argv[1]))
