//! What a terminal shows of the keys that end a tool, and lines that are damaged repeatedly.

use super::texts::*;
use crate::cases::*;

#[test]
fn a_value_behind_the_key_that_ended_the_tool() {
    let summary = |first: &str, second: &str| {
        format!(
            "{BANNER}^C{}{}",
            thread(0, 100, 60_000, 66).replace("66", first),
            thread(1, 101, 60_000, 12).replace("12", second)
        )
    };
    check(vec![
        case("a list", "", "not pass", "latency_us\n12\n7\n^C941\n"),
        case("a list that has ended", "", "pass: 12", "latency_us\n12\n7\n^C\n"),
        case("a table", "", "not pass", "at,latency_us\n1,12\n^C2,941\n"),
        case(
            "the first thread",
            "",
            "fail or inconclusive",
            summary("941", "12").replace("     941", "    941"),
        ),
        case(
            "the last thread",
            "",
            "fail or inconclusive",
            format!("{BANNER}{}^C{}", thread(0, 100, 60_000, 66), thread(1, 101, 60_000, 941)),
        ),
        case(
            "a thread in time",
            "",
            "pass or inconclusive",
            format!("{BANNER}^C{}", thread(0, 100, 60_000, 66)),
        ),
        case(
            "the last sample",
            "",
            "not pass",
            format!("{}^C{}", samples(0, 0, &[7, 8]), samples(0, 2, &[941])),
        ),
        case(
            "Xenomai's last second",
            "",
            "not pass",
            format!(
                "{XENOMAI}{}^C{}",
                xenomai("12.500", 0, "12.500"),
                xenomai("941.500", 0, "941.500")
            ),
        ),
        case(
            "Xenomai's last line",
            "",
            "not pass",
            format!(
                "{XENOMAI}{}^CRTS|      0.585|      1.012|    941.500|       0|     0|    00:00:01/00:00:01\n",
                xenomai("12.500", 0, "12.500")
            ),
        ),
        case(
            "a pair",
            "",
            "not pass",
            "#0: ID1, P90, CPU0, I500; #1: ID2, P90, CPU0, Cycles 500\n#2: ID3, P90, CPU0, I500; #3: ID4, P90, CPU0, Cycles 500\n\
             #1 -> #0, Min    3, Cur    3, Avg    3, Max   39\n^C#3 -> #2, Min    3, Cur    3, Avg    3, Max  941\n",
        ),
        case(
            "a row of rtla's",
            "",
            "not pass",
            output("rtla timerlat top").replace("  1 #58634", "^C  1 #58634").replace("230", "941"),
        ),
        case(
            "a row of oslat's",
            "",
            "not pass",
            output("oslat").replace("     Maximum:\t 941 3", "^C     Maximum:\t 941 3"),
        ),
    ]);
}

#[test]
fn a_line_of_a_screen_that_is_damaged_each_time() {
    let good = |n: u32| thread(0, 100, n * 10, 66);
    let bad = |n: u32| thread(1, 101, n * 10, 941).replace("941", "9x1");
    let screens = |from: u32, to: u32| (from..to).map(|n| good(n) + &bad(n)).collect::<String>();
    check(vec![
        case("ten times", "", "not pass", screens(1, 11)),
        case("1200 times", "", "not pass", screens(1, 1_201)),
        case(
            "1200 times, and the last screen has one line only",
            "",
            "not pass",
            screens(1, 1_201) + &good(1_201),
        ),
        case(
            "1200 times, and then whole",
            "",
            "fail: 66, 941",
            screens(1, 1_201) + &good(1_201) + &thread(1, 101, 12_010, 941),
        ),
        case(
            "until the thread's line is gone",
            "",
            "not pass",
            good(1)
                + &thread(1, 101, 10, 12)
                + &screens(2, 1_201)
                + &(1_201..1_210).map(good).collect::<String>(),
        ),
    ]);
}

#[test]
fn lines_that_became_comments_or_words() {
    check(vec![
        case(
            "a thread behind a #",
            "",
            "not pass",
            format!("{BANNER}{}#{}", thread(0, 100, 60_000, 66), thread(1, 101, 60_000, 941)),
        ),
        case(
            "a thread behind a # and a blank",
            "",
            "not pass",
            format!("{BANNER}{}# {}", thread(0, 100, 60_000, 66), thread(1, 101, 60_000, 941)),
        ),
        case(
            "a sample behind a #",
            "",
            "not pass",
            format!("{}#{}", samples(0, 0, &[7, 8]), samples(0, 2, &[941])),
        ),
        case(
            "a row behind a #",
            "",
            "not pass",
            histogram(&[(3, 900), (12, 90)], 0, 12).replace("000012", "#000012"),
        ),
        case(
            "a row behind a #, without a total",
            "",
            "not pass",
            "# Histogram\n000003 000900\n#000941 000001\n# Min Latencies: 00003\n# Avg Latencies: 00003\n# Histogram Overflows: 00000\n",
        ),
        case(
            "a maximum with another name",
            "",
            "not pass",
            histogram(&[(3, 900), (12, 90)], 1, 950).replace("# Max Latencies", "# Max Latncies"),
        ),
        case("a cell with dots between thousands", "", "not pass", "lat_us\n10\n1.500\n7\n"),
        case("cells with three decimals each", "", "pass: 10", "lat_us\n10.000\n1.500\n7.125\n"),
        case("a row with a word before it", "", "not pass", "lat_us\n12\nlate 941\n7\n"),
    ]);
}
