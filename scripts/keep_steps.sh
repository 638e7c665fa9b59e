#!/usr/bin/env bash
# Writes the table of the last `make check` or `make test` to results/. Usage: scripts/keep_steps.sh NAME
#   NAME  of the page in results/<date>-<machine>-tests, such as `fresh-clone`
set -euo pipefail
. "$(dirname "$0")/env.sh"
name=${1:?a name for the page}
folder=results/$(date -u +%F)-$(uname -n)-tests
mkdir -p "$folder"
{
    echo "# Steps: $name"
    echo
    echo "Commit $(git rev-parse --short=12 HEAD), $(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)," \
        "Linux $(uname -r), $(. /etc/os-release && echo "$PRETTY_NAME")."
    echo
    awk -F '\t' 'NR == 1 { print "| step | lane | begun (s) | seconds | of CPU | passed | failed | skipped |"
            print "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"; next }
        { printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, $3, $4, $5, $6, $7, $8 }' target/steps.tsv
    echo
    grep -h '^SKIPPED: ' target/steps/*.log | sort -u | sed 's/^/- /' || true
} >"$folder/$name.md"
echo "$folder/$name.md"
