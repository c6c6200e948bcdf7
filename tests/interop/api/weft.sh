# Our API server, with the same variables as a real one (tests/interop/kube-peer.sh). Source it from a bash script at the top of the tree.
#
# weft_start [FLAGS OF weft server...]
#   Starts WEFT (default build-asan/weft) with a directory of its own below WEFT_SPACE (default: memory) and returns when /readyz says so.
#   Exports KUBE_URL, KUBE_TOKEN, KUBE_NOBODY, KUBE_CA and KUBECONFIG. The process is in weft_pid, its log in $WEFT_DIR/log.
# weft_kill, weft_again
#   Kill it and start it again with the same directory and port.
# weft_stop
#   Ends it and removes the directory. The script's exit does so too, unless it sets its EXIT trap after weft_start.
. tests/interop/peer.sh

weft_pid=
weft_flags=()

weft_ready() {
        curl -sf --cacert "$KUBE_CA" -H "Authorization: Bearer $KUBE_TOKEN" "$KUBE_URL/readyz" >/dev/null 2>&1
}

weft_again() {
        local end=$((SECONDS + 30))
        KUBE_BEGAN=$(date +%s.%N)
        setpriv --pdeathsig KILL "${weft_command[@]}" "${weft_flags[@]}" >>"$WEFT_DIR/log" 2>&1 &
        weft_pid=$!
        until weft_ready; do
                if ! kill -0 "$weft_pid" 2>/dev/null || [ $SECONDS -gt $end ]; then
                        echo "weft server is not ready:" >&2
                        tail -n 20 "$WEFT_DIR/log" >&2
                        exit 1
                fi
                sleep 0.005
        done
}

weft_start() {
        local space=${TMPDIR:-/tmp}
        [ ! -w /dev/shm ] || space=/dev/shm
        WEFT_DIR=$(mktemp -d "${WEFT_SPACE:-$space}/weft.XXXXXX")
        # shellcheck disable=SC2064
        trap "weft_stop; $(trap -p EXIT | sed "s/^trap -- '//; s/' EXIT\$//; s/'\\\\''/'/g")" EXIT
        free_port
        weft_flags=("$@")
        KUBE_TOKEN=$(openssl rand -hex 16)
        KUBE_NOBODY=$(openssl rand -hex 16)
        printf '%s,admin,1,"system:masters"\n%s,nobody,2\n' "$KUBE_TOKEN" "$KUBE_NOBODY" >"$WEFT_DIR/tokens"
        weft_command=("${WEFT:-build-asan/weft}" server --data "$WEFT_DIR/data" --listen "127.0.0.1:$port" --token-auth-file "$WEFT_DIR/tokens")
        KUBE_URL=https://127.0.0.1:$port
        KUBE_CA=$WEFT_DIR/data/pki/ca.crt
        KUBECONFIG=$WEFT_DIR/kubeconfig
        cat >"$KUBECONFIG" <<CONFIG
apiVersion: v1
kind: Config
current-context: peer
clusters: [{ name: peer, cluster: { server: "$KUBE_URL", certificate-authority: "$KUBE_CA" } }]
users: [{ name: admin, user: { token: "$KUBE_TOKEN" } }]
contexts: [{ name: peer, context: { cluster: peer, user: admin } }]
CONFIG
        export KUBE_URL KUBE_TOKEN KUBE_NOBODY KUBE_CA KUBECONFIG
        weft_again
}

weft_kill() {
        kill -KILL "$weft_pid" 2>/dev/null || true
        wait "$weft_pid" 2>/dev/null || true
}

weft_stop() {
        [ -n "${WEFT_DIR-}" ] || return 0
        weft_kill
        rm -rf "$WEFT_DIR"
        unset WEFT_DIR
}
