#!/usr/bin/env python3
"""Raises a pin when another one has risen: RPi.GPIO, or rpi-lgpio, which has the same interface."""
import signal
import sys

import RPi.GPIO as GPIO

stimulus, response = int(sys.argv[1]), int(sys.argv[2])


def answer(_):
    GPIO.output(response, GPIO.HIGH)
    GPIO.output(response, GPIO.LOW)


GPIO.setmode(GPIO.BCM)
GPIO.setup(stimulus, GPIO.IN)
GPIO.setup(response, GPIO.OUT, initial=GPIO.LOW)
GPIO.add_event_detect(stimulus, GPIO.RISING, callback=answer)
print("ready", flush=True)
signal.pause()
