#!/usr/bin/env bash
# latlab cyclictest beside the real one: the same bytes but for the numbers, the commands that
# people use, the pipelines behind them, and what the original loses.
# Invariant (command line): latlab cyclictest prints the bytes of cyclictest but for the numbers.
. "$(dirname "$0")/common.bash"

if [ "$(id -u)" != 0 ]; then
    echo "SKIPPED: cyclictest: real-time priority needs root"
    exit 0
fi
have "cyclictest beside the real one" cyclictest || exit 0
export LATLAB_RUNS=$here/runs
cd "$here" || exit 1

ours() { "$program" cyclictest "$@"; }

# Numbers become 9, in the width that they are printed in where that is fixed: one that is longer than
# its column, as a latency is beside other work or the mean of no cycle (-9223372036854775808), is cut to it, and
# one that is shorter keeps its blanks.
# What depends on chance (rows of JSON, lists of cycles, how often a block is drawn over the one before)
# is told once or not at all. Usage: mask FILE COLUMNS, these of the last and the mean latency.
mask() {
    sed -E \
        -e 's/^\x1b\[[0-9]+A//' \
        -e "/^T:/{s/(\([0-9]{5})[0-9]+\)/\1)/;s/((C|Min):[0-9]{7})[0-9]+/\1/g" \
        -e "s/((Act|Avg):[-0-9]{$2})[0-9]+/\1/g;s/(Max:[0-9]{8})[0-9]+/\1/;s/[ 0-9-]/9/g;b}" \
        -e '/^ +[0-9]+:/{s/(:[0-9]{8})[0-9]+/\1/g;s/[ 0-9-]/9/g;b}' \
        -e '/^ {8}"[0-9]+": /d' -e '/^ {6}"overflow": /d' -e 's/("histogram": \{) *(},)?$/\1/' \
        -e '/^ {6}\},$/d' -e 's/"cmdline:":.*/"cmdline:"/' -e 's/_time": .*/_time"/' \
        -e 's/^# Thread [0-9]+:.*/# Thread:/' -e 's/-?[0-9.]+/9/g' "$1" | sort -u
}

# Runs both, side by side; what they print must be the same, and the files that they write.
same() {
    rm -rf real ours
    mkdir real ours
    (cd real && timeout 60 cyclictest "$@" >out 2>err; echo "exit $?" >>out) &
    (cd ours && timeout 60 "$program" cyclictest --no-store "$@" >out 2>err; echo "exit $?" >>out)
    wait $!
    local file columns=5
    [[ " $* " != *" -N "* ]] || columns=8
    for file in real/*; do
        file=${file#real/}
        [ "$file" = err ] || diff <(mask "real/$file" $columns) <(mask "ours/$file" $columns) || return 1
    done
    # Before each block but the first; with -M after the last one as well.
    local blocks ups
    blocks=$(grep -c 'policy: ' ours/out) ups=$(grep -c $'^\x1b\\[[0-9]*A' ours/out)
    expect "the cursor to go up between $blocks blocks, not $ups times" \
        [ "$ups" -ge $((blocks - 1)) -a "$ups" -le "$blocks" ]
}

for line in "-l50 -q -p80 -t2" "-l200 -p80 -t2" "-l200 -t2" "-l300 -M -p80" "-l200 -u" \
    "-l100 -h 20 -q -S -p80" "-l100 -H 20 -q -S -p80" "-l100 -H 20 -q" "-l100 -H 20 -t2 -p80" \
    "-l100 -h 20 -q -b 1" "-l100 -q -b 1 -t2" "-l100 -q -N -b 100" "-l100 -h 20 --histfile=h" \
    "-l100 -q -v -p80 -a0" "-a1 -l100 -q -v -p80 -t2" "-l100 -v -p80 -t2 -N" "-l50 -v -t -a" \
    "-l100 -v -o 10 -q -p80" "-l100 -q -N -t2" "-l100 -q -N -h 30000 -p80" \
    "--spike=1 -l20 -q" "--spike=1 --spike-nodes=3 -l20 -t2 -h 5 -q" "--spike=900000 -l20 -q" \
    "-l100 -q --json=j -t2 -a" "-l100 -q --json=j -h 900 -S" "-r -q -l50" "-s -q -l50 -h 10" \
    "-x -q -l50" "-c 1 -q -l50" "--laptop -q -l5" "--default-system -q -l5" "--latency=50 -q -l5" \
    "-R -q -l5" "--policy=rr -p5 -q -l5" "--policy=fifo -q -l5" "--priospread -p9 -t3 -q -l5" \
    "-A 100 -t2 -q -l50" "--secaligned -t2 -q -l50" "--mainaffinity=1 -q -l5" "-t 3 -q -l5" \
    "-S -t4 -q -l5" "-Sp 80 -d0 -q -l5" "--thread=2 -q -l5" "-m -n5 -q" "-D 1 -q"; do
    [ "$line" != "-m -n5 -q" ] || continue # -n is unknown to 2.4, and taken by latlab
    # shellcheck disable=SC2086
    try "the same as the real one: $line" same $line
done

# Mistakes: one line, exit code 2, nothing measured

refused() {
    ours "$@" >out 2>err
    expect "exit code 2" [ $? = 2 ] &&
        expect "one line on standard error, $(cat err)" [ "$(wc -l <err)" = 1 ] &&
        expect "nothing on standard output" [ ! -s out ]
}
for line in "-i abc" "-i 0" "-c 2" "--policy=fofo" "-p 100" "-Z" "-b" "-t0" "-o 5" "-a 77" "-h 0" \
    "--hist=5" "-A 1 --secaligned" "-D 1x" "--json=/nowhere/x" "--rt-tests 3.0" "--smi"; do
    # shellcheck disable=SC2086
    try "refused in one line: $line" refused $line
done
try "--help is for standard output" eval 'ours --help | grep -q -- "--histofall"'

# The commands of the tutorials, as they stand

# All cycles of a thread are in the rows and the overflows, and one thread has all it was to have.
totals() {
    local cycles=$1
    shift
    ours "$@" >out 2>err && python3 - "$cycles" <<'PYTHON'
import sys
rows = [line for line in open("out") if line[0].isdigit()]
columns = [list(map(int, line.split()[1:])) for line in rows]
foot = {line[2:].split(":")[0]: line.split(":")[1].split() for line in open("out") if ":" in line}
total, over = (list(map(int, foot[name])) for name in ("Total", "Histogram Overflows"))
assert [sum(column) for column in zip(*columns)] == total, "Total is not the sum of the rows"
cycles = [a + b for a, b in zip(total, over)]
print("cycles of each thread:", cycles)
assert max(cycles) == int(sys.argv[1]) or (sys.argv[1] == "0" and min(cycles) > 1000)
PYTHON
}
try "-l100000 -m -S -p90 -i200 -h400 -q" totals 100000 -l100000 -m -S -p90 -i200 -h400 -q
try "-D 5 -m -Sp90 -i200 -h400 -q" totals 0 -D 5 -m -Sp90 -i200 -h400 -q

# Each thread's lines are numbered without a gap, and its summary counts them.
every_line() {
    ours "$@" >out 2>err && python3 - <<'PYTHON'
import re
seen, counted = {}, {}
for line in open("out"):
    if sample := re.fullmatch(r" *(\d+): *(\d+): *-?\d+\n", line):
        thread, cycle = map(int, sample.groups())
        assert cycle == seen.get(thread, 0), f"thread {thread}: {cycle} after {seen.get(thread)}"
        seen[thread] = cycle + 1
    elif line.startswith("T:"):
        number, count = re.match(r"T: *(\d+) .* C: *(\d+) ", line).groups()
        counted[int(number)] = int(count)
print(counted)
assert seen == counted, [seen, counted]
assert max(counted.values()) == 10000, counted
PYTHON
}
for line in "-l10000 -q -v -p80 -a0" "-l10000 -q -v -p80 -t -a" "-l10000 -q -v -p80 -t16 -a"; do
    # shellcheck disable=SC2086
    try "$line" every_line $line
done

# Scripts behind it

# As the scripts of OSADL and of the blogs cut columns: CSV of the rows, the maximum, a picture.
columns() {
    grep -v -e "^#" -e "^$" "$1" | tr " " "," | tr "\t" "," >"$1.csv"
    grep "Max Latencies" "$1" | tr " " "\n" | sort -n | tail -1 | sed 's/^0*//' >"$1.max"
    expect "a maximum" grep -q "^[0-9]" "$1.max" || return
    grep -v -e "^#" -e "^$" "$1" | tr " " "\t" | cut -f1,2 >"$1.first"
    awk -F, 'NF != 3 { print "columns: " $0; exit 1 }' "$1.csv"
}
pipeline() {
    cyclictest -l2000 -m -S -p90 -i200 -h400 -q >real.txt
    ours -l2000 -m -S -p90 -i200 -h400 -q >ours.txt 2>err
    columns real.txt && columns ours.txt || return
    diff <(cut -d, -f1 real.txt.csv) <(cut -d, -f1 ours.txt.csv)
}
try "columns are cut from it as from the real one's" pipeline

picture() {
    local tool
    for tool in real ours; do
        gnuplot <<GNUPLOT || return
set terminal pngcairo size 800,500
set output "$tool.png"
set title "$tool"
set logscale y
set xrange [0:400]
set yrange [0.8:*]
set xlabel "latency in us, at most $(cat "$tool.txt.max")"
plot "$tool.txt.first" using 1:2 with histeps title "CPU 0"
GNUPLOT
        expect "a picture of $tool" [ "$(wc -c <"$tool.png")" -gt 2000 ] || return
    done
}
! have "a picture by gnuplot" gnuplot || try "gnuplot draws from it" picture

# What the original loses

# A reader that sleeps longer than the original's memory of 16384 samples.
slow() { sleep 5; cat; }
slow_pipe() {
    local tool
    for tool in real ours; do
        case $tool in
            real) cyclictest "${line[@]}" ;;
            ours) ours "${line[@]}" 2>err ;;
        esac | slow >out
        python3 - $tool <<'PYTHON' || return
import collections, sys
# The printed latencies below 400 us of each thread, beside the rows of the histogram.
printed, counted, over, lines = collections.Counter(), collections.Counter(), 0, 0
for line in open("out"):
    fields = line.replace(":", " ").split()
    if line[0] == " " and len(fields) == 3:
        lines += 1
        thread, _, value = map(int, fields)
        if value < 400:
            printed[thread, value] += 1
    elif line[0].isdigit():
        value, *counts = map(int, fields)
        counted.update({(thread, value): count for thread, count in enumerate(counts) if count})
    elif "Overflows" in line:
        over = sum(map(int, fields[3:]))
lost, false = (counted - printed).total(), (printed - counted).total()
print(f"{sys.argv[1]}: {counted.total() + over} cycles, {lines} lines; {lost} latencies were not "
      f"printed, {false} were printed that did not occur")
assert sys.argv[1] == "real" or lost + false + abs(counted.total() + over - lines) == 0
PYTHON
    done
    cat err
}
line=(-q -v -h 400 -p80 -t16 -a -i 200 -D 7)
try "16 threads into a slow pipe lose no line" slow_pipe
grep -h "^real\|^ours" "$here/tried"

valid_json() {
    ours --no-store -q -l200 -h 3 --json='a"b' && python3 -c '
import json, sys
found = json.load(open("a\"b"))
assert "a\"b" in found["cmdline:"], found["cmdline:"]
for thread in found["thread"].values():
    assert thread["overflow"] + sum(thread["histogram"].values()) == thread["cycles"], thread'
}
try "a quote in the command line leaves the JSON whole, and overflows are told" valid_json

really_batch() {
    "$program" cyclictest --no-store -q --policy="$1" -D 2 >out 2>&1 &
    sleep 1
    ps -L -o cls=,comm= -p $! | tee said.ps
    wait $!
    expect "a thread of class $2" grep -q "^ *$2 *latlab/0" said.ps
}
try "--policy=batch is batch" really_batch batch B
try "--policy=idle is idle" really_batch idle IDL

asked() {
    "$program" cyclictest --no-store -q -t2 -F pipe >out 2>err &
    sleep 1
    timeout 5 cat pipe >piped
    kill -USR1 $!
    kill -USR2 $!
    sleep 0.5
    tr -d '\0' <"/dev/shm/cyclictest$!" >shared
    kill -INT $!
    wait $!
    expect "exit code 0" [ $? = 0 ] &&
        expect "two threads in the pipe" [ "$(grep -c "^T:" piped)" = 2 ] &&
        expect "two threads on standard error" [ "$(grep -c "^T:" err)" = 2 ] &&
        expect "a snapshot in shared memory" grep -q "current status" shared &&
        expect "nothing left in shared memory" [ ! -e "/dev/shm/cyclictest$!" ]
}
try "the figures of the moment by pipe and signals" asked

# What is stored

stored() {
    rm -rf "$LATLAB_RUNS"
    ln -sf "$program" cyclictest
    ./cyclictest -q -l500 -t2 >out 2>err
    local folder
    folder=$(tail -n 1 err | sed 's/.* //')
    expect "the last line names the run" [ -f "$folder/run.json" ] &&
        expect "the command is told" grep -q "latlab cyclictest -q -l500 -t2" "$folder/run.json" &&
        "$program" verify "$folder" && "$program" show "$folder" && "$program" report "$folder" &&
        ours --no-store -q -l50 &&
        expect "one run" [ "$(find "$LATLAB_RUNS" -mindepth 1 -maxdepth 1 | wc -l)" = 1 ]
}
try "a link of that name measures and stores the run; --no-store stores none" stored

no_folder() {
    LATLAB_RUNS=/proc/nowhere ours -q -l50 >out 2>err &&
        expect "figures" grep -q "^T: 0" out && expect "a word" grep -q "not stored" err
}
try "where nothing can be stored it measures all the same" no_folder

exit $status
