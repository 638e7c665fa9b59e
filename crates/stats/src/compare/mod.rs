//! Compares the runs of two sides.
//!
//! The unit of replication is the run: thousands of latencies of one run describe that run, and two
//! runs of the same machine differ by more than their latencies suggest. So each run gives one
//! value per metric, and the sides are compared by the exact rank test, which assumes no
//! distribution.

mod drift;
mod earlier;
mod figures;
mod judgement;
mod misses;
mod remarks;
mod shifts;
#[cfg(test)]
mod tests;

use crate::comparison::{
    ComparedCauses, ComparedRun, ComparisonRemark, ComparisonWord, Metric, MetricComparison,
    MetricDrift, RunComparison, ScenarioComparison, UnsupportedMetric,
};
use crate::joint::joint_test;
use crate::span::Span;
use drift::{DriftFit, InTurn};
use earlier::{ByEarlier, EarlierRuns};
pub use figures::{figure, stated_figure, stretch_of};
use judgement::{Evidence, judge_metric, logs};
use latlab_model::explanation::CauseCounts;
use latlab_model::{Run, ThreadBins};
pub use remarks::{differences, recorded};
use std::collections::BTreeSet;

/// A run with the data that a comparison needs.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredRun<'a> {
    pub run: &'a Run,
    pub bins: &'a [ThreadBins],
    /// Intervals of all threads together.
    pub spans: &'a [Span],
    /// The row of its campaign; `None` outside campaigns.
    pub scenario: Option<&'a str>,
}

/// How much worse a candidate may be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Margin: share by which its figures may be larger.
    pub margin: f64,
    /// Allowed bursts of deadline misses per hour; `None` to compare them only.
    pub bursts_per_hour: Option<f64>,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { margin: 0.05, bursts_per_hour: None }
    }
}

/// Compares two sides of runs; neither may be empty. Runs that may lack latencies are left out.
pub fn compare_runs(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
    tolerance: &Tolerance,
) -> RunComparison {
    compare_beside(base, candidate, &[], tolerance)
}

/// The same with `earlier` runs of the machines, which tell how much runs differ if the sides have
/// few.
pub fn compare_beside(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
    earlier: &[MeasuredRun],
    tolerance: &Tolerance,
) -> RunComparison {
    let incomplete = base.iter().chain(candidate).filter_map(|one| one.run.incomplete()).collect();
    let [base, candidate] = [base, candidate].map(|side| -> Vec<MeasuredRun> {
        side.iter().filter(|one| one.run.incomplete().is_none()).copied().collect()
    });
    match base.is_empty() || candidate.is_empty() {
        true => RunComparison {
            margin: tolerance.margin,
            word: ComparisonWord::Inconclusive,
            scenarios: Vec::new(),
            only_one_side: Vec::new(),
            invalid: Vec::new(),
            incomplete,
        },
        false => {
            RunComparison { incomplete, ..compare_complete(&base, &candidate, earlier, tolerance) }
        }
    }
}

fn compare_complete(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
    earlier: &[MeasuredRun],
    tolerance: &Tolerance,
) -> RunComparison {
    let all_named = base.iter().chain(candidate).all(|one| one.scenario.is_some());
    let names = |side: &[MeasuredRun]| -> BTreeSet<String> {
        side.iter().filter_map(|one| one.scenario).map(str::to_string).collect()
    };
    let (of_base, of_candidate) = (names(base), names(candidate));
    // The user asked by name for one row against another.
    let are_two_rows = of_base.len() == 1 && of_candidate.len() == 1 && of_base != of_candidate;
    let by_row = all_named && !are_two_rows;
    let scenarios = match by_row {
        true => {
            let common: Vec<&String> = of_base.intersection(&of_candidate).collect();
            let of = |side: &[MeasuredRun<'_>], name: &str| -> Vec<usize> {
                (0..side.len()).filter(|&at| side[at].scenario == Some(name)).collect()
            };
            let pick = |name: &&String| {
                let base: Vec<MeasuredRun> =
                    of(base, name).into_iter().map(|at| base[at]).collect();
                let candidate: Vec<MeasuredRun> =
                    of(candidate, name).into_iter().map(|at| candidate[at]).collect();
                let sides = [&base[..], &candidate];
                compare_scenario(Some(name.as_str()), sides, earlier, tolerance, common.len())
            };
            common.iter().map(pick).collect()
        }
        false => vec![compare_scenario(None, [base, candidate], earlier, tolerance, 1)],
    };
    let only_one_side = match by_row {
        true => of_base.symmetric_difference(&of_candidate).cloned().collect(),
        false => Vec::new(),
    };
    let words = scenarios.iter().map(|one: &ScenarioComparison| one.word);
    RunComparison {
        margin: tolerance.margin,
        word: words.max().unwrap_or(ComparisonWord::Refused),
        scenarios,
        only_one_side,
        invalid: Vec::new(),
        incomplete: Vec::new(),
    }
}

const METRICS: &[Metric] =
    &[Metric::P50, Metric::P99, Metric::P99_9, Metric::P99_99, Metric::MedianMaximum];

/// A metric that all runs have, with a value for each.
struct Values {
    metric: Metric,
    base: Vec<f64>,
    candidate: Vec<f64>,
    /// The values as the runs state them.
    stated: [Vec<f64>; 2],
}

impl Values {
    fn drift(&self, in_turn: &Option<InTurn>) -> Option<DriftFit> {
        in_turn.as_ref()?.fit(&logs(&self.base), &logs(&self.candidate))
    }
}

/// The steepest significant drift of the runs.
fn seen_drift(supported: &[Values], fits: &[Option<DriftFit>]) -> Option<MetricDrift> {
    let seen = supported.iter().zip(fits).filter_map(|(one, fit)| {
        let fit = fit.filter(|fit| fit.is_seen)?;
        Some(MetricDrift { metric: one.metric, a_run: fit.slope.exp_m1() })
    });
    seen.max_by(|one, other| one.a_run.abs().total_cmp(&other.a_run.abs()))
}

fn compare_scenario(
    name: Option<&str>,
    [all_base, all_candidate]: [&[MeasuredRun]; 2],
    earlier: &[MeasuredRun],
    tolerance: &Tolerance,
    scenarios: usize,
) -> ScenarioComparison {
    let (base, candidate) = (&without_copies(all_base)[..], &without_copies(all_candidate)[..]);
    let copies = all_base.len() + all_candidate.len() - base.len() - candidate.len();
    let in_turn = InTurn::of(base, candidate);
    let (supported, unsupported) = values(base, candidate);
    let shares = misses::miss_shares(base, candidate);
    let sides: Vec<(&[f64], &[f64])> = supported
        .iter()
        .map(|one| (one.base.as_slice(), one.candidate.as_slice()))
        .chain(shares.iter().map(|one| (one.base.as_slice(), one.candidate.as_slice())))
        .collect();
    // Each scenario has its own runs, so their probabilities multiply.
    let of_all = |p: f64| 1.0 - (1.0 - p.min(1.0)).powi(scenarios as i32);
    let mut p_of_all: Vec<f64> = joint_test(&sides).into_iter().map(of_all).collect();
    let earlier = EarlierRuns::of(base, candidate, earlier);
    let stretch = stretch_of(base.iter().chain(candidate));
    // All metrics are judged by earlier runs, or none is.
    let differences: Option<Vec<ByEarlier>> = earlier.as_ref().and_then(|earlier| {
        let of = |one: &Values| {
            let (base, candidate) =
                (earlier::placed(base, &one.base), earlier::placed(candidate, &one.candidate));
            earlier.difference(one.metric, stretch, &base, &candidate)
        };
        supported.iter().map(of).collect()
    });
    let earlier = earlier.filter(|_| differences.is_some());
    for (p, found) in p_of_all.iter_mut().zip(differences.iter().flatten()) {
        *p = of_all((found.p * supported.len() as f64).min(1.0));
    }
    // Misses come after the metrics.
    let of_misses = p_of_all.get(supported.len()).copied().unwrap_or(1.0);
    let fits: Vec<Option<DriftFit>> = supported.iter().map(|one| one.drift(&in_turn)).collect();
    let drift = seen_drift(&supported, &fits);
    let order = in_turn.as_ref().map(|_| ComparisonRemark::OneAfterTheOther { drift });
    let limits = remarks::remarks(base, candidate, copies, order, earlier.as_ref());
    let refused = limits.iter().any(remarks::refuses);
    let metrics: Vec<MetricComparison> = supported
        .iter()
        .zip(p_of_all)
        .zip(fits)
        .enumerate()
        .map(|(at, ((one, p_of_all), fit))| {
            let judged = judge_metric(&Evidence {
                metric: one.metric,
                base: &one.base,
                candidate: &one.candidate,
                p_of_all,
                margin: tolerance.margin,
                by_earlier: differences.as_ref().map(|all| all[at]),
                drift: fit,
                drifts: drift.is_some(),
                refused,
            });
            let [base_ns, candidate_ns] = one.stated.clone();
            MetricComparison { base_ns, candidate_ns, ..judged }
        })
        .collect();
    let misses = shares.map(|shares| {
        let in_turn = in_turn.as_ref();
        let drifts = drift.is_some();
        let evidence =
            misses::MissEvidence { shares, p_of_all: of_misses, in_turn, drifts, refused };
        misses::compare_misses(base, candidate, tolerance, &evidence)
    });
    let words = metrics.iter().map(|one| one.word).chain(misses.iter().filter_map(|one| one.word));
    // What lies above the bins of a file may be worse on either side.
    let is_open = unsupported.iter().any(|one| one.above_ns.is_some());
    let open = is_open.then_some(ComparisonWord::Inconclusive);
    ScenarioComparison {
        name: name.map(str::to_string),
        // The candidate's own runs show that it exceeds a tolerated rate.
        word: words
            .chain(open)
            .max()
            .filter(|word| !refused || *word == ComparisonWord::Regressed)
            .unwrap_or(ComparisonWord::Refused),
        base: base.iter().map(compared_run).collect(),
        candidate: candidate.iter().map(compared_run).collect(),
        metrics,
        unsupported,
        shifts: shifts::quantile_shifts(base, candidate),
        misses,
        causes: causes(base, candidate),
        remarks: limits,
    }
}

/// Leaves out runs with exactly the latencies of another: a copy, a second import or a simulation
/// with the same seed is no replication.
fn without_copies<'a>(side: &[MeasuredRun<'a>]) -> Vec<MeasuredRun<'a>> {
    let has_shape = |one: &MeasuredRun| one.bins.iter().any(|thread| thread.bins.len() > 1);
    let is_copy = |at: usize| {
        let one = &side[at];
        let is_same = |other: &MeasuredRun| {
            let (one_total, total) = (&one.run.total, &other.run.total);
            one.bins == other.bins
                && (one_total.min_ns, one_total.max_ns) == (total.min_ns, total.max_ns)
                && one_total.mean_ns == total.mean_ns
        };
        has_shape(one) && side[..at].iter().any(is_same)
    };
    (0..side.len()).filter(|at| !is_copy(*at)).map(|at| side[at]).collect()
}

fn causes(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparedCauses> {
    let of = |side: &[MeasuredRun]| {
        CauseCounts::pooled(side.iter().map(|one| one.run.explanation.as_ref()))
    };
    Some(ComparedCauses { base: of(base)?, candidate: of(candidate)? })
}

fn values(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
) -> (Vec<Values>, Vec<UnsupportedMetric>) {
    let stretch = stretch_of(base.iter().chain(candidate));
    let (mut supported, mut unsupported) = (Vec::new(), Vec::new());
    for &metric in METRICS {
        let of = |side: &[MeasuredRun]| -> Result<Vec<f64>, UnsupportedMetric> {
            let value = |one: &MeasuredRun| {
                figure(metric, one, stretch).map_err(|lack| lack.of(metric, one))
            };
            side.iter().map(value).collect()
        };
        let stated = |side: &[MeasuredRun]| -> Vec<f64> {
            side.iter().filter_map(|one| stated_figure(metric, one, stretch).ok()).collect()
        };
        match (of(base), of(candidate)) {
            (Ok(of_base), Ok(of_candidate)) => supported.push(Values {
                metric,
                base: of_base,
                candidate: of_candidate,
                stated: [stated(base), stated(candidate)],
            }),
            (Err(lack), _) | (_, Err(lack)) => unsupported.push(lack),
        }
    }
    (supported, unsupported)
}

fn compared_run(one: &MeasuredRun) -> ComparedRun {
    let run = one.run;
    ComparedRun {
        id: run.id.clone(),
        started: run.started.clone(),
        hostname: run.machine.hostname.clone(),
        boot_id: run.machine.boot_id.clone(),
        measured_ns: run.measured_ns,
        cycles: run.total.cycles,
        releases: run.total.releases,
        overruns: run.total.overruns,
        misses: run.total.misses,
        min_ns: run.total.min_ns,
        max_ns: run.total.max_ns,
        measurement_sha256: run.guest_measurement.as_ref().map(|one| one.sha256.clone()),
    }
}
