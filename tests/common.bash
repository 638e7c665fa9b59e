# What the scripts of tests/ share; to be sourced. $program is what is tested, $here a folder of
# the script's own that goes away with it, $status what the script ends with.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(realpath "${LATLAB:-target/latlab}")
export PATH=$PWD/.venv/bin:$PATH
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
status=0

# Does what a command does, silently if it succeeds.
try() {
    local what=$1
    shift
    if "$@" >"$here/said" 2>&1; then
        echo "ok $what"
    else
        echo "not ok $what"
        tail -n 60 "$here/said" | sed 's/^/    /'
        status=1
    fi
}

# Ends the script in words.
skip() {
    echo "SKIPPED: $*"
    exit 0
}

# Says what is not as it should be, and fails.
expect() {
    local what=$1
    shift
    "$@" || { echo "expected: $what"; return 1; }
}

# Whether a Python expression holds of the JSON document in a file, which is `run` there. Names for
# parts of it are given as Python before.
holds_in() {
    python3 - "$@" <<'PYTHON'
import json, sys
file, names, expression = sys.argv[1:4]
run = json.load(open(file))
exec(names)
if not eval(f"({expression})"):
    sys.exit(f"not so: {expression}\n{json.dumps(run)[:3000]}")
PYTHON
}

# Flags for a run without rights, where this user has none; says what is not tried by it.
rights_for() {
    rights=()
    if [ "$(id -u)" != 0 ]; then
        echo "SKIPPED: $1 with real-time priority: needs root"
        rights=(--policy other --idle-states system)
    fi
}
