//! Every format gives back the pairs that were written into it.
//!
//! Invariant (captures): Every format gives back the pairs that were written; no edge is lost.

use crate::common;
use crate::common::*;
use latlab_capture::{Counts, EdgeKind, Hysteresis, Threshold};
use proptest::prelude::*;

const DELAYS: [i64; 5] = [12_000, 18_500, 240_000, 1_000, 99_000];

fn picoseconds(delays_ns: &[i64]) -> Vec<i64> {
    delays_ns.iter().map(|delay| delay * 1_000).collect()
}

#[test]
fn dumps_tables_and_sessions_tell_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (written(folder.path(), "a.vcd", vcd(&DELAYS)), "in", "out"),
        (written(folder.path(), "b.csv", saleae(&DELAYS)), "Channel 0", "Channel 1"),
    ];
    for (path, stimulus, response) in files {
        let (measured, delays) = measured(&path, &query(stimulus, response)).unwrap();
        assert_eq!(delays, picoseconds(&DELAYS), "{}", path.display());
        // All times are multiples of half a microsecond.
        assert_eq!(measured.resolution_ps, Some(500_000), "{}", path.display());
        assert_eq!(measured.counts.stimuli, 5);
    }
}

#[test]
fn a_session_in_pieces_is_one_row_of_samples() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "a.sr", sigrok(&DELAYS));
    let (measured, delays) = measured(&path, &query("in", "out")).unwrap();
    // Each change shows in the sample after it.
    let seen: Vec<i64> = DELAYS.iter().map(|delay| (delay + 999) / 1_000 * 1_000_000).collect();
    assert_eq!(delays, seen);
    assert_eq!(measured.resolution_ps, Some(1_000_000));
}

#[test]
fn waveforms_of_two_files_are_one_capture() {
    let folder = tempfile::tempdir().unwrap();
    let paths =
        [0, 1].map(|wire| written(folder.path(), &format!("{wire}.isf"), isf(&DELAYS, wire)));
    let (measured, delays) = measured_of(&paths, &query("Ch1", "Ch2")).unwrap();
    assert_eq!(measured.counts.answered, 5);
    for (seen, delay) in delays.iter().zip(picoseconds(&DELAYS)) {
        assert!((seen - delay).abs() <= 1_000_000, "{seen} {delay}");
    }
    let volts = Threshold::Level(1.65);
    let by_level = common::query("Ch1", "Ch2");
    let by_level = latlab_capture::CaptureQuery { threshold: volts, ..by_level };
    assert_eq!(measured_of(&paths, &by_level).unwrap().0.counts.answered, 5);
}

#[test]
fn what_is_wrong_is_one_line_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "a.vcd", vcd(&DELAYS));
    let error =
        |asked: &latlab_capture::CaptureQuery| measured(&path, asked).unwrap_err().to_string();
    assert!(error(&query("in", "nowhere")).contains("the capture has top.in, top.out"));
    let none = asked_of_list();
    assert!(error(&none).contains("choose the channels with --stimulus and --response"));
    assert!(error(&query("in", "in")).contains("the same channel"));
    for (name, text, said) in [
        ("back.csv", "Time [s],A,B\n0,0,0\n2,1,0\n1,0,1\n", "back.csv:4: the time is earlier"),
        ("word.csv", "Time [s],A,B\n0,0,0\n1,low,0\n", "word.csv:3: expected a number in column 2"),
        ("hex.csv", "Time [s],A,B\n0,0,0\n1,7F,0\n", "expected a number in column 2, found '7F'"),
        (
            "commas.csv",
            "Zeit,A,B\n0,000,0,1,1,5\n0,001,3,3,0,5\n0,002,0,1,0,5\n",
            "the commas may part cells or be decimal commas",
        ),
        ("comma.csv", "12,5\n13,1\n11,9\n", "the commas may part cells or be decimal commas"),
        ("empty.csv", "", "the file is empty"),
        (
            "counts.csv",
            "Sample,A,B\n0,0,0\n24,1,0\n48,0,0\n",
            "column 1 is a counter without a unit",
        ),
        ("levels.csv", "A,B,C\n0.5,0,0\n0.1,1,0\n0.9,0,1\n", "no column has times"),
        ("minutes.csv", "Time (min),A,B\n0,0,0\n1,1,0\n", "expected times in s, ms, us, ns or ps"),
        (
            "dated.csv",
            "Time,A,B\n2026-11-22T10:20:30.5Z,0,0\n2026-11-22,1,0\n",
            "dated.csv:3: expected a number in column 1, found '2026-11-22'",
        ),
        (
            "flat.csv",
            "Time [s],A,B\n0,0,0\n1,0,1\n2,0,0\n",
            "the channel A never changes its level",
        ),
        ("prose.txt", "Dear reader,\nthis is a letter.\n", "no row of numbers"),
        ("cut.vcd", "$timescale 1ns $end\n$var wire 1 ! a $end\n", "$enddefinitions is missing"),
        (
            "back.vcd",
            "$timescale 1ns $end $var wire 1 ! A $end $var wire 1 ? B $end\n\
            $enddefinitions $end\n#5\n1!\n#4\n",
            "back.vcd:5: a time is earlier",
        ),
    ] {
        let path = written(folder.path(), name, text);
        let error = measured(&path, &query("A", "B")).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{name}: {error}");
    }
}

#[test]
fn dumps_of_other_programs_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let heads = [
        (
            "marked.vcd",
            "\u{feff}$timescale 1 ns $end\r\n$var wire 1 ! A $end $var wire 1 \" B $end",
        ),
        ("parted.vcd", "$timescale\n 1\n ns\n$end $var wire 1 ! A $end $var reg 1 \" B $end"),
        ("vectors.vcd", "$timescale 1ns $end $var wire 8 ! A [7:0] $end $var real 1 \" B $end"),
        ("bits.vcd", "$timescale 1ns $end $var wire 1 ! bus [0] $end $var wire 1 \" bus [1] $end"),
        ("twice.vcd", "$timescale 1ns $end $var wire 1 ! same $end $var wire 1 \" same $end"),
    ];
    for (name, head) in heads {
        let whole = vcd(&DELAYS);
        let rest = whole.split_once("$enddefinitions").unwrap().1;
        let rest = match name {
            "vectors.vcd" => rest
                .replace("\n0!", "\nb0 !")
                .replace("\n1!", "\nb101 !")
                .replace("\n0\"", "\nr0.02 \"")
                .replace("\n1\"", "\nr3.3 \""),
            _ => rest.replace("0!\n0\"", "x!\nz\""),
        };
        let path = written(folder.path(), name, format!("{head} $enddefinitions{rest}"));
        let (stimulus, response) = match name {
            "bits.vcd" => ("bus[0]", "bus[1]"),
            "twice.vcd" => ("same", "same (2)"),
            _ => ("A", "B"),
        };
        let (_, delays) =
            measured(&path, &query(stimulus, response)).unwrap_or_else(|error| panic!("{error}"));
        // From unknown to high is not an edge.
        let first = usize::from(name != "vectors.vcd");
        assert_eq!(delays, picoseconds(&DELAYS[first..]), "{name}");
    }
}

#[test]
fn a_damaged_session_is_no_session_of_other_samples() {
    let folder = tempfile::tempdir().unwrap();
    let whole = sigrok(&DELAYS);
    let mut changed = 0;
    for at in (60..whole.len() / 2).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let path = written(folder.path(), "damaged.sr", bytes);
        match measured(&path, &query("in", "out")) {
            Ok((measured, _)) => assert_eq!(measured.counts.answered, 5, "byte {at}"),
            Err(error) => changed += usize::from(!error.to_string().is_empty()),
        }
    }
    assert!(changed > 10, "{changed}");
}

#[test]
fn what_is_beyond_the_range_is_an_edge_without_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "Time,A,B\n(ms),(V),(mV)\n\n".to_string();
    for at in 0..600 {
        let level = |high: bool, value: &str| if high { value } else { "0.5" }.to_string();
        let (stimulus, response) = (at % 100 >= 50, at % 100 >= 60);
        let stimulus = level(stimulus, if at % 2 == 0 && at > 100 { "∞" } else { "3.5" });
        text += &format!("{at},{stimulus},{}\n", level(response, "3500"));
    }
    let path = written(folder.path(), "pico.csv", text);
    let (_, delays) = measured(&path, &query("A", "B")).unwrap();
    assert_eq!(delays.len(), 6);
    assert!(
        delays.iter().all(|delay| (delay - 10_000_000_000).abs() <= 1_000_000_000),
        "{delays:?}"
    );
}

#[test]
fn a_dead_responder_answers_none_and_a_dead_stimulus_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |stimulus: &str| -> String {
        let rows =
            (0..20).map(|at| format!("{at}.0,{},0.1\n", if at % 4 == 1 { stimulus } else { "0" }));
        "Time [s],A,B\n".to_string() + &rows.collect::<String>()
    };
    let path = written(folder.path(), "dead.csv", rows("1"));
    let (measured, _) = measured(&path, &query("A", "B")).unwrap();
    assert_eq!((measured.counts.missing, measured.counts.cut_off), (4, 1));
    let high = latlab_capture::CaptureQuery { threshold: Threshold::Level(9.0), ..query("A", "B") };
    let path = written(folder.path(), "low.csv", rows("3.3"));
    let error = common::measured(&path, &high).unwrap_err().to_string();
    assert!(
        error.contains("A does not cross the threshold") && error.contains("0 to 3.3"),
        "{error}"
    );
}

#[test]
fn swapped_probes_are_suspected_and_right_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "a.vcd", vcd(&[15_000; 40]));
    let right = measured(&path, &query("in", "out")).unwrap().0;
    assert_eq!(right.swapped_ps, None);
    let swapped = measured(&path, &query("out", "in")).unwrap().0;
    assert_eq!(swapped.swapped_ps, Some(15_000_000.0));
}

#[test]
fn one_wire_on_both_channels_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "Time [s],A,B\n".to_string();
    (0..20).for_each(|at| text += &format!("0.{at:03},{0},{0}\n", at % 2));
    let path = written(folder.path(), "same.csv", text);
    let (measured, delays) = measured(&path, &query("A", "B")).unwrap();
    assert!(delays.iter().all(|delay| *delay == 0) && delays.len() > 5);
    assert!(
        measured.notes.iter().any(|note| note.contains("the same wire")),
        "{:?}",
        measured.notes
    );
}

#[test]
fn lists_say_what_was_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "a.out", "0\t9.1E-6\n1\t9.9E37\n2\t8.7E-6\n3\t9.91E+37\n");
    let (measured, delays) = measured(&path, &asked_of_list()).unwrap();
    assert_eq!(delays, [9_100_000, 8_700_000]);
    let wanted = Counts { stimuli: 4, answered: 2, censored: 2, ..Counts::default() };
    assert_eq!((measured.counts, measured.is_timed), (wanted, false));
    assert_eq!(measured.resolution_ps, Some(100_000));
    let path = written(folder.path(), "b.out", "12\n14\n13\n");
    let error = common::measured(&path, &asked_of_list()).unwrap_err().to_string();
    assert!(error.contains("give --unit"), "{error}");
    let us = latlab_capture::CaptureQuery {
        unit: Some(latlab_capture::ListUnit::Micro),
        ..asked_of_list()
    };
    assert_eq!(common::measured(&path, &us).unwrap().1, [12_000_000, 14_000_000, 13_000_000]);
}

#[test]
fn a_burst_is_one_stimulus_where_that_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "Time [s],carrier,out\n0,0,0\n".to_string();
    for burst in 1..=5 {
        for pulse in 0..20 {
            let at = burst * 10_000 + pulse * 26;
            let out = u8::from(pulse > 7);
            text += &format!(
                "{:.6},1,{out}\n{:.6},0,{out}\n",
                f64::from(at) / 1e6,
                f64::from(at + 13) / 1e6
            );
        }
        text += &format!("{:.6},0,0\n", f64::from(burst * 10_000 + 2_000) / 1e6);
    }
    let path = written(folder.path(), "ir.csv", text);
    let quiet =
        latlab_capture::CaptureQuery { quiet_ps: Some(1_000_000_000), ..query("carrier", "out") };
    let (found, delays) = measured(&path, &quiet).unwrap();
    assert_eq!(delays, [208_000_000; 5]);
    assert!(found.notes.iter().any(|note| note.starts_with("95 edges within bursts")));
}

#[test]
fn a_marker_tells_what_met_it_and_its_period() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "Time [s],in,out,busy\n0,0,0,0\n".to_string();
    // Each fourth stimulus comes while the marker is high, which is slightly late once.
    for number in 1..=40 {
        let at = number * 1_000;
        let busy = number % 4 == 0;
        let (late, delay) = (if number == 20 { 2 } else { 0 }, if busy { 90 } else { 15 });
        if busy {
            text += &format!("{:.6},0,0,1\n", f64::from(at - 10 + late) / 1e6);
        }
        let high = u8::from(busy);
        text += &format!(
            "{:.6},1,0,{high}\n{:.6},1,1,{high}\n",
            f64::from(at) / 1e6,
            f64::from(at + delay) / 1e6
        );
        text += &format!("{:.6},0,0,0\n", f64::from(at + 500) / 1e6);
    }
    let path = written(folder.path(), "marked.csv", text);
    let with =
        latlab_capture::CaptureQuery { marker: Some("busy".to_string()), ..query("in", "out") };
    let mark = measured(&path, &with).unwrap().0.mark.unwrap();
    assert_eq!((mark.marked.count(), mark.others.count(), mark.slower), (10, 30, 10));
    assert_eq!((mark.marked.max_ps(), mark.others.max_ps()), (Some(90_000_000), Some(15_000_000)));
    assert_eq!(mark.first_ps, Some(3_990_000_000));
    assert!((mark.period_ps.unwrap() - 4e9).abs() < 1e3, "{:?}", mark.period_ps);
}

#[test]
fn the_width_of_a_pulse_is_from_one_edge_to_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "a.vcd", vcd(&[10_000, 12_000, 15_000, 11_000]));
    let with = |edge, response_edge| latlab_capture::CaptureQuery {
        edge,
        response_edge,
        ..query("in", "in")
    };
    let (found, widths) = measured(&path, &with(EdgeKind::Rising, EdgeKind::Falling)).unwrap();
    assert_eq!(widths, [500_000_000; 4]);
    assert_eq!((found.counts.missing, found.counts.double, found.swapped_ps), (0, 0, None));
    let (_, pauses) = measured(&path, &with(EdgeKind::Falling, EdgeKind::Rising)).unwrap();
    assert_eq!(pauses, [500_000_000; 3]);
}

#[test]
fn falling_edges_and_both_are_edges_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "a.vcd", vcd(&[10_000; 4]));
    let with = |edge, response_edge| latlab_capture::CaptureQuery {
        edge,
        response_edge,
        ..query("in", "out")
    };
    let (_, falling) = measured(&path, &with(EdgeKind::Falling, EdgeKind::Rising)).unwrap();
    assert_eq!(falling, [510_000_000; 3]);
    let (measured, _) = measured(&path, &with(EdgeKind::Rising, EdgeKind::Both)).unwrap();
    assert_eq!((measured.counts.answered, measured.counts.double), (4, 4));
    let narrow =
        latlab_capture::CaptureQuery { hysteresis: Hysteresis::Level(0.0), ..query("in", "out") };
    assert_eq!(common::measured(&path, &narrow).unwrap().1.len(), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_delays_come_back(delays in proptest::collection::vec(1i64..450_000, 1..20)) {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), "a.vcd", vcd(&delays));
        let (found, seen) = measured(&path, &query("in", "out")).unwrap();
        prop_assert_eq!(&seen, &picoseconds(&delays));
        prop_assert_eq!(found.counts.spurious + found.counts.double + found.counts.missing, 0);
        let path = written(folder.path(), "b.csv", saleae(&delays));
        prop_assert_eq!(measured(&path, &query("Channel 0", "Channel 1")).unwrap().1, picoseconds(&delays));
    }
}
