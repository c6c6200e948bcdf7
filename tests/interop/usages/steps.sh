#!/bin/bash
# The same steps on any API with Crossplane's kinds: creates, deletes and what becomes of them, printed without what differs from run to run.
#   KUBECTL=... KUBECONFIG=... tests/interop/usages/steps.sh
set -u
: "${KUBECTL:?}" "${KUBECONFIG:?}"
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT

k() {
        timeout 60 "$KUBECTL" --cache-dir="$cache" "$@"
}

# step NAME
step() {
        printf '\n--- %s\n' "$1"
}

# try COMMAND...: what it says. Of several usages Crossplane names any.
try() {
        echo "\$ $*"
        "$@" 2>&1 | sed -E -e '/^Warning: apiextensions/d; s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UID/g; s/ from [a-z0-9-]+ namespace$//' \
                -e 's/(in-use by [2-9] usage\(s\), including the )[^:]*(: "[^"]*")?(\.\)?)/\1ONE\3/g'
}

# until_is TEXT COMMAND...: asks until the output is the text, for a minute; prints the last one.
until_is() {
        local wanted=$1 got end=$((SECONDS + 60))
        shift
        got=$("$@" 2>&1)
        until [ "$got" = "$wanted" ] || [ $SECONDS -gt $end ]; do
                sleep 0.1
                got=$("$@" 2>&1)
        done
        echo "$* -> $got"
}

ready='jsonpath={.status.conditions[?(@.type=="Ready")].status}/{.status.conditions[?(@.type=="Ready")].reason}'
usage='jsonpath={.metadata.finalizers} {.metadata.annotations.crossplane\.io/usage-details} of={.spec.of.resourceRef} by={.spec.by.resourceRef} owners={range .metadata.ownerReferences[*]}{.apiVersion} {.kind} {.name} {.controller} {.blockOwnerDeletion};{end}'
marks='jsonpath={.metadata.labels} {.metadata.annotations.usage\.crossplane\.io/deletion-attempt-with-policy}'
told='jsonpath={range .items[*]}{.type} {.reason} {.message} {.source.component}{"\n"}{end}'

# events NAME TEXT: waits for an event about the object that holds the text, and prints all about it, each once.
events() {
        local end=$((SECONDS + 60))
        until k get events -A --field-selector "involvedObject.name=$1" -o "$told" | grep -qF "$2" || [ $SECONDS -gt $end ]; do sleep 0.1; done
        k get events -A --field-selector "involvedObject.name=$1" -o "$told" | LC_ALL=C sort -u
}

step "a used object"
k create configmap used >/dev/null && k label configmap used app=db >/dev/null
k create configmap user >/dev/null
k create -f - >/dev/null <<'YAML'
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: by-selector, namespace: default }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceSelector: { matchLabels: { app: db } } }
  by: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: user } }
---
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: for-a-reason, namespace: default }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: used } }
  reason: because
YAML
until_is True/Available k get usages.protection.crossplane.io by-selector -o "$ready"
until_is True/Available k get usages.protection.crossplane.io for-a-reason -o "$ready"
try k get usages.protection.crossplane.io by-selector -o "$usage"
try k get usages.protection.crossplane.io for-a-reason -o "$usage"
try k get configmap used -o "$marks"
events by-selector configured
try k delete configmap used
try k get configmap used -o "$marks"
try k delete configmap used --cascade=foreground
try k get configmap used -o "$marks"
try k delete configmap used --cascade=orphan
try k get configmap used -o "$marks"
try k delete configmap -l app=db
try k delete configmap used --dry-run=server
try k delete --raw /api/v1/namespaces/default/configmaps/used

step "the last usage removes the label"
try k delete usages.protection.crossplane.io by-selector
try k get configmap used -o "$marks"
try k delete usages.protection.crossplane.io for-a-reason
until_is ' Background' k get configmap used -o 'jsonpath={.metadata.labels.crossplane\.io/in-use} {.metadata.annotations.usage\.crossplane\.io/deletion-attempt-with-policy}'
try k delete configmap used

step "usages of the cluster"
k create namespace one >/dev/null
k create namespace two >/dev/null
k create -f - >/dev/null 2>&1 <<'YAML'
apiVersion: apiextensions.crossplane.io/v1beta1
kind: Usage
metadata: { name: older }
spec:
  of: { apiVersion: v1, kind: Namespace, resourceRef: { name: one } }
  by: { apiVersion: v1, kind: Namespace, resourceRef: { name: two } }
---
apiVersion: protection.crossplane.io/v1beta1
kind: ClusterUsage
metadata: { name: newer }
spec:
  of: { apiVersion: v1, kind: Namespace, resourceRef: { name: one } }
  reason: it is needed
YAML
until_is True/Available k get clusterusages newer -o "$ready"
try k get clusterusages newer -o "$usage"
events older configured
events newer configured
try k delete namespace one
try k delete clusterusages newer
try k delete namespace one

step "across namespaces"
k create configmap used -n one >/dev/null
k create -f - >/dev/null <<'YAML'
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: across, namespace: default }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: used, namespace: one } }
  by: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: user } }
YAML
until_is True/Available k get usages.protection.crossplane.io across -o "$ready"
try k get usages.protection.crossplane.io across -o "$usage"
try k delete configmap used -n one

step "what is missing"
k create -f - >/dev/null <<'YAML'
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: no-used, namespace: default }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: nothere } }
  reason: x
---
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: no-user, namespace: default }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: user } }
  by: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: nothere } }
---
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: no-match, namespace: default }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceSelector: { matchLabels: { b: c, a: none } } }
  reason: x
---
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: no-controller, namespace: default }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: user } }
  by: { apiVersion: v1, kind: ConfigMap, resourceSelector: { matchControllerRef: true } }
---
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: no-kind, namespace: default }
spec:
  of: { apiVersion: none.example.org/v1, kind: Nothing, resourceRef: { name: a } }
  reason: x
---
apiVersion: protection.crossplane.io/v1beta1
kind: ClusterUsage
metadata: { name: no-namespace }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: user } }
  reason: x
YAML
events no-used 'cannot get'
events no-user 'cannot get'
events no-match 'cannot resolve'
events no-controller 'cannot resolve'
events no-kind 'cannot get'
events no-namespace 'cannot get'
for name in no-used no-user no-match no-controller no-kind; do
        try k get usages.protection.crossplane.io $name -o 'jsonpath={.metadata.finalizers} {.metadata.annotations.crossplane\.io/usage-details} {.status}'
done
try k delete usages.protection.crossplane.io no-used no-user no-match no-controller no-kind
try k delete clusterusages no-namespace

step "a usage goes with its user, and deletion is replayed"
k create configmap again >/dev/null
k create configmap again-user >/dev/null
k create -f - >/dev/null <<'YAML'
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: again, namespace: default }
spec:
  replayDeletion: true
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: again } }
  by: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: again-user } }
YAML
until_is True/Available k get usages.protection.crossplane.io again -o "$ready"
try k delete configmap again
try k delete configmap again-user
until_is 'Error from server (NotFound): configmaps "again" not found' k get configmap again
until_is 'Error from server (NotFound): usages.protection.crossplane.io "again" not found' k get usages.protection.crossplane.io again

step "composed together, a usage waits for its user"
k create configmap slow >/dev/null
k create configmap slow-user >/dev/null
k create -f - >/dev/null <<'YAML'
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: slow, namespace: default, labels: { crossplane.io/composite: any } }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: slow } }
  by: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: slow-user } }
YAML
until_is True/Available k get usages.protection.crossplane.io slow -o "$ready"
try k delete usages.protection.crossplane.io slow --wait=false
events slow Waiting
try k get usages.protection.crossplane.io slow -o "$ready"
try k delete configmap slow
try k delete configmap slow-user
until_is 'Error from server (NotFound): usages.protection.crossplane.io "slow" not found' k get usages.protection.crossplane.io slow
try k delete configmap slow

step "a namespace with usages goes"
try k delete usages.protection.crossplane.io across
k create namespace three >/dev/null
k create configmap used -n three >/dev/null
k create -f - >/dev/null <<'YAML'
apiVersion: protection.crossplane.io/v1beta1
kind: Usage
metadata: { name: inside, namespace: three }
spec:
  of: { apiVersion: v1, kind: ConfigMap, resourceRef: { name: used } }
  reason: x
YAML
until_is True/Available k get usages.protection.crossplane.io inside -n three -o "$ready"
try k delete namespace three
until_is 'Error from server (NotFound): namespaces "three" not found' k get namespace three
