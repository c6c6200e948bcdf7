# Functions that tests start. Source it behind tap.sh; they are ended with the test.
pids=
trap 'for p in $pids; do kill -KILL "$p" 2>/dev/null; done; rm -rf "$work"' EXIT

# serves LOG COMMAND...: starts a function with its standard error in the log, and waits until it says there where it listens; sets pid
# and address ("" if it ended instead). What an earlier one has left in the log is gone before this one is waited for.
serves() {
        local log=$1
        shift
        : >"$log"
        "$@" 2>"$log" &
        pid=$!
        pids="$pids $pid"
        address=
        for _ in $(seq 600); do
                address=$(sed -n 's/.*"message":"serving".*"address":"\([^"]*\)".*/\1/p' "$log" | head -n 1)
                if [ -n "$address" ]; then
                        pids="$pids $(cat "/proc/$pid/task/$pid/children" 2>/dev/null)" # make's, which it leaves behind
                        return
                fi
                kill -0 "$pid" 2>/dev/null || return
                sleep 0.05
        done
}
