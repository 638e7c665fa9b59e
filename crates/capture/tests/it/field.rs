//! Small captures that were once misread, with the right result.

use crate::common::*;
use latlab_capture::{CaptureQuery, EdgeKind, Kind, NoiseReason, Threshold, survey};
use std::path::PathBuf;

fn field(name: &str) -> PathBuf {
    root().join("fixtures/field").join(name)
}

/// The level of a sample, from its number and random numbers.
type Level = dyn Fn(usize, &mut dyn FnMut() -> f64) -> f64;

#[test]
fn scanastudio_has_times_with_units_and_groups_of_digits() {
    let path = field("22.scanastudio.csv");
    let looked = survey(std::slice::from_ref(&path)).unwrap().unwrap();
    let kinds: Vec<Kind> = looked.head.channels.iter().map(|channel| channel.kind).collect();
    assert_eq!(kinds, [Kind::Logic; 2]);
    let (found, delays) = measured(&path, &query("CH1 STIM", "CH2 RESP")).unwrap();
    assert_eq!(delays, [100_000_000, 120_000_000]);
    assert_eq!(found.losses, []);
}

#[test]
fn decimal_commas_between_commas_are_refused_with_the_reason() {
    let error = survey(&[field("23.decimal-comma-decoder.csv")]).unwrap_err().to_string();
    assert!(error.contains("the rows have 5 cells below a heading of 4"), "{error}");
    assert!(error.contains("may be decimal commas"), "{error}");
}

#[test]
fn times_in_the_last_column_with_units_are_times() {
    let path = field("24.unit-in-cells.csv");
    let looked = survey(std::slice::from_ref(&path)).unwrap().unwrap();
    let names: Vec<&str> = looked.head.channels.iter().map(|one| &one.name[..]).collect();
    assert_eq!((names, looked.losses.len()), (vec!["STIM", "RESP"], 0));
    assert_eq!(
        (looked.head.resolution_ps, looked.span_ps),
        (Some(10_000_000), Some((0, 9_990_000_000)))
    );
}

#[test]
fn edges_at_the_same_time_are_answers_below_the_resolution() {
    let path = field("26.simultaneous.csv");
    for (stimulus, response) in [("A", "B"), ("B", "A")] {
        let (found, delays) = measured(&path, &query(stimulus, response)).unwrap();
        assert_eq!((delays.len(), found.counts.missing, found.losses.len()), (10, 0, 0));
        let resolution = found.resolution_ps.unwrap();
        assert!(delays.iter().all(|delay| (0..resolution).contains(delay)), "{delays:?}");
        assert_eq!(found.counts.double + found.counts.spurious + found.counts.before_first, 0);
    }
}

#[test]
fn noise_of_one_step_of_the_converter_answers_nothing() {
    let path = field("27.noise-two-codes.csv");
    let (found, delays) = measured(&path, &query("STIM", "RESP")).unwrap();
    assert_eq!((delays.len(), found.counts.answered), (0, 0));
    let pair = &found.wires[1].pair;
    let reason = pair.is_noise.unwrap();
    let words = pair.noise_in_words(reason);
    assert_eq!(words, "its swing of 0.4 is 1 step of its converter (0.4)");
    let error = measured(&path, &query("RESP", "STIM")).unwrap_err().to_string();
    assert!(error.contains(&words) && error.contains("--threshold"), "{error}");
    let threshold = Some(Threshold::Level(9.4));
    let given = CaptureQuery { response_threshold: threshold, ..query("STIM", "RESP") };
    assert!(measured(&path, &given).unwrap().0.counts.answered > 0, "the way out");
}

/// A stimulus of 3.3 V, with this signal on another channel.
fn beside(
    name: &str,
    unit: &str,
    level: impl Fn(usize, &mut dyn FnMut() -> f64) -> f64,
) -> (u64, Option<NoiseReason>) {
    let folder = tempfile::tempdir().unwrap();
    let mut state = 9_u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let mut text = format!("Time (s),STIM (V),RESP ({unit})\n");
    for at in 0..4_000 {
        let stimulus = if at % 200 >= 100 { 3.3 } else { 0.0 };
        text += &format!("{:.5},{stimulus:.2},{:.6}\n", at as f64 * 1e-5, level(at, &mut random));
    }
    let path = written(folder.path(), &format!("{name}.csv"), text);
    let (found, _) = measured(&path, &query("STIM", "RESP")).unwrap();
    (found.counts.answered, found.wires[1].pair.is_noise)
}

#[test]
fn noise_and_pick_up_answer_nothing_and_small_signals_do() {
    let square = |at: usize| f64::from(u8::from(at % 200 >= 103));
    // Codes around zero, in two and in three of them; at an offset; with a slow drift between two.
    let silent: [(&str, &str, Box<Level>); 8] = [
        ("two", "V", Box::new(|_, random| if random() < 0.3 { 0.4 } else { 0.0 })),
        ("three", "V", Box::new(|_, random| (random() * 3.0).floor() * 0.08 - 0.08)),
        ("offset", "V", Box::new(|_, random| 12.0 + (random() * 2.0).floor() * 0.8)),
        ("drift", "V", Box::new(|at, _| if at % 900 < 400 { 4.84 } else { 5.0 })),
        ("millivolts", "mV", Box::new(|_, random| (random() * 4.0).floor() * 8.0)),
        ("pick-up", "V", Box::new(move |at, random| 0.008 * square(at) + 0.0002 * random())),
        ("pick-up mV", "mV", Box::new(move |at, random| 20.0 * square(at) + 0.2 * random())),
        ("microvolts", "uV", Box::new(move |at, random| 900.0 * square(at) + 3.0 * random())),
    ];
    for (name, unit, level) in silent {
        let (answered, noise) = beside(name, unit, level);
        assert!(answered == 0 && noise.is_some(), "{name}: {answered} {noise:?}");
    }
    let heard: [(&str, &str, Box<Level>); 6] = [
        ("logic", "V", Box::new(move |at, _| 3.3 * square(at))),
        (
            "differential",
            "V",
            Box::new(move |at, random| 1.0 + 0.35 * square(at) + 0.01 * random()),
        ),
        ("millivolts", "mV", Box::new(move |at, random| 3_300.0 * square(at) + 20.0 * random())),
        ("current", "mA", Box::new(move |at, random| 4.0 + 16.0 * square(at) + 0.1 * random())),
        (
            "coarse",
            "V",
            Box::new(move |at, random| ((3.3 * square(at) + random()) / 0.8).round() * 0.8),
        ),
        ("inverted", "V", Box::new(move |at, _| 5.0 - 5.0 * square(at + 100))),
    ];
    for (name, unit, level) in heard {
        let (answered, noise) = beside(name, unit, level);
        assert!(answered >= 19 && noise.is_none(), "{name}: {answered} {noise:?}");
    }
}

#[test]
fn simultaneous_edges_of_any_format_are_answers() {
    let folder = tempfile::tempdir().unwrap();
    let dump = vcd(&[0; 20]);
    let digital = saleae(&[0; 20]);
    for (name, text, stimulus, response) in
        [("a.vcd", dump, "in", "out"), ("b.csv", digital, "Channel 0", "Channel 1")]
    {
        let path = written(folder.path(), name, text);
        let (found, delays) = measured(&path, &query(stimulus, response)).unwrap();
        assert_eq!((delays, found.losses.len()), (vec![0; 20], 0), "{name}");
    }
    // The response leads by a part of a sample, by noise, or follows by one; falling edges alike.
    for lead in [-0.9, -0.3, 0.0, 0.3, 0.9] {
        let edge = |at: f64| (at.rem_euclid(200.0) - 99.5).clamp(0.0, 1.0) * 3.3;
        let row = |at: i32| {
            let (a, b) = (edge(f64::from(at)), edge(f64::from(at) - lead));
            format!("{:.5},{a:.3},{b:.3}\n", f64::from(at) * 1e-5)
        };
        let text = format!("Time (s),A,B\n{}", (0..4_000).map(row).collect::<String>());
        let path = written(folder.path(), "lead.csv", text);
        for edge in [EdgeKind::Rising, EdgeKind::Falling] {
            let with = CaptureQuery { edge, response_edge: edge, ..query("A", "B") };
            let (found, delays) = measured(&path, &with).unwrap();
            let is_short = |delay: &i64| (0..=10_000_000).contains(delay);
            assert!(delays.iter().all(is_short), "{lead}: {delays:?}");
            assert_eq!(found.counts.missing, 0, "{lead}");
            assert!(delays.len() >= 19, "{lead}: {delays:?}");
        }
    }
}
