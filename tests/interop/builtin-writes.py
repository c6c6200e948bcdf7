#!/usr/bin/env python3
"""Cases of the cluster suite on objects of the built-in kinds: create, update, patch, apply, status, scale, mistakes."""
import json

# apiVersion, kind, plural, is namespaced: from the table.
TABLE = {}
for line in open("src/kube/builtin/builtin.txt"):
    words = line.split()
    if line.startswith("kind "):
        group = "" if words[1] == "core" else words[1] + "/"
        TABLE[words[3], group + words[2]] = (words[4], words[6] == "namespace")

POD = {"containers": [{"name": "c", "image": "nginx", "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "b"}],
                       "resources": {"limits": {"cpu": "0.5", "memory": "1024Mi"}}}]}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": POD}
SELECTOR = {"matchLabels": {"app": "a"}}
IMAGE = {"containers": [{"name": "c", "image": "nginx:1"}]}
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
HOOK = {"name": "a.b.c", "clientConfig": {"service": {"namespace": "one", "name": "s"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}]}
METRIC = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
RBAC = "rbac.authorization.k8s.io"
STORAGE = "storage.k8s.io/v1"
HOOKS = "admissionregistration.k8s.io/v1"

SIGNING_REQUEST = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QmVEQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCUGRlYmdhTFU3cDI4RnFNSmlvZzBOWnV3VjR1NVg2MG5pRVpqN1RlS3kvZ3Rvd0RBblRZaTVDRTRGb2hRNktMCnptRkwrcXRWcnQ4WUFmUHA3Qzh3Ry8rZ0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCR0FpRUF5ZW5ydFdGZE4wc2gKR3FqYnpCL1ZsU2hjNTVIUE1KVnBUZ3hzdWFwTUltRUNJUUR2UWtDbjN2dGRndENtaDdMN2YwTGxvWGpGei8zZgphV2hxMXFqK3BSS1d3Zz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="

# apiVersion, kind: the body, a merge patch, a strategic merge patch, a status.
KINDS = [
    ("v1", "ConfigMap", {"data": {"a": "b"}}, {"data": {"c": "d"}}, {"data": {"a": None}}, None),
    ("v1", "Secret", {"stringData": {"a": "b"}}, {"data": {"c": "ZA=="}}, {"stringData": {"e": "f"}}, None),
    ("v1", "ServiceAccount", {"secrets": [{"name": "s"}]}, {"automountServiceAccountToken": False}, {"imagePullSecrets": [{"name": "i"}]}, None),
    ("v1", "Service", {"spec": {"clusterIP": "None", "ports": [{"port": 80}], "selector": {"a": "b"}}}, {"spec": {"selector": {"a": "c"}}},
     {"spec": {"ports": [{"port": 81, "name": "b"}, {"port": 80, "name": "a"}]}}, {"conditions": [{"type": "T", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2020-01-02T03:04:05Z"}]}),
    ("v1", "Service", {"spec": {"type": "ExternalName", "externalName": "a.b.c"}}, {"metadata": {"labels": {"a": "b"}}}, {"spec": {"externalName": "d.e.f"}}, None),
    ("v1", "Endpoints", {"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]}, {"metadata": {"labels": {"a": "b"}}}, {"subsets": None}, None),
    ("v1", "Pod", {"spec": POD}, {"metadata": {"labels": {"a": "b"}}}, {"spec": IMAGE}, {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}),
    ("v1", "PodTemplate", {"template": TEMPLATE}, {"template": {"metadata": {"labels": {"b": "c"}}}}, {"template": {"spec": IMAGE}}, None),
    ("v1", "ReplicationController", {"spec": {"template": TEMPLATE}}, {"spec": {"replicas": 2}}, {"spec": {"template": {"spec": IMAGE}}}, {"replicas": 1}),
    ("v1", "PersistentVolumeClaim", {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "x", "resources": {"requests": {"storage": "1Gi"}}}},
     {"metadata": {"labels": {"a": "b"}}}, {"metadata": {"annotations": {"a": "b"}}}, {"phase": "Bound"}),
    ("v1", "PersistentVolume", {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
     {"metadata": {"labels": {"a": "b"}}}, {"spec": {"persistentVolumeReclaimPolicy": "Delete"}}, {"phase": "Available"}),
    ("v1", "Node", {"spec": {"unschedulable": True}}, {"metadata": {"labels": {"a": "b"}}}, {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}},
     {"capacity": {"cpu": "1"}, "conditions": [{"type": "Ready", "status": "True"}]}),
    ("v1", "Event", {"involvedObject": {"kind": "Pod", "namespace": "one", "name": "p"}, "reason": "R", "message": "m", "type": "Normal"}, {"count": 2}, {"message": "n"}, None),
    ("events.k8s.io/v1", "Event", {"regarding": {"kind": "Pod", "namespace": "one", "name": "p"}, "reason": "R", "note": "m", "type": "Normal", "action": "A",
                                   "eventTime": "2020-01-02T03:04:05.000000Z", "reportingController": "a.b/c", "reportingInstance": "i"},
     {"series": {"count": 2, "lastObservedTime": "2020-01-02T03:04:06.000000Z"}}, {"note": "n"}, None),
    ("apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "template": TEMPLATE}}, {"spec": {"replicas": 3}}, {"spec": {"template": {"spec": IMAGE}}},
     {"replicas": 1, "conditions": [{"type": "Available", "status": "True"}]}),
    ("apps/v1", "Deployment", {"spec": {"selector": SELECTOR, "template": {"metadata": {"labels": {"app": "a"}}, "spec": {
        "volumes": [{"name": "v"}, {"name": "w", "configMap": {"name": "c"}}, {"name": "x", "secret": {"secretName": "s"}}],
        "initContainers": [{"name": "i", "image": "x:1", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
        "containers": [{"name": "c", "image": "x:latest", "livenessProbe": {"httpGet": {"port": 80}}, "env": [
            {"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}]}}, "strategy": {"type": "Recreate"}}},
     {"spec": {"paused": True}}, {"spec": {"template": {"spec": {"volumes": [{"name": "y", "emptyDir": {}}]}}}}, {"replicas": 2}),
    ("apps/v1", "ReplicaSet", {"spec": {"selector": SELECTOR, "template": TEMPLATE}}, {"spec": {"replicas": 3}}, {"spec": {"template": {"spec": IMAGE}}}, {"replicas": 1}),
    ("apps/v1", "DaemonSet", {"spec": {"selector": SELECTOR, "template": TEMPLATE}}, {"spec": {"minReadySeconds": 3}}, {"spec": {"template": {"spec": IMAGE}}},
     {"currentNumberScheduled": 1, "numberMisscheduled": 0, "desiredNumberScheduled": 1, "numberReady": 0}),
    ("apps/v1", "StatefulSet", {"spec": {"selector": SELECTOR, "serviceName": "s", "template": TEMPLATE}}, {"spec": {"replicas": 3}}, {"spec": {"template": {"spec": IMAGE}}}, {"replicas": 1}),
    ("apps/v1", "ControllerRevision", {"revision": 1, "data": {"a": 1}}, {"revision": 2}, {"metadata": {"labels": {"a": "b"}}}, None),
    ("batch/v1", "Job", {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}, {"spec": {"parallelism": 2}}, {"metadata": {"labels": {"a": "b"}}}, {"active": 1}),
    ("batch/v1", "CronJob", {"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}}},
     {"spec": {"suspend": True}}, {"spec": {"schedule": "1 * * * *"}}, {"active": [{"name": "j"}]}),
    ("autoscaling/v2", "HorizontalPodAutoscaler", {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}},
     {"spec": {"maxReplicas": 4}}, {"spec": {"metrics": [METRIC]}}, {"currentReplicas": 1, "desiredReplicas": 1}),
    ("autoscaling/v1", "HorizontalPodAutoscaler", {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}},
     {"spec": {"maxReplicas": 4}}, {"spec": {"targetCPUUtilizationPercentage": 50}}, {"currentReplicas": 1, "desiredReplicas": 1}),
    ("policy/v1", "PodDisruptionBudget", {"spec": {"minAvailable": 1, "selector": SELECTOR}}, {"spec": {"minAvailable": "50%"}}, {"metadata": {"labels": {"a": "b"}}},
     {"currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0, "expectedPods": 1}),
    ("networking.k8s.io/v1", "Ingress", {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}, {"spec": {"ingressClassName": "c"}},
     {"metadata": {"labels": {"a": "b"}}}, {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}),
    ("networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "a.b/c"}}, {"metadata": {"labels": {"a": "b"}}}, {"spec": {"parameters": {"kind": "K", "name": "n"}}}, None),
    ("networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": {}, "ingress": [{"ports": [{"port": 80}]}]}}, {"spec": {"podSelector": SELECTOR}},
     {"metadata": {"labels": {"a": "b"}}}, None),
    ("discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}], "ports": [{"port": 80}]}, {"metadata": {"labels": {"a": "b"}}},
     {"endpoints": [{"addresses": ["10.0.0.2"]}]}, None),
    (STORAGE, "StorageClass", {"provisioner": "a.b/c"}, {"metadata": {"labels": {"a": "b"}}}, {"allowVolumeExpansion": True}, None),
    (STORAGE, "CSIDriver", {"spec": {}}, {"metadata": {"labels": {"a": "b"}}}, {"metadata": {"annotations": {"a": "b"}}}, None),
    (STORAGE, "CSINode", {"spec": {"drivers": [{"name": "a.b", "nodeID": "n"}]}}, {"metadata": {"labels": {"a": "b"}}}, {"metadata": {"annotations": {"a": "b"}}}, None),
    (STORAGE, "VolumeAttachment", {"spec": {"attacher": "a.b", "nodeName": "n", "source": {"persistentVolumeName": "p"}}}, {"metadata": {"labels": {"a": "b"}}},
     {"metadata": {"annotations": {"a": "b"}}}, {"attached": True}),
    (STORAGE, "CSIStorageCapacity", {"storageClassName": "x"}, {"capacity": "1Gi"}, {"metadata": {"labels": {"a": "b"}}}, None),
    (STORAGE, "VolumeAttributesClass", {"driverName": "a.b", "parameters": {"a": "b"}}, {"metadata": {"labels": {"a": "b"}}}, {"metadata": {"annotations": {"a": "b"}}}, None),
    ("scheduling.k8s.io/v1", "PriorityClass", {"value": 5}, {"description": "d"}, {"metadata": {"labels": {"a": "b"}}}, None),
    ("node.k8s.io/v1", "RuntimeClass", {"handler": "h"}, {"metadata": {"labels": {"a": "b"}}}, {"metadata": {"annotations": {"a": "b"}}}, None),
    ("coordination.k8s.io/v1", "Lease", {"spec": {"holderIdentity": "a", "leaseDurationSeconds": 5}}, {"spec": {"holderIdentity": "b"}},
     {"spec": {"renewTime": "2020-01-02T03:04:05.000000Z"}}, None),
    (RBAC + "/v1", "Role", {"rules": RULES}, {"metadata": {"labels": {"a": "b"}}}, {"rules": []}, None),
    (RBAC + "/v1", "ClusterRole", {"rules": RULES}, {"aggregationRule": {"clusterRoleSelectors": [SELECTOR]}}, {"rules": None}, None),
    (RBAC + "/v1", "RoleBinding", {"roleRef": {"kind": "Role", "name": "r", "apiGroup": RBAC}, "subjects": [{"kind": "User", "name": "u"}]},
     {"subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "one"}]}, {"subjects": None}, None),
    (RBAC + "/v1", "ClusterRoleBinding", {"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "Group", "name": "g"}]},
     {"roleRef": {"name": "other"}}, {"metadata": {"labels": {"a": "b"}}}, None),
    (HOOKS, "ValidatingWebhookConfiguration", {"webhooks": [HOOK]}, {"webhooks": []}, {"webhooks": [{"name": "a.b.c", "timeoutSeconds": 3}]}, None),
    (HOOKS, "MutatingWebhookConfiguration", {"webhooks": [{**HOOK, "clientConfig": {"url": "https://a.b/c"}}]}, {"metadata": {"labels": {"a": "b"}}},
     {"webhooks": [{"name": "a.b.c", "failurePolicy": "Ignore"}]}, None),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", {"spec": {"request": SIGNING_REQUEST, "signerName": "a.b/c", "usages": ["client auth"]}},
     {"metadata": {"labels": {"a": "b"}}}, {"spec": {"usages": ["server auth"]}}, {"conditions": [{
         "type": "Failed", "status": "True", "reason": "R", "lastUpdateTime": "2020-01-02T03:04:05Z", "lastTransitionTime": "2020-01-02T03:04:05Z"}]}),
]

# Kinds whose objects are the answer to their deletion. The store itself always says what is gone.
ANSWERED = {"Pod", "Service", "ServiceAccount", "PersistentVolumeClaim", "PersistentVolume", "PodTemplate"}

number = 0


def case(about, steps):
    """Cases run at the same time, so that each has a name of its own in place of NAME."""
    global number
    number += 1
    if about.split()[0] in ANSWERED or steps[0]["of"].startswith(STORAGE):
        steps = [s for i, s in enumerate(steps) if s["op"] != "delete" or i + 1 < len(steps)]
    print(json.dumps({"about": about, "steps": steps}).replace("NAME", "b%d" % number))


def sequence(api_version, kind, body, merge, strategic, status):
    plural, is_namespaced = TABLE[kind, api_version]
    name = "NAME"
    at = {"of": "%s %s %s" % (api_version, kind, plural), "name": name}
    metadata = {"name": name}
    if is_namespaced:
        at["ns"] = "one"
    whole = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}

    def step(op, **more):
        return {"op": op, **at, **more}

    about = kind + " "
    case(about + "lives", [
        step("create", body=whole, manager="m1"),
        step("get"),
        step("create", body=whole, manager="m1"),
        step("merge", body=merge, manager="m2"),
        step("strategic", body=strategic, manager="m3"),
        step("update", base="last", body={"metadata": {"labels": {"x": "y"}}}, manager="m1"),
        step("update", base="last", body={"metadata": {"resourceVersion": None, "labels": {"x": "z"}}}, manager="m1"),
        step("merge", body={}, manager="m2"),
        step("merge", body={"metadata": {"finalizers": ["a.b/c"]}}, manager="m2"),
        step("delete"),
        step("merge", body={"metadata": {"finalizers": None}}, manager="m2"),
        step("get"),
    ])
    case(about + "is applied", [
        step("apply", body=whole, manager="a1"),
        step("apply", body=whole, manager="a1"),
        step("apply", body=whole, manager="a2"),
        step("apply", body={**whole, "metadata": {"name": name, "labels": {"a": "b"}}}, manager="a1"),
        step("merge", body=merge, manager="m1"),
        step("apply", body={"apiVersion": api_version, "kind": kind, "metadata": metadata}, manager="a2"),
        step("delete"),
    ])
    case(about + "is put where nothing is", [step("update", body=whole, manager="m1"), step("get"), step("delete")])
    case(about + "has mistakes", [
        step("create", body={**whole, "zz": 1, "metadata": {**metadata, "q": 1}}, validation="Strict"),
        step("create", body={**whole, "zz": 1}, validation="Warn"),
        step("merge", body={"zz": 1}, validation="Strict"),
        step("merge", body={"metadata": {"labels": 1}}),
        step("apply", body={**whole, "zz": 1}, manager="a1"),
        step("delete"),
    ])
    if status is not None:
        case(about + "has a status", [
            step("create", body={**whole, "status": status}, manager="m1"),
            step("merge", sub="status", body={"status": status}, manager="m2"),
            step("merge", body={"status": {}, "metadata": {"labels": {"s": "t"}}}, manager="m1"),
            step("update", sub="status", base="last", body={"metadata": {"labels": {"u": "v"}}}, manager="m2"),
            step("apply", sub="status", body={"apiVersion": api_version, "kind": kind, "metadata": metadata, "status": status}, manager="m4"),
            step("delete"),
        ])


# Objects that the kinds' own rules refuse, and changes that they forbid.
WRONG = [
    ("v1", "ConfigMap", {"data": {"a b": "c"}}),
    ("v1", "Secret", {"type": "kubernetes.io/tls", "data": {}}),
    ("coordination.k8s.io/v1", "Lease", {"spec": {"leaseDurationSeconds": 0}}),
    ("events.k8s.io/v1", "Event", {"reason": "R", "type": "Odd", "series": {"count": 1}, "deprecatedCount": 1, "deprecatedSource": {"host": "h"}}),
    (RBAC + "/v1", "Role", {"rules": [{"apiGroups": [""], "resources": ["pods"]}]}),
    (RBAC + "/v1", "Role", {"rules": [{"verbs": ["get"], "resources": ["pods"]}]}),
    (RBAC + "/v1", "Role", {"rules": [{"verbs": ["get"], "apiGroups": [""]}]}),
    (RBAC + "/v1", "Role", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]}),
    (RBAC + "/v1", "ClusterRole", {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["pods"], "apiGroups": [""]}]}),
    (RBAC + "/v1", "RoleBinding", {"roleRef": {"kind": "X", "name": ""}, "subjects": [{"kind": "User"}, {"kind": "ServiceAccount", "name": "s"}, {"kind": "Y", "name": "n"}]}),
    (RBAC + "/v1", "ClusterRoleBinding", {"roleRef": {"kind": "Role", "name": "r", "apiGroup": "x"}, "subjects": [{"kind": "ServiceAccount", "name": "S", "namespace": "one"}]}),
    (RBAC + "/v1", "ClusterRoleBinding", {"roleRef": {"kind": "ClusterRole", "name": "a/b"}, "subjects": [{"kind": "Group", "name": "g", "apiGroup": "z"}]}),
    ("scheduling.k8s.io/v1", "PriorityClass", {"value": 1000000001}),
    ("scheduling.k8s.io/v1", "PriorityClass", {"value": 1, "preemptionPolicy": "X"}),
    ("v1", "ServiceAccount", {"metadata": {"name": "A_B"}}),
]


def main():
    print(json.dumps({"about": "what is there before", "setup": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "one"}}]}))
    for entry in KINDS:
        if entry[2] is not None:
            sequence(*entry)
    for api_version, kind, body in WRONG:
        plural, is_namespaced = TABLE[kind, api_version]
        name = body.get("metadata", {}).get("name", "NAME")
        at = {"of": "%s %s %s" % (api_version, kind, plural), "name": name}
        if is_namespaced:
            at["ns"] = "one"
        whole = {"apiVersion": api_version, "kind": kind, **body, "metadata": {"name": name}}
        case(kind + " is wrong", [{"op": "create", **at, "body": whole, "manager": "m1"}])
    for kind in ("Deployment", "ReplicaSet", "StatefulSet"):
        at = {"of": "apps/v1 %s %ss" % (kind, kind.lower()), "name": "NAME", "ns": "one"}
        spec = {"selector": SELECTOR, "template": TEMPLATE}
        case(kind + " is scaled", [
            {"op": "create", **at, "body": {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "NAME"}, "spec": spec}, "manager": "m1"},
            {"op": "merge", **at, "sub": "scale", "body": {"spec": {"replicas": 4}}, "manager": "m2"},
            {"op": "get", **at},
            {"op": "merge", **at, "sub": "scale", "body": {"spec": {"replicas": -1}}, "manager": "m2"},
            {"op": "delete", **at},
        ])


main()
