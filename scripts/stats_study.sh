#!/usr/bin/env bash
# The coverage experiments of crates/stats in full, some twenty minutes on one core, and the time that the
# statistics of a large run take; tables and figure go to RESULTS (results/statistics).
#   MISSES=1500 QUANTILES=1000 TAILS=400                  cases of each row of table.md
#   INTERVALS=300 STALLS=1000 DECISIONS=300 COMPARISONS=300 SERIES=300 NIGHTS=100    of score.md
#   ONLY=TEXT    only the rows of score.md whose data have this in their names
set -euo pipefail
. "$(dirname "$0")/env.sh"
find_rust
: "${RESULTS:=results/statistics}"
mkdir -p "$RESULTS"
started=$SECONDS
nice cargo test --locked --release --package latlab-stats --test it whole_study -- --ignored --nocapture |
    sed -n '/^|/p' >"$RESULTS/table.md"
nice cargo test --locked --release --package latlab-stats --test it whole_score -- --ignored --nocapture |
    sed -n '/^|/p' >"$RESULTS/score.md"
[ -s "$RESULTS/score.md" ] || die "the study has no score"
[ -s "$RESULTS/table.md" ] || die "the study has no table"
[ ! -d ../shared/data ] || scripts/records_score.py ../shared/data >"$RESULTS/records.md"
nice cargo test --locked --release --package latlab-digest --test it statistics_of_a_large_run \
    -- --ignored --nocapture |
    sed -n '/^[0-9]* threads of/p' >"$RESULTS/speed.txt"
nice cargo test --locked --release --package latlab-stats --lib two_by_ten_runs -- --ignored --nocapture |
    sed -n '/^2 x 10 runs/p' >>"$RESULTS/speed.txt"
[ "$(wc -l <"$RESULTS/speed.txt")" = 2 ] || die "the statistics of a large run, or a comparison, took too long"
cat "$RESULTS/table.md" "$RESULTS/score.md" "$RESULTS/speed.txt"
echo "$RESULTS/table.md, after $((SECONDS - started)) s"
