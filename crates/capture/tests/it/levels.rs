//! Levels, resolution and unusual tables: other people's captures are read as they are meant.

use crate::common::*;
use latlab_capture::{CaptureQuery, Hysteresis, Threshold};
use std::path::PathBuf;

/// A table of two channels with a row each 10 us.
fn table(folder: &tempfile::TempDir, name: &str, rows: &[(f64, f64)]) -> PathBuf {
    let row = |(at, (one, other)): (usize, &(f64, f64))| format!("{at}0e-6,{one},{other}\n");
    let rows: String = rows.iter().enumerate().map(row).collect();
    written(folder.path(), name, format!("Time [s],A,B\n{rows}"))
}

/// A stimulus of 3.3 V each 200 samples, from sample 100 on, and its answer 3 samples later.
fn answered(count: usize) -> Vec<(f64, f64)> {
    let level = |at: usize, from: usize| if at % 200 >= from { 3.3 } else { 0.02 };
    (0..count).map(|at| (level(at, 100), level(at, 103))).collect()
}

#[test]
fn samples_of_the_start_do_not_hide_the_edges() {
    let folder = tempfile::tempdir().unwrap();
    // 1000 samples with 10 rising edges, and 4 samples at 8.4 V at their start.
    let level = |at: usize| match at {
        0..4 => 8.4,
        _ if at % 100 >= 50 => 3.3,
        _ => 0.0,
    };
    let rows: Vec<(f64, f64)> =
        (0..1_000).map(|at| (level(at), if at % 100 >= 52 { 3.3 } else { 0.0 })).collect();
    let path = table(&folder, "start.csv", &rows);
    let rule = (Threshold::Share(0.5), Hysteresis::Auto);
    let looked = latlab_capture::survey(std::slice::from_ref(&path)).unwrap().unwrap();
    let looked = looked.read_edges(std::slice::from_ref(&path), rule, 10).unwrap();
    assert_eq!((looked.channels[0].rising, looked.channels[0].falling), (10, 9));
    let (found, delays) = measured(&path, &query("A", "B")).unwrap();
    assert_eq!((delays.len(), found.counts.stimuli), (10, 10));
    assert_eq!(found.wires[0].passed_over, 4);
}

#[test]
fn a_spike_leaves_every_answer() {
    let folder = tempfile::tempdir().unwrap();
    for (place, far) in [(57, 12.0), (10_150, 12.0), (10_150, -9.0), (19_950, 400.0)] {
        for is_stimulus in [false, true] {
            let mut rows = answered(20_000);
            match is_stimulus {
                true => rows[place].0 = far,
                false => rows[place].1 = far,
            }
            let path = table(&folder, "spike.csv", &rows);
            let (found, delays) = measured(&path, &query("A", "B")).unwrap();
            let counts = found.counts;
            assert_eq!((counts.stimuli, delays.len()), (100, 100), "{place} {far}: {counts:?}");
            assert_eq!(counts.double + counts.spurious, 0, "{place} {far}: {counts:?}");
            let by_level = CaptureQuery { threshold: Threshold::Level(1.65), ..query("A", "B") };
            assert_eq!(measured(&path, &by_level).unwrap().0.counts.answered, 100);
        }
    }
}

#[test]
fn noise_is_no_stimulus_and_no_response() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        f64::from(state.wrapping_shr(62) as u32) * 0.04
    };
    let rows: Vec<(f64, f64)> = answered(4_000).into_iter().map(|(a, _)| (a, noise())).collect();
    let path = table(&folder, "noise.csv", &rows);
    let error = measured(&path, &query("B", "A")).unwrap_err().to_string();
    assert!(error.contains("the channel B shows noise") && !error.contains('\n'), "{error}");
    let (found, _) = measured(&path, &query("A", "B")).unwrap();
    assert_eq!((found.counts.answered, found.counts.missing), (0, 19));
    assert!(found.wires[1].pair.is_noise.is_some() && found.wires[1].rule.is_none());
    let narrow = Hysteresis::Level(0.01);
    let by_level =
        CaptureQuery { threshold: Threshold::Level(0.06), hysteresis: narrow, ..query("B", "A") };
    assert!(measured(&path, &by_level).is_ok(), "a level that was given is used");
}

#[test]
fn the_resolution_is_that_of_the_times() {
    let folder = tempfile::tempdir().unwrap();
    let dump = |name: &str, head: &str, unit_ps: i64, period_ps: f64| {
        let unit = if unit_ps < 1_000 { format!("{unit_ps} ps") } else { "1 ns".to_string() };
        let mut text = format!(
            "{head} $timescale {unit} $end $var wire 1 ! in $end $var wire 1 ? out $end \
             $enddefinitions $end\n#0\n0!\n0?\n"
        );
        for number in 1..200_i64 {
            let start = number * 1_000;
            let changes =
                [(0, "1!"), (12 + number % 7, "1?"), (300, "0?"), (500 + number % 3, "0!")];
            for (after, change) in changes {
                let at = ((start + after) as f64 * period_ps / unit_ps as f64).round();
                text += &format!("#{at}\n{change}\n");
            }
        }
        let path = written(folder.path(), name, text);
        measured(&path, &query("in", "out")).unwrap().0.resolution_ps
    };
    assert_eq!(dump("grid.vcd", "", 1, 1e6), Some(1_000_000));
    assert_eq!(dump("clock.vcd", "", 100, 62_500.0), Some(62_500));
    let comment = "$comment Acquisition with 2/8 channels at 24 MHz $end";
    assert_eq!(dump("comment.vcd", comment, 1_000, 1e12 / 24e6), Some(41_666));
    let rounded = dump("rounded.vcd", "", 1_000, 1e12 / 24e6).unwrap();
    assert!((rounded - 41_667).abs() < 50, "{rounded}");
    // A list in picoseconds whose clock has a period of 10 ns.
    let path = written(folder.path(), "a.csv", "rtt_ps\n120000\n170000\n180000\n250000\n");
    assert_eq!(measured(&path, &asked_of_list()).unwrap().0.resolution_ps, Some(10_000));
    let text = "# Sample rate = 2 MSa/s\nTime [s],A,B\n0,0,0\n1e-4,1,0\n1.3e-4,1,1\n3e-4,0,0\n";
    let path = written(folder.path(), "rate.csv", text);
    assert_eq!(measured(&path, &query("A", "B")).unwrap().0.resolution_ps, Some(500_000));
}

/// A table as another program writes it, measured between A and B.
fn odd(name: &str) -> String {
    let mut text = match name {
        "words.csv" => "Time [s],A,B,bus,decoder\n".to_string(),
        "dates.csv" => "Time,A,B\n".to_string(),
        _ => "Time [s],A,B,bus\n".to_string(),
    };
    for row in 0..60 {
        let level = |from: usize| u8::from(row % 10 >= from);
        let (a, b) = (level(4), level(5));
        let time = format!("{:.6}", row as f64 * 1e-3);
        text += &match name {
            "bus.csv" => {
                let bus = ["X", "Z", "0x1F", "7F", "", "1x0z", "Inf", "?"][row % 8];
                format!("{time},{a},{b},{bus}\n")
            }
            "late.csv" => {
                format!("{time},{a},{b},{}\n", if row < 50 { "0" } else { "gone" })
            }
            "words.csv" => format!("{time},{a},{b},0,{}\n", ["START", "ACK"][row % 2]),
            "dates.csv" => format!("2026-11-22T23:59:59.{:06}+01:00,{a},{b}\n", row * 1_000),
            _ => format!("{time},{a},{b},\n"),
        };
    }
    text + ",,,\n,,,\n"
}

#[test]
fn columns_that_are_not_asked_for_may_hold_anything() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["bus.csv", "late.csv", "words.csv", "dates.csv", "commas.csv"] {
        let path = written(folder.path(), name, odd(name));
        let (found, delays) =
            measured(&path, &query("A", "B")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(delays, [1_000_000_000; 6], "{name}");
        assert_eq!(found.resolution_ps, Some(1_000_000_000), "{name}");
    }
    let path = written(folder.path(), "bus.csv", odd("bus.csv"));
    let error = measured(&path, &query("A", "bus")).unwrap_err().to_string();
    assert!(error.contains("bus.csv:5: expected a number in column 4, found '7F'"), "{error}");
}

#[test]
fn unknown_levels_are_no_edges() {
    let folder = tempfile::tempdir().unwrap();
    let text = "Time [s],A,B\n0,0,0\n1,X,0\n2,1,Z\n3,0,0\n4,1,0\n5,1,1\n6,0,0\n7,0,0\n";
    let path = written(folder.path(), "unknown.csv", text);
    let (found, delays) = measured(&path, &query("A", "B")).unwrap();
    assert_eq!((found.counts.stimuli, delays), (1, vec![1_000_000_000_000]));
}

#[test]
fn values_beyond_the_range_are_high() {
    let folder = tempfile::tempdir().unwrap();
    for beyond in ["Inf", "+Inf", "9.9E37", "infinity"] {
        let mut text = "Time [s],A,B\n".to_string();
        for row in 0..200 {
            let level = |from: usize, high: &str| {
                if row % 20 >= from { high.to_string() } else { "0.1".to_string() }
            };
            let a = if row % 3 == 0 { level(10, beyond) } else { level(10, "3.3") };
            text += &format!("{:.3},{a},{}\n", row as f64 * 1e-3, level(13, "3.3"));
        }
        let path = written(folder.path(), "beyond.csv", text);
        assert_eq!(measured(&path, &query("A", "B")).unwrap().1.len(), 10, "{beyond}");
    }
}

#[test]
fn the_head_of_a_list_has_its_unit() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.csv", "latency_ns\n1200\n1400\n1300\n"),
        ("b.csv", "# measured in us\n1.2\n1.4\n1.3\n"),
        ("c.csv", "n,latency [us]\n0,1.2\n1,1.4\n2,1.3\n,\n"),
        ("e.csv", "Latency (us)\n1.2\n1.4\n1.3\n"),
        ("f.csv", "Latenz [µs]\n1,2\n1,4\n1,3\n"),
        ("d.csv", "number;latency (ms)\n1;0,0012\n2;0,0014\n3;0,0013\n"),
    ] {
        let path = written(folder.path(), name, text);
        let (_, delays) =
            measured(&path, &asked_of_list()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(delays, [1_200_000, 1_400_000, 1_300_000], "{name}");
    }
}

#[test]
fn drift_costs_no_edge() {
    let folder = tempfile::tempdir().unwrap();
    for drift in [0.5, 1.5, 2.5, -1.5, -2.0, -2.5] {
        let level = |at: i64| if at.rem_euclid(1_000) < 500 { 3.3 } else { 0.0 };
        let noise = |at: i64| (at * 7_919 % 101) as f64 / 2_000.0;
        let rows: Vec<(f64, f64)> = (0..20_000)
            .map(|at| {
                let off = drift * at as f64 / 20_000.0;
                (level(at) + off + noise(at), level(at - 50) + off + noise(at + 50))
            })
            .collect();
        let path = table(&folder, &format!("drift{drift}.csv"), &rows);
        let (found, delays) = measured(&path, &query("A", "B")).unwrap();
        assert_eq!((found.counts.answered, found.counts.missing), (19, 0), "{drift}");
        assert!(delays.iter().all(|delay| (delay - 500_000_000).abs() < 10_000_000), "{drift}");
    }
}

#[test]
fn levels_that_drift_past_each_other_leave_a_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let level = |at: i64| if at.rem_euclid(1_000) < 500 { 3.3 } else { 0.0 };
    let waves = |at: i64, volts: f64| volts * (at as f64 / 1_600.0).sin();
    for (volts, wanders) in [(0.0, false), (1.0, false), (3.0, true), (4.0, true), (15.0, true)] {
        let rows: Vec<(f64, f64)> =
            (0..20_000).map(|at| (level(at), level(at - 50) + waves(at, volts))).collect();
        let path = table(&folder, "waves.csv", &rows);
        let found = measured(&path, &query("A", "B")).unwrap().0;
        assert_eq!(found.wires[1].pair.wanders, wanders, "{volts}: {:?}", found.wires[1]);
        assert!(!found.wires[0].pair.wanders);
    }
    // Waveforms without jumps, with one slope that is a jump, and with slow edges.
    let shapes: [fn(i64) -> f64; 4] = [
        |at| (at as f64 / 40.0).sin(),
        |at| (at as f64 / 2_000.0).sin(),
        |at| (at % 200) as f64,
        |at| {
            let rest = (-((at.rem_euclid(500)) as f64) / 60.0).exp();
            if at.rem_euclid(1_000) < 500 { 1.0 - rest } else { rest }
        },
    ];
    for (number, shape) in shapes.into_iter().enumerate() {
        let rows: Vec<(f64, f64)> = (0..20_000).map(|at| (shape(at), shape(at - 5))).collect();
        let path = table(&folder, "shape.csv", &rows);
        let found = measured(&path, &query("A", "B")).unwrap().0;
        assert!(!found.wires[0].pair.wanders, "{number}: {:?}", found.wires[0]);
    }
}

#[test]
fn a_missing_chunk_of_a_session_is_told_and_keeps_the_times() {
    let folder = tempfile::tempdir().unwrap();
    let metadata = "[device 1]\ncapturefile=logic-1\nsamplerate=1 MHz\nprobe1=in\nprobe2=out\n\
        unitsize=1\n";
    // Chunks of 1000 samples with a stimulus at 100, answered at 115.
    let sample = |at: usize| match at {
        100..115 => 1,
        115..300 => 3,
        _ => 0,
    };
    let chunk: Vec<u8> = (0..1_000).map(sample).collect();
    let members = [1, 2, 4, 7].map(|number| (format!("logic-1-{number}"), chunk.clone()));
    let mut all = vec![
        ("version".to_string(), b"2".to_vec()),
        ("metadata".to_string(), metadata.as_bytes().to_vec()),
    ];
    all.extend(members);
    let path = written(folder.path(), "gap.sr", zipped(&all));
    let (found, delays) = measured(&path, &query("in", "out")).unwrap();
    assert_eq!(found.missing_chunks, ["logic-1-3", "logic-1-5 to logic-1-6"]);
    assert_eq!(delays, [15_000_000; 4]);
    assert_eq!(found.length_ps, 6_999_000_000);
}
