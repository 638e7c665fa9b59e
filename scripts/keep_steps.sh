#!/usr/bin/env bash
# Writes the table of the last `make check`, `make test` or `make lab` to results/suite.
# Usage: scripts/keep_steps.sh NAME
#   NAME  of the page, such as `make-test-from-nothing`; an existing one is replaced
set -euo pipefail
. "$(dirname "$0")/env.sh"
name=${1:?a name for the page}
mkdir -p results/suite
{
    echo "# Steps: $name"
    echo
    echo "Commit $(git rev-parse --short=12 HEAD), $(nproc) CPUs," \
        "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)," \
        "Linux $(uname -r), $(. /etc/os-release && echo "$PRETTY_NAME")."
    echo
    awk -F '\t' 'NR == 1 { print "| step | seconds | of CPU | result |"; print "| --- | ---: | ---: | --- |"; next }
        { printf "| %s | %s | %s | %s |\n", $1, $2, $3, $4 }' target/steps.tsv
} >"results/suite/$name.md"
echo "results/suite/$name.md"
