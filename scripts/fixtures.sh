#!/usr/bin/env bash
# Measures the fixtures of the current schema again, on CPUs 0 and 1, as root. Allowed only until a version of latlab
# with this schema is released, since every later latlab must read what the released one stored.
# The golden windows show the times of the runs: INSTA_UPDATE=always cargo test -p latlab --test it window.
set -euo pipefail
cd "$(dirname "$0")/.."
latlab=${LATLAB:-$PWD/target/debug/latlab}
schema=$(sed -n 's/^pub const SCHEMA_VERSION: u32 = \([0-9]*\);/\1/p' crates/model/src/run.rs)
folder=fixtures/schema-$schema
exec >/dev/null
rm -rf "$folder"
mkdir -p "$folder/runs" "$folder/cut" "$folder/explained"
measure=("$latlab" run --quiet --share --cpus 0,1 --warm-up 100ms)

"${measure[@]}" --name plain --deadline 50ms --for 2s --out "$folder/runs"
"${measure[@]}" --name sampled --deadline 50ms --for 2s --samples --telemetry 500ms --out "$folder/runs"
"${measure[@]}" --name traced --period 2ms --for 2s --samples --breakdown --explain --spike-above 1s \
    --out "$folder/runs"

# A journal whose two processes were killed.
setsid "${measure[@]}" --name cut --period 2ms --for 1m --samples --breakdown --out "$folder/cut" &
killed=$!
sleep 4
kill -KILL -- "-$killed"
wait "$killed" 2>/dev/null || true
find "$folder/cut" -type f ! -name journal -delete

# The document of a run with explained spikes, by two threads above the measured ones.
busy() {
    printf %s "$1" >"/proc/$BASHPID/comm"
    while sleep "$2"; do for ((i = 0; i < $3; i++)); do :; done; done
}
export -f busy
setsid taskset -c 0 chrt -f 95 bash -c 'busy one-thread 0.21 3000' &
first=$!
setsid taskset -c 1 chrt -f 96 bash -c 'busy another-thread 0.17 3000' &
second=$!
"${measure[@]}" --name explained --for 3s --explain --spike-above 2ms --out "$folder/explained"
kill -- "-$first" "-$second"
mv "$folder"/explained/*_explained/run.json "$folder/explained"
rm -r "$folder"/explained/*_explained
