#!/usr/bin/env bash
# Measures this machine and names the page. DURATION is the length, DEADLINE the deadline.
set -euo pipefail
. "$(dirname "$0")/env.sh"

runner=()
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null; then
        runner=(sudo)
    else
        say "neither root nor sudo: real-time priority may be refused"
    fi
fi

# A verdict other than "pass" is a result, not a failure: the page is still made.
status=0
"${runner[@]}" target/latlab run --for "${DURATION:-60s}" --deadline "${DEADLINE:-1ms}" \
    --name make-run --out runs || status=$?
case $status in
    0 | 1 | 4) ;;
    *) exit "$status" ;;
esac

# Folders begin with the time, so the last by name is the newest.
run=$(printf '%s\n' runs/*_make-run* | tail -n1)
target/latlab report "$run" -o "$run/report.html" >/dev/null
echo
case $(target/latlab --version) in
    *+first) echo "Measured with the quick first build; 'make' builds the release." ;;
esac
echo "The page: $root/$run/report.html"
