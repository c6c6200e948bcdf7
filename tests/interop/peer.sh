# Peers: the real programs that interop suites run. Source it from the top of the tree. Each is built once into a cache outside the
# clone, named by what it is built from.
command -v go >/dev/null || { echo "the interop suites need Go: their peers are Go programs" >&2; exit 1; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weft-peers
mkdir -p "$cache"

# peer NAME DIRECTORY PACKAGE [FLAGS...]: builds the package from the module in the directory with these flags of go build and the CGO_ENABLED
# of the environment, unless it is there; its path is in $peer. Ends the script if it cannot be built. A script waits while another one
# builds the same peer.
peer() {
        local name=$1 directory=$2 package=$3
        shift 3
        peer=$cache/$name-$({
                find "$directory" -type f | LC_ALL=C sort | xargs cat
                [ $# = 0 ] || echo "$@"
                [ -z "${CGO_ENABLED-}" ] || echo "CGO_ENABLED=$CGO_ENABLED"
        } | sha256sum | cut -c1-16)
        [ ! -x "$peer" ] || return 0
        (
                flock 9
                [ ! -x "$peer" ] || exit 0
                echo "# building $name into $peer" >&2
                cd "$directory" && go build "$@" -o "$peer.tmp" "$package" 9>&- && mv "$peer.tmp" "$peer"
        ) 9>"$peer.lock" || exit 1
}

# peer_tree NAME DIRECTORY COMMAND...: the same for what is installed, not built by Go: copies the directory and runs the command in the
# copy, which is then at $peer.
peer_tree() {
        local name=$1 directory=$2
        shift 2
        peer=$cache/$name-$(find "$directory" -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16)
        [ ! -d "$peer" ] || return 0
        (
                flock 9
                [ ! -d "$peer" ] || exit 0
                echo "# installing $name into $peer" >&2
                rm -rf "$peer.tmp" && cp -R "$directory" "$peer.tmp" && cd "$peer.tmp" && "$@" 9>&- >&2 && mv "$peer.tmp" "$peer"
        ) 9>"$peer.lock" || exit 1
}

# free_port: one of the host's ports at which nobody listens and which no connection is given, in $port. For bash.
free_port() {
        port=$((10000 + SRANDOM % 20000))
        while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
                port=$((10000 + SRANDOM % 20000))
        done
}

# judge NAME CASE ASK COMPARE: a line of TAP on a case that both sides have answered once. COMPARE CASE ONE OTHER gives status 0 if the answers in
# those two directories of $work are alike; ASK CASE makes theirs anew. Where they are not, theirs is asked again: a program in Go
# walks maps in an order that changes, and a case that it answers in more than one way is left out if none of them is ours. Of two keys in
# one map the later comes first once in eight. After tap.sh; they are in $work/theirs and $work/ours.
judge() {
        local different=
        run "$4" "$2" theirs ours
        [ "$status" != 0 ] || { report "$1" 0; return; }
        cp -R "$work/theirs" "$work/first"
        for _ in $(seq 40); do
                "$3" "$2"
                run "$4" "$2" theirs ours
                [ "$status" != 0 ] || break
                "$4" "$2" first theirs >/dev/null 2>&1 || different=yes
        done
        rm -rf "$work/first"
        if [ "$status" != 0 ] && [ -n "$different" ]; then
                skip "$1" "theirs answers it in more than one way"
        else
                report "$1" "$status"
        fi
}
