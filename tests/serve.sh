#!/usr/bin/env bash
# `latlab serve` as a person and a browser use it.
# Invariant (page and server): A followed run adds up to its figures; slow clients take no memory.
# Invariant (page and server): Idle clients are closed in seconds, and no file of a token is waited for.
. "$(dirname "$0")/common.bash"
. tests/serve.bash
start
try "it says its address, and nothing else" grep -qxE 'http://127\.0\.0\.1:[0-9]+/' "$here/url"

lists() {
    get "$url/" >"$here/list"
    for run in "$runs"/*; do
        expect "${run##*/} in the list" grep -q "/runs/${run##*/}" "$here/list" || return 1
    done
    get "$url/?q=sampled&verdict=pass" >"$here/list"
    expect "one run of all" grep -q "1 of $(ls "$runs" | wc -l) runs match" "$here/list"
}
try "the list has every run, and can be filtered" lists

reports() {
    local run
    for run in "$runs"/*; do
        "$program" report --out "$runs" -o - "${run##*/}" >"$here/page"
        get "$url/runs/${run##*/}" | cmp - "$here/page" || return 1
        get "$url/runs/${run##*/}/run.json" | cmp - "$run/run.json" || return 1
        "$program" plot --out "$runs" --kind ccdf -o - "${run##*/}" >"$here/picture"
        get "$url/runs/${run##*/}/ccdf.svg" | cmp - "$here/picture" || return 1
    done
}
try "pages and pictures are those of latlab report and latlab plot" reports

refuses() {
    local code lines
    timeout 60 "$program" serve "$runs" "$@" >"$here/said" 2>"$here/errors"
    code=$?
    lines=$(cat "$here/said" "$here/errors" | wc -l)
    expect "exit code 2 and one line, not $code and $lines" [ "$code $lines" = "2 1" ]
}
try "0.0.0.0 needs a token" refuses --listen 0.0.0.0
try "a token must be long enough" refuses --token short
try "a file with the token must be there" refuses --token-file "$here/nothing"
mkfifo "$here/pipe"
printf '0123456789abcdefghij\n0123456789abcdefghij\n' >"$here/two"
head -c 5000 /dev/zero | tr '\0' a >"$here/long"
try "a pipe is no file with a token" refuses --token-file "$here/pipe"
try "a device without an end is no file with a token" refuses --token-file /dev/zero
try "a file with two lines is no file with a token" refuses --token-file "$here/two"
try "a long file is no file with a token" refuses --token-file "$here/long"
try "a folder that is named must be there" refuses --listen 127.0.0.1 "$here/nothing"

hostile() {
    python3 tests/serve.py hostile "$url" || return 1
    expect "the server to live" [ "$(code "$url/")" = 200 ]
}
try "1000 hostile paths are refused, and the server lives" hostile

follows() {
    measure followed 8s || return 1
    get "$url/" | grep -q "/live/$id" || { echo "it is not in the list"; return 1; }
    curl -sSN --max-time 30 "$url/live/$id/events" >"$here/events" &
    local curl=$!
    until_holds 60 "an interval while it goes on" eval "grep '^event: interval' '$here/events' && kill -0 $measuring" \
        >/dev/null ||
        return 1
    get "$url/live/$id?table" | grep -q 'http-equiv="refresh"' || return 1
    wait "$measuring" "$curl"
    expect "the end as the last event" [ "$(grep '^event' "$here/events" | tail -n 1)" = "event: finished" ] &&
        python3 tests/serve.py adds_up "$here/events" "$runs/$id/run.json"
}
try "a run is followed to its end, and what came adds up to its figures" follows

slow() {
    measure slow 12s || return 1
    python3 tests/serve.py never_read "$url" "$id" "$server"
    local good=$?
    wait "$measuring"
    return $good
}
try "50 clients that never read take no memory and delay no other client" slow

stops() {
    local code
    kill -TERM "$server"
    wait "$server"
    code=$?
    expect "exit code 0, not $code" [ "$code" = 0 ]
}
try "SIGTERM ends it cleanly" stops

head -c 24 /dev/urandom | base64 | tr '+/' '-_' >"$here/token"
start --listen 127.0.0.2 --token-file "$here/token"
token_opens() {
    expect "401 without it" [ "$(code "$url/")" = 401 ] &&
        expect "200 with it" [ "$(code -H "Authorization: Bearer $(cat "$here/token")" "$url/")" = 200 ] &&
        expect "a cookie" [ "$(code -L -c "$here/jar" -b "$here/jar" "$url/?token=$(cat "$here/token")")" = 200 ] &&
        expect "200 with the cookie" [ "$(code -b "$here/jar" "$url/")" = 200 ]
}
try "a token opens it, once or each time" token_opens
guesses() {
    local number
    for number in $(seq 10); do
        expect "401 for a guess" [ "$(code -H "Authorization: Bearer guess$number" "$url/")" = 401 ] || return 1
    done
    expect "one line in the log" [ "$(grep -c 'wrong token from 127\.' "$here/errors")" = 1 ]
}
try "guessed tokens are refused, and logged once" guesses
kill "$server"

few_files() { (ulimit -n 64 && exec "$program" serve "$runs" --port 0) >"$here/url" 2>"$here/errors" & }
crowd() {
    rm -f "$here/url"
    few_files
    server=$!
    until_holds 60 "the server's address" [ -s "$here/url" ]
    url=$(cat "$here/url")
    url=${url%/}
    python3 tests/serve.py crowd "$url" || return 1
    expect "an answer for the next client" [ "$(code "$url/")" = 200 ] &&
        expect "one line about those that made room" \
            [ "$(grep -c 'ended a connection that sent no whole request: 16 are open' "$here/errors")" = 1 ] &&
        expect "no other line" [ "$(wc -l <"$here/errors")" = 1 ] &&
        expect "431 for a large head" [ "$(code -H "X: $(head -c 20000 /dev/zero | tr '\0' a)" "$url/")" = 431 ] &&
        expect "431 for many lines" [ "$(code $(seq -f '-H X%g:1' 100) "$url/")" = 431 ]
}
try "54 idle clients at 64 open files shut no other client out" crowd
kill "$server"

ticks() { echo $(($(stat_field "$server" 14) + $(stat_field "$server" 15))); }
many() {
    local number before first again
    for number in $(seq 2000); do
        mkdir "$here/many/$number" && cp "$runs"/*_sampled/run.json "$here/many/$number"
    done
    runs=$here/many start
    # CPU time of the server, in ticks: the ratio of two such times depends neither on other work nor on the machine.
    before=$(ticks)
    get --max-time 600 "$url/" | grep -q '2000 of 2000' || return 1
    first=$(($(ticks) - before))
    before=$(ticks)
    get --max-time 600 -o /dev/null "$url/?q=sampled" || return 1
    again=$(($(ticks) - before))
    kill "$server"
    expect "a tenth of $first ticks at most, not $again" [ "$again" -le $((first / 10)) ]
}
mkdir "$here/many"
try "2000 runs are listed again in a tenth of the CPU time" many

exit $status
