use super::*;
use crate::comparison::ComparisonRemark;
use crate::testing::{histogram_of, plan};
use latlab_model::finding::{Finding, ImportFinding};
use latlab_model::import::Import;
use latlab_model::machine::Machine;
use latlab_model::nanos::SECOND;
use latlab_model::plan::{Method, Spin};
use latlab_model::run::{AppliedSetup, EndReason, Losses};
use latlab_model::{Bin, BinLayout, Histogram, Nanos};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A synthetic run, with its counts and intervals.
struct Made {
    run: Run,
    bins: Vec<ThreadBins>,
    spans: Vec<Span>,
}

/// When and where a run was measured.
#[derive(Clone, Copy)]
struct Origin {
    number: usize,
    boot: usize,
    name: &'static str,
}

fn made(latencies: &[i64], origin: Origin) -> Made {
    let counts = histogram_of(latencies);
    let asked = plan();
    let total = crate::summary(&asked, &counts, None);
    let rows = latencies.chunks(latencies.len().div_ceil(20).max(1)).enumerate();
    let span = |(at, chunk): (usize, &[i64])| Span {
        from: SECOND * at as i64,
        to: SECOND * (at as i64 + 1),
        count: chunk.len() as u64,
        max: chunk.iter().max().copied().map(Nanos),
        ..Span::default()
    };
    let Origin { number, boot, name } = origin;
    let machine = Machine { boot_id: Some(format!("boot {boot}")), ..Machine::default() };
    let run = Run {
        schema: 1,
        latlab: "0.1.0".into(),
        id: format!("{name}-{number}"),
        started: format!("2026-11-23T00:00:{number:02}Z"),
        measured_ns: SECOND * 20,
        ended: EndReason::Finished,
        recovered: false,
        asked,
        applied: AppliedSetup::default(),
        machine,
        clocks: None,
        threads: Vec::new(),
        total,
        losses: Losses::default(),
        agent: None,
        findings: Vec::new(),
        doctor: None,
        conditions: None,
        breakdown: None,
        attached: None,
        explanation: None,
        guest_measurement: None,
        loads: Vec::new(),
        self_interference: None,
        largest: Vec::new(),
        statistics: None,
        verdict: None,
        files: BTreeMap::new(),
        checksum: None,
    };
    let bins = vec![ThreadBins { thread: 0, bins: counts.rows() }];
    Made { run, bins, spans: rows.map(span).collect() }
}

/// Latencies around a scale, with a tail; some runs are slightly slower than others.
fn latencies(scale: f64, run: usize, count: usize) -> Vec<i64> {
    let scale = scale * (1.0 + 0.004 * ((run * 7) % 5) as f64);
    let each = |at: usize| {
        let share = (at as f64 + 0.5) / count as f64;
        (scale * (1.0 - 0.3 * (1.0 - share).ln())) as i64
    };
    (0..count).map(each).collect()
}

fn side(
    name: &'static str,
    scale: f64,
    runs: usize,
    place: impl Fn(usize) -> (usize, usize),
) -> Vec<Made> {
    let one = |run: usize| {
        let (number, boot) = place(run);
        made(&latencies(scale, run, 5_000), Origin { number, boot, name })
    };
    (0..runs).map(one).collect()
}

fn measured(one: &Made) -> MeasuredRun<'_> {
    MeasuredRun { run: &one.run, bins: &one.bins, spans: &one.spans, scenario: None }
}

fn compared(base: &[Made], candidate: &[Made]) -> ScenarioComparison {
    let base: Vec<MeasuredRun> = base.iter().map(measured).collect();
    let candidate: Vec<MeasuredRun> = candidate.iter().map(measured).collect();
    compare_runs(&base, &candidate, &Tolerance::default()).scenarios.remove(0)
}

/// Runs that take turns, each in its own boot.
fn turns(first: usize) -> impl Fn(usize) -> (usize, usize) {
    move |run| (2 * run + first, 2 * run + first)
}

fn of(found: &ScenarioComparison, metric: Metric) -> &MetricComparison {
    found.metrics.iter().find(|one| one.metric == metric).unwrap()
}

#[test]
fn the_same_is_no_regression_and_slower_is_one() {
    let base = side("base", 10_000.0, 5, turns(0));
    let same = compared(&base, &side("same", 10_000.0, 5, turns(1)));
    assert_eq!((same.word, same.remarks.as_slice()), (ComparisonWord::NoRegression, &[][..]));
    assert!((of(&same, Metric::P99_9).ratio - 1.0).abs() < 0.01);
    assert_eq!(of(&same, Metric::P99_9).more_runs, None);
    let slower = compared(&base, &side("slower", 13_000.0, 5, turns(1)));
    assert_eq!(slower.word, ComparisonWord::Regressed);
    let tail = of(&slower, Metric::P99_9);
    assert!((tail.ratio - 1.3).abs() < 0.01 && tail.interval.unwrap().low > 1.25, "{tail:?}");
    assert!(tail.p < 0.008 && (tail.p_of_all - tail.p).abs() < 1e-9);
    let faster = compared(&base, &side("faster", 5_000.0, 5, turns(1)));
    assert_eq!(faster.word, ComparisonWord::NoRegression);
}

#[test]
fn a_change_near_the_limit_asks_for_more_runs() {
    let base = side("base", 10_000.0, 5, turns(0));
    let found = compared(&base, &side("more", 10_430.0, 5, turns(1)));
    let tail = of(&found, Metric::P99_9);
    assert_eq!(tail.word, ComparisonWord::Changed, "{tail:?}");
    assert!(tail.more_runs.is_some() && tail.runs_needed.is_some());
    // With twice the margin, the same change of the far tail is no regression.
    assert_eq!(of(&found, Metric::MedianMaximum).word, ComparisonWord::NoRegression);
}

#[test]
fn what_a_run_does_not_carry_is_left_out_with_its_reason() {
    let base = side("base", 10_000.0, 5, turns(0));
    let mut found = compared(&base, &side("same", 10_000.0, 5, turns(1)));
    let lack = found.unsupported.remove(0);
    assert_eq!(
        (lack.metric, lack.has, lack.needs),
        (Metric::P99_99, 5_000, crate::latencies_needed(999_900))
    );
    assert_eq!(found.metrics.len(), 4);
}

#[test]
fn one_row_of_a_campaign_is_compared_with_another_one() {
    let (base, slower) =
        (side("base", 10_000.0, 5, turns(0)), side("slower", 13_000.0, 5, turns(1)));
    fn row<'a>(one: &'a Made, name: &'a str) -> MeasuredRun<'a> {
        MeasuredRun { scenario: Some(name), ..measured(one) }
    }
    let all = |side: &'static str, runs: &[Made]| -> Vec<String> {
        let base: Vec<MeasuredRun> = base.iter().map(|one| row(one, "idle")).collect();
        let candidate: Vec<MeasuredRun> = runs.iter().map(|one| row(one, side)).collect();
        let found = compare_runs(&base, &candidate, &Tolerance::default());
        assert_eq!(found.word, ComparisonWord::Regressed);
        found.only_one_side
    };
    assert!(all("idle", &slower).is_empty() && all("busy", &slower).is_empty());
    // Only rows that both sides have are compared.
    let both: Vec<MeasuredRun> = base
        .iter()
        .zip(["idle", "busy"].into_iter().cycle())
        .map(|(one, name)| row(one, name))
        .collect();
    let other: Vec<MeasuredRun> = slower.iter().map(|one| row(one, "other")).collect();
    let found = compare_runs(&both, &other, &Tolerance::default());
    assert_eq!((found.scenarios.len(), found.only_one_side.len()), (0, 3));
}

#[test]
fn too_few_runs_and_single_boots_are_refused_and_shown_all_the_same() {
    let one =
        compared(&side("base", 10_000.0, 1, turns(0)), &side("slower", 20_000.0, 1, turns(1)));
    assert_eq!(one.word, ComparisonWord::Refused);
    assert_eq!(one.remarks[0], ComparisonRemark::TooFewRuns { base: 1, candidate: 1 });
    assert!((of(&one, Metric::P50).ratio - 2.0).abs() < 0.01);
    let boot = |boot: usize, first: usize| move |run: usize| (2 * run + first, boot);
    let each =
        compared(&side("base", 10_000.0, 5, boot(1, 0)), &side("slower", 20_000.0, 5, boot(2, 1)));
    assert_eq!(
        (each.word, &each.remarks[..]),
        (ComparisonWord::Refused, &[ComparisonRemark::OneBootEach][..])
    );
    let same =
        compared(&side("base", 10_000.0, 5, boot(1, 0)), &side("slower", 20_000.0, 5, boot(1, 1)));
    assert_eq!(
        (same.word, &same.remarks[..]),
        (ComparisonWord::Regressed, &[ComparisonRemark::OneBoot][..])
    );
}

#[test]
fn order_and_left_out_latencies_are_noticed() {
    let early = side("base", 10_000.0, 5, |run| (run, run));
    let mut late = side("late", 10_000.0, 5, |run| (run + 10, run + 10));
    let found = compared(&early, &late);
    assert_eq!(found.remarks, [ComparisonRemark::OneAfterTheOther { drift: None }]);
    for one in &mut late {
        one.run.total.cycles = one.run.total.cycles * 926 / 1000;
    }
    let found = compared(&early, &late);
    let ComparisonRemark::FewerLatencies { of_candidate: true, share, .. } = found.remarks[1]
    else {
        panic!("{:?}", found.remarks)
    };
    assert!((share - 0.074).abs() < 1e-9);
}

/// Runs of sides that did not take turns, whose figures grow by a share per run.
fn drifting(first: usize, scale: f64, a_run: f64) -> Vec<Made> {
    let one = |run: usize| {
        let number = first + run;
        let scale = scale * (1.0 + a_run).powi(number as i32);
        let origin = Origin { number, boot: number, name: "drifting" };
        made(&latencies(scale, run, 5_000), origin)
    };
    (0..5).map(one).collect()
}

#[test]
fn sides_that_did_not_take_turns_are_not_told_apart_on_a_machine_that_drifts() {
    let found = compared(&drifting(0, 10_000.0, 0.02), &drifting(5, 20_000.0, 0.02));
    assert_eq!(found.word, ComparisonWord::Inconclusive);
    assert!(found.metrics.iter().all(|one| one.more_runs.is_none()), "turns decide, not runs");
    let seen = found.remarks.iter().find_map(|remark| match remark {
        ComparisonRemark::OneAfterTheOther { drift } => *drift,
        _ => None,
    });
    assert!((seen.unwrap().a_run - 0.02).abs() < 0.005, "{seen:?}");
    let still = compared(&drifting(0, 10_000.0, 0.0), &drifting(5, 20_000.0, 0.0));
    assert_eq!(still.word, ComparisonWord::Regressed);
}

fn import(quantity: &str) -> Import {
    Import {
        file: "log".into(),
        original: None,
        format: "cyclictest histogram".into(),
        quantity: quantity.into(),
        tool: None,
        command: None,
        recorded: None,
        resolution_ns: None,
        is_summary: false,
        gaps: None,
        facts: Vec::new(),
    }
}

#[test]
fn what_was_measured_otherwise_is_refused_or_named() {
    let base = side("base", 10_000.0, 5, turns(0));
    let mut other = side("other", 10_000.0, 5, turns(1));
    other[2].run.asked.until.deadline_ns = None;
    let found = compared(&base, &other);
    assert_eq!(found.remarks, [ComparisonRemark::OtherDeadlines]);
    assert_eq!((found.misses, found.word), (None, ComparisonWord::NoRegression));
    for one in &mut other {
        one.run.asked.method = Method::Import(Box::new(import("wake-up latency")));
    }
    let what = "instrument".to_string();
    assert_eq!(compared(&base, &other).remarks[0], ComparisonRemark::OtherMethod { what });
    for one in &mut other {
        one.run.asked.method = Method::Spin(Spin::default());
    }
    let found = compared(&base, &other);
    let (latencies, gaps) = ("latencies".to_string(), "gaps".to_string());
    let kinds = ComparisonRemark::OtherKind { base: latencies, candidate: gaps };
    assert_eq!((&found.remarks[0], found.word), (&kinds, ComparisonWord::Refused));
    // The same from a file of another tool.
    for one in &mut other {
        one.run.asked.method = Method::Import(Box::new(import("time taken from a busy loop")));
    }
    assert_eq!(compared(&base, &other).remarks[0], kinds);
}

#[test]
fn counts_as_large_as_can_be_overflow_nothing() {
    let mut base = side("base", 10_000.0, 5, turns(0));
    for one in &mut base {
        one.run.total.releases = u64::MAX;
        one.run.total.cycles = u64::MAX;
        one.run.total.overruns = Some(u64::MAX);
        one.run.total.misses = Some(u64::MAX);
        one.run.measured_ns = Nanos::MAX;
        one.bins[0].bins.iter_mut().for_each(|bin| bin.count = u64::MAX);
    }
    let found = compared(&base, &side("other", 10_000.0, 6, turns(1)));
    assert!(found.remarks.contains(&ComparisonRemark::Copies { runs: 1 }), "{:?}", found.remarks);
    assert!(found.metrics.iter().all(|one| one.ratio.is_finite()), "{found:?}");
    assert!(found.misses.unwrap().p.is_finite());
}

/// Ten hours per run, in four thousand bins.
#[test]
#[ignore = "its figure is one of an optimised program: make stats-study"]
fn a_comparison_of_two_by_ten_runs_takes_three_seconds_at_most() {
    let sides = [("base", 10_000.0, 0), ("slower", 10_300.0, 1)].map(|(name, scale, first)| {
        let mut runs = side(name, scale, 10, turns(first));
        for one in &mut runs {
            one.run.measured_ns = SECOND * 36_000;
            let max = |at: i64| Some(Nanos(20_000 + (at * 7_919) % 30_000));
            let span = |at| Span {
                from: SECOND * at,
                to: SECOND * (at + 1),
                max: max(at),
                ..Span::default()
            };
            one.spans = (0..36_000).map(span).collect();
            let bin = |at: i64| Bin {
                low_ns: Nanos(at * 50),
                high_ns: Nanos(at * 50 + 50),
                count: 1 + (1e8 * (-0.01 * at as f64).exp()) as u64,
            };
            one.bins[0].bins = (20..4_020).map(bin).collect();
        }
        runs
    });
    let started = std::time::Instant::now();
    let found = compared(&sides[0], &sides[1]);
    let taken = started.elapsed();
    println!("2 x 10 runs, {} metrics: {:.2} s", found.metrics.len(), taken.as_secs_f64());
    assert_eq!(found.metrics.len(), 5);
    assert!(taken < std::time::Duration::from_secs(3), "{taken:?}");
}

#[test]
fn misses_of_each_run_are_one_observation() {
    let base = side("base", 10_000.0, 5, turns(0));
    let mut more = side("more", 10_010.0, 5, turns(1));
    for (at, one) in more.iter_mut().enumerate() {
        one.run.total.misses = Some(3 + at as u64);
    }
    let found = compared(&base, &more);
    let misses = found.misses.as_ref().unwrap();
    assert_eq!((misses.base, misses.candidate, misses.base_releases), (0, 25, 25_000));
    assert_eq!(
        (misses.word, found.word),
        (Some(ComparisonWord::Regressed), ComparisonWord::Regressed)
    );
    // With four runs per side and four metrics, misses alone differ by chance too often.
    let few = compared(&base[..4], &more[..4]);
    assert_eq!(few.misses.map(|misses| (misses.p < 0.05, misses.word)), Some((true, None)));
    // If all are in one run, that is one bad run.
    for one in more.iter_mut().skip(1) {
        one.run.total.misses = Some(0);
    }
    assert_eq!(compared(&base, &more).misses.unwrap().word, None);
}

proptest! {
    /// Invariant (comparisons): No infinite or undefined number reaches a comparison, whatever was
    /// measured.
    #[test]
    fn every_number_of_a_comparison_is_finite(
        sides in prop::collection::vec(
            prop::collection::vec(
                prop_oneof![
                    Just(vec![]),
                    Just(vec![7]),
                    Just(vec![500; 4_000]),
                    Just([vec![100; 400], vec![1_i64 << 62; 400]].concat()),
                    Just(vec![-5; 500]),
                    Just(vec![i64::MAX; 500]),
                    (1_000_i64..90_000).prop_map(|scale| latencies(scale as f64, 0, 4_000)),
                ],
                1..6,
            ),
            2,
        ),
    ) {
        let runs = |side: usize| -> Vec<Made> {
            let each = sides[side].iter().enumerate();
            each.map(|(number, all)| made(all, Origin { number, boot: number, name: "any" })).collect()
        };
        let found = compared(&runs(0), &runs(1));
        for one in &found.metrics {
            let interval = one.interval.map_or(vec![], |interval| {
                vec![interval.low, interval.high, interval.level]
            });
            let numbers = [one.ratio, one.p, one.p_of_all, one.margin, one.variation.unwrap_or(0.0)];
            let numbers = numbers.iter().chain(&interval).chain(&one.base_ns).chain(&one.candidate_ns);
            for number in numbers {
                prop_assert!(number.is_finite(), "{one:?}");
            }
            prop_assert!(one.p > 0.0 && one.p <= 1.0 && one.p_of_all <= 1.0);
        }
        prop_assert!(found.misses.is_none_or(|misses| misses.p.is_finite()));
    }
}

/// Latencies of an imported histogram with bins of 1 us up to 400 us.
fn in_file(latencies: &[i64], origin: Origin) -> Made {
    let layout = BinLayout::equal(Nanos::ZERO, Nanos(1_000), 400).unwrap();
    let counts = Histogram::with_layout(layout, latencies.iter().copied().map(Nanos));
    let mut made = made(latencies, origin);
    made.run.total = crate::summary(&made.run.asked, &counts, None);
    made.bins = vec![ThreadBins { thread: 0, bins: counts.rows() }];
    made
}

#[test]
fn a_figure_beyond_the_bins_takes_no_part_and_is_no_all_clear() {
    // A tenth of the candidate's latencies is beyond the bins and may have any size.
    let side = |name, late: i64| -> Vec<Made> {
        let one = |run: usize| {
            let latencies: Vec<i64> = (0..5_000)
                .map(|at| if at % 10 == 0 { late } else { 20_000 + 7 * at + 1_000 * run as i64 })
                .collect();
            in_file(&latencies, Origin { number: run, boot: run, name })
        };
        (0..5).map(one).collect()
    };
    let (base, candidate) = (side("base", 390_000), side("candidate", 900_000));
    let found = compared(&base, &candidate);
    let known = |metric| found.metrics.iter().any(|one| one.metric == metric);
    assert!(known(Metric::P50) && !known(Metric::P99));
    let open = found.unsupported.iter().find(|one| one.metric == Metric::P99).unwrap();
    assert_eq!((open.run.as_str(), open.above_ns), ("candidate-0", Some(Nanos(400_000))));
    assert!(found.word >= ComparisonWord::Inconclusive, "{:?}", found.word);
}

#[test]
fn an_incomplete_run_takes_no_part() {
    let mut candidate = side("candidate", 20_000.0, 5, turns(1));
    let base = side("base", 20_000.0, 5, turns(0));
    let missing = || ImportFinding::ImportIncomplete { missing: "its end".to_string() };
    candidate[2].run.findings.push(Finding::new(missing()));
    let of = |candidate: &[Made]| {
        let [base, candidate] =
            [&base[..], candidate].map(|side| side.iter().map(measured).collect::<Vec<_>>());
        compare_runs(&base, &candidate, &Tolerance::default())
    };
    let found = of(&candidate);
    assert_eq!(found.scenarios[0].candidate.len(), 4);
    assert_eq!(found.incomplete[0].run, candidate[2].run.id);
    candidate.iter_mut().for_each(|one| one.run.findings = vec![Finding::new(missing())]);
    let none = of(&candidate);
    assert_eq!((none.word, none.scenarios.len()), (ComparisonWord::Inconclusive, 0));
    assert_eq!(none.incomplete.len(), 5);
}

/// The median of a histogram with 1 us bins has one value, also in a comparison.
#[test]
fn a_comparison_states_the_figures_of_the_runs() {
    let one = |name| {
        let latencies: Vec<i64> = (0..500).map(|at| 13_000 + 1_000 * (at % 3)).collect();
        in_file(&latencies, Origin { number: 0, boot: 0, name })
    };
    let (base, candidate) = (one("base"), one("candidate"));
    let median = base.run.total.quantiles.as_ref().unwrap().p50_ns.unwrap();
    let found = compared(&[base], &[candidate]);
    assert_eq!(
        (found.metrics[0].metric, &found.metrics[0].base_ns[..]),
        (Metric::P50, &[median.0 as f64][..])
    );
}
