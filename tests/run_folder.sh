#!/usr/bin/env bash
# A real run: its folder, examined with and without latlab, and its page.
# Invariant (old data): pandas and DuckDB read a run folder, and its sums agree.
. "$(dirname "$0")/common.bash"
. tests/run_folder.bash

rights_for "a run"
make_run 5s

exit_code() {
    local word
    word=$(field "$run" '["verdict"]["word"]')
    case $word in pass) expected=0 ;; fail) expected=1 ;; *) expected=4 ;; esac
    expect "exit code $expected for $word, not $code" [ "$code" = "$expected" ] &&
        expect "the word $word in the summary" grep -q "^${word^^}: " "$here/summary"
}
try "the exit code is that of the verdict" exit_code

# The folder, without latlab

if have "the tables of a run" python:{pandas,pyarrow,duckdb}; then
    try "pandas and DuckDB find every cycle in the bins and in the intervals" \
        python3 tests/read_run.py "$folder"
fi

sums() {
    python3 tests/documents.py sums "$run" >"$here/sums"
    cat "$here/sums"
    expect "four tables" [ "$(wc -l <"$here/sums")" -ge 4 ] &&
        (cd "$folder" && sha256sum --strict -c "$here/sums")
}
try "sha256sum agrees with the checksums" sums

seal() {
    expect "the seal of the lines before it" \
        [ "$(head -n -2 "$run" | sha256sum)" = "$(field "$run" '["checksum"]')  -" ]
}
try "sha256sum agrees with the seal of run.json" seal

leftovers() {
    expect "nothing but the run in the folder of runs" [ "$(ls -A "$runs")" = "$id" ] &&
        expect "no journal" [ ! -e "$folder/journal" ]
}
try "nothing is left next to the finished run" leftovers

# The page

page() {
    local page=$here/page.html
    "$program" report "$id" -o "$page" >"$here/text" &&
        expect "the name of the page" [ "$(<"$here/text")" = "$page" ] &&
        expect "a whole page" grep -q '</html>' "$page" &&
        expect "the run's id" grep -q "$id" "$page" &&
        expect "no draft" [ -z "$(find "$here" -name '*.draft' -o -name '.page.html.*')" ]
}
try "report -o writes the page" page

# /dev/stdout is such a file if standard output was deleted meanwhile.
page_without_a_name() {
    ln -s /proc/self/fd/9 "$here/link"
    (
        exec 9>"$here/gone" && rm "$here/gone"
        "$program" report "$id" -o "$here/link" >/dev/null && expect "a page" [ -s /proc/self/fd/9 ]
    ) && expect "the link is there yet" [ -L "$here/link" ]
}
try "a link to what has no name is written into, and stays" page_without_a_name

twice() {
    "$program" report "$id" >/dev/null && cp "$folder/report.html" "$here/first.html" &&
        "$program" report "$id" >/dev/null && cmp "$folder/report.html" "$here/first.html" &&
        cmp "$folder/report.html" "$here/page.html" &&
        (cd "$folder" && sha256sum --quiet --strict -c "$here/sums")
}
try "report can be made again, is the same, and changes nothing else" twice

try "an unknown run is wrong input" mistake 2 "$program" show no-such-run
try "a page that cannot be written is named" mistake 2 "$program" report "$id" -o "$here/none/page.html"

hint() {
    local words
    words=$(sed -n 's/^As a page: latlab //p' "$here/summary")
    expect "a command that makes the page" [ -n "$words" ] &&
        (cd "$here" && "$program" $words)
}
try "the command named below the summary makes the page" hint

exit $status
