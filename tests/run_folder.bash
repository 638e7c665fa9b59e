# What the tests of stored runs share, to be sourced after common.bash. FOR is the length of a run, PERIOD the
# distance of its samples.
runs=$here/runs
export LATLAB_RUNS=$runs
unset NO_COLOR

# A field of a JSON file, as Python indexes it.
field() {
    python3 -c 'import json, sys; print(eval("run" + sys.argv[2], {"run": json.load(open(sys.argv[1]))}))' "$@"
}

# Makes the run under test: $id, $folder, and its document in $run. Its output is in $here/summary.
make_run() {
    "$program" run --for "${FOR:-$1}" --deadline 1ms --name folder "${rights[@]}" >"$here/summary" 2>"$here/errors"
    code=$?
    folder=$(echo "$runs"/*_folder)
    run=$folder/run.json
    id=${folder##*/}
    [ -f "$run" ] && return
    echo "not ok a run makes a folder with run.json (exit code $code)"
    sed 's/^/    /' "$here/errors"
    exit 1
}

# A command's output on a terminal of 80 columns, with its colours.
on_terminal() {
    script -qec "stty cols 80 rows 24; exec $*" /dev/null </dev/null | tr -d '\r'
}

without_colour() { sed 's/\x1b\[[0-9;]*m//g'; }

# Whether all lines that a command prints on a terminal fit.
narrow() {
    local wide
    on_terminal "$@" >"$here/text"
    expect "some text" [ -s "$here/text" ] || return 1
    without_colour <"$here/text" >"$here/plain"
    cat "$here/plain"
    # The command that repeats a run stays on one line, for copying.
    wide=$(grep -Ev '^(  latlab run |Try first)' "$here/plain" | LC_ALL=C.UTF-8 wc -L)
    expect "no line wider than 80, the widest has $wide" [ "$wide" -le 80 ]
}

# Whether a closed pipe is no error.
no_reader() {
    local code
    "$program" "$@" 2>"$here/errors" | head -n 1 >/dev/null
    code=${PIPESTATUS[0]}
    expect "exit code 0 before head, not $code" [ "$code" = 0 ] || return 1
    # The reader has ended by the time of the write.
    { sleep 0.2; "$program" "$@" 2>>"$here/errors"; echo $? >"$here/code"; } | :
    cat "$here/errors"
    expect "exit code 0 without a reader, not $(<"$here/code")" [ "$(<"$here/code")" = 0 ] &&
        expect "no word about it" [ ! -s "$here/errors" ]
}

# Whether a command exits with this code and says why: mistake CODE COMMAND...
mistake() {
    local expected=$1 code
    shift
    "$@" >"$here/text" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    expect "exit code $expected, not $code" [ "$code" = "$expected" ] &&
        expect "a word about it" [ -s "$here/errors" ] &&
        expect "nothing on standard output" [ ! -s "$here/text" ]
}
