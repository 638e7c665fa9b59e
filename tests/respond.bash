# What the tests of `latlab respond` share, to be sourced after common.bash.
export LATLAB_RUNS=$here/runs NO_COLOR=1 COLUMNS=160

# Whether this holds for the runs stored last, by their names.
holds() {
    holds_in "$here/out.json" '
runs = {one["name"]: one for one in run["runs"]}
pairs = {(pair["of"], pair["against"]): pair for pair in run["pairs"]}
found = lambda name, code: [one for one in runs[name]["findings"] if one["code"] == code]
near = lambda a, b, within: abs(a - b) <= within' "$1"
}

# Whether this holds for the only run stored last, which is `one`.
holds_one() { holds_in "$here/out.json" \
    'one = run["runs"][0]; responses = one["responses"]; codes = [f["code"] for f in one["findings"]]' "$1"; }

# Whether these words are refused with this code and one line with this text: refused CODE TEXT WORD...
refused() {
    local code=$1 words=$2 said
    shift 2
    said=$(timeout 60 "$program" respond "$@" 2>&1)
    expect "exit code $code with: $said" [ $? = "$code" ] &&
        expect "one line, not: $said" [ "$(wc -l <<<"$said")" = 1 ] &&
        expect "'$words' in: $said" grep -q -- "$words" <<<"$said"
}
nothing_stored() { expect "nothing stored" [ -z "$(ls -A "$LATLAB_RUNS" 2>/dev/null)" ]; }
