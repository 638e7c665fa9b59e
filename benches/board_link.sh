#!/usr/bin/env bash
# The cost of a board over ssh, on loopback: time to the first cycle with and without copying the
# agent, samples at 20 kHz on four threads through 10 Mbit/s, and the CPU time of the server's process.
# Local runs and runs over ssh take turns: their comparison, their picture and the agent's memory.
# Usage: benches/board_link.sh FOLDER >FOLDER/figures.csv; LATLAB names the program.
export OWN_MOUNTS=${OWN_MOUNTS:-no}
. "$(dirname "$0")/../tests/common.bash"
. tests/lab/board.bash
cache=$here/cache
export LATLAB_RUNS=$here/runs
start_sshd "SetEnv XDG_CACHE_HOME=$cache" || exit 1
trap 'stop_sshd; rm -rf "$here"' EXIT

# Time from the command to the first release, on the clock that both sides share here.
first_cycle() {
    python3 - "$program" "$board" <<'PYTHON'
import json, subprocess, sys, time
begun = time.monotonic_ns()
run = subprocess.run([sys.argv[1], "run", "--quiet", "--format", "json", "--target", sys.argv[2], "--warm-up", "0s", "--for", "1s"], capture_output=True, check=True)
first = min(one["first_release_ns"] for one in json.loads(run.stdout)["applied"]["threads"])
print(f"{(first - begun) / 1e9:.2f}")
PYTHON
}
echo "what,seconds"
for repeat in 1 2 3 4 5; do
    rm -rf "$cache"
    echo "first cycle with the copy,$(first_cycle)"
    echo "first cycle with the agent there,$(first_cycle)"
done

ticks() { awk '{ print $14 + $15 }' "/proc/$(pgrep -P "$sshd" | head -n 1)/stat"; }
"$program" run --quiet --format json --target "$board" --cpus 0 --for 40s >"$here/run.json" 2>&1 &
run=$!
sleep 8
before=$(ticks)
sleep 30
after=$(ticks)
wait "$run"
echo "CPU time of the server's process in 30 s,$(awk "BEGIN { print ($after - $before) / 100 }")"
python3 - "$here/run.json" <<'PYTHON'
import json, sys
for one in json.load(open(sys.argv[1]))["findings"]:
    if one["code"] == "board-traffic":
        print(f"kB a second of the stream,{one['bytes'] / one['length_ns'] * 1e6:.1f}")
PYTHON
# Measures locally and over ssh in turns, under the same conditions: measured NAME [OPTION]...
measured() {
    "$program" run --quiet --format json --cpus 0 --for 15s --name "$@" >"$here/run.json" &
    run=$!
    sleep 10
    agent=$(pgrep -n -x -f "$cache/latlab/agents/agent-[0-9a-f]* 2" || pgrep -P "$run" -f ' agent ')
    echo "MiB of the agent at most ($1),$(awk '/^VmHWM/ { printf "%.1f", $2 / 1024 }' "/proc/$agent/status")"
    wait "$run"
    softirqs "$1"
}
softirqs() {
    python3 - "$here/run.json" <<'PYTHON'
import json, sys
for one in json.load(open(sys.argv[1]))["findings"]:
    if one["code"] == "board-interrupts":
        for cpu in one["cpus"]:
            print(f"softirqs of the network a second on CPU {cpu['cpu']},{cpu['per_second']:.1f}")
PYTHON
}
for turn in 1 2 3 4; do
    measured local
    measured ssh --target "$board"
done
if [ -n "${1:-}" ]; then
    "$program" compare local -- ssh >"$1/local-ssh.txt"
    "$program" plot "$LATLAB_RUNS"/*_local "$LATLAB_RUNS"/*_ssh --kind overlay -o "$1/local-ssh.svg" >/dev/null
fi
echo "ProxyCommand python3 $PWD/tests/lab/relay.py %h %p 0 1.25e6" >>"$here/ssh/config"
"$program" run --quiet --format json --target "$board" --threads 4 -i 50us --samples --for 20s >"$here/run.json" 2>"$here/errors" || cat "$here/errors" >&2
python3 - "$here/run.json" <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))
print(f"cycles of 4 threads at 20 kHz in 20 s,{run['total']['cycles']}")
print(f"overruns releases of them,{run['total']['overruns']}")
print(f"samples lost,{run['losses']['samples']}")
for one in run["findings"]:
    if one["code"] == "board-traffic":
        print(f"kB a second of their stream,{one['bytes'] / one['length_ns'] * 1e6:.1f}")
PYTHON
