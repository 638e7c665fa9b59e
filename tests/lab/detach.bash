# What the tests of detached runs share, to be sourced after common.bash.
. tests/lab/board.bash
need_boards "runs without the link"

folder=$cache/latlab/runs
detach() {
    "$program" run --detach --format json --target "$board" --cpus "${measured:-0}" -i "${period:-1ms}" \
        --warm-up 0s "${rights[@]}" "$@" >"$here/begun.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
    [ "$code" = 0 ] && id=$(id_of "$here/begun.json")
}
collect() {
    "$program" collect "$board" --format json "$@" >"$here/collected.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
}
# Whether a run was collected; its document is then $here/run.json.
is_collected() {
    local path
    path=$(python3 tests/lab/boards.py collected "$here/collected.json") &&
        "$program" show "$path" --format json >"$here/run.json"
    "$program" verify "$path" >/dev/null && expect "no stream that is left there" [ ! -e "$folder/$id" ] &&
        expect "no stream that is left here" \
            [ -z "$(ls -d "$LATLAB_RUNS"/.*.incoming "$LATLAB_RUNS"/.*.partial 2>/dev/null)" ]
}
agent_of() { agent=$(pgrep -f "^$cache/latlab/agents/agent-[0-9a-f]* $id" | head -n 1); }
measures() { agent_of && has_cycles "$agent"; }
ended() { [ -e "$folder/$id/end" ]; }
stream_of() { stat -c %s "$folder/$id/stream"; }

# Whether the status of the run $id is this.
status_is() {
    "$program" target status "$board" --format json >"$here/status.json"
    holds_in "$here/status.json" "" "[one['state'] for one in run['detached'] if one['id'] == '$id'] == ['$1']"
}
