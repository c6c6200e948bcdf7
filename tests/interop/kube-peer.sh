#!/bin/bash
# A real Kubernetes API: etcd, kube-apiserver and, if asked for, the controller manager with garbage collection and namespace deletion
# alone, or those in KUBE_CONTROLLERS. Source it from a bash script at the top of the tree; or run it, and it runs a command with such an API around it:
#   tests/interop/kube-peer.sh [--controllers] COMMAND...
#
# kube_start [--controllers] [FLAGS OF kube-apiserver...]
#   Returns when /readyz says so, and ends the script if it never does. Exports
#     KUBE_URL      https://127.0.0.1:PORT
#     KUBE_TOKEN    the token of admin, who is in system:masters; "Authorization: Bearer $KUBE_TOKEN"
#     KUBE_NOBODY   the token of nobody, who is in no group and has no right
#     KUBE_CA       the file with the authority that signed the server's certificate, which is for localhost and 127.0.0.1
#     KUBECONFIG    the same for kubectl, whose path is in KUBECTL
#     KUBE_BEGAN    when the first server was started, in seconds
#     KUBE_DIR      the directory of all this; the servers' logs are DIR/*.log
#   KUBE_SPACE is the directory below which DIR is made; what is in it then survives a loss of power, as on a real machine. Without it DIR is in
#   memory and nothing is synced.
#   Not in a subshell: the servers end with the shell that started them, however that ends.
# kube_stop
#   Ends the servers and removes the directory. The script's exit does so too, unless it sets its EXIT trap after kube_start.
[ "${BASH_SOURCE[0]}" != "$0" ] || cd "$(dirname "$0")/../.." || exit 1
. tests/interop/peer.sh
. tests/e2e/certificates.sh

kube_pids=()

# kube_serve NAME COMMAND...: starts a server in the background, its log in NAME.log.
kube_serve() {
        setpriv --pdeathsig KILL "${@:2}" >"$KUBE_DIR/$1.log" 2>&1 &
        kube_pids+=($!)
}

# kube_await NAME COMMAND...: until the command passes; ends the script if the server dies or a minute goes by.
kube_await() {
        local end=$((SECONDS + 60))
        until "${@:2}" >/dev/null 2>&1; do
                if ! kill -0 "${kube_pids[-1]}" 2>/dev/null || [ $SECONDS -gt $end ]; then
                        echo "$1 is not ready:" >&2
                        tail -n 20 "$KUBE_DIR/$1.log" >&2
                        exit 1
                fi
                sleep 0.05
        done
}

kube_curl() {
        curl -sf --cacert "$KUBE_CA" -H "Authorization: Bearer $KUBE_TOKEN" "$KUBE_URL$1"
}

kube_config() {
        cat >"$KUBECONFIG" <<CONFIG
apiVersion: v1
kind: Config
current-context: peer
clusters: [{ name: peer, cluster: { server: "$KUBE_URL", certificate-authority: "$KUBE_CA" } }]
users: [{ name: admin, user: { token: "$KUBE_TOKEN" } }]
contexts: [{ name: peer, context: { cluster: peer, user: admin } }]
CONFIG
}

kube_files() {
        local space=${TMPDIR:-/tmp}
        [ ! -w /dev/shm ] || space=/dev/shm
        KUBE_DIR=$(mktemp -d "${KUBE_SPACE:-$space}/kube.XXXXXX")
        KUBE_CA=$KUBE_DIR/server/ca.crt
        KUBECONFIG=$KUBE_DIR/kubeconfig
        KUBE_TOKEN=$(openssl rand -hex 16)
        KUBE_NOBODY=$(openssl rand -hex 16)
        printf '%s,admin,1,"system:masters"\n%s,nobody,2\n' "$KUBE_TOKEN" "$KUBE_NOBODY" >"$KUBE_DIR/tokens"
        certificates "$KUBE_DIR"
        issue "$KUBE_DIR" server ours "subjectAltName=DNS:localhost,IP:127.0.0.1"
        openssl ecparam -name prime256v1 -genkey -noout -out "$KUBE_DIR/accounts.key"
        kube_config
}

kube_binaries() {
        local version=k8s.io/component-base/version.gitVersion=v1.36.3 client=k8s.io/client-go/pkg/version.gitVersion=v1.36.3 name
        peer etcd tests/interop/peers/etcd go.etcd.io/etcd/server/v3 -ldflags "-s -w"
        kube_etcd=$peer
        for name in "$@"; do
                peer "$name" tests/interop/peers/kubernetes "k8s.io/kubernetes/cmd/$name" -ldflags "-s -w -X $version -X $client"
                declare -g "kube_${name//-/_}=$peer"
        done
}

kube_start() {
        local controllers= etcd members
        [ "${1-}" != --controllers ] || { controllers=kube-controller-manager; shift; }
        kube_binaries kube-apiserver kubectl $controllers
        # shellcheck disable=SC2064
        trap "kube_stop; $(trap -p EXIT | sed "s/^trap -- '//; s/' EXIT\$//; s/'\\\\''/'/g")" EXIT
        free_port
        etcd=http://127.0.0.1:$port
        free_port
        members=http://127.0.0.1:$port
        free_port
        KUBE_URL=https://127.0.0.1:$port
        KUBECTL=$kube_kubectl
        kube_files
        export KUBE_URL KUBE_TOKEN KUBE_NOBODY KUBE_CA KUBE_DIR KUBECONFIG KUBECTL
        local sync=--unsafe-no-fsync
        [ -z "${KUBE_SPACE-}" ] || sync=
        KUBE_BEGAN=$(date +%s.%N)
        kube_serve etcd "$kube_etcd" --name peer --data-dir "$KUBE_DIR/etcd" $sync --log-level warn \
                --listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
                --listen-peer-urls "$members" --initial-advertise-peer-urls "$members" --initial-cluster "peer=$members"
        kube_await etcd curl -sf "$etcd/health"
        kube_serve kube-apiserver "$kube_kube_apiserver" --etcd-servers "$etcd" \
                --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$port" \
                --tls-cert-file "$KUBE_DIR/server/tls.crt" --tls-private-key-file "$KUBE_DIR/server/tls.key" --cert-dir "$KUBE_DIR" \
                --token-auth-file "$KUBE_DIR/tokens" --authorization-mode RBAC --disable-admission-plugins ServiceAccount \
                --service-account-key-file "$KUBE_DIR/accounts.key" --service-account-signing-key-file "$KUBE_DIR/accounts.key" \
                --service-account-issuer https://localhost --service-cluster-ip-range 10.0.0.0/24 "$@"
        kube_await kube-apiserver kube_curl /readyz
        [ -z "$controllers" ] || kube_controllers
}

kube_controllers() {
        free_port
        kube_serve kube-controller-manager "$kube_kube_controller_manager" --kubeconfig "$KUBECONFIG" --leader-elect=false \
                --bind-address 127.0.0.1 --secure-port "$port" --cert-dir "$KUBE_DIR" --root-ca-file "$KUBE_CA" \
                --controllers "${KUBE_CONTROLLERS:-garbage-collector-controller,namespace-controller}"
        kube_await kube-controller-manager curl -skf "https://127.0.0.1:$port/healthz"
}

kube_stop() {
        [ -n "${KUBE_DIR-}" ] || return 0
        kill -KILL "${kube_pids[@]}" 2>/dev/null || true
        wait "${kube_pids[@]}" 2>/dev/null || true
        rm -rf "$KUBE_DIR"
        kube_pids=()
        unset KUBE_DIR
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
        if [ "${1-}" = --controllers ]; then
                shift
                kube_start --controllers
        else
                kube_start
        fi
        "$@"
fi
