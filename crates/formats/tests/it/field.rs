//! Small files of users that once gave a false pass, or were misread.

use crate::common::*;
use crate::verdict::*;
use latlab_formats::read::{ImportQuery, InputError, InputUnit, Recording};
use latlab_model::Nanos;

const DEADLINE: Nanos = Nanos(100_000);

fn read_field(name: &str, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let path = root().join("fixtures/field").join(name);
    try_read(std::fs::read(path).unwrap(), query)
}

fn unit(unit: InputUnit) -> ImportQuery {
    ImportQuery { unit: Some(unit), ..ImportQuery::default() }
}

/// Maxima in microseconds, for each thread of each recording.
fn maxima(name: &str) -> Vec<Vec<f64>> {
    let of = |one: &Recording| one.series.iter().map(|one| one.largest().0 as f64 / 1e3).collect();
    read_field(name, &ImportQuery::default()).unwrap().iter().map(of).collect()
}

fn word(name: &str, deadline_us: i64, query: &ImportQuery) -> Word {
    judge(&read_field(name, query), Nanos(deadline_us * 1_000)).0
}

#[test]
fn several_recordings_in_one_file_are_several_runs() {
    assert_eq!(maxima("01.two-outputs.txt"), [[66.0], [941.0]]);
    assert_eq!(word("01.two-outputs.txt", 100, &ImportQuery::default()), Word::Fail);
    let two = maxima("02.two-kernels.txt");
    assert_eq!(two, [vec![151.0, 1076.0], vec![116.0, 49.0, 83.0]]);
    let xenomai = read_field("14.xenomai-two.txt", &ImportQuery::default()).unwrap();
    assert_eq!(maxima("14.xenomai-two.txt"), [[21.5], [374.0]]);
    assert!(!texts(&xenomai[0]).contains("overruns"));
    assert!(texts(&xenomai[1]).contains("7 overruns"));
    let twice = read_field("39.numbers-twice.txt", &ImportQuery::default()).unwrap();
    assert_eq!(twice.len(), 2);
    assert_eq!(twice.iter().map(Recording::count).sum::<u64>(), 20);
    let lines: Vec<_> = twice.iter().map(|one| one.facts.last().unwrap().text.clone()).collect();
    assert_eq!(lines, ["1", "11"], "each says where it begins");
}

#[test]
fn prefixes_of_logs_are_no_data() {
    assert_eq!(maxima("04.clock-live.txt"), [[941.0]]);
    assert_eq!(word("04.clock-live.txt", 100, &ImportQuery::default()), Word::Fail);
    let histogram =
        &read_field("05.clock-hist.txt", &ImportQuery::default()).unwrap()[0].series[0].counts;
    assert_eq!((histogram.count, histogram.overflow.count), (11, 1));
    assert_eq!(histogram.max_ns, Nanos(950_000));
    for name in ["dmesg", "journal", "kubectl", "quote"] {
        let name = format!("18.hist-{name}.txt");
        let recording = &read_field(&name, &ImportQuery::default()).unwrap()[0];
        assert_eq!(
            (recording.count(), recording.series[0].largest()),
            (15, Nanos(2_000)),
            "{name}"
        );
        assert_eq!(word(&name, 100, &ImportQuery::default()), Word::Pass, "{name}");
    }
}

#[test]
fn what_is_lost_or_contradicts_itself_is_no_pass() {
    for (name, deadline, expected) in [
        ("06.thread-line-with-tail.txt", 50, Word::Inconclusive),
        ("08.hist-row-damaged.txt", 100, Word::Inconclusive),
        ("09.table-row-damaged.csv", 100, Word::Inconclusive),
        ("31.stated-maximum.txt", 100, Word::Fail),
        ("32.total-above-rows.txt", 100, Word::Inconclusive),
        ("40.thread-with-one-percent.txt", 100, Word::Inconclusive),
    ] {
        assert_eq!(word(name, deadline, &ImportQuery::default()), expected, "{name}");
    }
    let us = unit(InputUnit::Microseconds);
    assert_eq!(word("33.space-thousands.csv", 100, &us), Word::Fail);
    assert_eq!(word("34.comma-thousands.csv", 100, &us), Word::Fail);
    assert_eq!(word("35.inf.csv", 100, &us), Word::Inconclusive);
    let ns = unit(InputUnit::Nanoseconds);
    assert_eq!(word("36.second-header.csv", 100, &ns), Word::Refused);
    assert_eq!(word("36.second-header.csv", 100, &ImportQuery::default()), Word::Fail);
    assert_eq!(word("38.unit-against-header.csv", 100, &ns), Word::Refused);
}

#[test]
fn tables_of_other_tools_are_read_by_what_only_they_have() {
    let rtai = &read_field("12.rtai.txt", &ImportQuery::default()).unwrap()[0];
    let counts = &rtai.series[0].counts;
    assert_eq!((counts.min_ns, counts.max_ns), (Nanos(-21_162), Nanos(94_900)));
    assert!(!texts(rtai).contains("overruns"));
    let evl = &read_field("19.evl-hist.txt", &ImportQuery::default()).unwrap()[0];
    let counts = &evl.series[0].counts;
    assert_eq!((counts.count, counts.min_ns, counts.max_ns), (996, Nanos(205), Nanos(25_510)));
    assert_eq!(counts.mean_ns().map(f64::round), Some(3_097.0));
    assert_eq!(evl.series[0].period_ns, Some(Nanos(1_000_000)));
    let query = ImportQuery { column: Some("wu_lat".to_string()), ..unit(InputUnit::Microseconds) };
    let table = &read_field("21.hash-heading.txt", &query).unwrap()[0];
    assert_eq!((table.count(), table.series[0].largest()), (3, Nanos(71_000)));
    assert_eq!(maxima("28.mail-wrapped.txt"), [[14.0]]);
    assert_eq!(maxima("15.rtla-top-ansi.txt"), [[54.0], [57.0]]);
}

#[test]
fn a_good_outcome_is_a_pass_over_the_time_that_was_measured() {
    // hwlatdetect watches half of each window.
    for (name, seconds) in [("16.hwlat-below.txt", 30), ("17.osnoise-empty.txt", 5)] {
        let read = read_field(name, &ImportQuery::default());
        let recordings = read.as_ref().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(recordings.len(), 1, "{name}");
        assert_eq!(recordings[0].count(), 0, "{name}");
        assert_eq!(recordings[0].length_ns, Nanos(seconds * 1_000_000_000), "{name}");
        assert_eq!(judge(&read, DEADLINE), (Word::Pass, Nanos::ZERO), "{name}");
    }
}

#[test]
fn the_time_between_samples_that_lie_far_apart_was_not_measured() {
    let name = "37.two-samples-an-hour.csv";
    let recording = &read_field(name, &ImportQuery::default()).unwrap()[0];
    assert_eq!((recording.count(), recording.series[0].largest()), (2, Nanos(10_000)));
    let is_told = texts(recording).contains("not measured") || recording.is_incomplete();
    assert!(is_told || recording.length_ns < Nanos(60_000_000_000), "{}", texts(recording));
}

/// Even if the deadline does not depend on it, a contradiction with the heading's unit is an error.
#[test]
fn the_unit_of_a_heading_is_not_overruled_in_silence() {
    let ns = unit(InputUnit::Nanoseconds);
    let error = read_field("38.unit-against-header.csv", &ns).unwrap_err().to_string();
    assert!(error.contains("latency_us") && error.contains("ns"), "{error}");
}

#[test]
fn a_deadline_is_judged_as_for_a_run() {
    let read = read_field("02.two-kernels.txt", &ImportQuery::default());
    assert_eq!(judge(&read, DEADLINE), (Word::Fail, Nanos(1_076_000)));
}
