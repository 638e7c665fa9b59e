"""Makes captures that are odd in one way each, and compares what the program reads with what they were
made from. Usage: odd_captures.py PROGRAM FOLDER [CASE...]; each case is a function with @case."""
import bisect
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys

STEP_NS = 1000.0
VCD_HEAD = "$timescale {} ps $end\n$var wire 1 ! in $end\n$var wire 1 ? out $end\n$enddefinitions $end\n#0\n0!\n0?"


def edges(rng, count, gap=(900_000, 1_400_000), delay=(20_000, 60_000), hold=300_000, answer_hold=200_000):
    """Stimuli, their responses, and the ends of both, in ns."""
    at, rows = 500_000.0, []
    for _ in range(count):
        late = rng.uniform(*delay)
        rows.append((at, at + hold, at + late, at + late + answer_hold))
        at += rng.uniform(*gap)
    return rows, at + 500_000


def level(pulses, low=0.0, high=3.3, rise_ns=0.0):
    """A function of time from pulses [(begin, end)], with linear edges."""
    def value(t, index=[0]):
        while index[0] < len(pulses) and t > pulses[index[0]][1] + rise_ns:
            index[0] += 1
        if index[0] == len(pulses) or t < pulses[index[0]][0]:
            return low
        begin, end = pulses[index[0]]
        if rise_ns and t < begin + rise_ns:
            return low + (high - low) * (t - begin) / rise_ns
        if t <= end:
            return high
        return high - (high - low) * (t - end) / rise_ns if rise_ns else low
    return value


class Case:
    def __init__(self, folder, name, count=60, **how):
        self.rng = random.Random(name)
        self.name, self.path = name, f"{folder}/{name}.csv"
        self.rows, self.end = edges(self.rng, count, **how)
        self.stimulus = [(a, b) for a, b, _, _ in self.rows]
        self.response = [(c, d) for _, _, c, d in self.rows]
        self.truth = dict(stimuli=count, answered=count, missing=0,
                          delays=[c - a for a, _, c, _ in self.rows], within=STEP_NS * 1.5)
        self.options, self.code, self.findings, self.says = [], 0, [], None

    def write(self, one, other):
        with open(self.path, "w") as file:
            print("Time [s],in,out", file=file)
            for number in range(int(self.end / STEP_NS)):
                t = number * STEP_NS
                print(f"{t / 1e9:.9f},{one(t):.4f},{other(t):.4f}", file=file)
        return self

    def in_doubt(self, one, other):
        "No threshold separates the levels all the time, so only a finding can be expected."
        self.truth, self.findings = None, ["levels-in-doubt"]
        return self.write(one, other)


def noisy(rng, signal, sigma):
    return lambda t: signal(t) + rng.gauss(0, sigma)


def quantised(signal, step):
    return lambda t: round(signal(t) / step) * step


def spikes(rng, signal, share, height):
    return lambda t: height if rng.random() < share else signal(t)


def drift(signal, amplitude, period):
    return lambda t: signal(t) + amplitude * math.sin(2 * math.pi * t / period)


def ramp(signal, volts, end):
    return lambda t: signal(t) + volts * t / end


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def plain(folder):
    c = Case(folder, "plain")
    return c.write(level(c.stimulus), level(c.response))


@case
def start_outliers(folder):
    c = Case(folder, "start_outliers")
    one, other = level(c.stimulus), level(c.response)
    return c.write(lambda t: 8.4 if t < 40_000 else one(t), lambda t: -6.0 if t < 10_000 else other(t))


@case
def both_spikes(folder):
    c = Case(folder, "both_spikes")
    return c.write(spikes(c.rng, level(c.stimulus), 0.0005, 30), spikes(c.rng, level(c.response), 0.0005, -45))


@case
def many_small_spikes(folder):
    "One sample in a thousand lies above the high level by twice the swing."
    c = Case(folder, "many_small_spikes")
    return c.write(level(c.stimulus), spikes(c.rng, level(c.response), 0.001, 9.0))


@case
def noise_5_percent(folder):
    c = Case(folder, "noise_5_percent")
    return c.write(noisy(c.rng, level(c.stimulus), 0.16), noisy(c.rng, level(c.response), 0.16))


@case
def noise_10_percent(folder):
    c = Case(folder, "noise_10_percent")
    c.truth["within"] = 2500
    return c.write(noisy(c.rng, level(c.stimulus), 0.33), noisy(c.rng, level(c.response), 0.33))


@case
def slow_drift(folder):
    "Both levels drift by a third of the swing."
    c = Case(folder, "slow_drift")
    return c.write(drift(level(c.stimulus), 0.55, c.end / 3), drift(level(c.response), 0.55, c.end / 2))


@case
def drift_3v(folder):
    "Drift of 3 V at a swing of 3.3 V leaves a gap, and costs no edge."
    c = Case(folder, "drift_3v")
    return c.write(ramp(level(c.stimulus), 3.0, c.end), level(c.response))


@case
def drift_6v(folder):
    c = Case(folder, "drift_6v")
    return c.in_doubt(ramp(level(c.stimulus), 6.0, c.end), level(c.response))


@case
def drift_response_3v(folder):
    c = Case(folder, "drift_response_3v")
    return c.in_doubt(level(c.stimulus), ramp(level(c.response), 3.3, c.end))


@case
def drift_sine_4v(folder):
    c = Case(folder, "drift_sine_4v")
    return c.in_doubt(level(c.stimulus), drift(level(c.response), 4, c.end / 2))


@case
def few_steps_noise(folder):
    "The response is the noise of a few converter steps: it answers nothing. The last stimulus stays undecided."
    c = Case(folder, "few_steps_noise")
    c.truth.update(stimuli=59, answered=0, missing=59, delays=[])
    c.findings = ["channel-noise"]
    return c.write(level(c.stimulus), quantised(noisy(c.rng, lambda t: 0.0, 0.04), 0.08))


@case
def few_steps_stimulus(folder):
    c = Case(folder, "few_steps_stimulus")
    c.truth, c.code, c.says = None, 2, "noise"
    return c.write(quantised(noisy(c.rng, lambda t: 0.1, 0.04), 0.08), level(c.response))


@case
def two_step_square(folder):
    "A true square of three converter steps without noise: the levels are few steps apart."
    c = Case(folder, "two_step_square")
    c.truth, c.code = None, None
    return c.write(level(c.stimulus), quantised(level(c.response, 0.0, 0.24), 0.08))


@case
def small_on_large_range(folder):
    "3.3 V on an 8-bit converter over 40 V: 21 steps."
    c = Case(folder, "small_on_large_range")
    step = 40 / 256
    return c.write(quantised(noisy(c.rng, level(c.stimulus), 0.05), step),
                   quantised(noisy(c.rng, level(c.response), 0.05), step))


@case
def three_levels(folder):
    "A line that is driven to the middle between its pulses (tri-state): idle at 1.65 V, low shortly before each pulse."
    c = Case(folder, "three_levels")
    pulses = level(c.response)
    before = level([(a - 150_000, a) for a, _ in c.response])
    c.truth, c.code, c.findings = None, None, ["levels-in-doubt"]
    return c.write(level(c.stimulus), lambda t: 3.3 if pulses(t) > 1 else 0.0 if before(t) > 1 else 1.65)


@case
def three_levels_mostly_two(folder):
    "A third level between the two for one percent of the time hides no edge."
    c = Case(folder, "three_levels_mostly_two")
    pulses = level(c.response)
    after = level([(b, b + 10_000) for _, b in c.response])
    return c.write(level(c.stimulus), lambda t: 3.3 if pulses(t) > 1 else 1.0 if after(t) > 1 else 0.0)


@case
def bounce(folder):
    "A contact bounces five times within 100 us: --quiet counts it once."
    c = Case(folder, "bounce")
    stimulus = []
    for a, b in c.stimulus:
        stimulus += [(a, a + 4_000), (a + 9_000, a + 13_000), (a + 20_000, a + 30_000), (a + 50_000, b)]
    c.options = ["--quiet", "400us"]
    return c.write(level(stimulus), level(c.response))


@case
def answer_bounces(folder):
    "Answers that ring: three additional edges each are double."
    c = Case(folder, "answer_bounces")
    response = []
    for a, b in c.response:
        response += [(a, a + 3_000), (a + 6_000, a + 9_000), (a + 12_000, b)]
    c.truth["double"] = 120
    return c.write(level(c.stimulus), level(response))


@case
def inverted_idle(folder):
    "Active low: both rest high."
    c = Case(folder, "inverted_idle")
    c.options = ["--edge", "falling"]
    one, other = level(c.stimulus), level(c.response)
    return c.write(lambda t: 3.3 - one(t), lambda t: 3.3 - other(t))


@case
def short_pulses(folder):
    "A duty of 1 %: the high level is rare, but still a level."
    c = Case(folder, "short_pulses", hold=10_000, answer_hold=12_000)
    return c.write(level(c.stimulus), level(c.response))


@case
def very_short_pulses(folder):
    "A duty of 0.2 %: two samples each."
    c = Case(folder, "very_short_pulses", hold=2_100, answer_hold=2_100)
    return c.write(level(c.stimulus), level(c.response))


@case
def one_edge(folder):
    "One stimulus, one answer, at the end of the capture."
    c = Case(folder, "one_edge", count=1)
    return c.write(level(c.stimulus), level(c.response))


@case
def dc_response(folder):
    c = Case(folder, "dc_response")
    c.truth.update(stimuli=59, answered=0, missing=59, delays=[])
    return c.write(level(c.stimulus), lambda t: 3.3)


@case
def dc_stimulus(folder):
    c = Case(folder, "dc_stimulus")
    c.truth, c.code, c.says = None, 2, "never changes"
    return c.write(lambda t: 1.2, level(c.response))


@case
def slow_edges(folder):
    "Edges of 30 us are timed by interpolation at the middle."
    c = Case(folder, "slow_edges", hold=300_000)
    return c.write(level(c.stimulus, rise_ns=30_000), level(c.response, rise_ns=30_000))


@case
def overshoot(folder):
    "Ringing of 40 % after each edge, damped."
    c = Case(folder, "overshoot")

    def ring(pulses):
        base = level(pulses)
        times = sorted(t for pair in pulses for t in pair)

        def value(t):
            index = bisect.bisect_right(times, t) - 1
            v = base(t)
            if index >= 0:
                since = t - times[index]
                sign = 1 if index % 2 == 0 else -1
                v += sign * 1.3 * math.exp(-since / 8_000) * math.cos(since / 2_000)
            return v
        return value
    c.truth["within"] = 3000
    return c.write(ring(c.stimulus), ring(c.response))


@case
def negative_levels(folder):
    "Levels of RS-232, and a swing of 0.8 V below zero."
    c = Case(folder, "negative_levels")
    return c.write(level(c.stimulus, -12, 12), level(c.response, -0.9, -0.1))


@case
def different_swing(folder):
    "5 V stimulus, answer of 0.4 V on top of 2 V."
    c = Case(folder, "different_swing")
    return c.write(noisy(c.rng, level(c.stimulus, 0, 5), 0.05), noisy(c.rng, level(c.response, 2.0, 2.4), 0.01))


@case
def clipped(folder):
    "The instrument writes 9.9E37 if the channel is beyond its range."
    c = Case(folder, "clipped")
    one, other = level(c.stimulus), level(c.response)
    return c.write(one, lambda t: 9.9e37 if other(t) > 1 and c.rng.random() < 0.01 else other(t))


@case
def hum(folder):
    "50 Hz of 1.2 V on both."
    c = Case(folder, "hum")
    return c.write(drift(level(c.stimulus), 0.6, 20e6), drift(level(c.response), 0.6, 20e6))


@case
def missing_answers(folder):
    c = Case(folder, "missing_answers")
    dropped = set(range(5, 60, 7))
    c.truth.update(answered=60 - len(dropped), missing=len(dropped),
                   delays=[d for i, d in enumerate(c.truth["delays"]) if i not in dropped])
    return c.write(level(c.stimulus), level([p for i, p in enumerate(c.response) if i not in dropped]))


def picosecond_vcd(folder, name, unit_ps, grid_ps, base_ps, spread, count=400):
    c = Case(folder, name, count=1)
    c.path = f"{folder}/{name}.vcd"
    delays = []
    with open(c.path, "w") as file:
        print(VCD_HEAD.format(unit_ps), file=file)
        at = 0
        for number in range(count):
            at += 2_000_000 + (number * 7919 % 1000) * grid_ps
            at -= at % grid_ps
            late = base_ps + number % spread * grid_ps
            delays.append(late / 1000)
            ends = [at + after // grid_ps * grid_ps for after in (500_000, 600_000)]
            for when, what in ((at, "1!"), (at + late, "1?"), (ends[0], "0!"), (ends[1], "0?")):
                print(f"#{when // unit_ps}\n{what}", file=file)
    c.truth = dict(stimuli=count, answered=count, missing=0, delays=delays, within=0.0011, resolution=grid_ps / 1000)
    return c


@case
def pico_grid(folder):
    return picosecond_vcd(folder, "pico_grid", 1, 8_000, 48_000, 3)


@case
def pico_fine(folder):
    return picosecond_vcd(folder, "pico_fine", 1, 1, 48_123, 97)


@case
def pico_hundred(folder):
    return picosecond_vcd(folder, "pico_hundred", 100, 100, 36_100, 11)


def clocked(folder, name, unit_ps, tick, resolution_ns):
    """Answers of 132 to 135 ticks of a clock, in a file of this unit."""
    c = Case(folder, name, count=1)
    c.path = f"{folder}/{name}.vcd"
    delays, at = [], 0
    with open(c.path, "w") as file:
        print(VCD_HEAD.format(unit_ps), file=file)
        for number in range(300):
            at += 16_000 + number * 31 % 97
            late = 132 + number % 4
            delays.append(late * resolution_ns)
            for when, what in ((at, "1!"), (at + late, "1?"), (at + 3_000, "0!"), (at + 3_500, "0?")):
                print(f"#{when * tick}\n{what}", file=file)
    c.truth = dict(stimuli=300, answered=300, missing=0, delays=delays, within=0.001, resolution=resolution_ns)
    return c


@case
def micro_in_pico(folder):
    return clocked(folder, "micro_in_pico", 1, 1_000_000, 1000.0)


@case
def clock_16mhz(folder):
    "62.5 ns: bins of 100 ns would leave gaps."
    return clocked(folder, "clock_16mhz", 100, 625, 62.5)


def check(case, program, runs):
    argv = [program, "respond", "--from", case.path, "--stimulus", "in", "--response", "out",
            "--format", "json", *case.options]
    environment = {**os.environ, "LATLAB_RUNS": runs, "NO_COLOR": "1"}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment)
    wrong = []
    if case.code is not None and done.returncode != case.code:
        wrong.append(f"exit code {done.returncode} instead of {case.code}: {done.stderr.strip()[:200]}")
    told = done.stderr.strip()
    if case.says is not None:
        if not re.search(case.says, told):
            wrong.append(f"says {told!r}")
        return wrong, told
    if done.returncode not in (0, 1, 4):
        if case.truth is not None:
            wrong.append(told)
        return wrong, told
    [run] = json.loads(done.stdout)["runs"]
    responses = run["responses"]
    found = sorted({finding["code"] for finding in run["findings"]})
    summary = dict(stimuli=responses["stimuli"], answered=run.get("answered"), missing=responses["missing"],
                   late=responses["late"], double=responses["double"], spurious=responses["spurious"],
                   resolution=responses.get("resolution_ns"), findings=found)
    for code in case.findings:
        if code not in found:
            wrong.append(f"no finding {code}")
    if case.truth:
        truth = case.truth
        for key in ("stimuli", "answered", "missing"):
            if summary[key] != truth[key]:
                wrong.append(f"{key} {summary[key]} instead of {truth[key]}")
        if summary["double"] != truth.get("double", 0) or summary["spurious"]:
            wrong.append(f"double {summary['double']}, spurious {summary['spurious']}")
        if "resolution" in truth and abs(summary["resolution"] - truth["resolution"]) > 1e-6:
            wrong.append(f"resolution {summary['resolution']} instead of {truth['resolution']}")
        if truth["delays"]:
            figures = responses["figures"]
            for key, value in (("min_ns", min(truth["delays"])), ("max_ns", max(truth["delays"])),
                               ("median_ns", statistics.median(truth["delays"]))):
                if abs(figures[key] - value) > truth["within"]:
                    wrong.append(f"{key} {figures[key]} instead of {value:.3f}")
    return wrong, summary


def main():
    program, folder, *wanted = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    failed = 0
    for name in wanted or CASES:
        case = CASES[name](folder)
        wrong, told = check(case, program, f"{folder}/runs")
        if wrong:
            print(f"{name}: {'; '.join(wrong)}\n    {told}")
        failed += bool(wrong)
        os.remove(case.path)
    print(f"{len(wanted or CASES)} captures, {failed} misread")
    sys.exit(failed != 0)


main()
