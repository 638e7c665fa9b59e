# What the tests of a board over ssh share, to be sourced after common.bash: runs on this machine, through a private
# sshd on loopback.
. tests/lab/board.bash
need_boards "boards over ssh"

# Runs for about a second on the board: on_board FLAG...; $code is the exit code.
on_board() {
    "$program" run --quiet --format json --target "$board" --cpus "${measured:-0}" -i 1ms \
        --warm-up 0s "${rights[@]}" "$@" >"$here/run.json" 2>"$here/errors"
    code=$?
    cat "$here/errors"
}

gone() { ! pgrep -f "^$cache/latlab/agents" >"$here/left" || { cat "$here/left"; return 1; }; }
agent_of_board() {
    agent=$(pgrep -f "^$cache/latlab/agents/agent-[0-9a-f]* 2" | head -n 1) &&
        has_cycles "$agent"
}
begin_on_board() {
    "$program" run --quiet --format json --target "$board" --cpus 0 --for 10min \
        --warm-up 0s "${rights[@]}" "$@" >"$here/run.json" 2>"$here/errors" &
    run=$!
    until_holds 60 "an agent that measures on the board" agent_of_board || { cat "$here/errors"; return 1; }
    until_holds 60 "a second that is stored" stored
}
# Whether the ssh server is off the measured CPUs.
moved="any(one['what'] == 'ssh server' and one['applied'] == one['asked'] != '0' for one in run['applied']['settings'])"
