# A real Crossplane on the API of kube-peer.sh, with functions that run beside it. Source it after kube-peer.sh. CROSSPLANE names the directory
# of its release in tests/interop/peers; `crossplane` unless it is set.
#
# crossplane_install_crds
#   After kube_start: Crossplane's CRDs alone.
# crossplane_start CERTS [FLAGS OF crossplane core start...]
#   After kube_start. CERTS holds tls.crt, tls.key and ca.crt that it shows functions and checks them against. Returns when it is ready;
#   it ends with kube_stop, and its log is $KUBE_DIR/crossplane.log.
# crossplane_manager_start CERTS
#   The same with its package manager as it is installed: after its own initialisation, with Deployments as the runtime.
# crossplane_function NAME ADDRESS
#   Makes the function that serves at ADDRESS known as NAME; its certificate must be for the host of ADDRESS.

crossplane_crds() {
        local module=github.com/crossplane/crossplane/v2
        go mod download $module && cp -R "$(go list -m -f '{{.Dir}}' $module)/cluster/crds" . && chmod -R u+w crds
}

crossplane_install_crds() {
        peer_tree crossplane-crds "tests/interop/peers/${CROSSPLANE:-crossplane}" crossplane_crds
        "$KUBECTL" apply --server-side -f "$peer/crds" >"$KUBE_DIR/crds.log" || exit 1
        crossplane_await_crds
}

# Until all CRDs are established. kubectl gives up on one that has no conditions yet.
crossplane_await_crds() {
        kube_await kube-apiserver "$KUBECTL" wait --for condition=Established --timeout 60s crd --all
}

crossplane_start() {
        local certs=$1 crossplane metrics
        shift
        peer "${CROSSPLANE:-crossplane}" "tests/interop/peers/${CROSSPLANE:-crossplane}" github.com/crossplane/crossplane/v2/cmd/crossplane
        crossplane=$peer
        crossplane_install_crds
        "$KUBECTL" create namespace crossplane-system >/dev/null || exit 1
        free_port
        metrics=$port
        free_port
        kube_serve crossplane "$crossplane" core start --package-runtime=External --enable-webhooks=false --xpkg-cache-dir "$KUBE_DIR/xpkg" \
                --tls-client-certs-dir "$certs" --tls-server-certs-dir "$certs" --metrics-port "$metrics" --health-probe-port "$port" "$@"
        kube_await crossplane curl -sf "http://127.0.0.1:$port/readyz"
}

crossplane_manager_start() {
        local certs=$1 crossplane metrics
        CROSSPLANE=${CROSSPLANE:-crossplane}
        crossplane_install_crds
        peer "$CROSSPLANE" "tests/interop/peers/$CROSSPLANE" github.com/crossplane/crossplane/v2/cmd/crossplane
        crossplane=$peer
        peer_tree crossplane-crds "tests/interop/peers/$CROSSPLANE" crossplane_crds
        "$KUBECTL" create namespace crossplane-system >/dev/null || exit 1
        "$KUBECTL" create serviceaccount crossplane -n crossplane-system >/dev/null || exit 1
        "$crossplane" core init --cr-ds-path "$peer/crds" --activation '*' --enable-webhooks=false --tlsca-secret-name crossplane-root-ca \
                --tls-client-secret-name crossplane-tls-client --tls-server-secret-name crossplane-tls-server >"$KUBE_DIR/init.log" 2>&1 ||
                { cat "$KUBE_DIR/init.log"; exit 1; }
        free_port
        metrics=$port
        free_port
        mkdir "$KUBE_DIR/xpkg"
        kube_serve crossplane "$crossplane" core start --enable-webhooks=false --xpkg-cache-dir "$KUBE_DIR/xpkg" --tls-client-certs-dir "$certs" \
                --tls-server-certs-dir "$certs" --metrics-port "$metrics" --health-probe-port "$port"
        kube_await crossplane curl -sf "http://127.0.0.1:$port/readyz"
}

crossplane_function() {
        "$KUBECTL" create -f - >/dev/null <<FUNCTION || exit 1
apiVersion: pkg.crossplane.io/v1
kind: FunctionRevision
metadata:
  name: $1-peer
  labels: { pkg.crossplane.io/package: $1 }
  annotations: { crossplane.io/paused: "true" }
spec: { image: example.org/$1:v0.0.0, revision: 1, desiredState: Active }
FUNCTION
        "$KUBECTL" patch functionrevision "$1-peer" --subresource status --type merge -p '{"status": {"endpoint": "dns:///'"$2"'",
                "capabilities": ["composition"], "conditions": [
                {"type": "RevisionHealthy", "status": "True", "reason": "Peer", "lastTransitionTime": "2026-01-01T00:00:00Z"},
                {"type": "RuntimeHealthy", "status": "True", "reason": "Peer", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}' >/dev/null || exit 1
}
