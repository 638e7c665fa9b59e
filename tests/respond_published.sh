#!/usr/bin/env bash
# Published series of responders have independently computed figures.
# Invariant (captures): Real captures have the figures that were computed elsewhere.
. "$(dirname "$0")/common.bash"
. tests/respond.bash
data=../shared/data
[ -d $data/avian2 ] || data=../../shared/data

avian2() {
    "$program" respond --from $data/avian2/*.out --format json >"$here/out.json" &&
        holds 'len(runs) == 8' &&
        holds 'runs["01_rpi_c_userspace_busy"]["answered"] == 499' &&
        holds 'runs["01_rpi_c_userspace_busy"]["responses"]["censored"] == 1' &&
        holds 'near(runs["01_arduino_irq"]["responses"]["figures"]["mean_ns"], 9067.2686, 1e-3)' &&
        holds 'runs["01_rpi_c_kmod_busy"]["responses"]["figures"]["max_ns"] == 16119.3' &&
        holds 'near(pairs["01_rpi_python", "01_rpi_c_userspace"]["quicker"], 0.954, 5e-4)' &&
        holds 'pairs["01_arduino_polling", "01_arduino_irq"]["quicker_than_all"] == 299' &&
        holds 'pairs["01_rpi_python_busy", "01_rpi_python"]["shift_ns"] < -30000' || return
    local ids
    mapfile -t ids < <(python3 tests/respond.py ids "$here/out.json")
    "$program" report "${ids[@]}" -o "$here/all.html" >/dev/null &&
        expect "the pairs on the page" grep -q '0.954' "$here/all.html" &&
        expect "idle and busy" grep -q 'Idle and under load' "$here/all.html" &&
        "$program" plot "${ids[@]}" --range 0..50us -o "$here/zoomed.png" >/dev/null &&
        "$program" plot "${ids[@]}" --range 0..50us -o "$here/zoomed.svg" >/dev/null &&
        expect "no empty panel in a zoom" \
            [ "$(grep -o 'Count per bin (bins of 200 ns)<' "$here/zoomed.svg" | wc -l)" = 4 ] &&
        expect "what is not in it" \
            grep -q 'Outside of this range lies all of 01_rpi_c_userspace (500), .* 01_rpi_python_busy (500)' \
            "$here/zoomed.svg" &&
        "$program" plot "${ids[@]}" --kind boxes -o "$here/boxes.svg" >/dev/null &&
        expect "the median of the samples" \
            grep -q '01_rpi_c_kmod_busy: 4.761 us to 16.12 us, half of them 7.1 us to 8.3 us, median 7.824 us' \
            "$here/boxes.svg" &&
        expect "a censored reading keeps from pass" censored "${ids[0]}"
}
censored() {
    "$program" respond --from $data/avian2/01_rpi_c_userspace_busy.out --deadline 1ms >/dev/null
    [ $? = 4 ]
}
koenichiwa() {
    "$program" respond --from $data/koenichiwa/*RT6__read_interval_0.csv --format json >"$here/out.json" &&
        holds 'runs["RT6__read_interval_0"]["answered"] == 9998' &&
        holds 'runs["RT6__read_interval_0"]["responses"]["impossible"] == 1' &&
        holds '[(f["readings"][0]["number"], f["first_meant_ns"])
            for f in found("RT6__read_interval_0", "response-impossible")] == [(8465, 28073)]' &&
        holds 'runs["NO_RT6__read_interval_0"]["responses"]["missing"] == 1' &&
        holds 'runs["NO_RT6__read_interval_0"]["responses"]["stimuli"] == 9999'
}
# The program's figures of the publication are those of its readings.
published_figures() {
    python3 tests/respond.py published_figures $data/avian2 crates/report/src/sections/published.toml
}
if [ -d $data/avian2 ]; then
    try "the published figures that the program knows are those of the readings" published_figures
    try "eight published series have their figures, and are compared" avian2
    try "a list with its author's mistakes is read without them" koenichiwa
else
    echo "SKIPPED: published series: they are not in ../shared/data"
fi

exit $status
