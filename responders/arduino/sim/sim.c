/*
 * Runs the firmware of an Arduino Uno in simavr, raises its pin 2 at given times, and writes what
 * its pin 3 answers, exact to the cycle.
 *
 * Copyright (C) 2026 the authors of latlab
 *
 * This program is free software: you can redistribute it and/or modify it under the terms of the
 * GNU General Public License as published by the Free Software Foundation, either version 3 of the
 * License, or (at your option) any later version. It is distributed without any warranty; see
 * LICENSE beside this file. It links libsimavr, which is under the same licence; latlab, which is
 * not, starts it as a process.
 *
 *     sim FIRMWARE VCD CSV EDGES SEED LEAST_NS MOST_NS
 *
 * Where simavr differs from the chip, this makes up for it: it enters an interrupt in no time,
 * where the chip takes four cycles; and it tells a store to a port when the instruction begins,
 * where the pin changes when it ends. Stimuli are timed by the cycle that they were planned for.
 */

#include <inttypes.h>
#include <simavr/avr_extint.h>
#include <simavr/avr_ioport.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_interrupts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HERTZ = 16000000,
    /* In units of 100 ps, which hold a cycle of 62.5 ns. */
    UNITS_OF_A_CYCLE = 625,
    NS_PER_SECOND = 1000000000,
    /* The interrupts by their numbers in the table of the ATmega328P. */
    VECTOR_INT0 = 1,
    VECTOR_TIMER0_OVF = 16,
    ENTRY_CYCLES = 4,
    RETI_CYCLES = 4,
    /* After a RETI this simavr runs two short instructions before the next interrupt. */
    INSTRUCTION_CYCLES = 5,
    /* The sketches need a moment to set up their pins. */
    FIRST_EDGE = HERTZ / 100,
    /* How long the stimulus stays high: half of the shortest distance. */
    SHORTEST_HIGH = HERTZ / 1000000 * 30,
};

static avr_t *avr;
static avr_irq_t *pin;
static FILE *vcd, *csv;
static uint64_t seed, edges, least, most;
static uint64_t edge_number, stimulus_at, handler_from, handler_to;
static int waits_for_response, finished;

/* Changes may be told a few cycles out of order, and a VCD must not: a short list holds them back. */
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

static void write_first(void) {
    static uint64_t last = UINT64_MAX;
    struct change first = waiting[0];
    memmove(waiting, waiting + 1, --waiting_count * sizeof waiting[0]);
    if (first.cycle != last)
        fprintf(vcd, "#%" PRIu64 "\n", first.cycle * UNITS_OF_A_CYCLE);
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

/* SplitMix64: numbers that are the same for a seed everywhere. */
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
    uint64_t high = until_next / 2 < SHORTEST_HIGH ? SHORTEST_HIGH : until_next / 2;
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
        avr->cycle += ENTRY_CYCLES;
}

static void timer_enters(struct avr_irq_t *irq, uint32_t runs, void *unused) {
    (void)irq;
    (void)unused;
    if (runs) {
        handler_from = avr->cycle;
        handler_to = UINT64_MAX;
        changed(handler_from, 't', 1);
        avr->cycle += ENTRY_CYCLES;
    } else {
        handler_to = avr->cycle + RETI_CYCLES + INSTRUCTION_CYCLES;
        changed(handler_to, 't', 0);
    }
}

static uint64_t number(const char *text) {
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (!*text || *end)
        fail("expected numbers: sim FIRMWARE VCD CSV EDGES SEED LEAST_NS MOST_NS");
    return value;
}

static uint64_t cycles_of(uint64_t ns) {
    return ns * (HERTZ / 1000000) / 1000;
}

static FILE *opened(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file)
        fail("cannot write the capture");
    return file;
}

static void heads(void) {
    fputs("$timescale 100ps $end\n$scope module uno $end\n"
          "$var wire 1 s stimulus $end\n$var wire 1 r response $end\n$var wire 1 t timer0 $end\n"
          "$upscope $end\n$enddefinitions $end\n#0\n0s\n0r\n0t\n", vcd);
    fputs("edge,stimulus_cycle,response_cycles,met_timer0\n", csv);
}

int main(int count, char **words) {
    if (count != 8)
        fail("usage: sim FIRMWARE VCD CSV EDGES SEED LEAST_NS MOST_NS");
    elf_firmware_t firmware = {0};
    if (elf_read_firmware(words[1], &firmware) != 0)
        fail("cannot read the firmware");
    vcd = opened(words[2]);
    csv = opened(words[3]);
    edges = number(words[4]);
    seed = number(words[5]);
    least = cycles_of(number(words[6]));
    most = cycles_of(number(words[7]));

    avr = avr_make_mcu_by_name("atmega328p");
    if (!avr)
        fail("this simavr knows no ATmega328P");
    avr_init(avr);
    avr->log = LOG_NONE;
    firmware.frequency = HERTZ;
    avr_load_firmware(avr, &firmware);
    avr->frequency = HERTZ;
    /* Else a pin that is low polls the input in each cycle before the sketch has set it up. */
    avr_extint_set_strict_lvl_trig(avr, 0, 0);

    pin = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('D'), 2);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('D'), 3), answered, NULL);
    avr_irq_register_notify(avr_get_interrupt_irq(avr, VECTOR_INT0) + AVR_INT_IRQ_RUNNING,
                            enters, NULL);
    avr_irq_register_notify(avr_get_interrupt_irq(avr, VECTOR_TIMER0_OVF) + AVR_INT_IRQ_RUNNING,
                            timer_enters, NULL);
    heads();
    avr_cycle_timer_register(avr, FIRST_EDGE + distance(), rise, NULL);
    while (!finished) {
        int state = avr_run(avr);
        if (state == cpu_Done || state == cpu_Crashed)
            fail("the firmware has crashed");
    }
    while (waiting_count)
        write_first();
    fprintf(vcd, "#%" PRIu64 "\n", (uint64_t)avr->cycle * UNITS_OF_A_CYCLE);
    if (fclose(vcd) != 0 || fclose(csv) != 0)
        fail("cannot write the capture");
    return 0;
}
