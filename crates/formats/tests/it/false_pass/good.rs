//! Good results and harmless lines: none of them is refused, or makes a recording incomplete.

use super::texts::*;
use crate::cases::*;
use crate::common::texts;
use crate::outputs::{OUTPUTS, Output};
use crate::verdict::*;
use latlab_model::Nanos;

/// What terminals, shells and test programs print around an output.
const AROUND: &[&str] = &[
    "root@board:~# cyclictest -l100000 -m -q -p90",
    "user@host:~/rt-tests$ sudo ./cyclictest -l 100000 -q",
    "[user@host ~]$ cyclictest -q -D 60",
    "[root@board /]# rtla timerlat hist -d 10m",
    "$ ./latency -h -T 60",
    "# cyclictest -h 400 -q -D 60",
    "[sudo] password for user: ",
    "+ set -x",
    "+ cyclictest -q -l 100000",
    "++ date",
    "real\t1m0.012s",
    "user\t0m0.100s",
    "sys\t0m0.200s",
    "Sat May  1 12:00:00 UTC 2024",
    "Linux box 6.1.0-rt #1 SMP PREEMPT_RT Debian 6.1.90-1 (2024-05-03) x86_64 GNU/Linux",
    "[   12.345678] usb 1-1: new high-speed USB device number 4 using xhci_hcd",
    "kernel: BUG: scheduling while atomic: swapper/0",
    "Broadcast message from root@box (pts/0) (Sat May  1 12:00:00 2024):",
    "Connection to board closed.",
    "\x1b]0;root@board: ~\x07root@board:~# cyclictest -q",
    "Last login: Sat May  1 12:00:00 2024 from 10.0.0.2",
    "---",
    "==========",
    "```",
    "*** run 1 of 3 ***",
    "TAP version 13",
    "ok 1 cyclictest",
    "exit code: 0",
    "^C",
    "",
    "   ",
];

/// The same around a table, where any number might be data.
const AROUND_TABLE: &[&str] =
    &["root@board:~# cat latencies.csv", "$ cat latencies.csv", "```", "", "   "];

/// The same for lines between others.
const BETWEEN: &[&str] = &[
    "[   12.345678] usb 1-1: new high-speed USB device number 4 using xhci_hcd",
    "usb 1-1: new device found",
    "Broadcast message from root@box (pts/0) (Sat May  1 12:00:00 2024):",
    "systemd[1]: Starting Daily apt download activities...",
    "",
];

/// A line before and after a text.
fn around(text: &str, line: &str) -> Vec<String> {
    vec![format!("{line}\n{text}"), format!("{text}{line}\n")]
}

/// A line in each place between others.
fn between(text: &str, line: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let with = |at: usize| format!("{}{line}\n{}", lines[..at].concat(), lines[at..].concat());
    (1..lines.len()).map(with).collect()
}

#[test]
fn harmless_lines_around_an_output() {
    assert_none_changes(AROUND, |output| output.tells_lost_digits, around);
    assert_none_changes(AROUND_TABLE, |output| !output.tells_lost_digits, around);
}

#[test]
fn messages_between_lines() {
    assert_none_changes(BETWEEN, |output| output.tells_lost_digits, between);
}

/// Each of these outputs still passes with each of these lines.
fn assert_none_changes(
    lines: &[&str],
    is_meant: impl Fn(&&Output) -> bool,
    with: impl Fn(&str, &str) -> Vec<String>,
) {
    let mut failed = Vec::new();
    // A message in a document breaks it.
    let is_document = |output: &&Output| output.text.starts_with(['{', '<']);
    for output in OUTPUTS.iter().filter(is_meant).filter(|output| !is_document(output)) {
        let (query, _) = query_of(output.command);
        let read = |text: &str| read_text(text.as_bytes(), &query);
        let (_, largest) = judge(&read(output.text), Nanos(i64::MAX / 4));
        let changes =
            |text: &String| judge(&read(text), largest + Nanos(10_000)) != (Word::Pass, largest);
        let wrong: Vec<(&&str, String)> = lines
            .iter()
            .filter_map(|line| Some((line, with(output.text, line).into_iter().find(changes)?)))
            .collect();
        if let Some((_, text)) = wrong.first() {
            let lines: Vec<&&str> = wrong.iter().map(|one| one.0).collect();
            let said = read(text).map(|all| all.iter().map(texts).collect::<String>());
            failed.push(format!("* {}: {lines:?}\n    the first: {said:?}", output.name));
        }
    }
    assert!(failed.is_empty(), "{} outputs:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn nothing_above_the_threshold() {
    let hwlat = |max: &str, count: &str| {
        format!(
            "hwlatdetect:  test duration 60 seconds\n   detector: tracer\n   parameters:\n        Latency threshold: \
             10us\n        Sample window:     1000000us\n        Sample width:      500000us\n     Non-sampling \
             period:  500000us\n        Output File:       None\n\nStarting test\ntest finished\nMax Latency: {max}\nSamples \
             recorded: {count}\nSamples exceeding threshold: {count}\n"
        )
    };
    let osnoise = |heading: &str, zeros: &str, duration: &str| {
        format!(
            "# RTLA osnoise histogram\n# Time unit is microseconds (us)\n{duration}Index{heading}\nover:{zeros}\n\
             count:{zeros}\nmin:{zeros}\navg:{zeros}\nmax:{zeros}\n"
        )
    };
    let duration = "# Duration:   0 00:00:05\n";
    let timerlat = osnoise("   IRQ-000   Thr-000", "         0         0", duration)
        .replace("osnoise", "timerlat");
    check(vec![
        case("hwlatdetect", "", "pass; n=0", hwlat("Below threshold", "0")),
        case(
            "hwlatdetect, in a log",
            "",
            "pass; n=0",
            hwlat("Below threshold", "0")
                .lines()
                .map(|line| format!("12:00:00 {line}\n"))
                .collect::<String>(),
        ),
        case(
            "hwlatdetect that was cut before its result",
            "",
            "not pass",
            hwlat("x", "0").split("Max").next().unwrap(),
        ),
        case(
            "hwlatdetect below its threshold, with gaps",
            "",
            "not pass",
            hwlat("Below threshold", "3"),
        ),
        case(
            "a threshold above the deadline proves nothing",
            "--deadline 5us",
            "not pass",
            hwlat("Below threshold", "0"),
        ),
        case("osnoise without columns", "", "pass; n=0", osnoise("", " 0", duration)),
        case("osnoise without a duration", "", "not pass", osnoise("", " 0", "")),
        case("osnoise of no time", "", "not pass", osnoise("", " 0", "# Duration:   0 00:00:00\n")),
        case(
            "osnoise with a stated maximum",
            "",
            "not pass",
            osnoise("   CPU-000", "         0", duration)
                .replace("max:         0", "max:       941"),
        ),
        case(
            "osnoise that was cut before its footer",
            "",
            "not pass",
            osnoise("   CPU-000", "         0", duration).split("over").next().unwrap(),
        ),
        case(
            "timerlat counts every cycle: without one nothing was measured",
            "",
            "not pass",
            timerlat,
        ),
        case(
            "osnoise top without noise",
            "",
            "pass: 0",
            "                                          Operating System Noise\nduration:   0 00:01:00 | time is in us\n\
             CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          \
             NMI          IRQ      Softirq       Thread\n\
             \x20 0 #59         59000000            0   100.00000           0            0           0            \
             0        59001         2040           77\n",
        ),
    ]);
}

#[test]
fn what_ends_without_a_line_end_and_lost_nothing() {
    let text = BANNER.to_string() + &thread(0, 100, 60_000, 66);
    let end = text.trim_end().to_string();
    check(
        vec![
            case("a prompt at the end", "", "pass: 66", text.clone() + "root@board:~# "),
            case(
                "a prompt in colours",
                "",
                "pass: 66",
                text.clone() + "\x1b[01;32mroot@board\x1b[00m:\x1b[01;34m~\x1b[00m# ",
            ),
            case("a line whose last column is full", "", "pass: 66", end),
            case(
                "a histogram with its whole footer",
                "",
                "pass: 12",
                histogram(&[(3, 900), (12, 90)], 0, 12).trim_end(),
            ),
            case(
                "a list of overflows",
                "",
                "pass: 950",
                histogram(&[(3, 900)], 1, 950)
                    .replace("Overflows: 00001\n", "Overflows: 00001\n# Thread 0: 00007"),
            ),
        ]
        .into_iter()
        .map(|one| one.with_deadline("--deadline 1ms"))
        .collect(),
    );
}
