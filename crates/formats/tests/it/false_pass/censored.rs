//! Latencies beyond the last bin, and within a bin across the deadline: only what is known of them
//! may decide.

use super::texts::*;
use crate::cases::*;

#[test]
fn what_lies_beyond_the_last_bin() {
    let text = histogram(&[(3, 500), (12, 100)], 400, 950);
    let without = |line: &str| {
        text.lines()
            .filter(|one| !one.starts_with(line))
            .map(|one| format!("{one}\n"))
            .collect::<String>()
    };
    let (no_max, no_count) = (without("# Max"), without("# Histogram Over"));
    let neither = no_max
        .lines()
        .filter(|one| !one.starts_with("# Histogram Over"))
        .map(|one| format!("{one}\n"))
        .collect::<String>();
    check(vec![
        case("below the bins' end", "--deadline 10us", "fail: 950", text.clone()),
        case("at the bins' end", "--deadline 13us", "fail: 950", text.clone()),
        case("between the end and the maximum", "--deadline 500us", "fail: 950", text.clone()),
        case("at the maximum", "--deadline 951us", "pass: 950", text.clone()),
        case(
            "of unknown length, a deadline within the bins",
            "--deadline 10us",
            "fail",
            no_max.clone(),
        ),
        case(
            "of unknown length, a deadline beyond them",
            "--deadline 500us",
            "inconclusive",
            no_max.clone(),
        ),
        case("of unknown length, a very late deadline", "--deadline 10s", "inconclusive", no_max),
        case("of unknown number, a maximum beyond", "--deadline 500us", "fail", no_count.clone()),
        case(
            "of unknown number, a deadline beyond the maximum",
            "--deadline 951us",
            "pass or inconclusive",
            no_count,
        ),
        case("of unknown number and length", "--deadline 500us", "inconclusive", neither),
        case("all lie beyond", "--deadline 500us", "fail", histogram(&[(3, 1)], 10_000, 950)),
    ]);
}

#[test]
fn bins_across_the_deadline() {
    let rtla = |figures: &str| {
        format!(
            "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:02\nIndex   Thr-000\n\
             0           944\n10           55\n20            1\n30            2\n40            0\n{figures}"
        )
    };
    let all =
        "over:         0\ncount:     1002\nmin:          3\navg:          7\nmax:         34\n";
    check(vec![
        case("below the last bin", "--deadline 25us", "fail", rtla(all)),
        case("within the last bin, below the maximum", "--deadline 33us", "fail", rtla(all)),
        case(
            "within the last bin, above the maximum",
            "--deadline 36us",
            "pass or inconclusive",
            rtla(all),
        ),
        case(
            "within the last bin, without a maximum",
            "--deadline 36us",
            "inconclusive",
            rtla(&all.replace("max:         34\n", "")),
        ),
        case("behind the last bin", "--deadline 41us", "pass", rtla(all)),
        case(
            "an overflow",
            "--deadline 41us",
            "fail",
            rtla(
                &all.replace("over:         0", "over:         3")
                    .replace("1002", "1005")
                    .replace("34", "94"),
            ),
        ),
        case(
            "an overflow without a maximum",
            "--deadline 60us",
            "inconclusive",
            rtla(
                &all.replace("over:         0", "over:         3")
                    .replace("1002", "1005")
                    .replace("max:         34\n", ""),
            ),
        ),
        case(
            "cyclictest cuts off below a microsecond",
            "--deadline 12us",
            "inconclusive or fail",
            histogram(&[(3, 500), (12, 100)], 0, 12),
        ),
        case(
            "a deadline at the end of the bin",
            "--deadline 13us",
            "pass",
            histogram(&[(3, 500), (12, 100)], 0, 12),
        ),
    ]);
}

#[test]
fn documents_without_an_overflow() {
    let json = |max: u32| {
        format!(
            "{{\"file_version\": 1, \"cmdline:\": \"cyclictest -h 100\", \"rt_test_version:\": \"2.40\", \"num_threads\": 1, \
             \"return_code\": 0, \"thread\": {{\"0\": {{\"histogram\": {{\"7\": 10, \"12\": 4}}, \"cycles\": 2000, \"min\": 7, \
             \"max\": {max}, \"avg\": 9.5, \"cpu\": 0}}}}}}"
        )
    };
    let jitterdebugger = |max: u32| {
        format!(
            "{{\"version\": 3, \"cpu\": {{\"0\": {{\"histogram\": {{\"8\": 4, \"9\": 21}}, \"count\": 30, \"min\": 8, \"max\": \
             {max}, \"avg\": 62.17}}}}}}"
        )
    };
    check(vec![
        case("cyclictest leaves out what is beyond, a late maximum", "", "fail", json(941)),
        case(
            "cyclictest leaves out what is beyond, all in time",
            "--deadline 1ms",
            "pass",
            json(941),
        ),
        case(
            "cyclictest's maximum within the bins, and cycles are missing",
            "",
            "not pass",
            json(12),
        ),
        case("jitterdebugger leaves out what is beyond", "", "fail", jitterdebugger(8_386)),
        case(
            "jitterdebugger's maximum within, and some are missing",
            "",
            "not pass",
            jitterdebugger(9),
        ),
    ]);
}
