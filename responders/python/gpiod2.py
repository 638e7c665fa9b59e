#!/usr/bin/env python3
"""Raises a line when another one has risen: gpiod 2.x, from `pip install gpiod`."""
import sys

import gpiod
from gpiod.line import Direction, Edge, Value

chip, stimulus, response = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
lines = gpiod.request_lines(
    chip,
    consumer="responder",
    config={
        stimulus: gpiod.LineSettings(direction=Direction.INPUT, edge_detection=Edge.RISING),
        response: gpiod.LineSettings(direction=Direction.OUTPUT),
    },
)
print("ready", flush=True)
while True:
    for _ in lines.read_edge_events():
        lines.set_value(response, Value.ACTIVE)
        lines.set_value(response, Value.INACTIVE)
