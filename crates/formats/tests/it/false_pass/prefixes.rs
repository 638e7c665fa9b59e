//! What log collectors, terminals and mail programs put before each line: every format is read
//! after such a prefix, and nothing is stripped from a file with similar columns.

use super::texts::*;
use crate::cases::*;
use crate::outputs::{OUTPUTS, Output};
use crate::verdict::*;
use latlab_formats::read::{InputError, Recording};
use latlab_model::Nanos;

/// Prefixes that every reader must know; `{n}` is a number that increases with each line.
pub const USUAL: &[&str] = &[
    "12:00:{n} ",
    "12:00:{n}  ",
    "{n}:",
    "out.txt:{n}:",
    "INFO:root:",
    "[   12.3456{n}][  T123] ",
    "<14>1 2024-05-01T12:00:{n}.003Z box svc 88 - - ",
    "05-01 12:00:{n}.123    88    99 I svc     : ",
    "00:00:{n} ",
    "[12:00:{n}] ",
    "[12:00:{n}.123] ",
    "2024-05-01T12:00:{n}.1234567Z ",
    "2024-05-01T12:00:{n}.123456 ",
    "2024-05-01T12:00:{n}.123456Z 01O ",
    "2024-05-01T12:00:{n}.123456789+00:00 stdout F ",
    "2024-05-01T12:00:{n}.123456789Z ",
    "[2024-05-01T12:00:{n}.000Z] ",
    "[2024-05-01 12:00:{n}] ",
    "2024-05-01 12:00:{n} ",
    "2024-05-01 12:00:{n}.123 ",
    "2024-05-01 12:00:{n},123 INFO ",
    "2024-05-01 12:00:{n},123 - INFO - ",
    "[   12.3456{n}] ",
    "<6>[   12.3456{n}] ",
    "[Wed May  1 12:00:{n} 2024] ",
    "May 01 12:00:{n} ",
    "May 01 12:00:{n} box svc[88]: ",
    "May  1 12:00:{n}.123456 box svc[88]: ",
    "2024-05-01T12:00:{n}+0200 box svc[88]: ",
    "2024-05-01T12:00:{n}+02:00 box svc[88]: ",
    "Wed 2024-05-01 12:00:{n} CEST box rt.service[88]: ",
    "[ 1234.5678{n}] box svc[88]: ",
    "1714564800.1234{n} box svc[88]: ",
    "1714564800.1234{n} ",
    "17145648{n} ",
    "cyclictest-1  | ",
    "rt_cyclictest_1  | ",
    "\x1b[36mcyclictest-1  | \x1b[0m",
    "\x1b[32m[12:00:{n}]\x1b[0m ",
    "[pod/rt-0/cyclictest] ",
    "[rt-branch] ",
    "[rt-branch] 12:00:{n}  ",
    "> ",
    "> > ",
    ">> ",
    "# ",
    "# # ",
    "INFO: ",
];

/// Prefixes that need not be known, but must not cause misreading.
pub const RARE: &[&str] = &[
    "test\tRun cyclictest\t2024-05-01T12:00:{n}.1234567Z ",
    "<13>1 2024-05-01T12:00:{n}.123Z box svc 88 - - ",
    "05-01 12:00:{n}.123  1234  1234 I cyclictest: ",
    "I/cyclictest( 1234): ",
    "INFO:root:",
    "rt-0 cyclictest ",
    "log.txt:",
    "log.txt:{n}:",
    "{n}:",
    "{n}\t",
    "  {n}  ",
    "+0.{n}s ",
    "12:00 ",
    "12h00m{n} ",
    "│    <> ",
    "  \"",
    "        - ",
    "\t",
    "    ",
    "stdout: ",
    "box$ ",
    "0x{n} ",
    "{n};",
    "{n} ",
    "0 ",
    "# {n} ",
    "(12:00:{n}) ",
    "12.0{n} ",
];

/// Lines with a prefix.
pub fn behind(prefix: &str, text: &str) -> String {
    let line = |(n, line): (usize, &str)| {
        let prefix = prefix.replace("{n}", &format!("{:02}", n % 60));
        format!("{}\n", format!("{prefix}{line}").trim_end())
    };
    text.lines().enumerate().map(line).collect()
}

fn read(output: &Output, text: &str) -> Result<Vec<Recording>, InputError> {
    read_text(text.as_bytes(), &query_of(output.command).0)
}

/// Counts and maxima of all threads, and whether the recording is complete.
fn figures(read: &Result<Vec<Recording>, InputError>) -> Vec<(u64, Nanos, bool)> {
    let recordings = read.iter().flatten();
    let of = |one: &Recording| {
        let is_whole = !one.is_incomplete();
        let figures = |series: &latlab_formats::read::LatencySeries| {
            (series.counts.count, series.largest(), is_whole)
        };
        one.series.iter().map(figures).collect::<Vec<_>>()
    };
    recordings.flat_map(of).collect()
}

#[test]
fn every_format_is_read_behind_every_usual_prefix() {
    let mut failed = Vec::new();
    for output in OUTPUTS {
        let plain = figures(&read(output, output.text));
        let wrong = |prefix: &&&str| figures(&read(output, &behind(prefix, output.text))) != plain;
        let wrong: Vec<&&str> = USUAL.iter().filter(wrong).collect();
        if let Some(first) = wrong.first() {
            let found = read(output, &behind(first, output.text));
            let said = found.as_ref().map_or_else(InputError::to_string, |all| {
                all.iter().map(crate::common::texts).collect::<Vec<_>>().join(" ")
            });
            failed.push(format!(
                "* {}: {} of {}: {wrong:?}\n    the first: {:?}, not {plain:?}: {said}",
                output.name,
                wrong.len(),
                USUAL.len(),
                figures(&found)
            ));
        }
    }
    assert!(failed.is_empty(), "{} formats:\n{}", failed.len(), failed.join("\n"));
}

/// With an unknown prefix a file may be refused; what is read of it must be right.
#[test]
fn no_format_is_misread_behind_a_rare_prefix() {
    let mut failed = Vec::new();
    for output in OUTPUTS {
        let plain = read(output, output.text);
        let (_, largest) = judge(&plain, Nanos(i64::MAX / 4));
        for prefix in RARE {
            let found = read(output, &behind(prefix, output.text));
            let (word, now) = judge(&found, largest + Nanos(100_000));
            if word == Word::Pass && figures(&found) != figures(&plain) {
                failed.push(format!(
                    "* {} behind {prefix:?} passes: {:?}, not {:?}; largest {now}, not {largest}",
                    output.name,
                    figures(&found),
                    figures(&plain)
                ));
            }
        }
    }
    assert!(failed.is_empty(), "{} of them:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn lines_with_and_without_a_prefix() {
    let good = || thread(0, 100, 60_000, 66);
    let bad = || thread(1, 101, 60_000, 941);
    let all = || format!("{BANNER}{POLICY}{}{}", good(), bad());
    let iso = "2024-05-01T12:00:{n}.1234567Z ";
    let journal =
        |service: &str, text: &str| behind(&format!("May 01 12:00:{{n}} box {service}: "), text);
    check(vec![
        case(
            "a line without one in the block",
            "",
            "not pass",
            behind(iso, &(BANNER.to_string() + &good()))
                + &bad()
                + &behind(iso, &thread(2, 102, 60_000, 12)),
        ),
        case(
            "the only line with the maximum has none",
            "",
            "not pass",
            behind(iso, &format!("{BANNER}{POLICY}{}", good())) + &bad(),
        ),
        case(
            "a line with another time format",
            "",
            "not pass",
            behind(iso, &format!("{BANNER}{POLICY}{}", good())) + &behind("12:00:{n} ", &bad()),
        ),
        case(
            "the first lines have none",
            "",
            "fail",
            format!("root@board:~# cyclictest -q | ts\n{}", behind("May 01 12:00:{n} ", &all())),
        ),
        case(
            "messages of the kernel in the journal",
            "",
            "pass: 66; says=no value",
            journal("kernel", "usb 1-1: new device\n")
                + &journal("rt[88]", &(BANNER.to_string() + &good()))
                + &journal("kernel", "usb 1-1: device 4 has gone\n"),
        ),
        case(
            "two services in the journal",
            "",
            "fail",
            journal("a[88]", &(BANNER.to_string() + &good()))
                + &journal("b[89]", &(BANNER.to_string() + &thread(0, 300, 60_000, 941))),
        ),
        case(
            "two containers, line by line",
            "",
            "fail",
            format!(
                "a-1  | {}b-1  | {}a-1  | {}b-1  | {}",
                good(),
                thread(0, 300, 900, 941),
                thread(0, 100, 60_100, 66),
                thread(0, 300, 950, 941)
            ),
        ),
        case(
            "a clock that passes midnight",
            "",
            "fail: 66, 941",
            format!("23:59:59 {BANNER}23:59:59 {}00:00:00 {}", good(), bad()),
        ),
        case(
            "a prefix that grows by a letter",
            "",
            "fail: 66, 941",
            format!("9:59:59 {BANNER}9:59:59 {}10:00:00 {}", good(), bad()),
        ),
        case(
            "process numbers that grow",
            "",
            "fail: 66, 941",
            format!(
                "May  1 12:00:00 box svc[9]: {}May 11 12:00:00 box svc[1000]: {}",
                good(),
                bad()
            ),
        ),
        case(
            "a group of GitHub's",
            "",
            "fail: 66, 941",
            behind(
                iso,
                &format!(
                    "##[group]Run cyclictest -q\ncyclictest -q\nshell: /usr/bin/bash -e {{0}}\n##[endgroup]\n{}Post job cleanup.\n",
                    all()
                ),
            ),
        ),
        case(
            "sections of GitLab's",
            "",
            "fail: 66, 941",
            format!(
                "\x1b[0Ksection_start:1714564800:step_script\r\x1b[0K\x1b[0K\x1b[36;1mExecuting\x1b[0;m\n$ cyclictest -q\n{}",
                all()
            ),
        ),
        case(
            "steps of Jenkins'",
            "",
            "fail: 66, 941",
            behind("[2024-05-01T12:00:{n}.000Z] ", &format!("+ cyclictest -q\n{}", all()))
                .replacen("[2024", "[Pipeline] sh\n[2024", 1),
        ),
        case(
            "a terminal that ends lines with both",
            "",
            "fail: 66, 941",
            all().replace('\n', "\r\r\n"),
        ),
        case("lines parted by a return alone", "", "not pass", all().replace('\n', "\r")),
        case(
            "quoted by JSON",
            "",
            "fail or inconclusive or refused",
            all().lines().map(|line| format!("        \"{line}\",\n")).collect::<String>(),
        ),
        case(
            "a clock before a clock",
            "",
            "fail: 66, 941",
            behind("12:00:{n} ", &behind("[   12.3456{n}] ", &all())),
        ),
        case(
            "prefixes beyond the head",
            "",
            "fail",
            behind(iso, &(samples(0, 0, &vec![7; 4_000]) + &samples(0, 4_000, &[941, 7]))),
        ),
        case(
            "a prefix that ends beyond the head",
            "",
            "not pass",
            behind(iso, &samples(0, 0, &vec![7; 4_000])) + &samples(0, 4_000, &[941, 7]),
        ),
        case(
            "a prefix that begins beyond the head",
            "",
            "not pass",
            samples(0, 0, &vec![7; 4_000]) + &behind(iso, &samples(0, 4_000, &[941, 7])),
        ),
    ]);
}
