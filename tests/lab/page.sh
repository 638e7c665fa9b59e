#!/usr/bin/env bash
# The page of real runs in a real browser: narrow and wide, light and dark, static and in use.
# Its screenshots are left in target/page-*.png.
# Invariant (page and server): The page fits 400 to 1600 pixels, needs no network and no script, and shows run.json.
. "$(dirname "$0")/../common.bash"
browser=$(command -v chromium-browser || command -v google-chrome || command -v chromium)
[ -n "$browser" ] || have "the page in a browser" chromium || exit 0
mkdir -p target
rm -f target/page-*.png

rights_for "pages of runs"

# Measures, and writes the page next to its run.json.
measure() {
    local name=$1
    shift
    "$program" run --quiet --out "$here/runs" --name "$name" "${rights[@]}" "$@" >"$here/said" 2>&1
    case $? in
        0 | 1 | 4) ;;
        *) echo "not ok a run for the page '$name': $(tail -n 1 "$here/said")" && return ;;
    esac
    "$program" report --out "$here/runs" -o "$here/$name.html" >/dev/null &&
        cp "$here"/runs/*_"$name"/run.json "$here/$name.json" ||
        echo "not ok the page '$name' is written"
}

measure idle --for 6s --deadline 1ms
measure many --for 2s --threads 16 --period 2ms --deadline 10ms \
    --note 'sixteen threads <&"></script><b class=stray>bold</b>'
measure relative --for 2s --mechanism relative

"$program" report --out "$here/runs" idle many -o "$here/both.html" >/dev/null || echo "not ok a page of two runs"
"$program" report --out "$here/runs" idle idle -o "$here/twice.html" 2>"$here/said"
if [ $? = 2 ] && [ ! -e "$here/twice.html" ] && grep -q 'given twice' "$here/said"; then
    echo "ok a run that is given twice is refused"
else
    echo "not ok a run that is given twice is refused"
fi
# A campaign of two settings, whose rows are drawn over each other.
campaign() {
    {
        printf '[defaults]\nfor = "1s"\nwarm-up = "200ms"\nshare = true\ndeadline = "1s"\n'
        [ ${#rights[@]} = 0 ] || printf 'policy = "other"\nidle-states = "system"\n'
        printf '[matrix]\nperiod = ["1ms", "2ms"]\n[[scenario]]\nname = "sleep"\n'
    } >"$here/two-periods.toml"
    "$program" run --quiet --out "$here/runs" "$here/two-periods.toml" >"$here/said" 2>&1 &&
        "$program" report --out "$here/runs" two-periods -o "$here/campaign/" >"$here/said" 2>&1
}
campaign || echo "not ok the page of a campaign: $(tail -n 1 "$here/said")"
# Pages of comparisons: five runs a side, two runs with different deadlines, and sixteen builds.
judged() {
    local build
    readings base 5 100 1 && readings slower 5 200 1 || return 1
    for build in 1 2 3 4 5 6 7 8; do readings old 1 $((100 + build % 3)) 0 || return 1; done
    for build in 1 2 3 4 5 6 7 8; do readings slow 1 $((200 + build % 3)) 0 || return 1; done
    "$program" compare --out "$here/runs" -o "$here/compared.html" base -- slower >"$here/said" 2>&1 &&
        "$program" compare --out "$here/runs" -o "$here/single.html" idle -- many >"$here/said" 2>&1 &&
        "$program" trend --out "$here/runs" --by run -o "$here/trend.html" old slow >"$here/said" 2>&1
}
judged || echo "not ok pages of comparisons: $(tail -n 1 "$here/said")"
# Eight responders, whose tables are wider than any screen.
responders() {
    local name lists=()
    for name in kernel_module character_device_in_c gpio_sysfs_in_c python_with_gpiod; do
        { echo latency_ns && seq 1000 ${#name} 3000; } >"$here/$name.csv"
        { echo latency_ns && seq 2000 ${#name} 5000; } >"$here/${name}_busy.csv"
        lists+=("$here/$name.csv" "$here/${name}_busy.csv")
    done
    "$program" respond --from "${lists[@]}" --out "$here/runs" --page "$here/responders.html" >"$here/said" 2>&1
}
responders || echo "not ok the page of responders: $(tail -n 1 "$here/said")"
python3 tests/lab/checks.py rows_of_intervals "$here"
# Temporary folders, so that the browser leaves nothing in the user's.
HOME=$here TMPDIR=$here XDG_CACHE_HOME=$here/cache XDG_CONFIG_HOME=$here/config \
    PYTHONDONTWRITEBYTECODE=1 python3 tests/lab/page.py "$browser" "$here"
