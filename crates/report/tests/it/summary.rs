//! The summary: on one screen, with the most important facts first.

use crate::common::{self, Fixture};
use latlab_model::Nanos;
use latlab_model::finding::{Finding, LossFinding};
use latlab_model::plan::Method;
use latlab_model::run::Quantiles;
use latlab_model::run::VerdictWord;
use latlab_model::statistics::{CorrectedQuantiles, QuantileInterval, RunStatistics};
use latlab_report::{
    Glyphs, PictureSize, Style, histogram, rendered_verdict, summarise, summarise_in_lines,
};

const PLAIN: Style = Style { colour: false };

fn screen(fixture: &Fixture, width: usize) -> String {
    let size = PictureSize::brief(&fixture.run, width);
    let picture = histogram(&fixture.run, &fixture.bins(), size, Glyphs::Unicode);
    summarise(&fixture.run, &picture, width, PLAIN)
}

#[test]
fn the_answer_of_every_run_fits_on_a_screen() {
    for (name, fixture) in common::all().into_iter().chain(common::odd()) {
        for width in [80, 100, 120, 200] {
            let text = screen(&fixture, width);
            // Two commands follow below.
            assert!(text.lines().count() <= 22, "{name} at {width}:\n{text}");
            let widest = text.lines().filter(|line| !line.starts_with("Try first"));
            assert!(
                widest.into_iter().all(|line| line.chars().count() <= width),
                "{name}:\n{text}"
            );
        }
    }
}

#[test]
fn intervals_stand_below_their_quantiles_and_take_no_line_more() {
    let mut fixture = common::normal();
    let lines = screen(&fixture, 80).lines().count();
    let interval = |parts_per_million, low: i64, high: Option<i64>| QuantileInterval {
        parts_per_million,
        low_ns: Some(Nanos(low)),
        high_ns: high.map(Nanos),
        latencies: 120_000,
        per_event: Some(1.0),
        latencies_needed: 368_887,
        refusal: None,
    };
    let quantiles = vec![interval(500_000, 4_100, Some(4_400)), interval(999_000, 58_000, None)];
    fixture.run.statistics = Some(RunStatistics { quantiles, ..RunStatistics::default() });
    let text = screen(&fixture, 80);
    assert_eq!(text.lines().count(), lines, "{text}");
    let row = text.lines().find(|line| line.starts_with("95 % interval")).unwrap();
    assert!(row.contains("4.1 us to 4.4 us") && row.contains("from 58 us"), "{text}");
}

/// Invariant (losses): Where skipped releases change the tail, both figures are on the first screen.
#[test]
fn a_tail_that_skipped_releases_make_longer_stands_beside_that_of_the_cycles() {
    let mut fixture = common::normal();
    let figures = |fixture: &Fixture| {
        let text = screen(fixture, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        (text, summarise_in_lines(&fixture.run, 200, PLAIN))
    };
    let of_cycles = fixture.run.total.quantiles.clone().unwrap();
    let corrected = |p99_9_ns, at_least| {
        let quantiles = Quantiles { p99_9_ns, ..of_cycles.clone() };
        let corrected = Some(CorrectedQuantiles { added: 9, at_least, quantiles });
        Some(RunStatistics { corrected, ..RunStatistics::default() })
    };
    fixture.run.total.max_ns = Some(Nanos(80_000_000));
    fixture.run.statistics = corrected(of_cycles.p99_9_ns, false);
    let (screen, lines) = figures(&fixture);
    assert!(!screen.contains("of all releases") && !lines.contains("of all releases"), "{screen}");
    fixture.run.statistics = corrected(Some(Nanos(9_437_183)), false);
    let (screen, lines) = figures(&fixture);
    assert!(screen.contains("p99.9 of all releases") && screen.contains("9.44 ms"), "{screen}");
    assert!(lines.contains(", p99.9 of all releases 9.44 ms"), "{lines}");
    fixture.run.statistics = corrected(Some(Nanos(9_437_183)), true);
    assert!(figures(&fixture).1.contains("p99.9 of all releases at least 9.44 ms"));
}

#[test]
fn the_answer_is_golden() {
    let all = common::all().into_iter().chain(common::odd());
    for (name, fixture) in
        all.filter(|(name, _)| ["normal", "invalid", "empty", "relative"].contains(name))
    {
        insta::assert_snapshot!(format!("{name}-screen"), screen(&fixture, 80));
        insta::assert_snapshot!(
            format!("{name}-lines"),
            summarise_in_lines(&fixture.run, 80, PLAIN)
        );
    }
}

#[test]
fn a_failure_begins_with_its_count_and_its_size() {
    let mut fixture = common::normal();
    let verdict = fixture.run.verdict.as_mut().unwrap();
    (verdict.word, verdict.misses, verdict.deadline_ns) = (VerdictWord::Fail, 7, Nanos(100_000));
    (verdict.at_most_share, verdict.at_most_per_second) = (None, None);
    (fixture.run.asked.until.deadline_ns, fixture.run.total.misses) =
        (Some(Nanos(100_000)), Some(7));
    let text = summarise_in_lines(&fixture.run, 200, PLAIN);
    let first = "FAIL: 7 of 120 361 releases missed the 100 us deadline; the largest took 214 us.";
    assert_eq!(text.lines().next(), Some(first));
    assert!(text.contains("max 214 us (214 %)") && text.contains("misses 7"), "{text}");
    assert!(!text.contains("confidence"), "a bound belongs to a run without a miss: {text}");
}

/// Invariant (captures): A run of a wire that was cut off calls what it knows responses, not stimuli.
#[test]
fn a_wire_that_was_cut_off_does_not_count_stimuli_that_nobody_knows() {
    let mut fixture = common::normal();
    let run = &mut fixture.run;
    run.asked.method = Method::Respond(Box::default());
    run.total.max_ns = Some(Nanos(12_995));
    let verdict = run.verdict.as_mut().unwrap();
    (verdict.word, verdict.releases) = (VerdictWord::Inconclusive, 2668);
    let late = LossFinding::SpikesUncounted { count: 329, largest_ns: Nanos(14_708) };
    run.findings.push(Finding::new(late));
    let text = summarise_in_lines(run, 200, PLAIN);
    assert!(text.contains("none of 2 668 known responses missed"), "{text}");
    assert!(text.contains("the largest took 14.7 us"), "{text}");
    let judged = rendered_verdict(run).unwrap().sentence.unwrap();
    assert!(
        judged.contains("of 2 668 known responses missed") && judged.contains("took 14.7 us"),
        "{judged}"
    );
    assert!(!judged.contains("stimuli"), "{judged}");
}
