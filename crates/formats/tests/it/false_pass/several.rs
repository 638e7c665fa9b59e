//! Several recordings in one file: each is kept separate, and one that is shown many times stays
//! one.

use super::texts::*;
use crate::cases::*;
use crate::common::fixture;

/// The lines of two threads with increasing cycles, as a redrawn screen shows them.
fn screens(process: u32, cycles: &[u32], maxima: &[u32]) -> String {
    let screen = |(cycles, max): (&u32, &u32)| {
        POLICY.to_string()
            + &thread(0, process, *cycles, *max)
            + &thread(1, process + 1, *cycles, 9)
    };
    BANNER.to_string() + &cycles.iter().zip(maxima).map(screen).collect::<String>()
}

#[test]
fn outputs_of_cyclictest_after_each_other() {
    let quiet = |process, max| summary(process, 10_000, &[max]);
    let no_banner = |process, cycles, max| thread(0, process, cycles, max);
    check(vec![
        case("a loop with >>log", "", "fail: 66 / 941 / 12", quiet(100, 66) + &quiet(200, 941) + &quiet(300, 12)),
        case("the largest first", "", "fail: 941 / 66", quiet(100, 941) + &quiet(200, 66)),
        case("without a banner", "", "fail: 941 / 66", no_banner(100, 10_000, 941) + &no_banner(200, 10_000, 66)),
        case("more cycles in the second", "", "fail: 941 / 66", no_banner(100, 10, 941) + &no_banner(200, 10_000, 66)),
        case("a container, where each is process 7", "", "fail: 941 / 66", no_banner(7, 10_000, 941) + &no_banner(7, 5_000, 66)),
        case("the same, as long and without a banner", "", "fail: 941 / 66", no_banner(7, 10_000, 941) + &no_banner(7, 10_000, 66)),
        case("a maximum never falls", "", "fail: 941 / 66", no_banner(7, 1_000, 941) + &no_banner(7, 5_000, 66)),
        case("fewer threads before", "", "fail: 941 / 12, 30", summary(100, 5_000, &[941]) + &summary(200, 9_000, &[12, 30])),
        case("fewer threads behind", "", "fail: 12, 941 / 30", summary(100, 5_000, &[12, 941]) + &summary(200, 9_000, &[30])),
        case("blank lines between", "", "fail: 66 / 941", quiet(100, 66) + "\n\n\n" + &quiet(200, 941)),
        case("prompts between", "", "fail: 66 / 941",
            format!("root@board:~# cyclictest -q -l10000\n{}root@board:~# cyclictest -q -l10000\n{}root@board:~# ",
                quiet(100, 66), quiet(200, 941))),
        case("kernels named between", "", "fail: 66 / 941",
            format!("=== 6.1.0-rt\n{}=== 6.1.0\n{}", quiet(100, 66), quiet(200, 941))),
        case("two in parallel, drawn in turns", "", "fail",
            (1..20).map(|n| no_banner(100, n * 100, 66) + &no_banner(200, n * 100 - 7, 941)).collect::<String>()),
        case("a screen, then the output of another", "", "fail: 941, 9 / 66",
            screens(100, &[10, 500], &[12, 941]) + &quiet(200, 66)),
        case("an aborted screen with fewer cycles, then a good one", "", "fail: 941, 9 / 66, 9",
            screens(100, &[10, 50], &[12, 941]) + &screens(200, &[10, 5_000], &[12, 66])),
        case("two of signaltest", "", "fail: 941 / 66",
            [("30501", 941), ("30601", 66)].map(|(process, max)| {
                format!("T: 0 ({process}) P:90 C:    500 Min:     22 Act:   24 Avg:   28 Max:{max:8}\n")
            }).concat()),
    ]);
}

#[test]
fn a_screen_that_is_drawn_again_is_one_recording() {
    check(vec![
        case(
            "a pasted screen",
            "",
            "fail: 941, 9; n=1000",
            screens(100, &[10, 100, 500], &[12, 66, 941]),
        ),
        case(
            "drawn twice without a new cycle",
            "",
            "pass: 66, 9; n=1000",
            screens(100, &[10, 500, 500], &[12, 66, 66]),
        ),
        case(
            "threads that are not born yet",
            "",
            "pass: 66, 9",
            format!(
                "{BANNER}{POLICY}{}T: 1 (    0) P:90 I:1000 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n{}",
                thread(0, 100, 10, 12),
                &screens(100, &[500], &[66])[BANNER.len()..]
            ),
        ),
        case(
            "lines of one thread only",
            "",
            "pass: 66; n=500",
            thread(0, 100, 10, 12) + &thread(0, 100, 500, 66),
        ),
        case(
            "over an hour, a screen a line",
            "",
            "pass: 66; n=36000",
            (1..=360).map(|n| thread(0, 100, n * 100, 66)).collect::<String>(),
        ),
        case(
            "the screen of the fixture",
            "--deadline 1s",
            "pass",
            fixture("ct24_default_live.txt"),
        ),
    ]);
}

#[test]
fn histograms_after_each_other() {
    let (good, bad) =
        (histogram(&[(3, 900), (12, 90)], 0, 12), histogram(&[(3, 900), (40, 7)], 2, 950));
    let without_banner = |text: &str| text.replace(BANNER, "");
    check(vec![
        case("two outputs", "", "fail: 12 / 950", good.clone() + &bad),
        case("the good one last", "", "fail: 950 / 12", bad.clone() + &good),
        case(
            "without banners",
            "",
            "fail: 950 / 12",
            without_banner(&bad) + &without_banner(&good),
        ),
        case(
            "without any heading",
            "",
            "fail: 950 / 12",
            [&bad, &good].map(|text| without_banner(text).replace("# Histogram\n", "")).concat(),
        ),
        case(
            "a histogram, then a summary",
            "",
            "fail: 12 / 941",
            good.clone() + &summary(200, 10_000, &[941]),
        ),
        case(
            "a summary, then a histogram",
            "",
            "fail: 941 / 12",
            summary(200, 10_000, &[941]) + &good,
        ),
        case(
            "samples, then a histogram",
            "",
            "fail: 941 / 12",
            samples(0, 0, &[5, 941, 7]) + &good,
        ),
        case(
            "rows cut out with grep, which begin again",
            "",
            "fail",
            "000003 000900\n000012 000090\n000150 000001\n000003 000900\n000012 000090\n",
        ),
    ]);
}

#[test]
fn samples_after_each_other() {
    let head = "Max CPUs = 2\nOnline CPUs = 2\n";
    check(vec![
        case(
            "two logs",
            "",
            "fail: 941 / 8; n=6",
            format!("{head}{}{head}{}", samples(0, 0, &[5, 941, 7]), samples(0, 0, &[8, 8, 8])),
        ),
        case(
            "without a heading",
            "",
            "fail: 941 / 8",
            samples(0, 0, &[5, 941, 7]) + &samples(0, 0, &[8, 8, 8]),
        ),
        case(
            "the second is shorter",
            "",
            "fail: 941 / 8",
            samples(0, 0, &[5, 941, 7]) + &samples(0, 0, &[8]),
        ),
        case(
            "threads in blocks are one",
            "",
            "pass: 7, 9; n=6",
            samples(0, 0, &[5, 7])
                + &samples(1, 0, &[9])
                + &samples(0, 2, &[5, 7])
                + &samples(1, 1, &[9]),
        ),
        case(
            "jitterdebugger, whose clock begins again",
            "",
            "fail: 941 / 12",
            "0;100.000000000;12\n0;100.001000000;941\n0;5.000000000;12\n0;5.001000000;11\n",
        ),
        case(
            "a table below another",
            "",
            "fail: 941 / 12; n=4",
            "latency_us\n12\n941\nlatency_us\n12\n7\n",
        ),
        case(
            "a table below another with more columns",
            "",
            "fail: 941 / 12; n=4",
            "latency_us\n12\n941\nat,latency_us\n1,12\n2,7\n",
        ),
        case(
            "tables of two units",
            "",
            "fail: 12 / 941000; n=4",
            "latency_us\n12\n7\nlatency_ms\n941\n7\n",
        ),
    ]);
}

#[test]
fn outputs_of_other_tools_after_each_other() {
    let hist = |thread: u32, max: u32| {
        format!(
            "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:02\n\
             Index   IRQ-000   Thr-000\n1          1000         0\n{thread:<6}        0      1000\n\
             over:         0         0\ncount:     1000      1000\nmin:          1{thread:>10}\n\
             avg:          1{thread:>10}\nmax:          1{max:>10}\n"
        )
    };
    let top = |count: u32, max: u32| {
        format!(
            "                                     Timer Latency\n\
             \x20 0 00:00:05   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)\n\
             CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max\n\
             \x20 0 #{count:<9} |        1         0         1        10 |       11         2        10       {max:3}\n"
        )
    };
    let oslat = |count: u32, max: u32| {
        format!(
            "oslat V 2.60\n        Core:\t 1\n    001 (us):\t 70000\n    002 (us):\t 3\n    003 (us):\t {count} \
             (including overflows)\n     Minimum:\t 1 (us)\n     Average:\t 1.007 (us)\n     Maximum:\t {max} (us)\n"
        )
    };
    let hwlat = |gap: u32| {
        format!(
            "hwlatdetect:  test duration 60 seconds\n   detector: tracer\n   parameters:\n        Latency \
             threshold: 10us\n\nStarting test\ntest finished\nMax Latency: {gap}us\nSamples recorded: 1\nSamples \
             exceeding threshold: 1\nts: 1408928107.286324, inner:{gap}, outer:9\n"
        )
    };
    let pair = |process: u32, cycles: u32, max: u32| {
        format!(
            "#0: ID{process}, P90, CPU0, I500; #1: ID{}, P90, CPU0, Cycles {cycles}\n\
             #1 -> #0, Min    3, Cur    3, Avg    3, Max {max:4}\n",
            process + 1
        )
    };
    let stress = |process: u32, max: u32| {
        format!(
            "stress-ng: info:  [{process}] dispatching hogs: 1 cyclic\n\
             stress-ng: info:  [{p}] cyclic: sched SCHED_FIFO: 1000000 ns delay, 2000 samples\n\
             stress-ng: info:  [{p}] cyclic:   mean: 9204.33 ns, mode: 9262 ns\n\
             stress-ng: info:  [{p}] cyclic:   min: 8055 ns, max: {max} ns, std.dev. 199.31\n",
            p = process + 1
        )
    };
    let xenomai_run = |max: &str| format!("{XENOMAI}{}", xenomai(max, 0, max));
    let evl = |top: u32| {
        format!(
            "# sampling period: 1000 microseconds\n# min latency: 0.205\n# avg latency: 3.097\n# max latency: \
             {top}.510\n0 95\n1 900\n{top} 1\n"
        )
    };
    let rtai = |max: u32| {
        format!(
            "RTAI Testsuite - USER latency (all data in nanoseconds)\n\
             RTH|    lat min|    ovl min|    lat avg|    lat max|    ovl max|   overruns\n\
             RTD|     -20762|     -20762|      12879|     {max:6}|     {max:6}|          0\n"
        )
    };
    check(vec![
        case("rtla hist", "", "fail: 1 / 941 / 1 / 12", hist(941, 941) + &hist(12, 12)),
        case("rtla top of two runs", "", "fail", top(58_634, 941) + &top(1_000, 30)),
        case(
            "rtla top of two runs, the second longer",
            "",
            "fail",
            top(1_000, 941) + &top(58_634, 30),
        ),
        case("rtla top drawn again", "", "pass: 10 / 31", top(1_000, 30) + &top(2_000, 31)),
        case("oslat", "", "fail: 941 / 3", oslat(2, 941) + &oslat(0, 3)),
        case("hwlatdetect", "", "fail: 941 / 18", hwlat(941) + &hwlat(18)),
        case(
            "pmqtest of two runs",
            "",
            "fail: 941 / 39",
            pair(100, 500, 941) + &pair(200, 500, 39),
        ),
        case(
            "pmqtest of two runs, the second longer",
            "",
            "fail: 941 / 39",
            pair(100, 500, 941) + &pair(200, 900, 39),
        ),
        case(
            "pmqtest drawn again",
            "",
            "pass: 39; n=900",
            pair(100, 500, 38) + &pair(100, 900, 39),
        ),
        case("stress-ng", "", "fail: 941000 / 12", stress(100, 941_000_000) + &stress(200, 12_000)),
        case(
            "stress-ng of the same process number",
            "",
            "fail",
            stress(100, 941_000_000) + &stress(100, 12_000),
        ),
        case("Xenomai", "", "fail: 941.5 / 12.5", xenomai_run("941.500") + &xenomai_run("12.500")),
        case(
            "Xenomai without its heading",
            "",
            "fail",
            format!(
                "{XENOMAI}{}RTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)\n{}",
                xenomai("941.500", 7, "941.500"),
                xenomai("12.500", 0, "12.500")
            ),
        ),
        case("latmus of EVL", "", "fail: 941.51 / 25.51", evl(941) + &evl(25)),
        case("RTAI", "", "fail: 941.9 / 94.9", rtai(941_900) + &rtai(94_900)),
    ]);
}
