#!/usr/bin/env bash
# Firmware in simavr answers edges: a simulated Uno answers like the real one, reproducibly.
# Invariant (captures): Real captures have the figures that were computed elsewhere.
. "$(dirname "$0")/../common.bash"
. tests/respond.bash
have "the simulated Uno" avr-gcc /usr/include/simavr/sim_avr.h /usr/share/arduino || exit 0

simulated() {
    local what
    for what in irq irq-notimer polling; do
        "$program" respond --simulate uno:$what --edges 1500 --keep "$here/$what" --format json >"$here/out.json" ||
            return
        cp "$here/out.json" "$here/$what.json"
    done
    cp "$here/irq.json" "$here/out.json"
    holds 'near(runs["uno-irq"]["responses"]["figures"]["median_ns"], 7937.5, 1)' &&
        holds '0.001 < runs["uno-irq"]["responses"]["marked"]["slower"] / 1500 < 0.015' &&
        holds 'runs["uno-irq"]["responses"]["marked"]["others_max_ns"]
            - runs["uno-irq"]["responses"]["figures"]["min_ns"] < 260' || return
    "$program" respond --simulate uno:irq --edges 1500 --keep "$here/again" >/dev/null &&
        expect "the same bit for bit" cmp "$here/irq/uno-irq.vcd" "$here/again/uno-irq.vcd" &&
        "$program" show last >"$here/shown" &&
        "$program" plot last --kind phase -o "$here/phase.png" >/dev/null || return
    cp "$here/irq-notimer.json" "$here/out.json"
    holds 'runs["uno-irq-notimer"]["responses"]["figures"]["max_ns"]
        - runs["uno-irq-notimer"]["responses"]["figures"]["min_ns"] < 260' || return
    cp "$here/polling.json" "$here/out.json"
    holds 'runs["uno-polling"]["responses"]["figures"]["min_ns"] > 5000'
}
interrupted() {
    local pid code
    mkdir "$here/tmp"
    TMPDIR=$here/tmp LATLAB_RUNS=$here/none "$program" respond --simulate uno:irq --edges 10000000 &
    pid=$!
    # Ended once during the simulation, whatever else is built or simulated then.
    until compgen -G "$here/tmp/latlab-simulation-*/firmware.elf" >/dev/null; do
        sleep 0.1
        kill -0 "$pid" || return 1
    done
    sleep 0.5
    kill -TERM "$pid"
    wait "$pid"
    code=$?
    expect "exit code 3, not $code" [ "$code" = 3 ] &&
        expect "nothing left" [ -z "$(ls -A "$here/tmp" "$here/none" 2>/dev/null | grep -v :)" ] &&
        until_holds 20 "no simulator" eval '! pgrep -f "$here/tmp"'
}
# A firmware that is none of our sketches: the output follows the input, by an interrupt.
own_firmware() {
    cat >"$here/follow.c" <<'C'
#include <avr/interrupt.h>
#include <avr/io.h>
#ifndef PORTD
#define PORTD PORTB
#define DDRD DDRB
#define PIND PINB
#define EICRA MCUCR
#define EIMSK GIMSK
#endif
ISR(INT0_vect) { if (PIND & _BV(2)) PORTD |= _BV(3); else PORTD &= ~_BV(3); }
int main(void) {
    DDRD = _BV(3);
    EICRA |= _BV(ISC00);
    EIMSK |= _BV(INT0);
    sei();
    for (;;) { }
}
C
    local mcu
    for mcu in atmega328p attiny85; do
        avr-gcc -Os -mmcu=$mcu "$here/follow.c" -o "$here/$mcu.elf" &&
            avr-objcopy -O ihex "$here/$mcu.elf" "$here/$mcu.hex" || return
    done
    # As installed: the program finds the sources relative to itself.
    mkdir -p "$here/prefix/bin" "$here/prefix/share/latlab" && cp -r responders "$here/prefix/share/latlab/" || return
    ln "$(realpath "$program")" "$here/prefix/bin/latlab" 2>/dev/null || cp "$program" "$here/prefix/bin/latlab"
    local own=("$here/prefix/bin/latlab" respond --simulate avr --edges 200 --format json)
    (cd / && "${own[@]}" --firmware "$here/atmega328p.elf" --mcu atmega328p --clock 16MHz) >"$here/out.json" || return
    holds 'runs["atmega328p"]["answered"] == 200 and runs["atmega328p"]["responses"]["resolution_ns"] == 62.5' &&
        holds '18 * 62.5 <= runs["atmega328p"]["responses"]["figures"]["min_ns"]
            <= runs["atmega328p"]["responses"]["figures"]["max_ns"] <= 22 * 62.5' || return
    cp "$here/out.json" "$here/elf.json"
    (cd / && "${own[@]}" --firmware "$here/atmega328p.hex") >"$here/out.json" || return
    python3 tests/respond.py same_responses "$here/elf.json" "$here/out.json" || return
    "$program" show last --all |
        grep -q -- '--simulate avr --firmware .*atmega328p.hex --mcu atmega328p --clock 16000000Hz' || return
    # Another microcontroller at another clock, whose cycle is not a whole number of picoseconds.
    (cd / && "${own[@]}" --firmware "$here/attiny85.elf" --mcu attiny85 --clock 12MHz --pins PB2,PB3) \
        >"$here/out.json" &&
        holds 'runs["attiny85"]["answered"] == 200
            and near(runs["attiny85"]["responses"]["resolution_ns"], 83.333, 1e-3)' &&
        holds 'near(runs["attiny85"]["responses"]["figures"]["max_ns"], 19 * 83.333, 90)'
}
firmware_mistakes() {
    rm -rf "$LATLAB_RUNS"
    echo 'Dear reader,' >"$here/letter.elf"
    sed '2s/^:../:7F/' "$here/atmega328p.hex" >"$here/damaged.hex"
    head -n 3 "$here/atmega328p.hex" >"$here/cut.hex"
    local words said
    while IFS='|' read -r words arguments; do
        # shellcheck disable=SC2086
        said=$("$program" respond --simulate avr $arguments 2>&1)
        expect "exit code 2 with: $said" [ $? = 2 ] && expect "one line, not: $said" [ "$(wc -l <<<"$said")" = 1 ] &&
            expect "'$words' in: $said" grep -q -- "$words" <<<"$said" || return
    done <<LINES
letter.elf: expected a firmware: an ELF file for AVR, or Intel HEX|--firmware $here/letter.elf
an ELF file for another machine|--firmware /bin/true
damaged.hex, line 2: the record is not as long|--firmware $here/damaged.hex
cut.hex: the last record (:00000001FF) is missing|--firmware $here/cut.hex
none.hex: No such file|--firmware $here/none.hex
was built for atmega328p, not for attiny85: give --mcu atmega328p|--firmware $here/atmega328p.elf --mcu attiny85
simavr knows no microcontroller 'atmega9'; it knows .* attiny85|--firmware $here/atmega328p.hex --mcu atmega9
attiny85 has no pin PD2|--firmware $here/attiny85.hex --mcu attiny85
needs --firmware FILE|
LINES
    expect "nothing stored" [ -z "$(ls -A "$LATLAB_RUNS" 2>/dev/null)" ]
}
try "a simulated Uno answers as a real one does, the same each time" simulated
try "a firmware of one's own is simulated by an installed program, from ELF and Intel HEX" own_firmware
try "what is no firmware, or for another microcontroller, is refused in one line" firmware_mistakes
try "a simulation that is interrupted leaves nothing behind" interrupted

exit $status
