#!/usr/bin/env python3
"""A planted load: from time to time it keeps a CPU, above the measured threads, for as long as settings say.

planted_load.py CPU BASE_US [FILE:VALUE[+FILE:VALUE]=FACTOR ...]: the length is the base times the factors of the
files that hold their value; of a pair both must."""
import os
import random
import sys
import time

cpu, base = int(sys.argv[1]), float(sys.argv[2]) * 1e-6
factors = []
for word in sys.argv[3:]:
    files, factor = word.rsplit("=", 1)
    factors.append(([file.split(":") for file in files.split("+")], float(factor)))
os.sched_setaffinity(0, {cpu})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(95))


def holds(path, value):
    with open(path) as file:
        return file.read().strip() == value


# The first blocks come before the settings are made, and are not counted.
looked = 0.0
while True:
    if time.monotonic() - looked > 0.2:
        looked = time.monotonic()
        length = base
        for files, factor in factors:
            if all(holds(path, value) for path, value in files):
                length *= factor
    time.sleep(random.expovariate(1 / 0.005))
    end = time.monotonic() + length * random.uniform(0.5, 1.5)
    while time.monotonic() < end:
        pass
