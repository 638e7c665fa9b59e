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
    get "$url/?q=schema-3&verdict=none" >"$here/list"
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
    timeout 5 "$program" serve "$runs" "$@" >"$here/said" 2>"$here/errors"
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
    python3 - "$url" "$server" <<'PYTHON' || return 1
import http.client, random, sys, urllib.parse
host = urllib.parse.urlsplit(sys.argv[1]).netloc
parts = ["..", ".", "%2e%2e", "%2f", "/", "//", "%00", "%", "%zz", "\\", "etc", "passwd", "~", ";",
         "runs", "live", "assets", "events", "run.json", ".journal", "%c0%ae", "?", "&", "=", "'",
         "%0d%0aX:1", "a" * 3000, "%F0%9F%98%80", "\xe9", "<script>", "{{", "$(id)"]
dice, codes = random.Random(1), {}
for _ in range(1000):
    path = "/" + "".join(dice.choice(parts) for _ in range(dice.randint(1, 8)))
    path = path.split("?")[0] if path.split("?")[0] != "/" else "/x"
    connection = http.client.HTTPConnection(host, timeout=10)
    connection._validate_path = lambda url: None
    connection._encode_request = lambda request: request.encode("latin-1")
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    codes[answer.status] = codes.get(answer.status, 0) + 1
    if answer.status not in (400, 404, 414, 431) or b"root:" in body:
        sys.exit(f"{path!r}: {answer.status}")
print(codes)
PYTHON
    expect "the server to live" [ "$(code "$url/")" = 200 ]
}
try "1000 hostile paths are refused, and the server lives" hostile

follows() {
    measure followed 8s || return 1
    get "$url/" | grep -q "/live/$id" || { echo "it is not in the list"; return 1; }
    curl -sSN --max-time 30 "$url/live/$id/events" >"$here/events" &
    local curl=$!
    until_holds 60 "an interval while it goes on" eval "grep '^event: interval' '$here/events' && kill -0 $measuring" >/dev/null ||
        return 1
    get "$url/live/$id?table" | grep -q 'http-equiv="refresh"' || return 1
    wait "$measuring" "$curl"
    expect "the end as the last event" [ "$(grep '^event' "$here/events" | tail -n 1)" = "event: finished" ] &&
        python3 - "$here/events" "$runs/$id/run.json" <<'PYTHON'
import json, sys
blocks = open(sys.argv[1]).read().strip().split("\n\n")
events = [(b.split("\n")[0][7:], json.loads(b.split("\n")[1][6:])) for b in blocks if b[0] != ":"]
run = json.load(open(sys.argv[2]))
# Whoever was there before the first release has been told to begin anew.
last = max(at for at, (name, _) in enumerate(events) if name == "plan")
rows = [row for name, row in events[last:] if name == "interval"]
assert sum(row["count"] for row in rows) == run["total"]["cycles"], "cycles"
assert sum(row["missed"] for row in rows) == run["total"]["missed"], "missed releases"
assert sum(row["misses"] for row in rows) == run["total"]["misses"], "deadline misses"
assert max(row["max_ns"] for row in rows) == run["total"]["max_ns"], "observed maximum"
PYTHON
}
try "a run is followed to its end, and what came adds up to its figures" follows

slow() {
    measure slow 12s || return 1
    python3 - "$url" "$id" "$server" <<'PYTHON'
import http.client, socket, sys, time, urllib.parse
url, run, server = sys.argv[1:]
host = urllib.parse.urlsplit(url)
ask = lambda path: f"GET {path} HTTP/1.1\r\nHost: {host.netloc}\r\n\r\n".encode()
clients = []
for number in range(50):
    one = socket.create_connection((host.hostname, host.port))
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    # They ask, again and again, and never read.
    pages = ask("/") * 10 + ask("/runs/20261121T234350Z_schema-3") * 20
    one.sendall(ask(f"/live/{run}/events") if number % 2 else pages)
    clients.append(one)
time.sleep(4)
begun = time.monotonic()
connection = http.client.HTTPConnection(host.netloc, timeout=10)
connection.request("GET", "/")
assert connection.getresponse().status == 200
took = time.monotonic() - begun
lines = dict(line.split(":", 1) for line in open(f"/proc/{server}/status") if ":" in line)
peak = int(lines["VmHWM"].split()[0]) / 1024
print(f"peak {peak:.0f} MiB, answer after {took:.2f} s")
assert peak < 64, f"the server took {peak:.0f} MiB"
assert took < 5, f"the list took {took:.1f} s"
PYTHON
    local good=$?
    wait "$measuring"
    return $good
}
try "50 clients that never read take no memory and hold nobody up" slow

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
    expect "429 for one more" [ "$(code -H "Authorization: Bearer guess" "$url/")" = 429 ] &&
        expect "two lines in the log" [ "$(grep -c 'wrong token' "$here/errors")" = 2 ] &&
        expect "the address" grep -q '10 different wrong tokens from 127\.' "$here/errors"
}
try "an address that guesses tokens has to wait, and is logged" guesses
kill "$server"

few_files() { (ulimit -n 64 && exec "$program" serve "$runs" --port 0) >"$here/url" 2>"$here/errors" & }
crowd() {
    rm -f "$here/url"
    few_files
    server=$!
    until_holds 60 "the server's address" [ -s "$here/url" ]
    url=$(cat "$here/url")
    url=${url%/}
    python3 - "$url" <<'PYTHON' || return 1
import select, socket, sys, time, urllib.parse
host = urllib.parse.urlsplit(sys.argv[1])
connect = lambda: socket.create_connection((host.hostname, host.port), timeout=30)
begun, idle = time.monotonic(), [connect() for _ in range(54)]
# One that sends its head byte by byte is as idle as one that sends nothing.
slow = idle[-1]
slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
# Of 16 places each went to the next client, from the one that had waited longest.
for one in idle[:38]:
    assert one.recv(4096) == b"", "an idle client was told something"
client = connect()
client.sendall(f"GET / HTTP/1.1\r\nHost: {host.netloc}\r\nConnection: close\r\n\r\n".encode())
assert client.recv(4096).startswith(b"HTTP/1.1 200 "), "no answer"
assert not select.select([slow], [], [], 0)[0], "the newest client had to make room"
slow.settimeout(0.5)
while True:
    try:
        slow.send(b"l")
        if not slow.recv(4096):
            break
    except TimeoutError:
        pass
    except ConnectionError:
        break
took = time.monotonic() - begun
for one in idle[38:-1]:
    assert one.recv(4096) == b"", "an idle client was told something"
print(f"idle and slow clients were closed after {took:.1f} s")
assert 2 < took < 25, took
PYTHON
    expect "an answer for the next client" [ "$(code "$url/")" = 200 ] &&
        expect "one line about those that made room" [ "$(grep -c 'ended a connection that sent no whole request: 16 are open' "$here/errors")" = 1 ] &&
        expect "no other line" [ "$(wc -l <"$here/errors")" = 1 ] &&
        expect "431 for a large head" [ "$(code -H "X: $(head -c 20000 /dev/zero | tr '\0' a)" "$url/")" = 431 ] &&
        expect "431 for many lines" [ "$(code $(seq -f '-H X%g:1' 100) "$url/")" = 431 ]
}
try "54 idle clients at 64 open files shut nobody out" crowd
kill "$server"

ticks() { echo $(($(stat_field "$server" 14) + $(stat_field "$server" 15))); }
many() {
    local number before took
    for number in $(seq 2000); do
        mkdir "$here/many/$number" && cp "$runs"/*_schema-2/run.json "$here/many/$number"
    done
    runs=$here/many start
    get "$url/" | grep -q '2000 of 2000' || return 1
    # By the time that the server takes of a CPU, which is the same on a busy machine.
    before=$(ticks)
    get --max-time 120 -o /dev/null "$url/?q=schema" || return 1
    took=$(($(ticks) - before))
    echo "2000 runs in $took ticks of 10 ms"
    kill "$server"
    expect "less than a second of a CPU, not $took ticks" [ "$took" -lt 100 ]
}
mkdir "$here/many"
try "2000 runs are listed in a second" many

exit $status
