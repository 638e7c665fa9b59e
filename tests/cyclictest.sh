#!/usr/bin/env bash
# latlab cyclictest against the real one: the same bytes except for the numbers, and one line for each mistake.
# Invariant (command line): latlab cyclictest prints the bytes of cyclictest but for the numbers.
. "$(dirname "$0")/common.bash"
. tests/cyclictest.bash

# Replaces numbers by 9, keeping the width if it is fixed: a number that is longer than its column, such as a
# latency on a busy machine or the mean of no cycle (-9223372036854775808), is cut to it, and a shorter one keeps
# its blanks. Random parts (rows of JSON, lists of cycles, how often a block is redrawn) are kept once or not at
# all. Usage: mask FILE COLUMNS, the columns of the last and the mean latency.
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

# Runs both at once; their output and files must be the same.
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
    # Before each block except the first; with -M also after the last.
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

# Mistakes: one line, exit code 2, no measurement

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

exit $status
