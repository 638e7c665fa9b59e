#!/usr/bin/env python3
"""Raises a line when another one has risen: gpiod 1.6, Debian 12's package python3-libgpiod."""
import sys

import gpiod

chip = gpiod.Chip(sys.argv[1])
stimulus, response = chip.get_line(int(sys.argv[2])), chip.get_line(int(sys.argv[3]))
stimulus.request(consumer="responder", type=gpiod.LINE_REQ_EV_RISING_EDGE)
response.request(consumer="responder", type=gpiod.LINE_REQ_DIR_OUT)
print("ready", flush=True)
while True:
    if stimulus.event_wait(sec=1):
        stimulus.event_read()
        response.set_value(1)
        response.set_value(0)
