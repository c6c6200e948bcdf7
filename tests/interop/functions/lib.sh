# What the scripts beside it share: functions that run, ours and others', and certificates for them. Source it from the top of the tree.
. tests/e2e/tap.sh
. tests/e2e/certificates.sh
. tests/interop/peer.sh
unset TLS_SERVER_CERTS_DIR
seed=${INTEROP_SEED:-1}
factor=${INTEROP_FACTOR:-1}
request=examples/function-robots/request.yaml
pids=
trap 'for p in $pids; do kill -KILL "$p"; wait "$p"; done 2>/dev/null; rm -rf "$work"' EXIT

certificates "$work"
client="--tls-certs-dir $work/client --server-name function-robots.weft"

# ours FLAGS...: starts our function; its address is in $ours.
ours() {
        rm -f "$work/log"
        build-asan/function-robots --address 127.0.0.1:0 "$@" 2>"$work/log" &
        pids="$pids $!"
        until ours=$(sed -n 's/.*"message":"serving".*"address":"\([^"]*\)".*/\1/p' "$work/log" 2>/dev/null) && [ -n "$ours" ]; do
                kill -0 $! 2>/dev/null || { cat "$work/log" >&2; exit 1; }
                sleep 0.05
        done
}

# theirs COMMAND...: starts another's function. Where the command says ADDRESS, it is told a free one, which is then in $theirs.
theirs() {
        free_port
        theirs=127.0.0.1:$port
        "${@/ADDRESS/$theirs}" >"$work/peer.log" 2>&1 &
        pids="$pids $!"
        until (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
                kill -0 $! 2>/dev/null || { cat "$work/peer.log" >&2; exit 1; }
                sleep 0.05
        done
}

# call NAME ADDRESS REQUEST: weft function call over mutual TLS, with the response in $work/NAME.
call() {
        # shellcheck disable=SC2086
        build-asan/weft function call $client "$2" "$3" >"$work/$1" 2>"$work/$1.err" || [ "$?" = 1 ] && [ -s "$work/$1" ]
}

# passes NAME COMMAND...
passes() {
        local name=$1
        shift
        rm -f "$work/expected"
        run "$@"
        report "$name" "$status"
}
