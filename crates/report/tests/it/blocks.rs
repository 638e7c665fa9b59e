//! The text histogram: every word of it, and that nothing is left out.

use crate::common::{self, Fixture, SECOND, histogram as counted, plan};
use latlab_report::{Glyphs, PictureSize, Style, histogram, show};

fn drawn(fixture: &Fixture, width: usize, glyphs: Glyphs) -> String {
    histogram(&fixture.run, &fixture.bins(), PictureSize::full(width), glyphs)
}

fn one(samples: impl IntoIterator<Item = i64>) -> Fixture {
    Fixture::new(plan(), vec![counted(samples)])
}

#[test]
fn the_picture_of_characters_is_golden() {
    let all = common::all().into_iter().chain(common::odd());
    for (name, fixture) in all.filter(|(name, _)| {
        ["normal", "empty", "one-sample", "hours", "negative", "largest"].contains(name)
    }) {
        for (width, glyphs) in [(80, Glyphs::Unicode), (160, Glyphs::Unicode), (80, Glyphs::Ascii)]
        {
            let text = drawn(&fixture, width, glyphs);
            insta::assert_snapshot!(format!("{name}-{width}-{glyphs:?}"), text);
        }
    }
}

#[test]
fn no_line_is_too_wide_and_ascii_is_ascii() {
    for (name, fixture) in common::all().into_iter().chain(common::odd()) {
        for width in [60, 80, 100, 300] {
            for line in drawn(&fixture, width, Glyphs::Unicode).lines() {
                assert!(line.chars().count() <= width.min(100), "{name} at {width}: {line}");
                assert_eq!(line, line.trim_end());
            }
        }
        assert!(drawn(&fixture, 80, Glyphs::Ascii).is_ascii(), "{name}");
    }
}

#[test]
fn one_latency_among_millions_is_seen_above_its_mark() {
    for late in [9_000, 214_417, 7 * SECOND, 3 * 3600 * SECOND] {
        let mut samples = counted(vec![5_000; 1000]);
        samples.add(&counted([late])).unwrap();
        samples.bins[0].1 = 4_000_000_000;
        let text = drawn(&Fixture::new(plan(), vec![samples]), 80, Glyphs::Unicode);
        let lines: Vec<&str> = text.lines().collect();
        let mark = lines[11].chars().position(|c| c == '▲').unwrap();
        // The bin of the maximum may begin a column to the left of it.
        let around = [mark - 1, mark].map(|at| lines[8].chars().nth(at).unwrap_or(' '));
        assert!(around.iter().any(|c| ('▁'..='█').contains(c)), "{late}\n{text}");
    }
}

#[test]
fn it_stands_below_the_table_of_threads() {
    let fixture = common::normal();
    let text = show(&fixture.run, "HERE\n", 80, Style::default());
    assert!(text.contains("64.8\n\nHERE\n\nNo finding."), "{text}");
    assert_eq!(drawn(&one([]), 80, Glyphs::Unicode), "");
}

#[test]
fn the_deadline_is_a_line_where_it_is_near_and_words_where_it_is_far() {
    let drawn_with = |deadline: i64| {
        let mut fixture = one((0..5_000).map(|at| 5_000 + at * 20));
        fixture.run.asked.until.deadline_ns = Some(latlab_model::Nanos(deadline));
        drawn(&fixture, 80, Glyphs::Unicode)
    };
    for deadline in [50_000, 300_000] {
        let text = drawn_with(deadline);
        let column = |line: &str| line.chars().position(|one| one == '┊');
        let first = column(text.lines().nth(1).unwrap());
        assert!(first.is_some() && text.lines().next().unwrap().contains("┊ deadline"), "{text}");
        let others = text.lines().skip(2).filter_map(column);
        assert!(others.into_iter().all(|other| Some(other) == first), "{text}");
    }
    let far = drawn_with(SECOND);
    assert!(far.contains("; deadline 1 s off the chart") && !far.contains('┊'), "{far}");
}
