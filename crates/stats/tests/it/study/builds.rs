//! Series of builds, read once or every night.

use super::random::Random;
use super::score::Score;
use latlab_model::Nanos;
use latlab_stats::builds::Build;
use latlab_stats::comparison::{ComparisonWord, Metric};
use latlab_stats::trend_of_builds;

const CARE: f64 = 0.05;
/// Length of a series that is read once.
const BUILDS: usize = 30;
/// A nightly series is read at each of these lengths.
const NIGHTS: std::ops::RangeInclusive<usize> = 10..=60;

/// How the builds of a series differ, as logarithms.
pub struct Series {
    pub name: &'static str,
    pub held_out: bool,
    pub values: fn(&mut Random, usize) -> Vec<f64>,
}

pub const SERIES: [Series; 6] = [
    Series {
        name: "builds vary by 3 %",
        held_out: false,
        values: |random, builds| dependent(random, builds, 0.0, 0.03),
    },
    Series {
        name: "builds vary by 3 %, lag-1 .3",
        held_out: false,
        values: |random, builds| dependent(random, builds, 0.3, 0.03),
    },
    Series {
        name: "random walk of 3 %",
        held_out: false,
        values: |random, builds| {
            let mut at = 0.0;
            let step = |_| {
                at += 0.03 * random.normal();
                at
            };
            (0..builds).map(step).collect()
        },
    },
    Series {
        name: "builds vary by 8 %, heavy tail",
        held_out: false,
        values: |random, builds| {
            let value = |_| 0.04 * (random.pareto(3.0) - random.pareto(3.0));
            (0..builds).map(value).collect()
        },
    },
    Series {
        name: "builds vary by 5 %, lag-1 .6",
        held_out: true,
        values: |random, builds| dependent(random, builds, 0.6, 0.05),
    },
    Series {
        name: "one run in twenty spoiled, threefold",
        held_out: false,
        values: |random, builds| {
            let value = |_| {
                let spoiled = if random.uniform() < 0.05 { 3_f64.ln() } else { 0.0 };
                0.03 * random.normal() + spoiled
            };
            (0..builds).map(value).collect()
        },
    },
];

fn dependent(random: &mut Random, builds: usize, keeps: f64, scatter: f64) -> Vec<f64> {
    let mut at = random.normal();
    let step = |_| {
        at = keeps * at + (1.0 - keeps * keeps).sqrt() * random.normal();
        scatter * at
    };
    (0..builds).map(step).collect()
}

fn word(logs: &[f64]) -> ComparisonWord {
    let build = |(at, log): (usize, &f64)| Build {
        name: format!("build {at}"),
        started: String::new(),
        runs: Vec::new(),
        values_ns: vec![1e5 * log.exp()],
        value_ns: 0.0,
        min_ns: None,
        max_ns: None,
        releases: 0,
        misses: None,
        measured_ns: Nanos::ZERO,
    };
    let builds = logs.iter().enumerate().map(build).collect();
    trend_of_builds(builds, Metric::P99_9, CARE).word
}

/// How often one look is right: at a series without a step, and at a series whose newest builds are
/// bad.
pub fn looks(series: &Series, cases: usize) -> Vec<Score> {
    let score = |statement| Score::new(series.name, statement, series.held_out);
    let statements = [
        "trend, no step: not REGRESSED",
        "trend, newest 1 bad by 50 %: not NO REGRESSION",
        "trend, newest 2 bad by 50 %: not NO REGRESSION",
        "trend, newest 3 bad by 50 %: not NO REGRESSION",
    ];
    let mut scores = statements.map(score).to_vec();
    for case in 0..cases {
        let values = (series.values)(&mut Random::new(100_000 + case as u64), BUILDS);
        for (bad, score) in scores.iter_mut().enumerate() {
            let mut values = values.clone();
            values[BUILDS - bad..].iter_mut().for_each(|value| *value += 1.5_f64.ln());
            let found = word(&values);
            let is_right = match bad {
                0 => found != ComparisonWord::Regressed,
                _ => found != ComparisonWord::NoRegression,
            };
            score.count((found != ComparisonWord::Refused).then_some(is_right));
        }
    }
    scores
}

/// How often a series without a step is never reported as regressed, read every night.
pub fn nights(series: &Series, cases: usize) -> Vec<Score> {
    let statement = "trend, 51 nights without a step: never REGRESSED";
    let mut score = Score::new(series.name, statement, series.held_out);
    for case in 0..cases {
        let values = (series.values)(&mut Random::new(120_000 + case as u64), *NIGHTS.end());
        let words = || NIGHTS.map(|builds| word(&values[..builds]));
        let is_said = words().any(|word| word != ComparisonWord::Refused);
        score.count(is_said.then(|| words().all(|word| word != ComparisonWord::Regressed)));
    }
    vec![score]
}
