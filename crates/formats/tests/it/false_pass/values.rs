//! Numbers that are not latencies, and latencies in any notation in lines of the tools.

use super::texts::*;
use crate::cases::*;

#[test]
fn times_of_a_clock() {
    let times = "timestamp_s\n1714564800.100\n1714564800.200\n1714564800.341\n1714564800.400\n";
    check(vec![
        case(
            "without a period they are no latencies",
            "--column timestamp_s",
            "refused; says=--period",
            times,
        ),
        case(
            "the jitter of a loop",
            "--column timestamp_s --period 100ms --deadline 10ms",
            "fail",
            times,
        ),
        case(
            "the only column of times needs no name",
            "--period 100ms --deadline 10ms",
            "fail",
            times,
        ),
        case(
            "the jitter of a loop, in time",
            "--column timestamp_s --period 100ms --deadline 50ms",
            "pass; n=7",
            times,
        ),
        case(
            "a time that is no number",
            "--column timestamp_s --period 100ms --deadline 50ms",
            "not pass",
            times.replace("341", "x41"),
        ),
        case(
            "a time that goes back",
            "--column timestamp_s --period 100ms --deadline 50ms",
            "not pass",
            times.replace("341", "141"),
        ),
        case(
            "a cut last time",
            "--column timestamp_s --period 100ms --deadline 50ms",
            "not pass",
            times.strip_suffix("00\n").unwrap(),
        ),
        case(
            "releases that were skipped",
            "--column timestamp_s --period 100ms --deadline 50ms",
            "not pass",
            times.replace("800.400", "805.400"),
        ),
    ]);
}

#[test]
fn numbers_of_the_other_formats() {
    let line = |max: &str| {
        format!(
            "{BANNER}T: 0 (  100) P:90 I:1000 C:  60000 Min:      2 Act:    4 Avg:    3 Max:{max:>8}\n"
        )
    };
    let row = |count: &str| {
        format!(
            "# Histogram\n000001 000010\n000041 {count}\n# Max Latencies: 00041\n# Min Latencies: 00001\n# Avg Latencies: 00001\n# Histogram Overflows: 00000\n"
        )
    };
    let xenomai_line = |max: &str| format!("{XENOMAI}{}", xenomai(max, 0, "12.500"));
    let cells = [
        "1,041", "1.041", "1'041", "1e3", "0x41", "inf", "nan", ">41", "-5", "-0005", "9x9", "4 1",
        "1_000", "４１",
    ];
    let mut cases = Vec::new();
    for cell in cells {
        cases.push(case(format!("Max {cell}"), "", "not pass", line(cell)));
        cases.push(case(format!("count {cell}"), "--deadline 1ms", "not pass", row(cell)));
    }
    for cell in
        ["1,041.5", "1'041.5", "inf", "nan", ">41", "9x9", "4 1", "-", "", "12.5x", "1.2e3", "0x41"]
    {
        cases.push(case(format!("Xenomai {cell:?}"), "", "not pass", xenomai_line(cell)));
    }
    check(cases);
}
