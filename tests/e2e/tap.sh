# A small TAP harness for shell tests. Source it, use the checks, end with `finish`.
#   WEFT is the program under test; $work is an empty directory that goes away at the end.
number=0
failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# report NAME STATUS: one TAP line; on failure shows what the last `run` gave.
report() {
        number=$((number + 1))
        if [ "$2" = 0 ]; then
                echo "ok $number - $1"
                return
        fi
        failures=$((failures + 1))
        echo "not ok $number - $1"
        sed 's/^/# /' "$work/expected" 2>/dev/null | head -n 20
        echo "# ---- got status $status, standard output and error:"
        head -c 2000 "$work/out" | sed 's/^/# /'
        head -c 2000 "$work/err" | sed 's/^/# /'
}

# skip NAME WHY: one TAP line for a case that is left out.
skip() {
        number=$((number + 1))
        echo "ok $number - $1 # SKIP $2"
}

# run COMMAND...: keeps status, $work/out and $work/err.
run() {
        status=0
        "$@" >"$work/out" 2>"$work/err" || status=$?
}

# gives NAME STATUS EXPECTED: the last run ended with STATUS and printed exactly EXPECTED (and a newline) on standard output.
gives() {
        printf '%s\n' "$3" >"$work/expected"
        [ "$status" = "$2" ] && cmp -s "$work/out" "$work/expected"
        report "$1" $?
}

# complains NAME STATUS EXPECTED: as `gives`, for standard error; standard output must be empty.
complains() {
        printf '%s\n' "$3" >"$work/expected"
        [ "$status" = "$2" ] && cmp -s "$work/err" "$work/expected" && [ ! -s "$work/out" ]
        report "$1" $?
}

# has_text FILE TEXT: the file holds the text, all of its lines one behind the other. (grep would take each line for another text.)
has_text() {
        case $(tr -d '\000' <"$1") in
        *"$2"*) return 0 ;;
        esac
        return 1
}

# mentions NAME STATUS TEXT: standard error holds TEXT.
mentions() {
        printf '%s\n' "$3" >"$work/expected"
        [ "$status" = "$2" ] && has_text "$work/err" "$3"
        report "$1" $?
}

# holds NAME STATUS TEXT: standard output holds TEXT.
holds() {
        printf '%s\n' "$3" >"$work/expected"
        [ "$status" = "$2" ] && has_text "$work/out" "$3"
        report "$1" $?
}

finish() {
        echo "1..$number"
        [ "$failures" = 0 ] && [ "$number" -gt 0 ]
        exit
}
