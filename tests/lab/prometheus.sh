#!/usr/bin/env bash
# `/metrics` of `latlab serve`: scraped by Debian's prometheus, checked by promtool; the alert rules and the
# Grafana dashboard.
# Invariant (page and server): Metrics of a run are its figures, in text and in native histograms.
. "$(dirname "$0")/../common.bash"
tools=$PWD/target/tools/prometheus/usr/bin
have "metrics" "$tools/prometheus" "$tools/promtool" curl || exit 0
runs=$here/runs
mkdir -p "$runs"
cp -r fixtures/schema-1/runs/*_traced "$runs"
server= asking=
trap 'kill $server $asking 2>/dev/null; rm -rf "$here"' EXIT

serve() {
    rm -f "$here/url"
    "$program" serve "$runs" --port 0 "$@" >"$here/url" 2>"$here/errors" &
    server=$!
    until_holds 60 "the server's address" [ -s "$here/url" ] && url=$(sed 's,/$,,' "$here/url")
}
get() { curl -sS --max-time 60 "$@"; }

rights_for "runs of metrics"
# Two runs of a scenario, of which the newer counts, and a campaign.
measure() {
    "$program" run --cycles "$1" --warm-up 0s --threads 1 --policy other --idle-states system --telemetry off --quiet \
        --out "$runs" --format json "${@:2}" >"$here/run.json"
}
measure 100 --name night --deadline 10s
measure 200 --name night --deadline 10s
measure 100 --name "two words" --deadline 1ns
printf '%s\n' '[defaults]' 'cycles = 50' 'warm-up = "0s"' 'telemetry = "off"' 'threads = 1' 'policy = "other"' \
    '[[scenario]]' 'name = "of a sheet"' >"$here/sheet.toml"
"$program" run "$here/sheet.toml" --out "$runs" --quiet >/dev/null 2>&1
serve --token 0123456789abcdef
auth=(-H 'Authorization: Bearer 0123456789abcdef')

texts() {
    expect "no metrics without the token" [ "$(get -o /dev/null -w '%{http_code}' "$url/metrics")" = 401 ] || return
    get "${auth[@]}" "$url/metrics" >"$here/text" && "$tools/promtool" check metrics <"$here/text" || return
    get "${auth[@]}" -D "$here/head" \
        -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5' "$url/metrics" >"$here/open" &&
        expect "the type of OpenMetrics" \
            grep -qi '^content-type: application/openmetrics-text; version=1.0.0' "$here/head" || return
    python3 tests/lab/metrics.py texts "$here"
}
if have "metrics by their parsers" python:prometheus_client; then
    try "the newest run of each board and scenario, in the texts of Prometheus and OpenMetrics" texts
fi

ask() {
    cat >"$here/prometheus.yml" <<END
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ["$PWD/packaging/prometheus/latlab.rules.yml"]
scrape_configs:
  - job_name: latlab
    authorization: { credentials: 0123456789abcdef }
    static_configs: [{ targets: ["${url#http://}"] }]
END
    local port
    # Stored data of another server would answer before this one has scraped.
    rm -rf "$here/data"
    port=$(free_port)
    "$tools/prometheus" --config.file="$here/prometheus.yml" --storage.tsdb.path="$here/data" --log.level=warn \
        --web.listen-address="127.0.0.1:$port" "$@" 2>"$here/log" &
    asking=$!
    query=http://127.0.0.1:$port/api/v1
    until_holds 60 "metrics in Prometheus" answers 'latlab_run_info' || { cat "$here/log"; return 1; }
}
# The answer to a query as JSON; fails if it is empty.
answers() {
    get --data-urlencode "query=$1" "$query/query" >"$here/answer" && grep -q '"value":' "$here/answer"
}
stop() { kill "$asking" && wait "$asking" 2>/dev/null; }

scraped() {
    ask || return
    answers 'latlab_latency_seconds_count{scenario="night"}' && expect "200 cycles" grep -q ',"200"\]' "$here/answer" &&
        answers 'latlab_verdict{scenario="night", latlab_verdict="pass"} == 1' &&
        answers 'histogram_quantile(0.5, latlab_latency_seconds_bucket{scenario="night"})' ||
        { cat "$here/answer"; return 1; }
    until_holds 60 "the alert of a missed deadline" \
        answers 'ALERTS{alertname="LatlabDeadlineMissed", alertstate="firing", scenario="two words"}' || return
    local expression
    expect "queries to ask" [ -s "$here/expressions" ] || return
    while read -r expression; do
        answers "$expression" || { echo "no answer to the dashboard's $expression"; cat "$here/answer"; return 1; }
    done <"$here/expressions"
    stop
}
native() {
    ask --enable-feature=native-histograms || return
    answers 'histogram_count(latlab_latency_seconds{scenario="night"})' &&
        expect "200 cycles" grep -q ',"200"\]' "$here/answer" &&
        answers 'histogram_quantile(1, latlab_latency_seconds{scenario="night"})' || { cat "$here/answer"; return 1; }
    # A bucket is 2 % wide.
    python3 tests/lab/metrics.py native_maximum "$here/answer" \
        "$(get "${auth[@]}" "$url/metrics" | sed -n 's/^latlab_latency_max_seconds{.*scenario="night".*} //p')"
    stop
}
rules() {
    cp packaging/prometheus/latlab.rules.yml tests/lab/prometheus-rules.yml "$here" &&
        "$tools/promtool" check rules "$here/latlab.rules.yml" &&
        "$tools/promtool" check config packaging/prometheus/scrape.yml &&
        (cd "$here" && "$tools/promtool" test rules prometheus-rules.yml)
}
try "the alert rules say what they are to say" rules
# Only the type check needs their package.
dashboard() { python3 tests/lab/dashboard.py "$@" packaging/grafana/latlab.json; }
queries() { dashboard >"$here/expressions" &&
    expect "a query of each panel" [ "$(wc -l <"$here/expressions")" -ge 7 ]; }
try "the dashboard's panels have places and queries of their own" queries
if have "the dashboard by Grafana's types" python:grafana_foundation_sdk; then
    try "Grafana's types know every field of the dashboard" dashboard --types
fi
try "Prometheus asks for the metrics; alerts fire, and the dashboard's queries have answers" scraped
try "Prometheus takes native histograms, which are as exact as latlab's bins" native

exit $status
