# Peers: the real programs that interop suites run. Source it from the top of the tree. Each is built once into a cache outside the
# clone, named by what it is built from.
command -v go >/dev/null || { echo "the interop suites need Go: their peers are Go programs" >&2; exit 1; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/weft-peers
mkdir -p "$cache"

# peer NAME DIRECTORY PACKAGE: builds the package from the module in the directory, unless it is there; its path is in $peer. Ends
# the script if it cannot be built.
peer() {
        peer=$cache/$1-$(find "$2" -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16)
        [ ! -x "$peer" ] || return 0
        echo "# building $1 into $peer"
        (cd "$2" && go build -o "$peer.tmp" "$3") || exit 1
        mv "$peer.tmp" "$peer"
}
