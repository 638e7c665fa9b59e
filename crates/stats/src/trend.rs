//! A metric over builds, and the builds at which its level changes.

use crate::builds::{Build, Trend, TrendLimit, TrendStep};
use crate::compare::{MeasuredRun, stated_figure, stretch_of};
use crate::compare::{differences, recorded};
use crate::comparison::{ComparisonWord, Metric, RatioInterval, UnsupportedMetric};
use crate::newest::{MOST_NEWEST, NewestStep, Scatter, alarm};
use crate::rank::{Shift, median, values_needed};
use crate::series::{ChangePoint, FEWEST_BUILDS, SeriesChanges, SeriesLimit, change_points};
use latlab_model::Nanos;
use latlab_model::run::{IncompleteRun, Run};
use std::collections::BTreeSet;

/// Each tail of the two-sided 99 % statement at which steps are searched; smaller, since every
/// place is searched.
const TAIL_OF_STEPS: f64 = 0.0005;

/// A run with the name of its build.
#[derive(Clone, Copy, Debug)]
pub struct BuildRun<'a> {
    /// Identifies the build.
    pub build: &'a str,
    pub run: MeasuredRun<'a>,
    /// When an imported run was recorded, in UTC, if its file says so.
    pub recorded: Option<&'a str>,
}

/// Confidence of the interval of the newest builds.
const LEVEL: f64 = 0.95;

/// The series of a metric; builds are ordered by when their first runs were recorded. `margin` is the
/// margin: the share by which a level may exceed the one before.
pub fn trend(runs: &[BuildRun], metric: Metric, margin: f64) -> Trend {
    let mut runs = runs.to_vec();
    runs.sort_by(|one, other| age(one).cmp(&age(other)));
    let stretch = stretch_of(runs.iter().map(|one| &one.run));
    let (mut builds, mut unsupported): (Vec<Build>, Vec<UnsupportedMetric>) = Default::default();
    let incomplete: Vec<IncompleteRun> =
        runs.iter().filter_map(|one| one.run.run.incomplete()).collect();
    runs.retain(|one| one.run.run.incomplete().is_none());
    for BuildRun { build, run, .. } in &runs {
        match stated_figure(metric, run, stretch) {
            Ok(value) => add(&mut builds, build, run.run, value),
            Err(lack) => unsupported.push(lack.of(metric, run)),
        }
    }
    // Builds without a value may be better or worse.
    let is_open = !incomplete.is_empty() || unsupported.iter().any(|one| one.above_ns.is_some());
    let all = || runs.iter().map(|one| one.run.run);
    let kinds: BTreeSet<String> = all().map(recorded).collect();
    let found = Trend {
        deadline_ns: common_deadline(&runs),
        unequal: differences(all(), &["load", "period", "instrument", "board"]),
        unsupported,
        incomplete,
        ..trend_of_builds(builds, metric, margin)
    };
    let found = match is_open
        && matches!(found.word, ComparisonWord::NoRegression | ComparisonWord::Refused)
    {
        true => Trend { word: ComparisonWord::Inconclusive, ..found },
        false => found,
    };
    match kinds.len() > 1 {
        true => {
            Trend { limit: Some(TrendLimit::OtherKinds), word: ComparisonWord::Refused, ..found }
        }
        false => found,
    }
}

/// The series of builds with known values for all runs, the oldest first.
pub fn trend_of_builds(mut builds: Vec<Build>, metric: Metric, margin: f64) -> Trend {
    for build in &mut builds {
        let mut sorted = build.values_ns.clone();
        sorted.sort_by(f64::total_cmp);
        build.value_ns = median(&sorted);
    }
    let logs: Vec<f64> = builds.iter().map(|build| build.value_ns.max(1.0).ln()).collect();
    let SeriesChanges { points, limit } = change_points(&logs);
    let mut steps: Vec<TrendStep> =
        points.iter().map(|point| step(point, &builds, margin)).collect();
    let limit = limit.map(trend_limit);
    let begins: Vec<usize> =
        std::iter::once(0).chain(points.iter().map(|point| point.at)).collect();
    let last = begins.last().copied().unwrap_or(0);
    let search = newest(&logs, &begins, margin);
    let limit = match (limit, &search) {
        // Newest builds that are alike because they are bad are not drift of those before them.
        (Some(TrendLimit::Drift { .. }), Some(found)) => {
            change_points(&logs[..logs.len() - found.values]).limit.map(trend_limit)
        }
        _ => limit,
    };
    let search = search.filter(|_| limit.is_none());
    if let Some(found) = search.filter(|found| found.values > 1 && !found.is_usual) {
        steps.push(newest_step(&found, &builds));
    }
    let smallest_step = scatter(&logs, &begins, 0).map(|scatter| {
        let before = (logs.len() - last).saturating_sub(MOST_NEWEST);
        scatter.smallest_step(before).exp_m1()
    });
    let variation = variation(&logs, points.iter().map(|point| point.at));
    let newest_is_high = search.is_some_and(|found| found.values == 1 || found.is_usual);
    Trend {
        metric,
        margin,
        word: word(
            steps.last(),
            limit,
            newest_is_high,
            smallest_step.is_none_or(|step| step > margin),
        ),
        deadline_ns: None,
        builds,
        steps,
        limit,
        newest_is_high,
        smallest_step,
        variation: variation.map(f64::exp_m1),
        builds_needed: variation.and_then(|variation| builds_needed(margin, variation)),
        unequal: None,
        unsupported: Vec::new(),
        invalid: Vec::new(),
        incomplete: Vec::new(),
    }
}

fn trend_limit(of: SeriesLimit) -> TrendLimit {
    match of {
        SeriesLimit::TooFew { has, needs } => TrendLimit::TooFewBuilds { has, needs },
        SeriesLimit::Drift { correlation } => TrendLimit::Drift { correlation },
    }
}

/// The scatter of the values around their levels, excluding the `without` newest.
fn scatter(logs: &[f64], begins: &[usize], without: usize) -> Option<Scatter> {
    let known = &logs[..logs.len() - without];
    let ends = begins[1..].iter().copied().chain([known.len()]);
    let levels: Vec<&[f64]> =
        begins.iter().zip(ends).filter_map(|(from, to)| known.get(*from..to)).collect();
    Scatter::of(&levels)
}

/// The newest builds, if they exceed the rest of their level by more than the margin and by more
/// than chance: the most of them that do.
fn newest(logs: &[f64], begins: &[usize], margin: f64) -> Option<NewestStep> {
    let last = begins.last().copied().unwrap_or(0);
    let found = (1..=MOST_NEWEST).rev().filter_map(|count| {
        let from = logs.len().checked_sub(count).filter(|from| *from > last)?;
        scatter(logs, begins, count)?.newest(&logs[last..from], &logs[from..])
    });
    found.into_iter().find(|found| found.p <= alarm() && found.height >= margin.ln_1p())
}

fn newest_step(found: &NewestStep, builds: &[Build]) -> TrendStep {
    let at = builds.len() - found.values;
    let (low, high) = found.interval;
    TrendStep {
        at,
        build: builds[at].name.clone(),
        p: found.p,
        ratio: found.height.exp(),
        interval: Some(RatioInterval { low: low.exp(), high: high.exp(), level: LEVEL }),
        word: ComparisonWord::Regressed,
    }
}

/// Sort key: the time, then for equal times the order of import or measurement, then the id.
fn age<'a>(of: &BuildRun<'a>) -> (&'a str, &'a str, &'a str) {
    let run = of.run.run;
    (of.recorded.unwrap_or(&run.started), &run.started, &run.id)
}

fn add(builds: &mut Vec<Build>, name: &str, run: &Run, value: f64) {
    let alone = Build {
        name: name.to_string(),
        started: run.started.clone(),
        runs: vec![run.id.clone()],
        values_ns: vec![value],
        value_ns: value,
        min_ns: run.total.min_ns,
        max_ns: run.total.max_ns,
        releases: run.total.releases,
        misses: run.total.misses,
        measured_ns: run.measured_ns,
    };
    match builds.iter_mut().find(|build| build.name == name) {
        Some(build) => build.join(alone),
        None => builds.push(alone),
    }
}

fn step(point: &ChangePoint, builds: &[Build], margin: f64) -> TrendStep {
    let Shift { estimate, interval } = point.shift;
    let ratio = estimate.exp();
    let interval = interval.map(|(low, high, level)| RatioInterval {
        low: low.exp(),
        high: high.exp(),
        level,
    });
    // The step is known to exist; its height decides.
    let word = match ratio {
        large if large >= 1.0 + margin => ComparisonWord::Regressed,
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

/// Pooled standard deviation within levels.
fn variation(logs: &[f64], steps: impl Iterator<Item = usize>) -> Option<f64> {
    let ends: Vec<usize> = steps.chain([logs.len()]).collect();
    let begins = std::iter::once(0).chain(ends.iter().copied());
    let levels: Vec<&[f64]> = begins.zip(&ends).map(|(from, to)| &logs[from..*to]).collect();
    let freedom: usize = levels.iter().map(|level| level.len().saturating_sub(1)).sum();
    let squares = |level: &&[f64]| {
        let mean = level.iter().sum::<f64>() / level.len().max(1) as f64;
        level.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let sum: f64 = levels.iter().map(squares).sum();
    (freedom > 0).then(|| (sum / freedom as f64).sqrt())
}

/// Builds per level needed for a step as large as the margin, as two samples of a comparison at the
/// level of the search.
fn builds_needed(margin: f64, variation: f64) -> Option<u32> {
    let builds = match variation {
        none if none <= 0.0 => Some(FEWEST_BUILDS / 2),
        some => values_needed(margin.ln_1p() / some, TAIL_OF_STEPS),
    };
    builds.map(|builds| builds.max(FEWEST_BUILDS / 2) as u32)
}

fn word(
    last: Option<&TrendStep>,
    limit: Option<TrendLimit>,
    newest_is_high: bool,
    is_powerless: bool,
) -> ComparisonWord {
    match (limit, last.map(|step| step.word)) {
        (Some(_), _) => ComparisonWord::Refused,
        (None, Some(ComparisonWord::Regressed)) => ComparisonWord::Regressed,
        _ if newest_is_high || is_powerless => ComparisonWord::Inconclusive,
        _ => ComparisonWord::NoRegression,
    }
}

fn common_deadline(runs: &[BuildRun]) -> Option<Nanos> {
    let mut all = runs.iter().map(|one| one.run.run.asked.until.deadline_ns);
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
            min_ns: None,
            max_ns: None,
            releases: 0,
            misses: None,
            measured_ns: Nanos::ZERO,
        };
        values.iter().map(build).collect()
    }

    fn trend_of(values: &[f64]) -> Trend {
        trend_of_builds(level(values), Metric::P99_9, 0.05)
    }

    /// Builds around 100 with a scatter of 1 %.
    fn quiet(builds: usize) -> Vec<f64> {
        let mut random = crate::random::Random::new(3);
        let mut normal = || (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
        (0..builds).map(|_| 100.0 + normal()).collect()
    }

    #[test]
    fn one_high_build_asks_for_another_and_two_are_a_regression() {
        let still = trend_of(&quiet(24));
        assert_eq!((still.word, still.newest_is_high), (ComparisonWord::NoRegression, false));
        assert!(still.smallest_step.unwrap() < 0.05, "{still:?}");
        let ending = |newest: &[f64]| trend_of(&[&quiet(24)[..], newest].concat());
        let one = ending(&[130.0]);
        assert_eq!((one.word, one.newest_is_high), (ComparisonWord::Inconclusive, true));
        for newest in [&[150.0, 149.0][..], &[150.0, 152.0, 149.0]] {
            let found = ending(newest);
            assert_eq!(found.word, ComparisonWord::Regressed, "{newest:?}");
            assert_eq!(found.steps.last().unwrap().at, 24);
        }
        // Within the margin, and back again.
        assert_eq!(ending(&[102.0, 101.5]).word, ComparisonWord::NoRegression);
        assert_eq!(ending(&[150.0, 100.0, 100.5]).word, ComparisonWord::NoRegression);
    }

    #[test]
    fn without_power_nothing_is_excluded() {
        let noisy: Vec<f64> = quiet(24).iter().map(|value| 8.0 * value - 700.0).collect();
        let found = trend_of(&noisy);
        assert_eq!(found.word, ComparisonWord::Inconclusive);
        assert!(!found.newest_is_high && found.smallest_step.unwrap() > 0.1, "{found:?}");
        let limit = Some(TrendLimit::Drift { correlation: 0.5 });
        assert_eq!(word(None, limit, false, false), ComparisonWord::Refused);
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
        assert_eq!(word(Some(&of(1.06)), None, false, true), ComparisonWord::Regressed);
        assert_eq!(of(0.5).word, ComparisonWord::NoRegression, "lower is better");
    }

    #[test]
    fn noisier_builds_need_more_of_them() {
        let quiet = variation(&[0.0, 0.02, 0.0, 1.0, 1.02, 1.0], [3].into_iter()).unwrap();
        assert!((quiet - 0.011_547).abs() < 1e-6, "{quiet}");
        assert_eq!(variation(&[1.0], std::iter::empty()), None);
        assert_eq!(builds_needed(0.05, 0.0), Some(5), "ten builds are searched at least");
        let needed = [0.02, 0.03, 0.05].map(|variation| builds_needed(0.10, variation));
        assert!(needed[0] < needed[1] && needed[1] < needed[2], "{needed:?}");
        assert_eq!(builds_needed(0.05, 0.2), None);
    }

    /// The stated number of builds agrees with the search: four of five steps are found, or
    /// slightly more.
    #[test]
    fn so_many_builds_show_the_step() {
        for (margin, scatter) in [(0.10, 0.05), (0.05, 0.03), (0.20, 0.12)] {
            let builds = builds_needed(margin, scatter).unwrap() as usize;
            let found = (0..60).filter(|seed| is_found(*seed, builds, margin, scatter)).count();
            assert!((45..=60).contains(&found), "{builds} builds for {margin}: {found} of 60");
            let half = (builds / 2).max(5);
            let found = (0..60).filter(|seed| is_found(*seed, half, margin, scatter)).count();
            assert!(found < 48, "{half} builds suffice for {margin}: {found} of 60");
        }
    }

    fn is_found(seed: u64, builds: usize, margin: f64, scatter: f64) -> bool {
        let mut random = crate::random::Random::new(seed);
        let mut normal = || (0..12).map(|_| random.below(1_001) as f64 / 1e3).sum::<f64>() - 6.0;
        let value = |at: usize| if at < builds { 0.0 } else { margin.ln_1p() } + scatter * normal();
        let values: Vec<f64> = (0..2 * builds).map(value).collect();
        !change_points(&values).points.is_empty()
    }
}
