/*
 * Runs the firmware of an AVR microcontroller in simavr, raises one of its pins at given times, and
 * records the answers of another one, exact to the cycle. Defaults: an Arduino Uno, pins 2 and 3.
 *
 * Copyright (C) 2026 the authors of latlab
 *
 * This program is free software: you can redistribute it and/or modify it under the terms of the
 * GNU General Public License as published by the Free Software Foundation, either version 3 of the
 * License, or (at your option) any later version. It is distributed without any warranty; see
 * LICENSE in this folder. It links libsimavr, which is under the same licence; latlab, which is
 * not, starts it as a process.
 *
 *     sim FIRMWARE VCD CSV EDGES SEED LEAST_NS MOST_NS [MCU HERTZ INPUT OUTPUT]
 *
 * FIRMWARE is an ELF file, or the content of the program memory from its start. INPUT and OUTPUT are
 * pins such as PD2. The exit code is 2 if firmware, microcontroller and pins do not fit. A line
 * marker=NAME on standard output names a wire of the capture that is high while a handler runs.
 *
 * This compensates for differences between simavr and the chip: simavr enters an interrupt in no time,
 * while the chip takes four or five cycles; and it reports a store to a port when the instruction begins,
 * while the pin changes when it ends. Stimuli are timed by their planned cycle.
 */

#include <inttypes.h>
#include <simavr/avr_extint.h>
#include <simavr/avr_ioport.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_interrupts.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NS_PER_SECOND = 1000000000,
    /* The numbers of interrupts; that of Timer0 in the tables of the ATmega48 to 328. */
    MOST_VECTORS = 64,
    VECTOR_TIMER0_OVF = 16,
    /* After a RETI this simavr runs two short instructions before the next interrupt. */
    INSTRUCTION_CYCLES = 5,
    /* Inputs with an interrupt. */
    EXTERNAL_INTERRUPTS = 8,
    /* Exit code if things do not fit together. */
    REFUSED = 2,
};

/* The capture counts in units of 100 ps, of which a cycle of 62.5 ns is a multiple. */
static const uint64_t UNITS_PER_SECOND = 10000000000;
/* The firmware needs a moment to set up its pins. */
static const uint64_t FIRST_EDGE_NS = 10000000;
/* How long the stimulus stays high: half of the shortest distance. */
static const uint64_t SHORTEST_HIGH_NS = 30000;

/* The microcontrollers that this simavr knows. */
extern avr_kind_t *avr_kind[];

static const char *mcu = "atmega328p";
static uint64_t hertz = 16000000;
static const char *input = "PD2", *output = "PD3";
/* Cycles that the chip takes to enter a handler and to leave it. */
static int entry_cycles;
static avr_t *avr;
static avr_irq_t *pin;
static FILE *vcd, *csv;
static uint64_t seed, edges, least, most;
static uint64_t edge_number, stimulus_at, handler_from, handler_to;
static int waits_for_response, finished;

/* Changes may come a few cycles out of order, which VCD does not allow: a short list holds them back. */
struct change {
    uint64_t cycle;
    char wire;
    int level;
};
static struct change waiting[64];
static int waiting_count;

static void fail(const char *what) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
}

static void refuse(const char *format, ...) {
    va_list words;
    va_start(words, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, words);
    fputs("\n", stderr);
    va_end(words);
    exit(REFUSED);
}

static uint64_t units_of(uint64_t cycle) {
    uint64_t part = (cycle % hertz * UNITS_PER_SECOND + hertz / 2) / hertz;
    return cycle / hertz * UNITS_PER_SECOND + part;
}

static uint64_t cycles_of(uint64_t ns) {
    return ns * hertz / NS_PER_SECOND;
}

static void write_first(void) {
    static uint64_t last = UINT64_MAX;
    struct change first = waiting[0];
    memmove(waiting, waiting + 1, --waiting_count * sizeof waiting[0]);
    if (first.cycle != last)
        fprintf(vcd, "#%" PRIu64 "\n", units_of(first.cycle));
    last = first.cycle;
    fprintf(vcd, "%d%c\n", first.level, first.wire);
}

static void changed(uint64_t cycle, char wire, int level) {
    if (waiting_count == (int)(sizeof waiting / sizeof waiting[0]))
        write_first();
    int at = waiting_count++;
    for (; at > 0 && waiting[at - 1].cycle > cycle; at--)
        waiting[at] = waiting[at - 1];
    waiting[at] = (struct change){cycle, wire, level};
}

/* SplitMix64: the same numbers for a seed everywhere. */
static uint64_t next_random(void) {
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t distance(void) {
    return most > least ? least + next_random() % (most - least + 1) : least;
}

static avr_cycle_count_t fall(avr_t *of, avr_cycle_count_t when, void *unused) {
    (void)of;
    (void)unused;
    avr_raise_irq(pin, 0);
    changed(when, 's', 0);
    return 0;
}

static avr_cycle_count_t rise(avr_t *of, avr_cycle_count_t when, void *unused) {
    (void)unused;
    if (waits_for_response)
        fprintf(csv, "%" PRIu64 ",%" PRIu64 ",,\n", edge_number, stimulus_at);
    if (edge_number == edges) {
        finished = 1;
        return 0;
    }
    edge_number++;
    stimulus_at = when;
    waits_for_response = 1;
    changed(when, 's', 1);
    avr_raise_irq(pin, 1);
    uint64_t until_next = distance();
    uint64_t shortest = cycles_of(SHORTEST_HIGH_NS);
    uint64_t high = until_next / 2 < shortest ? shortest : until_next / 2;
    avr_cycle_timer_register(of, high, fall, NULL);
    return when + until_next;
}

/* How long the store to the port takes: OUT one cycle, all others two. */
static int store_cycles(void) {
    uint16_t word = avr->flash[avr->pc] | avr->flash[avr->pc + 1] << 8;
    return (word & 0xf800) == 0xb800 ? 1 : 2;
}

static void answered(struct avr_irq_t *irq, uint32_t level, void *unused) {
    (void)irq;
    (void)unused;
    uint64_t at = avr->cycle + store_cycles();
    changed(at, 'r', level != 0);
    if (!level || !waits_for_response)
        return;
    waits_for_response = 0;
    uint64_t cycles = at - stimulus_at;
    int met = handler_to > stimulus_at;
    fprintf(csv, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n", edge_number, stimulus_at, cycles, met);
}

static void enters(struct avr_irq_t *irq, uint32_t runs, void *unused) {
    (void)irq;
    (void)unused;
    if (runs)
        avr->cycle += entry_cycles;
}

static void timer_enters(struct avr_irq_t *irq, uint32_t runs, void *unused) {
    (void)irq;
    (void)unused;
    if (runs) {
        handler_from = avr->cycle;
        handler_to = UINT64_MAX;
        changed(handler_from, 't', 1);
        avr->cycle += entry_cycles;
    } else {
        handler_to = avr->cycle + entry_cycles + INSTRUCTION_CYCLES;
        changed(handler_to, 't', 0);
    }
}

static uint64_t number(const char *text) {
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (!*text || *end)
        fail("expected numbers: sim FIRMWARE VCD CSV EDGES SEED LEAST_NS MOST_NS [MCU HERTZ INPUT OUTPUT]");
    return value;
}

static FILE *opened(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file)
        fail("cannot write the capture");
    return file;
}

static void heads(int has_marker) {
    fputs("$timescale 100ps $end\n$scope module mcu $end\n"
          "$var wire 1 s stimulus $end\n$var wire 1 r response $end\n", vcd);
    if (has_marker)
        fputs("$var wire 1 t timer0 $end\n", vcd);
    fputs("$upscope $end\n$enddefinitions $end\n#0\n0s\n0r\n", vcd);
    fputs(has_marker ? "0t\n" : "", vcd);
    fputs("edge,stimulus_cycle,response_cycles,met_timer0\n", csv);
    if (has_marker)
        puts("marker=timer0");
}

static void make_mcu(void) {
    avr = avr_make_mcu_by_name(mcu);
    if (avr)
        return;
    static char names[2048];
    for (avr_kind_t **kind = avr_kind; *kind; kind++) {
        for (int at = 0; at < 4 && (*kind)->names[at]; at++) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, " %s", (*kind)->names[at]);
        }
    }
    refuse("simavr knows no microcontroller '%s'; it knows%s", mcu, names);
}

/* An ELF file, or the bytes of the program memory. */
static void load(const char *path) {
    static const char elf[] = {0x7f, 'E', 'L', 'F'};
    elf_firmware_t firmware = {0};
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("cannot open the firmware");
    uint32_t room = avr->flashend + 1;
    /* One more, to detect a file that is too large. */
    uint8_t *bytes = calloc(1, room + 1);
    size_t length = bytes ? fread(bytes, 1, room + 1, file) : 0;
    fclose(file);
    if (length >= sizeof elf && memcmp(bytes, elf, sizeof elf) == 0) {
        if (elf_read_firmware(path, &firmware) != 0 || !firmware.flash)
            refuse("simavr cannot read this ELF file, or it has no program");
        if (*firmware.mmcu && strcmp(firmware.mmcu, mcu) != 0)
            refuse("the firmware was built for %s, not for %s", firmware.mmcu, mcu);
        /* The firmware may request a trace file. */
        firmware.tracecount = 0;
    } else {
        firmware.flash = bytes;
        firmware.flashsize = length;
    }
    if ((uint64_t)firmware.flashbase + firmware.flashsize > room)
        refuse("the firmware is larger than the %u bytes of program memory of %s", room, mcu);
    firmware.frequency = hertz;
    avr_load_firmware(avr, &firmware);
    avr->frequency = hertz;
}

static avr_irq_t *pin_named(const char *name) {
    char port;
    int bit;
    if (sscanf(name, "P%c%1d", &port, &bit) != 2)
        fail("expected pins such as PD2");
    avr_irq_t *irq = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ(port), bit);
    if (!irq)
        refuse("%s has no pin %s", mcu, name);
    return irq;
}

/* Whether Timer0 has the known interrupt number. */
static int knows_timer(void) {
    static const char *const known[] = {"atmega48", "atmega88", "atmega168", "atmega328"};
    for (size_t at = 0; at < sizeof known / sizeof known[0]; at++) {
        size_t length = strlen(known[at]);
        if (strncmp(mcu, known[at], length) == 0 && (!mcu[length] || mcu[length] == 'p'))
            return 1;
    }
    return 0;
}

static void watch_interrupts(int has_marker) {
    entry_cycles = avr->address_size == 3 ? 5 : 4;
    for (int vector = 1; vector < MOST_VECTORS; vector++) {
        avr_irq_t *irq = avr_get_interrupt_irq(avr, vector);
        int is_timer = has_marker && vector == VECTOR_TIMER0_OVF;
        if (irq)
            avr_irq_register_notify(irq + AVR_INT_IRQ_RUNNING, is_timer ? timer_enters : enters, NULL);
    }
    /* Else simavr polls a low input in each cycle before the firmware has set it up. */
    for (int external = 0; external < EXTERNAL_INTERRUPTS; external++)
        avr_extint_set_strict_lvl_trig(avr, external, 0);
}

int main(int count, char **words) {
    if (count != 8 && count != 12)
        fail("usage: sim FIRMWARE VCD CSV EDGES SEED LEAST_NS MOST_NS [MCU HERTZ INPUT OUTPUT]");
    if (count == 12) {
        mcu = words[8];
        hertz = number(words[9]);
        input = words[10];
        output = words[11];
    }
    edges = number(words[4]);
    seed = number(words[5]);
    least = cycles_of(number(words[6]));
    most = cycles_of(number(words[7]));

    make_mcu();
    avr_init(avr);
    avr->log = LOG_NONE;
    load(words[1]);
    pin = pin_named(input);
    avr_irq_register_notify(pin_named(output), answered, NULL);
    int has_marker = knows_timer();
    watch_interrupts(has_marker);
    vcd = opened(words[2]);
    csv = opened(words[3]);
    heads(has_marker);
    avr_cycle_timer_register(avr, cycles_of(FIRST_EDGE_NS) + distance(), rise, NULL);
    while (!finished) {
        int state = avr_run(avr);
        if (state == cpu_Done)
            refuse("the firmware has ended: it sleeps with interrupts off");
        if (state == cpu_Crashed)
            refuse("the firmware has crashed: is it for %s?", mcu);
    }
    while (waiting_count)
        write_first();
    fprintf(vcd, "#%" PRIu64 "\n", units_of(avr->cycle));
    if (fclose(vcd) != 0 || fclose(csv) != 0)
        fail("cannot write the capture");
    return 0;
}
