//! Every line of a file is accounted for: whatever happens to one, the recording is known to be
//! incomplete, or has lost nothing.

use crate::common::*;
use latlab_import::{Query, Recording};
use latlab_model::finding::{FindingKind, ImportFinding};
use latlab_model::frame::Message;
use latlab_model::{Nanos, Plan};

/// What may happen to a line.
const DAMAGES: [(&str, fn(&str) -> Option<String>); 12] = [
    ("removed", |_| Some(String::new())),
    ("its last digit is an x", |line| replace_last_digit(line, "x")),
    ("its last digit is gone", |line| replace_last_digit(line, "")),
    ("its last digit has a comma before it", |line| {
        let digit = line.rfind(|c: char| c.is_ascii_digit())?;
        replace_last_digit(line, &format!(",{}", &line[digit..=digit]))
    }),
    ("its last number is below zero", |line| replace_last_number(line, "-0005")),
    ("its last number has twenty digits", |line| replace_last_number(line, &"9".repeat(20))),
    ("its last number is none", |line| replace_last_number(line, "nan")),
    ("its last number is a bound", |line| replace_last_number(line, ">1000")),
    ("its first digit is an x", |line| {
        let digit = line.find(|c: char| c.is_ascii_digit())?;
        Some(format!("{}x{}\n", &line[..digit], line[digit + 1..].trim_end()))
    }),
    ("cut in its middle", |line| Some(format!("{}\n", &line[..line.len() / 2]))),
    ("something stands behind it", |line| Some(format!("{} 7\n", line.trim_end()))),
    ("a message broke into it", |line| {
        let (first, last) = line.split_at(line.len() * 3 / 4);
        Some(format!("{first}[   12.5] usb 1-1: new device\n{last}"))
    }),
];

fn replace_last_digit(line: &str, by: &str) -> Option<String> {
    let digit = line.rfind(|c: char| c.is_ascii_digit())?;
    Some(format!("{}{by}{}", &line[..digit], &line[digit + 1..]))
}

fn replace_last_number(line: &str, by: &str) -> Option<String> {
    let end = line.rfind(|c: char| c.is_ascii_digit())? + 1;
    let from = line[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    Some(format!("{}{by}{}", &line[..from], &line[end..]))
}

/// Whether a verdict could be `pass`: nothing is missing, and nothing was late.
fn passes(recording: &Recording, deadline: Nanos) -> bool {
    let plan = Plan { deadline_ns: Some(deadline), ..Plan::default() };
    let messages = recording.messages(&plan, "x", "0");
    let undecided = |message: &Message| match message {
        Message::Finding(finding) => {
            matches!(finding.kind, FindingKind::Import(ImportFinding::DeadlineUndecided { .. }))
        }
        Message::Interval(interval) => interval.counts.misses > 0,
        _ => false,
    };
    !recording.is_incomplete() && !messages.iter().any(undecided)
}

/// The latencies and the largest of all recordings.
fn extent(recordings: &[Recording]) -> (u64, Nanos) {
    let count = recordings.iter().map(Recording::count).sum();
    let series = recordings.iter().flat_map(|one| &one.series);
    (count, series.map(|one| one.largest()).max().unwrap_or_default())
}

const DEADLINE: Nanos = Nanos(10_000_000_000);

/// The extent of a file that passes.
fn passing(name: &str, text: &str) -> (u64, Nanos) {
    let deadline = DEADLINE;
    let whole = try_read(text, &Query::default()).unwrap();
    let failing: Vec<String> = whole.iter().filter(|it| !passes(it, deadline)).map(texts).collect();
    assert!(failing.is_empty(), "{name} is whole, but: {failing:?}");
    extent(&whole)
}

/// Damages each line in each way; what passes then has all that it had.
fn account(name: &str, text: &str) {
    let ((count, largest), deadline) = (passing(name, text), DEADLINE);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut failures = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for (what, damage) in DAMAGES {
            let Some(damaged) = damage(line) else { continue };
            let all = lines[..at].concat() + &damaged + &lines[at + 1..].concat();
            let Ok(recordings) = try_read(all, &Query::default()) else { continue };
            if !recordings.iter().all(|one| passes(one, deadline)) {
                continue;
            }
            let (its_count, its_largest) = extent(&recordings);
            // A count that lost a digit is a smaller count.
            let may_be_fewer = what == "its last digit is gone";
            if its_largest < largest || (its_count < count && !may_be_fewer) {
                failures.push(format!(
                    "line {}: {what}: {its_count} up to {its_largest} of {count} up to {largest}: \
                     {damaged:?}",
                    at + 1
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{name}:\n{}", failures.join("\n"));
}

/// Cuts a file of a format that has an end.
fn account_cuts(name: &str, text: &str) {
    let ((count, largest), deadline) = (passing(name, text), DEADLINE);
    let mut failures = Vec::new();
    for end in (text.len() / 2..text.len() - 1).filter(|end| text.is_char_boundary(*end)) {
        let Ok(recordings) = try_read(&text[..end], &Query::default()) else { continue };
        let (its_count, its_largest) = extent(&recordings);
        let is_less = its_largest < largest || its_count < count;
        if is_less && recordings.iter().all(|one| passes(one, deadline)) {
            let last = &text[text[..end].rfind('\n').unwrap_or(0)..end];
            failures.push(format!("cut: {its_count} up to {its_largest}: ends in {last:?}"));
        }
    }
    assert!(failures.is_empty(), "{name}:\n{}", failures.join("\n"));
}

const TIMERLAT: &str = "# RTLA timerlat histogram
# Time unit is microseconds (us)
# Duration:   0 00:00:02
Index   IRQ-001   Thr-001   IRQ-002   Thr-002
0          1000       944       998       986 
10            0        55         1        13 
20            0         1         0         0 
30            0         0         0         0 
over:         0         0         0         0 
count:     1000      1000       999       999 
min:          0         3         0         3 
avg:          1         7         0         3 
max:          7        21        13        15 
ALL:        IRQ       Thr
count:     1999      1999 
min:          0         3 
avg:          0         5 
max:         13        21 
";
const OSNOISE: &str = "# RTLA osnoise histogram
# Time unit is microseconds (us)
# Duration:   0 00:01:00
Index   CPU-000   CPU-001
0         42982     46287 
1         12224      8356 
20            8         5 
31            1         1 
over:         0         0 
count:    55215     54649 
min:          0         0 
avg:       0.23      0.16 
max:         31        31 
";
const TOP: &str = "                                     Timer Latency
  0 00:00:01   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)
CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max
  0 #1013      |        1         0         1        54 |        5         2         4        57
  1 #1012      |        1         0         1        14 |        5         2         4        17
---------------|----------------------------------------|---------------------------------------
ALL #2025   e0 |                  0         1        54 |                  2         4        57
";

#[test]
fn rtla() {
    account("timerlat hist", TIMERLAT);
    account_cuts("timerlat hist", TIMERLAT);
    account("osnoise hist", OSNOISE);
    account_cuts("osnoise hist", OSNOISE);
    account("timerlat top", TOP);
}

#[test]
fn oslat() {
    let text = String::from_utf8(fixture("oslat.txt")).unwrap();
    account("oslat", &text);
    account_cuts("oslat", text.trim_end());
}

#[test]
fn pairs_of_threads() {
    for name in ["pmqtest.txt", "sigwaittest.txt", "ptsematest.txt", "svsematest.txt"] {
        let text = String::from_utf8(fixture(name)).unwrap();
        account(name, &text);
        account_cuts(name, &text);
    }
}

#[test]
fn hwlatdetect() {
    let list = format!(
        "{HWLATDETECT}Max Latency: 18us\nSamples recorded: 2\nSamples exceeding threshold: 2\n\
         ts: 1519674281.220664736, inner:17, outer:15\n\
         ts: 1519674282.721666674, inner:18, outer:17\n"
    );
    account("hwlatdetect with gaps", &list);
    account_cuts("hwlatdetect with gaps", &list);
    let none = format!(
        "{HWLATDETECT}Max Latency: Below threshold\nSamples recorded: 0\n\
         Samples exceeding threshold: 0\n"
    );
    let gaps = passing("hwlatdetect without gaps", &none);
    assert_eq!(gaps, (0, Nanos::ZERO));
    let lines: Vec<&str> = none.split_inclusive('\n').collect();
    for end in 1..lines.len() {
        for recording in try_read(lines[..end].concat(), &Query::default()).unwrap_or_default() {
            assert!(!passes(&recording, DEADLINE), "{end} of {} lines", lines.len());
        }
    }
}

const HWLATDETECT: &str = "hwlatdetect:  test duration 60 seconds
   detector: tracer
   parameters:
        Latency threshold: 10us
        Sample window:     1000000us
        Sample width:      500000us
     Non-sampling period:  500000us
        Output File:       None

Starting test
test finished
";

#[test]
fn stress_ng() {
    let text = String::from_utf8(fixture("sng_cyclic_clock_ns.txt")).unwrap();
    let kept: Vec<&str> = text.split_inclusive('\n').filter(|it| !it.contains("Note:")).collect();
    account("stress-ng with a histogram", &kept.concat());
    account_cuts("stress-ng with a histogram", &kept.concat());
    let text = String::from_utf8(fixture("sng_cyclic_metrics.txt")).unwrap();
    account("stress-ng", &text);
    account_cuts("stress-ng", &text);
}
