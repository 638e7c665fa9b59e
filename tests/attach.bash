# A program that keeps its own log, and what latlab reports about it; to be sourced after common.bash. $runs is the
# folder of runs, $here/loops the program.
have attach gcc python:pyarrow || exit 0
[ "$(id -u)" = 0 ] || skip "attach: the kernel's events need root"
chrt -f 80 true 2>/dev/null || skip "attach: no real-time priority here"
gcc -g -O1 -Wall -Wextra -pthread -o "$here/loops" tests/attach/loops.c -lrt || exit 1

runs=$here/runs
tracing=/sys/kernel/tracing
if [ "${OWN_MOUNTS:-}" = yes ] && [ ! -d $tracing/instances ]; then
    mount -t tracefs tracefs $tracing || exit 1
fi
# More options of latlab.
more=()
# Attaches to a loop: loop NAME LOOPS-ARGUMENTS...; its log is $here/log.
loop() {
    local name=$1 arguments=("${@:2:4}") faults=("${@:6}")
    rm -f "$here/log"
    "$program" attach --quiet --out "$runs" --name "$name" "${more[@]}" -- \
        "$here/loops" "${arguments[@]}" "$here/log" "${faults[@]}" >"$here/text" 2>&1
    code=$?
    folder=$runs/$(ls "$runs" | grep "_$name$" | tail -n 1)
}

# Whether expressions hold for the last run: `thread` is what was found about the thread loops, `cycles`
# are its cycles, `log` is what the program logged.
told() {
    python3 tests/attach/told.py "$folder" "$here/log" "$@" || { tail -n 30 "$here/text"; return 1; }
}
same='len(cycles) == len(log["cycles"])'

mkdir -p "$runs"
