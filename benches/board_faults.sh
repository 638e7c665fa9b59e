#!/usr/bin/env bash
# What is lost when the link to a board is cut, and what the user sees: a table in Markdown.
# The board is this machine, through a private sshd, so both sides have one clock, and the loss is the time
# from the end of the last stored interval to the cut.
# Usage: benches/board_faults.sh >results/…/faults.md; LATLAB names the program.
export OWN_MOUNTS=${OWN_MOUNTS:-no}
. "$(dirname "$0")/../tests/common.bash"
. tests/lab/board.bash
need_boards "faults of a board"
start_sshd "SetEnv XDG_CACHE_HOME=$cache" || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT

before=$(cat /proc/sys/vm/stat_interval)
flags=(--target "$board" --cpus 0 -i 1ms --warm-up 0s --set "vm.stat_interval=$((before + 1))")
clock() { python3 -c 'import time; print(time.monotonic_ns())'; }
agents() { pgrep -f "$cache/latlab/agents"; }
gone() { ! agents >/dev/null; }
relay() { pgrep -f "relay.py 127.0.0.1 $port"; }
newest() { ls -td "$LATLAB_RUNS"/*Z_* | head -n 1; }

# Prints the row of a fault: row WHAT CODE, with the instant of the cut in $cut.
row() {
    python3 - "$1" "$2" "${cut:-0}" "$(newest)/run.json" "$here/errors" "$([ "$(cat /proc/sys/vm/stat_interval)" = "$before" ] && echo yes || echo no)" <<'PYTHON'
import json, sys
what, code, cut, path, errors, restored = sys.argv[1:7]
run = json.load(open(path))
end = max(one["first_release_ns"] for one in run["applied"]["threads"]) + run["measured_ns"]
lost = f"{max(0, int(cut) - end) / 1e9:.2f} s" if int(cut) else "nothing"
accounted = run["total"]["cycles"] + run["total"]["overruns"]
found = [one for one in run["findings"] if one["code"] in ("board-lost", "detached-bound")]
said = "; ".join(one.get("reason") or one["code"] for one in found)
lines = [line.strip().split(": ", 1)[-1] for line in open(errors) if "restored" in line]
print(f"| {what} | {lost} | {accounted} of 1 ms | {code} | {said or '-'}{'; ' + lines[-1] if lines else ''} | {restored} |", flush=True)
PYTHON
}
begin_run() {
    "$program" run --quiet "${flags[@]}" --for 10min "$@" >"$here/said" 2>"$here/errors" &
    run=$!
    until_holds 120 "a run that is stored" stored || cat "$here/errors" >&2
    sleep 2
}
end_run() {
    wait "$run" 2>/dev/null
    code=$?
    until_holds 60 "an agent that ends" gone
    sleep 1
}
detach() {
    "$program" run --detach --format json "${flags[@]}" "$@" >"$here/begun.json" 2>/dev/null
    id=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["id"])' "$here/begun.json")
    until_holds 120 "counts" has_counts "$cache/latlab/runs/$id/stream"
}
collect() {
    "$program" collect "$board" >"$here/said" 2>"$here/errors"
    code=$?
}

echo "| what was cut | lost before the cut | releases accounted for | exit code | what the user sees | board restored |"
echo "| --- | --- | --- | --- | --- | --- |"
begin_run; cut=$(clock); pkill -9 -P "$sshd"; end_run; row "the server's process of the connection, killed" "$code"
begin_run; cut=$(clock); kill -9 "$(pgrep -P "$run" ssh)"; end_run; row "the client's process, killed" "$code"
begin_run; cut=$(clock); kill -9 "$(agents | tail -n 1)"; end_run; row "the agent, killed" "$code"
begin_run; cut=$(clock); kill -9 "$run"; end_run
"$program" list >/dev/null 2>"$here/errors"; row "the conductor, killed" "-"
echo "ProxyCommand python3 $PWD/tests/lab/relay.py %h %p 0 10e6" >>"$here/ssh/config"
begin_run; cut=$(clock); kill -STOP "$(relay)"; end_run; pkill -9 -f "relay.py 127.0.0.1 $port"; row "packets, which vanish" "$code"
cut=0
for line in "0.1 10e6:200 ms there and back" "0 125e3:1 Mbit/s"; do
    sed -i '/^ProxyCommand/d' "$here/ssh/config"
    echo "ProxyCommand python3 $PWD/tests/lab/relay.py %h %p ${line%%:*}" >>"$here/ssh/config"
    "$program" run --quiet "${flags[@]}" --for 5s --samples >"$here/said" 2>"$here/errors"
    row "nothing; ${line#*:}" $?
done
sed -i '/^ProxyCommand/d' "$here/ssh/config"

detach --for 6s; stop_sshd; until_holds 60 "an agent that ends" gone
start_sshd "SetEnv XDG_CACHE_HOME=$cache"; flags[1]=$board
collect; row "detached: the server, stopped to the end of the run" "$code"
detach --for 10min; cut=$(clock); kill -9 "$(pgrep -f "^$cache/latlab/agents/agent-[0-9a-f]* $id")"; sleep 1; collect; row "detached: the agent, killed" "$code"
detach --for 10min; cut=$(clock); pkill -9 -f "latlab-board detach .*$id"; pkill -9 -f "^$cache/latlab/agents/agent-[0-9a-f]* $id"; collect; row "detached: everything on the board at once" "$code"
cut=0
detach --for 4s; until_holds 60 "an end" [ -e "$cache/latlab/runs/$id/end" ]
echo "ProxyCommand python3 $PWD/tests/lab/relay.py %h %p 0 30e3" >>"$here/ssh/config"
"$program" collect "$board" >/dev/null 2>&1 &
collector=$!
part() { [ "$(stat -c %s "$LATLAB_RUNS/.$id.incoming/journal")" -gt 20000 ]; }
until_holds 60 "a part" part; kill -9 "$collector"; wait "$collector" 2>/dev/null
pkill -9 -f "relay.py 127.0.0.1 $port"; sed -i '/^ProxyCommand/d' "$here/ssh/config"
collect; row "detached: the conductor that collects, killed, and again" "$code"
detach; "$program" collect "$board" --stop >"$here/said" 2>"$here/errors"; row "detached: nothing; ended by \`collect --stop\`" $?
