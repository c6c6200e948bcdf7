# For the suites of the API server: both servers, one after the other or side by side. Source it from a bash script at the top of the tree.
. tests/interop/kube-peer.sh
. tests/interop/api/weft.sh
work=build-asan/interop
mkdir -p "$work"

# The controllers that our server has inside.
KUBE_CONTROLLERS=garbage-collector-controller,namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,clusterrole-aggregation-controller

# on_both NAME COMMAND...: runs the command on a real API and on ours, each of them new and both at the same time; what it prints is in $work/NAME.real and
# $work/NAME.ours. The status is 1 if either fails.
on_both() {
        local name=$1 failed=0
        shift
        (
                kube_start --controllers
                "$@" >"$work/$name.real"
        ) &
        local real=$!
        (
                weft_start
                "$@" >"$work/$name.ours" || { tail -n 5 "$WEFT_DIR/log" >&2; false; }
        ) || failed=1
        wait "$real" || failed=1
        return $failed
}

number=0
suite_failed=0

# tell NAME STATUS: a line of TAP.
tell() {
        number=$((number + 1))
        if [ "$2" = 0 ]; then
                echo "ok $number - $1"
        else
                echo "not ok $number - $1"
                suite_failed=1
        fi
}
