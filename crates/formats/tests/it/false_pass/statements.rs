//! Contradictory statements in cyclictest's outputs: each affects the verdict, and the larger
//! maximum counts.

use super::texts::*;
use crate::cases::*;

#[test]
fn figures_of_cyclictest() {
    let text = BANNER.to_string() + &thread(0, 100, 60_000, 66);
    let hist = histogram(&[(3, 900), (12, 90)], 0, 12);
    check(vec![
        case("a break value above the maximum", "", "fail", text.clone() + "# Break value: 5000\n"),
        case(
            "a break value above the histogram",
            "",
            "fail",
            hist.clone() + "# Break value: 5000\n",
        ),
        case(
            "a break value that is the maximum",
            "",
            "pass: 66",
            text.clone() + "# Thread Ids: 00100\n# Break thread: 100\n# Break value: 66\n",
        ),
        case(
            "a break thread without its value",
            "",
            "not pass",
            text.clone() + "# Break thread: 100\n",
        ),
        case("a failed command", "", "not pass", text.clone() + "exit code: 1\n"),
        case("a maximum in words", "", "not pass", text.clone() + "Max latency: 941 us\n"),
        case("a result", "", "not pass", text.clone() + "# Result: FAIL, max 941 us > 100 us\n"),
        case("a damaged key", "", "not pass", hist.clone() + "# Brea? value: 941\n"),
        case("a key in small letters", "", "not pass", hist.clone() + "# max latencies: 00941\n"),
        case(
            "a maximum that comes twice",
            "",
            "not pass",
            hist.clone() + "# Max Latencies: 00941\n",
        ),
        case(
            "nanoseconds of a command line",
            "",
            "pass: 0.066",
            "$ cyclictest --nsecs -q\n".to_string() + &text,
        ),
        case(
            "a break value that is no number",
            "",
            "not pass",
            text.clone() + "# Break value: 5x00\n",
        ),
        case("an Act above its Max", "", "fail", replaced(&text, "Act:    4", "Act:  500")),
        case("an Avg above its Max", "", "not pass", replaced(&text, "Avg:    3", "Avg:  500")),
        case("a Min above its Max", "", "not pass", replaced(&text, "Min:      2", "Min:    941")),
        case(
            "a spike above the maximum",
            "",
            "fail",
            text.clone() + "\nT: 0 Spike:     941: TS:   4512814991\nspikes = 1\n",
        ),
        case("a thread without a line", "", "not pass", text.clone() + &thread(2, 102, 60_000, 12)),
        case(
            "the first thread has no line",
            "",
            "not pass",
            BANNER.to_string() + &thread(1, 101, 60_000, 12),
        ),
        case(
            "a thread that never ran",
            "",
            "not pass",
            text.clone()
                + "T: 1 (    0) P:90 I:1000 C:      0 Min:1000000 Act:    0 Avg:    0 Max:       0\n",
        ),
        case(
            "a thread that ran for a third of the time",
            "",
            "not pass",
            text.clone() + &thread(1, 101, 20_000, 12),
        ),
        case(
            "threads of other intervals are whole",
            "",
            "pass: 66, 12",
            text.clone() + &thread(1, 101, 40_000, 12).replace("I:1000", "I:1500"),
        ),
        case(
            "a thread of another interval has half",
            "",
            "not pass",
            text.clone() + &thread(1, 101, 20_000, 12).replace("I:1000", "I:1500"),
        ),
        case(
            "more threads are named than there are",
            "",
            "not pass",
            text.clone() + "# Thread Ids: 00100 00101 00102\n",
        ),
        case(
            "a maximum above the rows",
            "",
            "fail",
            replaced(&hist, "# Max Latencies: 00012", "# Max Latencies: 00950"),
        ),
        case(
            "a maximum below the rows",
            "",
            "not pass",
            replaced(&hist, "# Max Latencies: 00012", "# Max Latencies: 00003"),
        ),
        case(
            "a mean above the rows",
            "",
            "not pass",
            replaced(&hist, "# Avg Latencies: 00003", "# Avg Latencies: 00500"),
        ),
        case(
            "a total below the rows",
            "",
            "not pass",
            replaced(&hist, "# Total: 000000990", "# Total: 000000989"),
        ),
        case(
            "overflows are listed and not counted",
            "",
            "not pass",
            hist.clone() + "# Histogram Overflow at cycle number:\n# Thread 0: 00007 00009\n",
        ),
        case(
            "a line of the thread above the histogram",
            "",
            "fail",
            format!(
                "{}{hist}",
                &text[BANNER.len()..].replace("     66", "    941").replace(" 60000", "   990")
            ),
        ),
        case(
            "a line of the thread behind the histogram",
            "",
            "fail",
            hist.clone()
                + &text[BANNER.len()..].replace("     66", "    941").replace(" 60000", "   990"),
        ),
        case(
            "the sum of -H has a larger maximum",
            "",
            "fail",
            replaced(
                output("cyclictest -H, without empty rows and a total"),
                "00007 00041 00041",
                "00007 00041 00941",
            ),
        ),
        case(
            "the sum of -H has more latencies",
            "",
            "not pass",
            replaced(
                output("cyclictest -H, without empty rows and a total"),
                "000041 000000\t000004\t000004",
                "000041 000000\t000004\t000005",
            ),
        ),
        case(
            "the sum of -H has more overflows",
            "",
            "not pass",
            replaced(
                output("cyclictest -H, without empty rows and a total"),
                "Overflows: 00000 00000 00000",
                "Overflows: 00000 00000 00003",
            ),
        ),
    ]);
}

#[test]
fn cycles_of_a_log() {
    let interval = "Thread 0 Interval: 1000\n";
    check(vec![
        case(
            "4000 cycles are absent",
            "",
            "not pass",
            format!("{interval}{}{}", samples(0, 0, &[7; 100]), samples(0, 4_100, &[7; 100])),
        ),
        case(
            "one cycle is absent",
            "",
            "not pass",
            samples(0, 0, &[7; 100]) + &samples(0, 101, &[7; 100]),
        ),
        case("the first cycles are absent", "", "not pass", samples(0, 500, &[7; 100])),
        case(
            "a cycle twice",
            "",
            "not pass",
            samples(0, 0, &[7; 100]) + &samples(0, 99, &[7; 100]),
        ),
        case(
            "a thread that is named and has none",
            "",
            "not pass",
            format!("{interval}Thread 1 Interval: 1000\n{}", samples(0, 0, &[7; 100])),
        ),
        case(
            "a thread between others has none",
            "",
            "not pass",
            samples(0, 0, &[7; 100]) + &samples(2, 0, &[7; 100]),
        ),
        case(
            "a thread has a hundredth",
            "",
            "not pass",
            samples(0, 0, &[7; 1_000]) + &samples(1, 0, &[7; 10]),
        ),
        case(
            "another interval and as long",
            "",
            "pass",
            format!(
                "{interval}Thread 1 Interval: 2000\n{}{}",
                samples(0, 0, &[7; 1_000]),
                samples(1, 0, &[7; 500])
            ),
        ),
        case(
            "a line of the thread with a larger maximum",
            "",
            "fail",
            samples(0, 0, &[7; 100]) + &thread(0, 100, 100, 941),
        ),
    ]);
}
