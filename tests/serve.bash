# A server of runs, to be sourced after common.bash.
runs=$here/runs
mkdir -p "$runs" target
cp -r fixtures/schema-*/runs/* "$runs"
server=
trap 'kill $server 2>/dev/null; rm -rf "$here"' EXIT

# Starts a server with these flags, and waits for the line with its address.
start() {
    [ -z "$server" ] || kill "$server" 2>/dev/null
    # Else the previous server's address could be read.
    rm -f "$here/url"
    "$program" serve "$runs" --port 0 "$@" >"$here/url" 2>"$here/errors" &
    server=$!
    until_holds 60 "the server's address" [ -s "$here/url" ]
    url=$(cat "$here/url")
    url=${url%/}
}

get() { curl -sS --max-time 60 "$@"; }

code() { get -o "$here/body" -w '%{http_code}' "$@"; }

rights_for "a run that is followed"
# Measures in the background for this many seconds, and waits for the run's folder.
measure() {
    "$program" run --quiet --share --out "$runs" --name "$1" --for "$2" --warm-up 0s --deadline 10s \
        "${rights[@]}" >"$here/run" 2>&1 &
    measuring=$!
    until_holds 60 "a run that begins" has_begun "$1" || { cat "$here/run"; return 1; }
}
has_begun() {
    id=$(find "$runs" -name ".*_$1.partial" -printf '%f\n' | sed 's/^\.//; s/\.partial$//')
    [ -n "$id" ] && [ -s "$runs/.$id.partial/journal" ]
}
