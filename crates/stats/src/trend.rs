//! A metric over builds, with the builds from which on it lies at another level.

use crate::compare::{MeasuredRun, figure, stretch_of};
use crate::rank::{Shift, median};
use crate::series::{ChangePoint, SeriesChanges, SeriesLimit, change_points};
use latlab_model::Nanos;
use latlab_model::run::Run;
use latlab_model::run_comparison::{ComparisonWord, Metric, RatioInterval, UnsupportedMetric};
use latlab_model::trend::{Build, Trend, TrendLimit, TrendStep};

/// A run with the name of its build.
#[derive(Clone, Copy, Debug)]
pub struct BuildRun<'a> {
    /// What tells its build from the others.
    pub build: &'a str,
    /// The run.
    pub run: MeasuredRun<'a>,
}

/// The series of a metric; builds are in the order of their first runs. `care` is the share by which a
/// level may be higher than the one before.
pub fn trend(runs: &[BuildRun], metric: Metric, care: f64) -> Trend {
    let mut runs = runs.to_vec();
    runs.sort_by(|one, other| age(one).cmp(&age(other)));
    let stretch = stretch_of(runs.iter().map(|one| &one.run));
    let (mut builds, mut unsupported): (Vec<Build>, Vec<UnsupportedMetric>) = Default::default();
    for BuildRun { build, run } in &runs {
        match figure(metric, run, stretch) {
            Ok(value) => add(&mut builds, build, run.run, value),
            Err(lack) => unsupported.push(UnsupportedMetric {
                metric,
                run: run.run.id.clone(),
                has: lack.has,
                needs: lack.needs,
            }),
        }
    }
    for build in &mut builds {
        let mut sorted = build.values_ns.clone();
        sorted.sort_by(f64::total_cmp);
        build.value_ns = median(&sorted);
    }
    let logs: Vec<f64> = builds.iter().map(|build| build.value_ns.ln()).collect();
    let SeriesChanges { points, limit } = change_points(&logs);
    let steps: Vec<TrendStep> = points.iter().map(|point| step(point, &builds, care)).collect();
    let limit = limit.map(|limit| match limit {
        SeriesLimit::TooFew { has, needs } => TrendLimit::TooFewBuilds { has, needs },
        SeriesLimit::Drift { correlation } => TrendLimit::Drift { correlation },
    });
    let level = &builds[steps.last().map_or(0, |step| step.at)..];
    let newest_is_high = is_high(level, care);
    Trend {
        metric,
        care,
        word: word(steps.last(), limit, newest_is_high),
        deadline_ns: common_deadline(&runs),
        builds,
        steps,
        limit,
        newest_is_high,
        unsupported,
        invalid: Vec::new(),
    }
}

/// Runs of one second are in the order of their ids.
fn age<'a>(of: &BuildRun<'a>) -> (&'a str, &'a str) {
    (&of.run.run.started, &of.run.run.id)
}

fn add(builds: &mut Vec<Build>, name: &str, run: &Run, value: f64) {
    let at = builds.iter().position(|build| build.name == name).unwrap_or_else(|| {
        builds.push(Build {
            name: name.to_string(),
            started: run.started.clone(),
            runs: Vec::new(),
            values_ns: Vec::new(),
            value_ns: 0.0,
            max_ns: None,
            activations: 0,
            misses: Some(0),
            measured_ns: Nanos::ZERO,
        });
        builds.len() - 1
    });
    let build = &mut builds[at];
    build.runs.push(run.id.clone());
    build.values_ns.push(value);
    build.max_ns = build.max_ns.max(run.total.max_ns);
    build.activations = build.activations.saturating_add(run.total.activations);
    build.misses = build.misses.zip(run.total.misses).map(|(sum, here)| sum.saturating_add(here));
    build.measured_ns += run.measured_ns;
}

fn step(point: &ChangePoint, builds: &[Build], care: f64) -> TrendStep {
    let Shift { estimate, interval } = point.shift;
    let ratio = estimate.exp();
    let interval = interval.map(|(low, high, level)| RatioInterval {
        low: low.exp(),
        high: high.exp(),
        level,
    });
    // That there is a step is known; what counts is how high it is.
    let word = match ratio {
        large if large >= 1.0 + care => ComparisonWord::Regressed,
        _ => ComparisonWord::NoRegression,
    };
    TrendStep {
        at: point.at,
        build: builds[point.at].name.clone(),
        p: point.p,
        ratio,
        interval,
        word,
    }
}

/// Whether the newest of a level lies above all others by more than is tolerated; a step of one build
/// cannot be told from chance.
fn is_high(level: &[Build], care: f64) -> bool {
    let Some((newest, others @ [_, ..])) = level.split_last() else { return false };
    let mut sorted: Vec<f64> = others.iter().map(|build| build.value_ns).collect();
    sorted.sort_by(f64::total_cmp);
    let largest = sorted.last().copied().unwrap_or(f64::INFINITY);
    newest.value_ns > largest && newest.value_ns >= median(&sorted) * (1.0 + care)
}

fn word(
    last: Option<&TrendStep>,
    limit: Option<TrendLimit>,
    newest_is_high: bool,
) -> ComparisonWord {
    match (limit, last.map(|step| step.word)) {
        (Some(_), _) => ComparisonWord::Refused,
        (None, Some(ComparisonWord::Regressed)) => ComparisonWord::Regressed,
        _ if newest_is_high => ComparisonWord::Inconclusive,
        _ => ComparisonWord::NoRegression,
    }
}

fn common_deadline(runs: &[BuildRun]) -> Option<Nanos> {
    let mut all = runs.iter().map(|one| one.run.run.asked.deadline_ns);
    let first = all.next()??;
    all.all(|other| other == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(values: &[f64]) -> Vec<Build> {
        let build = |value: &f64| Build {
            name: "build".into(),
            started: String::new(),
            runs: Vec::new(),
            values_ns: vec![*value],
            value_ns: *value,
            max_ns: None,
            activations: 0,
            misses: None,
            measured_ns: Nanos::ZERO,
        };
        values.iter().map(build).collect()
    }

    #[test]
    fn one_high_build_is_no_step_and_asks_for_another() {
        assert!(is_high(&level(&[100.0, 101.0, 99.0, 120.0]), 0.05));
        assert!(!is_high(&level(&[100.0, 101.0, 99.0, 102.0]), 0.05), "within the limit");
        assert!(!is_high(&level(&[100.0, 130.0, 99.0, 120.0]), 0.05), "as high as another");
        assert!(!is_high(&level(&[100.0]), 0.05) && !is_high(&[], 0.05));
        assert_eq!(word(None, None, true), ComparisonWord::Inconclusive);
        assert_eq!(word(None, None, false), ComparisonWord::NoRegression);
        let limit = Some(TrendLimit::Drift { correlation: 0.5 });
        assert_eq!(word(None, limit, false), ComparisonWord::Refused);
    }

    #[test]
    fn the_height_of_a_step_decides() {
        let builds = level(&[100.0, 100.0, 100.0, 104.0, 104.0, 104.0]);
        let of = |estimate: f64| {
            let shift = Shift { estimate: f64::ln(estimate), interval: None };
            step(&ChangePoint { at: 3, p: 0.005, shift }, &builds, 0.05)
        };
        assert_eq!(of(1.04).word, ComparisonWord::NoRegression);
        assert_eq!(of(1.06).word, ComparisonWord::Regressed);
        assert_eq!(word(Some(&of(1.06)), None, false), ComparisonWord::Regressed);
        assert_eq!(of(0.5).word, ComparisonWord::NoRegression, "lower is better");
    }
}
