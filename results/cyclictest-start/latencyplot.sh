#!/usr/bin/env bash
# latencyplot.sh PROGRAM OUT.svg: measures with the given cyclictest and draws one stepped line for
# each CPU, as scripts of board farms do it: everything is cut out of the program's text.
set -eu
program=$1 picture=$2
text=$(mktemp)
trap 'rm -f "$text" "$text".*' EXIT

$program -l100000 -m -S -p90 -i200 -h400 -q >"$text"
max=$(grep "Max Latencies" "$text" | tr " " "\n" | sort -n | tail -1 | sed 's/^0*//')
grep -v -e "^#" -e "^$" "$text" | tr " " "\t" >"$text.bins"
cores=$(($(head -1 "$text.bins" | wc -w) - 1))
lines=()
for core in $(seq "$cores"); do
    cut -f1,$((core + 1)) "$text.bins" >"$text.$core"
    lines+=("'$text.$core' using 1:2 title 'CPU$((core - 1))' with histeps")
done
gnuplot <<GNUPLOT
set terminal svg size 800,450
set output "$picture"
set title "Latency plot"
set xlabel "Latency (us), max ${max:-0} us"
set ylabel "Number of latency samples"
set logscale y
set xrange [0:400]
set yrange [0.8:*]
plot $(IFS=,; echo "${lines[*]}")
GNUPLOT
