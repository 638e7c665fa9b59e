#!/bin/sh
# The steps of a pipeline that measures with latlab. The GitHub Action (action.yml) and the GitLab
# template (packaging/pipeline/gitlab.yml) call it; other systems can. It needs sh, sha256sum, and curl or wget.
#   pipeline.sh fetch     the released program for this machine, its checksum verified
#   pipeline.sh measure   runs the sheet, compares it with the baseline, writes summary, page and JUnit XML
#   pipeline.sh keep      adds the campaign to the baseline, which keeps the newest ones
# Environment:
#   LATLAB_RELEASES    address of the releases: $LATLAB_RELEASES/v$LATLAB_VERSION/latlab-...
#   LATLAB_VERSION     version to fetch, such as 0.1.0
#   LATLAB_PROGRAM     the program [latlab-bin/latlab after fetch, else latlab]
#   LATLAB_SHEET       sheet to measure: a file, or a ready-made sheet
#   LATLAB_BASELINE    folder of earlier campaigns to compare with [latlab-baseline]
#   LATLAB_KEEP        campaigns that the baseline keeps [8]
#   LATLAB_MARGIN        margin: largest slowdown that is not a regression [5%]
#   LATLAB_RESULTS     folder for campaign, page, summary.md, junit.xml, compare.xml [latlab-results]
#   LATLAB_UNDECIDED   pass or fail: what an undecided or invalid result does to the job [pass]
# Exit codes of measure: 0 good, 1 a deadline or the comparison failed, 2 wrong input, 3 could not
# measure, 4 undecided (with LATLAB_UNDECIDED=fail).
set -eu

results=${LATLAB_RESULTS:-latlab-results}
baseline=${LATLAB_BASELINE:-latlab-baseline}
program=${LATLAB_PROGRAM:-}
if [ -z "$program" ]; then
    program=latlab
    [ ! -x latlab-bin/latlab ] || program=$PWD/latlab-bin/latlab
fi

say() { printf 'latlab pipeline: %s\n' "$*" >&2; }
die() { say "$2"; exit "$1"; }

download() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget -q -O "$2" "$1"
    else
        die 3 "neither curl nor wget is there to fetch $1"
    fi || die 3 "cannot fetch $1"
}

fetch() {
    : "${LATLAB_RELEASES:?is not set: the address of the releases}" "${LATLAB_VERSION:?is not set: the version to fetch}"
    version=${LATLAB_VERSION#v}
    case $(uname -m) in
        x86_64) machine=x86-64 ;;
        aarch64) machine=arm64 ;;
        armv7l | armv8l) machine=armv7 ;;
        *) die 2 "there is no released program for $(uname -m); build one and set LATLAB_PROGRAM" ;;
    esac
    name=latlab-$version-linux-$machine
    mkdir -p latlab-bin
    download "$LATLAB_RELEASES/v$version/SHA256SUMS" latlab-bin/SHA256SUMS
    download "$LATLAB_RELEASES/v$version/$name" "latlab-bin/$name"
    line=$(grep -E "^[0-9a-f]{64} [ *]$name\$" latlab-bin/SHA256SUMS) ||
        die 3 "SHA256SUMS of version $version does not name $name"
    (cd latlab-bin && printf '%s\n' "$line" | sha256sum -c - >/dev/null 2>&1) || {
        rm -f "latlab-bin/$name"
        die 3 "$name does not have the checksum of its release; it was removed"
    }
    chmod 755 "latlab-bin/$name"
    mv "latlab-bin/$name" latlab-bin/latlab
    say "fetched $name"
}

# Real-time priority takes rights, which hosted runners grant by sudo. Root's files are handed back to the user.
measured() {
    if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        code=0
        sudo -n env "LATLAB_RUNS=$results/runs" "$program" run "$LATLAB_SHEET" || code=$?
        sudo -n chown -R "$(id -u):$(id -g)" "$results"
        return "$code"
    fi
    LATLAB_RUNS=$results/runs "$program" run "$LATLAB_SHEET"
}

# The campaigns of a folder, oldest first: their names begin with the time.
campaigns() {
    for campaign in "$1"/*/campaign.json; do
        [ ! -f "$campaign" ] || dirname "$campaign"
    done
}

measure() {
    : "${LATLAB_SHEET:?is not set: the sheet to measure}"
    command -v "$program" >/dev/null || die 3 "$program cannot be run; 'pipeline.sh fetch' brings it"
    rm -rf "$results"
    mkdir -p "$results/runs"
    run=0
    measured || run=$?
    campaign=$(campaigns "$results/runs")
    case $run in
        0 | 1 | 4) [ -n "$campaign" ] || die 3 "the sheet was measured, and no campaign is in $results/runs" ;;
        *) die "$run" "nothing was measured; what latlab printed above says why" ;;
    esac
    "$program" report "$campaign" --format junit >"$results/junit.xml"
    "$program" report "$campaign" >/dev/null
    {
        printf '## latlab: %s\n\n' "$LATLAB_SHEET"
        "$program" show "$campaign" --format markdown
        printf '\n### Against the baseline\n\n'
    } >"$results/summary.md"
    gate=0
    # shellcheck disable=SC2046 # each is a word: names of campaigns have no spaces
    set -- $(campaigns "$baseline")
    if [ $# = 0 ]; then
        echo "No campaign of the main branch was there to compare with." >>"$results/summary.md"
    else
        "$program" compare --margin "${LATLAB_MARGIN:-5%}" --gate --format markdown "$@" -- "$campaign" \
            >>"$results/summary.md" || gate=$?
        case $gate in 0 | 1 | 4) ;; *) die "$gate" "the comparison with $baseline was not possible" ;; esac
        "$program" compare --margin "${LATLAB_MARGIN:-5%}" --format junit "$@" -- "$campaign" >"$results/compare.xml"
    fi
    case $run$gate in
        *1*) die 1 "a deadline was missed, or the runs are worse than the baseline; see $results/summary.md" ;;
        *4*)
            say "the runs leave a question undecided; see $results/summary.md"
            [ "${LATLAB_UNDECIDED:-pass}" = pass ] || exit 4
            ;;
    esac
}

keep() {
    campaign=$(campaigns "$results/runs")
    [ -n "$campaign" ] || die 2 "no campaign is in $results/runs; 'pipeline.sh measure' makes one"
    mkdir -p "$baseline"
    # Readers of the baseline must not see half a copy.
    cp -R "$campaign" "$baseline/.new"
    mv "$baseline/.new" "$baseline/${campaign##*/}"
    count=$(campaigns "$baseline" | wc -l)
    campaigns "$baseline" | head -n "$((count > ${LATLAB_KEEP:-8} ? count - ${LATLAB_KEEP:-8} : 0))" |
        while read -r old; do rm -rf "$old"; done
    say "campaigns in the baseline: $(campaigns "$baseline" | wc -l)"
}

case ${1:-} in
    fetch | measure | keep) "$1" ;;
    *) die 2 "usage: pipeline.sh fetch|measure|keep" ;;
esac
