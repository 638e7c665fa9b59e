#!/usr/bin/env bash
# Files of other tools become runs: compressed ones, standard input and odd ones; what the fixtures become is golden
# (crates/cli/tests/it/golden.rs).
# Invariant (imports): An imported run claims nothing that its file does not say.
. "$(dirname "$0")/common.bash"
export LATLAB_RUNS=$here/runs NO_COLOR=1 COLUMNS=160
recordings=fixtures/recordings

original() {
    "$program" import $recordings/ct24_h40.txt --format json >"$here/out.json" &&
        cmp "$LATLAB_RUNS"/*/original-ct24_h40.txt $recordings/ct24_h40.txt
}
try "an imported run keeps the original file" original

streams() {
    gzip -c $recordings/ct24_h40.txt >"$here/packed.txt.gz" &&
        python3 -c 'import lzma, sys; lzma.open(sys.argv[2], "w").write(open(sys.argv[1], "rb").read())' \
            $recordings/ct24_h40.txt "$here/packed.xz" ||
        return
    for file in "$here/packed.txt.gz" "$here/packed.xz"; do
        "$program" import "$file" --format json >"$here/out.json" &&
            holds_in "$here/out.json" 'one = run["runs"][0]' 'one["total"]["cycles"] == 4000' || return
    done
    "$program" import - --name piped --format json <$recordings/ct24_h40.txt >"$here/out.json" &&
        holds_in "$here/out.json" 'one = run["runs"][0]' \
            'one["name"] == "piped" and one["total"]["cycles"] == 4000'
}
try "compressed files and standard input are read" streams

refused() {
    local before said
    before=$(ls -A "$LATLAB_RUNS" | wc -l)
    head -c 5000 /dev/zero >"$here/binary"
    : >"$here/empty"
    for file in "$here/binary" "$here/empty" "$here/none"; do
        said=$("$program" import "$file" 2>&1)
        expect "exit code 2 for $file" [ $? = 2 ] && expect "one line for $file" [ "$(wc -l <<<"$said")" = 1 ] &&
            expect "the name of $file" grep -q "$(basename "$file")" <<<"$said" || return
    done
    expect "nothing half-written" [ "$(ls -A "$LATLAB_RUNS" | wc -l)" = "$before" ] || return
    said=$("$program" import "$here/empty" $recordings/ct24_h40.txt 2>&1)
    expect "exit code 2" [ $? = 2 ] && expect "the other file" grep -q 'Stored in' <<<"$said"
}
try "what is no recording is refused in one line, and the others are imported" refused

side_by_side() {
    local number
    printf 'lat_us\n10\n20\n30\n' >"$here/beside.csv"
    for number in $(seq 40); do
        "$program" import --out "$here/beside" "$here/beside.csv" >"$here/beside.$number" 2>&1 &
    done
    wait
    expect "40 runs" [ "$(ls "$here/beside" | wc -l)" = 40 ] &&
        expect "none that another has finished" [ -z "$(grep -h recovered "$here"/beside.*)" ]
}
try "imports into one folder at the same time do not recover each other" side_by_side

exit $status
