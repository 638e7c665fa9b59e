//! Damaged lines of other tools, and damaged documents.

use super::damaged::none_passes;
use crate::cases::*;
use crate::common::fixture;

#[test]
fn outputs_of_other_tools() {
    let text = |name: &str| String::from_utf8(fixture(name)).unwrap();
    let late = "--deadline 20ms";
    let mut cases = none_passes(
        "pmqtest",
        late,
        &text("pmqtest.txt"),
        &[
            ("Max   39", "Max   3x"),
            ("Max   39", "Max   3 9"),
            ("Max   39", "Max   inf"),
            ("Max   39", "Max"),
            ("Max   39", "Max  -39"),
            ("#1 -> #0, Min", "#1 -> #0, Mn"),
            ("#1 -> #0,", "#x -> #0,"),
            ("#1 -> #0, Min    3, Cur    3, Avg    3, Max   39\n", ""),
            ("Cycles 500", "Cycles 5x0"),
        ],
    );
    cases.extend(none_passes(
        "oslat",
        late,
        &text("oslat.txt"),
        &[
            ("Maximum:\t 8066 (us)", "Maximum:\t 80x6 (us)"),
            ("Maximum:\t 8066 (us)", "Maximum:\t (us)"),
            ("Maximum:\t 8066 (us)", "Maximum:\t 80 66 (us)"),
            ("    031 (us):\t 5\n", "    031 (us):\t x\n"),
            ("    031 (us):\t 5\n", "    0x1 (us):\t 5\n"),
            ("    031 (us):\t 5\n", "    031 (us):\t 5 7\n"),
            ("227 (including overflows)", "2x7 (including overflows)"),
            ("227 (including overflows)", "227 (including"),
        ],
    ));
    cases.extend(none_passes(
        "rtla osnoise hist",
        late,
        &text("rtla_osnoise_hist.txt")
            .replace("avg:          0         0", "avg:          2         1"),
        &[
            ("30            1         1\n", "30            1         x\n"),
            ("30            1         1\n", "30            1\n"),
            ("30            1         1\n", "3x            1         1\n"),
            ("30            1         1\n", "30            1         1         1\n"),
            ("max:         30        30\n", "max:         30         x\n"),
            ("max:         30        30\n", "max:         30\n"),
            ("max:         30        30\n", "max:\n"),
            ("max:         30        30\n", ""),
            ("over:         0         0\n", "over:         0         x\n"),
            ("over:         0         0\n", "over:         0        -1\n"),
            ("over:         0         0\n", "over:         0\n"),
            ("count:    55215     54649\n", "count:    55215     5x649\n"),
        ],
    ));
    cases.extend(none_passes(
        "rtla top",
        late,
        &text("rtla_timerlat_top.txt"),
        &[
            (
                "       30         2        10        30\n",
                "       30         2        10        3x\n",
            ),
            ("       30         2        10        30\n", "       30         2        10\n"),
            (
                "       30         2        10        30\n",
                "       30         2        10         -\n",
            ),
            ("  2 #58633", "  x #58633"),
            ("  2 #58633", "  2 58633"),
            ("  2 #58633", "  2 #5x633"),
        ],
    ));
    cases.extend(none_passes(
        "stress-ng",
        late,
        &text("sng_cyclic_clock_ns.txt"),
        &[
            ("max: 8303334 ns", "max: 830x334 ns"),
            ("max: 8303334 ns", "max: 8 303 334 ns"),
            ("max: 8303334 ns", "max:  ns"),
            ("max: 8303334 ns", "ax: 8303334 ns"),
            ("cyclic:   min: 11055", "cycl:   min: 11055"),
            ("2000 samples", "2x00 samples"),
            ("        15000        957", "        15000        9x7"),
            ("        15000        957", "        1x000        957"),
        ],
    ));
    cases.extend(none_passes(
        "Xenomai",
        late,
        &text("xenomai_latency_format.txt"),
        &[
            (
                "      4.036|       0|     0|      0.363|      4.036",
                "      x.036|       0|     0|      0.363|      4.036",
            ),
            (
                "      4.036|       0|     0|      0.363|      4.036",
                "      4,036.5|       0|     0|      0.363|      4.036",
            ),
            (
                "      4.036|       0|     0|      0.363|      4.036",
                "           |       0|     0|      0.363|      4.036",
            ),
            (
                "      4.036|       0|     0|      0.363|      4.036",
                "      4.036|       0|     0|      0.363|      x.036",
            ),
            (
                "RTD|      0.363|      2.162|      4.036|",
                "RTD|      0.363|      2.162 usb 1-1: new device\n",
            ),
            ("RTD|      0.363", "RT|      0.363"),
            ("RTD|      0.363", "RTDRTD|      0.363"),
        ],
    ));
    check(cases);
}

#[test]
fn documents() {
    let text = |name: &str| String::from_utf8(fixture(name)).unwrap();
    let late = "--deadline 20ms";
    let mut cases = none_passes(
        "JSON of cyclictest",
        late,
        &text("ct24_json_nohist.json"),
        &[
            ("\"max\": 111", "\"max\": \"x\""),
            ("\"max\": 111", "\"max\": null"),
            ("\"max\": 111", "\"max\": -111"),
            ("\"max\": 111", "\"mx\": 111"),
            ("\"max\": 111", "\"max\": 1e999"),
            ("\"max\": 111,", ""),
            ("\"cycles\": 1000", "\"cycles\": \"x\""),
            ("\"thread\": {\n    \"0\"", "\"thread\": {\n    \"x\""),
            ("\"num_threads\": 2", "\"num_threads\": 3"),
        ],
    );
    cases.extend(none_passes(
        "JSON with a histogram",
        late,
        &text("ct24_json_h100.json"),
        &[
            ("\"89\": 1", "\"8x\": 1"),
            ("\"89\": 1", "\"89\": \"x\""),
            ("\"89\": 1", "\"89\": -1"),
            ("\"89\": 1", "\"-89\": 1"),
            ("\"89\": 1", "\"89\": 1.5"),
        ],
    ));
    cases.extend(none_passes(
        "JSON of jitterdebugger",
        late,
        &text("jd_results.json"),
        &[
            ("\"515\": 1", "\"5x5\": 1"),
            ("\"515\": 1", "\"515\": null"),
            ("\"max\": 8386", "\"max\": null"),
            ("\"max\": 8386", "\"max\": \"8386 us\""),
        ],
    ));
    cases.extend(none_passes(
        "hdr",
        late,
        &text("hdr.hlog"),
        &[
            ("1.000000,1.000000,0.000000,HISTFAAAAOt4", "1.000000,1.000000,0.000000,HISTFAAAAOt5"),
            ("1.000000,1.000000,0.000000,HISTFAAAAOt4", "1.000000,1.000000,0.000000,HISTFAAAAOt"),
            ("1.000000,1.000000,0.000000,HIST", "x,1.000000,0.000000,HIS"),
        ],
    ));
    check(cases);
}
