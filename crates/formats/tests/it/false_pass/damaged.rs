//! Damaged lines, and figures that are not numbers: their values are reported as lost, or the
//! maximum is known from elsewhere.

use super::texts::*;
use crate::cases::*;

/// Each pair is one damage to this text; none of the damaged texts passes.
pub fn none_passes(
    name: &str,
    command: &'static str,
    text: &str,
    damages: &[(&str, &str)],
) -> Vec<Case> {
    let one = |(from, to): &(&str, &str)| {
        case(format!("{name}: {to:?}"), command, "not pass", replaced(text, from, to))
    };
    damages.iter().map(one).collect()
}

/// The damaged maximum is below this deadline, so no damaged text may fail either.
const LATE: &str = "--deadline 1ms";

#[test]
fn lines_of_threads() {
    let text = BANNER.to_string() + &thread(0, 100, 60_000, 66) + &thread(1, 101, 60_000, 941);
    let line = "Max:     941\n";
    check(none_passes(
        "cyclictest -q",
        LATE,
        &text,
        &[
            (line, "Max:     941[  9.9] usb 1-1: new\n"),
            (line, "Max:     9usb 1-1: new\n"),
            (line, "Max:     x41\n"),
            (line, "Max:     9 1\n"),
            (line, "Max:     9,1\n"),
            (line, "Max:     9.1\n"),
            (line, "Max:     9e1\n"),
            (line, "Max:     -41\n"),
            (line, "Max:     +41\n"),
            (line, "Max:    0x41\n"),
            (line, "Max:   -0005\n"),
            (line, "Max:     nan\n"),
            (line, "Max:     inf\n"),
            (line, "Max: 99999999999999999999\n"),
            (line, "Max:        \n"),
            (line, "Max\n"),
            (line, "Ma\n"),
            (line, "\n     941\n"),
            ("T: 1", "T: x"),
            ("T: 1", "T:"),
            ("T: 1", "T: 99999999999"),
            ("T: 1", "  1"),
            (
                "C:  60000 Min:      2 Act:    4 Avg:    3 Max:     941",
                "C:  6x000 Min:      2 Act:    4 Avg:    3 Max:     941",
            ),
        ]
        .map(|(from, to)| (from, to)),
    ));
}

#[test]
fn lines_of_threads_that_run_into_each_other() {
    let (good, bad) = (thread(0, 100, 60_000, 66), thread(1, 101, 60_000, 941));
    let joined = |one: &str, two: &str| one.trim_end().to_string() + two;
    check(vec![
        case("joined", "", "not pass", joined(&good, &bad)),
        case("joined, the maximum first", "", "not pass", joined(&bad, &good)),
        case("joined by a blank", "", "not pass", good.trim_end().to_string() + " " + &bad),
        case(
            "a message between",
            "",
            "fail: 66, 941",
            good.clone() + "[  9.9] usb 1-1: new device\n" + &bad,
        ),
        case(
            "a message before the line's end",
            "",
            "not pass",
            replaced(&bad, "Max:", "Max[  9.9] usb 1-1: new device\n:"),
        ),
        case(
            "a damaged line of a screen that is drawn again",
            "",
            "fail: 66, 941",
            good.clone()
                + &replaced(&bad, "Max:", "Mx:")
                + &good.replace("60000", "60100")
                + &bad.replace("60000", "60100"),
        ),
        case(
            "the damaged line is the last",
            "",
            "not pass",
            good.clone()
                + &bad.replace("941", " 12")
                + &good.replace("60000", "60100")
                + &replaced(&bad, "Max:", "Mx:"),
        ),
        case(
            "the thread that is named above is not there",
            "",
            "not pass",
            "# Thread Ids: 00100 00101\n".to_string() + &good,
        ),
    ]);
}

#[test]
fn histograms() {
    let text = "# Histogram\n000001 000010\t000000\n000002 000005\t000011\n000041 000000\t000004\n\
        # Total: 000000015 000000015\n# Min Latencies: 00001 00002\n# Avg Latencies: 00001 00012\n\
        # Max Latencies: 00002 00041\n# Histogram Overflows: 00000 00000\n";
    let without_total = replaced(text, "# Total: 000000015 000000015\n", "");
    let row = "000041 000000\t000004\n";
    let mut cases = Vec::new();
    for (name, text) in [("-h", text), ("-h without a total", &without_total)] {
        cases.extend(none_passes(
            name,
            "--deadline 100us",
            text,
            &[
                (row, "000041 000000\n"),
                (row, "000041 000000\t000004\t000009\n"),
                (row, "000041 000000\t00000x\n"),
                (row, "000041 000000\tx00004\n"),
                (row, "0000x1 000000\t000004\n"),
                (row, "-00041 000000\t000004\n"),
                (row, "000041 000000\t-00004\n"),
                (row, "000041 000000 000004[  9.9] usb\n"),
                (row, "00[  9.9] usb 1-1: new device\n0041 000000\t000004\n"),
                (row, "000041\n000000\t000004\n"),
                (row, "\t000000\t000004\n"),
                (row, "000041 000000\t99999999999999999999\n"),
                (row, "99999999999999999999 000000\t000004\n"),
                ("# Max Latencies: 00002 00041", "# Max Latencies: 00002 x0041"),
                ("# Max Latencies: 00002 00041", "# Max Latencies: 00002 -0041"),
                ("# Max Latencies: 00002 00041", "# Max Latencies: 00002"),
                ("# Max Latencies: 00002 00041", "# Max Latencies: 00002 00041 00003"),
                ("# Max Latencies: 00002 00041", "# Max Latencies: 00002 99999999999999999999"),
                ("Overflows: 00000 00000", "Overflows: 00000 x"),
                ("Overflows: 00000 00000", "Overflows: 00000 -0005"),
                ("Overflows: 00000 00000", "Overflows: 00000 99999999999999999999"),
                ("Overflows: 00000 00000", "Overflows: 00000"),
                ("Overflows: 00000 00000", "Overflows: 00000 00003"),
                ("Overflows: 00000 00000", "Overflows: 00000 0000"),
            ],
        ));
    }
    cases.extend(none_passes(
        "a total",
        "",
        text,
        &[
            ("# Total: 000000015 000000015", "# Total: 000000015 x"),
            ("# Total: 000000015 000000015", "# Total: 000000015"),
            ("# Total: 000000015 000000015", "# Total: 000000015 000000016"),
            ("# Total: 000000015 000000015", "# Total: 000000015 000000014"),
            ("# Total: 000000015 000000015", "# Total: 000000015 99999999999999999999"),
        ],
    ));
    check(cases);
}

#[test]
fn samples_of_a_log() {
    let text = samples(0, 0, &[5, 941, 7, 8]) + &samples(1, 0, &[5, 7, 8, 9]);
    let line = "       0:       1:     941\n";
    check(none_passes(
        "-v",
        LATE,
        &text,
        &[
            (line, "       0:       1:     94x\n"),
            (line, "       0:       1:     9 1\n"),
            (line, "       0:       1:     9,1\n"),
            (line, "       0:       1:     9.1\n"),
            (line, "       0:       1:      -4\n"),
            (line, "       0:       1:     941 usb 1-1: new device\n"),
            (line, "       0:       1:\n     941\n"),
            (line, "       0:       1     941\n"),
            (line, "        :       1:     941\n"),
            (line, "       x:       1:     941\n"),
            (line, "       0:       x:     941\n"),
            (line, "       0:       1:       0:       2:       7\n"),
            (line, "       0:       1:     941       0:       2:       7\n"),
            (line, "       0:  [  9.9] usb 1-1: new device\n     1:     941\n"),
            (line, "       0:       1:99999999999999999999\n"),
            (line, "       0:       1:     nan\n"),
            (line, "99999999:       1:     941\n"),
            (line, ""),
        ],
    ));
}
