#!/usr/bin/env bash
# latlab cyclictest in common commands and pipelines; what the original loses; and what is stored.
. "$(dirname "$0")/common.bash"
. tests/cyclictest.bash

# Commands of tutorials

# All cycles of a thread are in the rows and the overflows, and one thread has the requested number.
totals() {
    local cycles=$1
    shift
    ours "$@" >out 2>err && python3 "$tests/cyclictest.py" totals "$cycles"
}
try "-l20000 -m -S -p90 -i200 -h400 -q" totals 20000 -l20000 -m -S -p90 -i200 -h400 -q
try "-D 2 -m -Sp90 -i200 -h400 -q" totals 0 -D 2 -m -Sp90 -i200 -h400 -q

# Each thread's lines are numbered without a gap, and its summary counts them.
every_line() {
    ours "$@" >out 2>err && python3 "$tests/cyclictest.py" every_line
}
for line in "-l10000 -q -v -p80 -a0" "-l10000 -q -v -p80 -t -a" "-l10000 -q -v -p80 -t16 -a"; do
    # shellcheck disable=SC2086
    try "$line" every_line $line
done

# Scripts behind it

# Columns as the scripts of OSADL and of blogs cut them: CSV of the rows, the maximum, a picture.
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
        python3 "$tests/cyclictest.py" lost $tool || return
    done
    cat err
}
line=(-q -v -h 400 -p80 -t4 -a -i 200 -D 6)
try "four threads into a slow pipe lose no line" slow_pipe
grep -h "^real\|^ours" "$here/tried"

valid_json() {
    ours --no-store -q -l200 -h 3 --json='a"b' && python3 "$tests/cyclictest.py" whole_json 'a"b'
}
try "a quote in the command line leaves the JSON whole, and overflows are told" valid_json

really_batch() {
    "$program" cyclictest --no-store -q --policy="$1" >out 2>&1 &
    # A process substitution, as in has_class, changes $!.
    local pid=$! result=0
    until_holds 60 "a thread of class $2" has_class $pid "$2" || result=1
    ps -L -o cls=,comm= -p $pid
    kill -INT $pid
    wait $pid
    return $result
}
has_class() { grep -q "^ *$2 *latlab/0" <(ps -L -o cls=,comm= -p "$1"); }
try "--policy=batch is batch" really_batch batch B
try "--policy=idle is idle" really_batch idle IDL

has_snapshot() { tr -d '\0' <"/dev/shm/cyclictest$1" >shared && grep -q "current status" shared; }
asked() {
    "$program" cyclictest --no-store -q -t2 -F pipe >out 2>err &
    until_holds 60 "a pipe" [ -p pipe ] || return 1
    timeout 60 cat pipe >piped
    kill -USR1 $!
    kill -USR2 $!
    until_holds 60 "the state of two threads" eval '[ "$(grep -c "^T:" err)" = 2 ]'
    until_holds 60 "a snapshot in shared memory" has_snapshot $!
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
        expect "the command is stored" grep -q "latlab cyclictest -q -l500 -t2" "$folder/run.json" &&
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
