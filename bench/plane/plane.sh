# Sourced by the benchmarks of the control plane: a load of composites, what it takes, and `weft up` to take it. Set before: build, work, xrs,
# KUBECTL when called, and die.
calculate() { awk "BEGIN { printf \"%.3f\", ($*) }"; }

cpu() {
        local tick
        tick=$(getconf CLK_TCK)
        for pid in "${pids[@]}"; do sed 's/.*) //' "/proc/$pid/stat"; done | awk -v tick="$tick" '{ n += $12 + $13 } END { printf "%.2f", n / tick }'
}

memory() {
        for pid in "${pids[@]}"; do sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status"; done | awk '{ n += $1 } END { printf "%.2f", n / 1024 }'
}

# load CLIENTS REQUESTS ARGUMENTS...: by h2load; all must be answered with 2xx.
load() {
        local clients=$1 requests=$2 out
        shift 2
        out=$(h2load -n "$requests" -c "$clients" -m 1 -t 1 -H "authorization: Bearer $KUBE_TOKEN" "$@" 2>&1) || die "$out"
        grep -q "status codes: $requests 2xx" <<<"$out" || die "$(grep 'status codes' <<<"$out")"
}

create() { load 16 "$xrs" -H 'content-type: application/json' -d "$work/app" "$apps"; }

# Sixteen processes, each with URLs of its own: the clients of one h2load would all begin with the first URL.
change() {
        local part parts=()
        for part in "$work"/urls.*; do
                load 1 "$(wc -l <"$part")" -H ':method: PATCH' -H 'content-type: application/merge-patch+json' -d "$work/patch" -i "$part" &
                parts+=($!)
        done
        for part in "${parts[@]}"; do wait "$part" || die "not all composites were changed"; done
}

# timed INTO NAME COLOR: the requests of create or change, and the wait for what follows from them.
timed() {
        local into=$1 name=$2 color=$3 before began ended
        before=$(cpu)
        began=$(date +%s.%N)
        python3 bench/plane/await.py "$xrs" "$color" >"$work/ended" &
        local waiter=$!
        $name
        wait "$waiter" || die "$name: not all composites became ready"
        ended=$(cat "$work/ended")
        calculate "$ended - $began" >"$into/$name"
        calculate "$(cpu) - $before" >"$into/$name-cpu"
}

# measure NAME: with KUBE_* set and the platform served.
measure() {
        local into=$work/$1
        apps=$KUBE_URL/apis/bench.example.org/v1/namespaces/default/apps
        mkdir -p "$into"
        printf '{"apiVersion":"bench.example.org/v1","kind":"App","metadata":{"generateName":"app-"},"spec":{"color":"red"}}' >"$work/app"
        timed "$into" create red
        memory >"$into/memory"
        printf '{"spec":{"color":"blue"}}' >"$work/patch"
        "$KUBECTL" get apps -o name | sed "s|.*/|$apps/|" >"$work/all"
        rm -f "$work"/urls.*
        split -n r/16 "$work/all" "$work/urls."
        timed "$into" change blue
}

served() {
        local end=$((SECONDS + 60))
        until "$KUBECTL" wait --for condition=Established xrd/apps.bench.example.org && "$KUBECTL" get apps; do
                [ $SECONDS -lt $end ] || die "the definition is not established"
                sleep 0.2
        done >/dev/null 2>&1
}

# ours NAME FLAGS...
ours() {
        local data=$work/$1-data name=$1
        shift
        setpriv --pdeathsig KILL "$build/weft" up --data "$data" "$@" "${platform:-bench/plane/platform.yaml}" >"$work/$name.log" 2>&1 &
        pids=($!)
        until [ -s "$data/kubeconfig" ]; do kill -0 "${pids[0]}" 2>/dev/null || die "$(tail -n 5 "$work/$name.log")"; sleep 0.05; done
        export KUBECONFIG=$data/kubeconfig
        KUBE_URL=$(sed -n 's/.*server: //p' "$KUBECONFIG") KUBE_CA=$data/pki/ca.crt
        export KUBE_URL KUBE_CA
        served
        "$KUBECTL" create serviceaccount bench >/dev/null && "$KUBECTL" create clusterrolebinding bench --clusterrole cluster-admin \
                --serviceaccount default:bench >/dev/null || die "cannot make a user"
        KUBE_TOKEN=$("$KUBECTL" create token bench) || die "cannot make a token"
        export KUBE_TOKEN
}
