//! How often statements hold for data whose truth is known: coverage experiments with fixed seeds,
//! next to the figures of the specification.
//!
//! The short form is a test. `make stats-study` runs the whole form and writes its table to
//! `results/`.

mod builds;
mod intervals;
mod random;
mod score;
mod searches;
mod sides;
mod stalls;

use builds::{SERIES, looks, nights};
use intervals::{MACHINES, intervals};
use latlab_model::statistics::{TailModel, TailRefusal};
use latlab_model::{Bin, Nanos};
use latlab_stats::{
    Durations, ENOUGH_BURSTS, MissesInTime, TailEvidence, TimedEvent, quantile_interval,
    share_at_most, slice_dependence, tail_model,
};
use random::Random;
use score::{Score, score_table};
use searches::{SEARCHED, searches};
use sides::{DRIFTS, comparisons, copies};
use stalls::{CLUMPS, STALLS, WATCHES, bounds, decisions, watches};
use std::fmt::Write;

/// Allowed distance from the share in the specification.
const TOLERANCE: f64 = 0.04;

/// A row of the table: the specification's figure and the measured one.
struct Row {
    of: &'static str,
    what: String,
    expected: Option<f64>,
    found: f64,
    cases: usize,
}

impl Row {
    fn holds(&self, more: f64) -> bool {
        self.expected.is_none_or(|expected| (self.found - expected).abs() <= TOLERANCE + more)
    }
}

/// Bursts of misses in runs of one length.
struct Bursts {
    name: &'static str,
    runs: usize,
    bursts: f64,
    mean_size: f64,
    varies: bool,
    /// Coverage of the bound with dependence, and of the one without.
    expected: Option<(f64, f64)>,
}

const SETTINGS: [Bursts; 6] = [
    Bursts {
        name: "bursts of 5, homogeneous, 0.6",
        runs: 5,
        bursts: 0.6,
        mean_size: 5.0,
        varies: false,
        expected: Some((1.0, 0.43)),
    },
    Bursts {
        name: "bursts of 5, homogeneous, 10",
        runs: 5,
        bursts: 10.0,
        mean_size: 5.0,
        varies: false,
        expected: Some((0.997, 0.67)),
    },
    Bursts {
        name: "bursts of 5, homogeneous, 10 in one run",
        runs: 1,
        bursts: 10.0,
        mean_size: 5.0,
        varies: false,
        expected: None,
    },
    Bursts {
        name: "bursts of 5, CV 0.7, 5 runs, 50",
        runs: 5,
        bursts: 50.0,
        mean_size: 5.0,
        varies: true,
        expected: Some((0.945, 0.57)),
    },
    Bursts {
        name: "bursts of 5, CV 0.7, 10 runs, 50",
        runs: 10,
        bursts: 50.0,
        mean_size: 5.0,
        varies: true,
        expected: Some((0.930, 0.61)),
    },
    Bursts {
        name: "single misses, CV 0.7, 10 runs, 50",
        runs: 10,
        bursts: 50.0,
        mean_size: 1.0,
        varies: true,
        expected: Some((0.936, 0.81)),
    },
];
const RELEASES: u64 = 1_000_000;
/// How many times more bursts lie above the level below the deadline.
const BURSTS_BELOW: f64 = 5.0;
const SLICES_OF_RUN: usize = 20;

/// Share of cases in which the bound of the miss share is not below the truth.
fn misses(setting: &Bursts, cases: usize) -> [Row; 2] {
    let truth = setting.bursts * setting.mean_size / RELEASES as f64;
    let (mut said, mut holds, mut naive_holds) = (0, 0, 0);
    for case in 0..cases {
        let random = &mut Random::new(case as u64);
        let (mut runs, mut slices, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..setting.runs {
            let rate = if setting.varies { random.gamma(1.0 / 0.49) } else { 1.0 };
            let mut of_run = vec![0; SLICES_OF_RUN];
            for _ in 0..random.poisson(setting.bursts / setting.runs as f64 * rate) {
                let size = random.size(setting.mean_size);
                sizes.push(size);
                of_run[(random.uniform() * 0.999_999 * SLICES_OF_RUN as f64) as usize] += size;
            }
            runs.push(of_run.iter().sum());
            slices.extend(of_run);
        }
        let misses: u64 = runs.iter().sum();
        let runs = if runs.len() > 1 { &runs[..] } else { &[] };
        let below: Vec<u64> = (0..random.poisson(setting.bursts * BURSTS_BELOW))
            .map(|_| random.size(setting.mean_size))
            .collect();
        let is_level = below.len() >= ENOUGH_BURSTS;
        let all = MissesInTime {
            misses,
            releases: RELEASES,
            runs,
            slices: &slices,
            bursts: &sizes,
            bursts_below: if is_level { &below } else { &[] },
        };
        let naive = MissesInTime { runs: &[], slices: &[], bursts: &[], bursts_below: &[], ..all };
        // Without a miss the share is that of releases that begin a burst.
        let stated = if misses > 0 { truth } else { truth / setting.mean_size };
        if let Some(share) = share_at_most(&all) {
            said += 1;
            holds += usize::from(share >= stated);
        }
        naive_holds += usize::from(share_at_most(&naive).is_some_and(|share| share >= truth));
    }
    let row = |what: &str, expected, holds: usize, cases: usize| Row {
        of: "S3",
        what: format!("{}: {what}", setting.name),
        expected,
        found: holds as f64 / cases.max(1) as f64,
        cases,
    };
    let expected = setting.expected;
    [
        row("bound with dependence holds", expected.map(|both| both.0), holds, said),
        row("bound without it holds", expected.map(|both| both.1), naive_holds, cases),
    ]
}

/// Share of cases in which the interval of p99.9 contains the truth, for autocorrelated latencies.
fn quantiles(dependence: f64, expected: (f64, f64), latencies: usize, cases: usize) -> [Row; 2] {
    // The 99.9 % point of the normal distribution.
    let truth = 3.090_232_306_167_813_5;
    let (mut holds, mut naive_holds) = (0, 0);
    for case in 0..cases {
        let random = &mut Random::new(1_000 + case as u64);
        let step = (1.0 - dependence * dependence).sqrt();
        let mut value = random.normal();
        let mut values = Vec::with_capacity(latencies);
        for _ in 0..latencies {
            value = dependence * value + step * random.normal();
            values.push(value);
        }
        let unit = |value: f64| Nanos((value * 1e6) as i64 + 10_000_000);
        let mut sorted: Vec<Nanos> = values.iter().map(|value| unit(*value)).collect();
        sorted.sort_unstable();
        let level = sorted[latencies - latencies / 1_000];
        let slices: Vec<(f64, f64)> = values
            .chunks(latencies / 100)
            .map(|slice| {
                let above = slice.iter().filter(|value| unit(**value) >= level).count();
                (slice.len() as f64, above as f64)
            })
            .collect();
        // The interval only needs the upper part.
        let row = |low: &Nanos| Bin { low_ns: *low, high_ns: *low + Nanos(1), count: 1 };
        let cut = latencies - latencies / 20;
        let below = Bin { low_ns: sorted[0], high_ns: sorted[cut], count: cut as u64 };
        let rows: Vec<Bin> = std::iter::once(below).chain(sorted[cut..].iter().map(row)).collect();
        let observed = (sorted[0], sorted.last().copied());
        let covers = |per_event: Option<f64>| {
            let found = quantile_interval(&rows, 999_000, observed, per_event).unwrap();
            found.low_ns.is_some_and(|low| low <= unit(truth))
                && found.high_ns.is_none_or(|high| high >= unit(truth))
        };
        let found = slice_dependence(&slices, &[], &Durations::default());
        holds += usize::from(covers(found.map(|found| found.per_event)));
        naive_holds += usize::from(covers(None));
    }
    let row = |what: &str, expected, holds| Row {
        of: "S4",
        what: format!("p99.9, AR(1) with {dependence}: {what}"),
        expected: Some(expected),
        found: holds as f64 / cases as f64,
        cases,
    };
    [
        row("interval with dependence holds", expected.0, holds),
        row("interval without it holds", expected.1, naive_holds),
    ]
}

/// A distribution by its upper tail: the value that a share exceeds, in microseconds.
struct Tail {
    name: &'static str,
    at: fn(f64) -> f64,
    /// A second mechanism: its expected number, and the level it starts at.
    other: Option<(f64, f64)>,
    /// Latencies per run.
    releases: f64,
    /// Share of runs that pass the tests of the shape, and among those with an estimate the share
    /// whose interval contains the truth.
    answers: f64,
    covers: Option<f64>,
}

const TAILS: [Tail; 9] = [
    Tail {
        name: "beta(2,5), bounded",
        at: |share| 300.0 * beta_above(share),
        other: None,
        releases: 1e8,
        answers: 0.90,
        covers: Some(0.96),
    },
    Tail {
        name: "exponential",
        at: |share| -3.0 * share.ln(),
        other: None,
        releases: 1e8,
        answers: 0.94,
        covers: Some(0.94),
    },
    Tail {
        name: "GPD -0.3, bounded",
        at: |share| 150.0 * (1.0 - share.powf(0.3)) / 0.3,
        other: None,
        releases: 1e6,
        answers: 0.91,
        covers: Some(0.93),
    },
    Tail {
        name: "Weibull 0.7",
        at: |share| (-share.ln()).powf(1.0 / 0.7),
        other: None,
        releases: 1e8,
        answers: 0.94,
        covers: Some(0.94),
    },
    Tail {
        name: "lognormal",
        at: |share| 20.0 * (0.25 * normal_above(share)).exp(),
        other: None,
        releases: 1e8,
        answers: 0.90,
        covers: Some(0.94),
    },
    Tail {
        name: "GPD 0.25, heavy",
        at: |share| (share.powf(-0.25) - 1.0) / 0.25,
        other: None,
        releases: 1e8,
        answers: 0.03,
        covers: None,
    },
    Tail {
        name: "second mode, 300 hits",
        at: |share| -3.0 * share.ln(),
        other: Some((300.0, 140.0)),
        releases: 1e8,
        answers: 0.00,
        covers: None,
    },
    Tail {
        name: "second mode, 5 hits",
        at: |share| -3.0 * share.ln(),
        other: Some((5.0, 140.0)),
        releases: 1e8,
        answers: 0.01,
        covers: None,
    },
    Tail {
        name: "second mode, 0.1 hits",
        at: |share| -3.0 * share.ln(),
        other: Some((0.1, 140.0)),
        releases: 1e8,
        answers: 0.82,
        covers: Some(0.00),
    },
];
/// Enough for the lowest cell of the thousand largest to be complete.
const LARGEST: usize = 1_500;

/// Upper quantile of the normal distribution.
fn normal_above(share: f64) -> f64 {
    let above = |x: f64| {
        // Continued fraction of Mills' ratio, for the far tail only.
        let fraction = (1..60).rev().fold(x, |rest, k| x + f64::from(k) / rest);
        (-x * x / 2.0).exp() / (std::f64::consts::TAU.sqrt() * fraction)
    };
    halved(above, share, (1.0, 40.0))
}

/// Upper quantile of beta(2,5).
fn beta_above(share: f64) -> f64 {
    halved(|x| (1.0 - x).powi(6) + 6.0 * x * (1.0 - x).powi(5), share, (0.0, 1.0))
}

/// Where a falling function has this value, by halving.
fn halved(above: impl Fn(f64) -> f64, share: f64, (mut low, mut high): (f64, f64)) -> f64 {
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if above(middle) > share { low = middle } else { high = middle }
    }
    high
}

/// Draws the largest latencies and fits a model to them (Renyi's representation).
fn model(tail: &Tail, case: u64) -> TailModel {
    let random = &mut Random::new(10_000 + case);
    let mut sum = 0.0;
    let mut sizes: Vec<f64> = (0..LARGEST)
        .map(|_| {
            sum += random.exponential();
            (tail.at)(sum / tail.releases)
        })
        .collect();
    if let Some((mean, level)) = tail.other {
        let hits = random.poisson(mean);
        sizes.extend((0..hits).map(|_| level + random.exponential() * 5.0));
    }
    let event = |size: &f64| TimedEvent { at: random.uniform(), size: size.floor() * 1e3 };
    let bursts: Vec<TimedEvent> = sizes.iter().map(event).collect();
    tail_model(&TailEvidence {
        bursts: &bursts,
        releases: tail.releases as u64,
        measured: Nanos(tail.releases as i64 * 125_000),
        resolution_ns: 1_000,
        growth: None,
    })
}

fn tails(tail: &Tail, cases: usize) -> Vec<Row> {
    let share = 0.1 / tail.releases;
    let truth = match tail.other {
        // The value that the second mechanism exceeds with this share.
        Some((mean, level)) => level + 5.0 * (mean / tail.releases / share).ln().max(0.0),
        None => (tail.at)(share),
    };
    let (mut shaped, mut answers, mut holds) = (0, 0, 0);
    for case in 0..cases {
        let model = model(tail, case as u64);
        // The specification's share is for the tests of the shape, without those over time.
        let of_time = |one: &TailRefusal| matches!(one, TailRefusal::HalvesDiffer { .. });
        shaped += usize::from(model.refusals.iter().all(of_time));
        if let Some(estimate) = model.estimate {
            answers += 1;
            let is_within =
                estimate.low_ns.0 as f64 <= truth * 1e3 && truth * 1e3 <= estimate.high_ns.0 as f64;
            holds += usize::from(is_within);
        }
    }
    let row = |what: &str, expected, found: usize| Row {
        of: "S6",
        what: format!("{}: {what}", tail.name),
        expected,
        found: found as f64 / cases as f64,
        cases,
    };
    let passes = row("passes the tests of its shape", Some(tail.answers), shaped);
    let answered = row("gets an estimate", None, answers);
    let covered = tail.covers.filter(|_| answers > 0).map(|expected| Row {
        of: "S6",
        what: format!("{}: the estimate's interval holds", tail.name),
        expected: Some(expected),
        found: holds as f64 / answers.max(1) as f64,
        cases: answers,
    });
    [passes, answered].into_iter().chain(covered).collect()
}

const DEPENDENCE: [(f64, (f64, f64)); 3] =
    [(0.0, (0.973, 0.955)), (0.9, (0.945, 0.677)), (0.99, (0.890, 0.220))];

/// Cases per row, from an environment variable.
fn cases(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Statements must be true this often, with tolerance for few cases.
fn assert_right(scores: &[Score]) {
    for one in scores {
        let said = (one.cases - one.refused).max(1) as f64;
        let scatter = 2.0 * (0.95 * 0.05 / said).sqrt();
        let (data, statement) = (&one.data, one.statement);
        assert!(one.rightness() >= 0.93 - scatter, "{data}: {statement}: {}", one.rightness());
    }
}

#[test]
fn statements_hold_as_often_as_they_say() {
    let mut rows: Vec<Row> = SETTINGS.iter().flat_map(|one| misses(one, 400)).collect();
    rows.extend(quantiles(0.9, DEPENDENCE[1].1, 100_000, 80));
    rows.extend(TAILS[1..2].iter().flat_map(|tail| tails(tail, 40)));
    rows.extend(TAILS[5..8].iter().flat_map(|tail| tails(tail, 10)));
    for row in rows {
        // Few cases vary by chance.
        let scatter = 2.0 * (0.25 / row.cases.max(1) as f64).sqrt() * 0.6;
        let Row { what, found, .. } = &row;
        assert!(row.holds(scatter), "{what}: {found:.3}, expected {:?}", row.expected);
    }
}

#[test]
fn intervals_of_dependent_latencies_hold() {
    assert_right(&intervals(&MACHINES[0], 20));
    assert_right(&intervals(&MACHINES[3], 30));
}

#[test]
fn bounds_of_bursts_and_decisions_hold() {
    assert_right(&bounds(&STALLS[2], 200));
    assert_right(&decisions(&CLUMPS[1], 20));
    assert_right(&watches(&WATCHES[1], 4));
}

#[test]
fn comparisons_and_series_hold() {
    assert_right(&comparisons(&DRIFTS[3], 20));
    assert_right(&copies(2));
    assert_right(&looks(&SERIES[0], 4));
}

/// Invariant (tune): At most 5 of 100 searches for settings say anything false, on machines with bursts, drift, heat
/// and neighbours.
#[test]
fn searches_for_settings_say_nothing_false() {
    for machine in &SEARCHED[..3] {
        assert_right(&searches(machine, 6)[..2]);
    }
}

/// `make stats-study`: the table of the guide. `ONLY` selects rows by a part of the name of their
/// data.
#[test]
#[ignore = "the whole form takes minutes: make stats-study"]
fn whole_score() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let is_asked = |name: &str| name.contains(&only);
    let mut scores: Vec<Score> = Vec::new();
    for one in MACHINES.iter().filter(|one| is_asked(one.name())) {
        scores.extend(intervals(one, cases("INTERVALS", 300)));
    }
    for one in STALLS.iter().filter(|one| is_asked(one.name)) {
        scores.extend(bounds(one, cases("STALLS", 1_000)));
    }
    for one in CLUMPS.iter().filter(|one| is_asked(one.name)) {
        scores.extend(decisions(one, cases("DECISIONS", 300)));
    }
    for one in WATCHES.iter().filter(|one| is_asked(one.name)) {
        scores.extend(watches(one, cases("WATCHES", 200)));
    }
    for one in DRIFTS.iter().filter(|one| is_asked(one.name)) {
        scores.extend(comparisons(one, cases("COMPARISONS", 300)));
    }
    scores.extend(copies(10).into_iter().filter(|one| is_asked(&one.data)));
    for one in SERIES.iter().filter(|one| is_asked(one.name)) {
        scores.extend(looks(one, cases("SERIES", 300)));
        scores.extend(nights(one, cases("NIGHTS", 100)));
    }
    for one in SEARCHED.iter().filter(|one| is_asked(one.name)) {
        scores.extend(searches(one, cases("SEARCHES", 100)));
    }
    println!("{}", score_table(&scores));
}

/// `make stats-study`: a minute or two.
#[test]
#[ignore = "the whole form takes a minute: make stats-study"]
fn whole_study() {
    let mut rows: Vec<Row> =
        SETTINGS.iter().flat_map(|one| misses(one, cases("MISSES", 1_500))).collect();
    for (dependence, expected) in DEPENDENCE {
        rows.extend(quantiles(dependence, expected, 200_000, cases("QUANTILES", 1_000)));
    }
    rows.extend(TAILS.iter().flat_map(|tail| tails(tail, cases("TAILS", 400))));
    let mut text = String::from(
        "| of | what | specification | found | cases | within 0.04 |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for row in &rows {
        let expected = row.expected.map_or("-".to_string(), |expected| format!("{expected:.3}"));
        let within = if row.holds(0.0) { "yes" } else { "no" };
        let Row { of, what, found, cases, .. } = row;
        writeln!(text, "| {of} | {what} | {expected} | {found:.3} | {cases} | {within} |").unwrap();
    }
    println!("{text}");
}
