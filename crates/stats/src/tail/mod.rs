//! A model of the largest latencies, and the tests that may refuse it.
//!
//! The largest latency of each burst above a threshold is fitted by a generalised Pareto
//! distribution (peaks over threshold), taking the counting cells into account. The number of
//! bursts is fixed before the data is seen. A model that passes all tests may still be wrong: a
//! mechanism that the run has not met is in no tail. So it is an estimate, and no verdict rests on
//! it.

mod cells;
mod goodness;
#[cfg(test)]
pub mod oracle;
mod pareto;
mod profile;
#[cfg(test)]
mod tests;

use crate::growth::TimedEvent;
use crate::special::count_from;
use cells::TailCells;
use goodness::chances;
use latlab_model::Nanos;
use latlab_model::statistics::{TailEstimate, TailModel, TailRefusal, TailRemark};
use pareto::{ParetoFit, cost, fit};
use profile::{Interval, excess_interval, shape_interval};

/// Bursts in a model, fixed in advance.
const BURSTS: usize = 1_000;
/// With fewer there is no model.
const FEWEST_BURSTS: usize = 250;
/// A larger share of all releases is not a tail.
const LARGEST_SHARE: f64 = 0.05;
/// Cells per mean excess, if the resolution allows.
const CELLS_IN_MEAN: f64 = 10.0;
/// With fewer cells there is no fit.
const FEWEST_CELLS: usize = 5;
/// With fewer cells a fit is coarse.
const FEW_CELLS: usize = 8;
/// Significance level of the fit.
const FIT_ALPHA: f64 = 0.05;
/// 95 % quantile of the chi-square distribution with two degrees of freedom.
const SHAPE_DEVIANCE: f64 = 5.99;
/// Share of the largest that is fitted separately.
const UPPER_PART: f64 = 0.25;
/// How many of the largest are set aside, of a thousand and of fewer.
const SET_ASIDE: (f64, f64) = (20.0, 10.0);
/// Significance level for the largest being outliers.
const OUTLIER_ALPHA: f64 = 0.01;
/// A tail has no end in sight if its shape is certainly above the first or possibly above the
/// second value.
const HEAVY: (f64, f64) = (0.1, 0.4);
/// Significance level of growth.
const GROWTH_ALPHA: f64 = 0.05;
/// Expected number of exceedances of the levels in the second half of a run.
const EXPECTED: [f64; 2] = [10.0, 3.0];
/// Significance level of that test.
const HALVES_ALPHA: f64 = 0.01;
/// A first half with fewer bursts predicts nothing.
const FEWEST_IN_HALF: usize = 50;
/// No estimate goes beyond this multiple of the run's length.
pub const REACH: f64 = 10.0;
/// Tolerance of a fit, in log-likelihood.
const EXACT: f64 = 1e-9;

/// What a model is computed from.
#[derive(Clone, Copy, Debug)]
pub struct TailEvidence<'a> {
    /// The largest latency of each burst, in nanoseconds.
    pub bursts: &'a [TimedEvent],
    /// Releases that were due.
    pub releases: u64,
    pub measured: Nanos,
    /// Smallest difference between two latencies.
    pub resolution_ns: u64,
    /// Probability that the growth of the largest is chance; `None` if unknown.
    pub growth: Option<f64>,
}

/// The model, with an estimate if no test refuses it.
pub fn tail_model(evidence: &TailEvidence) -> TailModel {
    let mut bursts: Vec<TimedEvent> =
        evidence.bursts.iter().copied().filter(|one| one.size.is_finite()).collect();
    bursts.sort_by(|one, other| other.size.total_cmp(&one.size));
    let most = (evidence.releases as f64 * LARGEST_SHARE) as usize;
    let wanted = BURSTS.min(most).min(bursts.len());
    let mut model = TailModel { bursts: wanted as u64, ..TailModel::default() };
    if let Some(p) = evidence.growth.filter(|p| *p < GROWTH_ALPHA) {
        model.refusals.push(TailRefusal::Growing { p });
    }
    if wanted < FEWEST_BURSTS {
        let (has, needs) = (wanted as u64, FEWEST_BURSTS as u64);
        model.refusals.push(TailRefusal::TooFewBursts { has, needs });
        return model;
    }
    // The lowest cell is complete: it includes all latencies as large as the threshold.
    let threshold = bursts[wanted - 1].size;
    bursts.truncate(bursts.partition_point(|one| one.size >= threshold));
    model.bursts = bursts.len() as u64;
    if bursts.len() < BURSTS {
        model.remarks.push(TailRemark::FewBursts { has: bursts.len() as u64 });
    }
    model.threshold_ns = Some(Nanos(threshold as i64));
    let excesses: Vec<f64> = bursts.iter().map(|one| one.size - threshold).collect();
    let width = cell_width(&excesses, evidence.resolution_ns);
    model.cell_ns = Some(Nanos(width as i64));
    let cells = TailCells::of_excesses(&excesses, width);
    let occupied = cells.occupied().len();
    if occupied < FEWEST_CELLS {
        let width_ns = Nanos(width as i64);
        model.refusals.push(TailRefusal::TooCoarse { cells: occupied as u64, width_ns });
        return model;
    }
    if occupied < FEW_CELLS {
        model.remarks.push(TailRemark::Coarse { cells: occupied as u64 });
    }
    let Some(fitted) = fit(&cells, EXACT) else { return model };
    let shape = shape_interval(&cells, &fitted);
    model.scale_ns = Some(fitted.scale).filter(|scale| scale.is_finite());
    model.shape = Some(fitted.shape).filter(|shape| shape.is_finite());
    model.shape_interval = shape.0.zip(shape.1);
    let found = judge_fit(&cells, &fitted, shape, width);
    model.refusals.extend(found);
    model.refusals.extend(judge_halves(&bursts, threshold, width));
    model.remarks.extend(may_be_heavy(shape));
    if model.refusals.is_empty() {
        model.estimate = estimate(&cells, &fitted, threshold, evidence.measured);
        // Without an upper limit the tail has no end in sight.
        let endless = model.estimate.is_none();
        model.refusals.extend(endless.then(|| endless_tail(shape)));
    }
    model
}

/// A tenth of the mean excess, in whole multiples of the resolution.
fn cell_width(excesses: &[f64], resolution: u64) -> f64 {
    let mean = excesses.iter().sum::<f64>() / excesses.len().max(1) as f64;
    let step = resolution.max(1) as f64;
    ((mean / CELLS_IN_MEAN / step).floor() * step).max(step)
}

/// What the shape of the counts says against the fit.
fn judge_fit(
    cells: &TailCells,
    fitted: &ParetoFit,
    shape: Interval,
    width: f64,
) -> Vec<TailRefusal> {
    // The bootstrap takes longest, and adds nothing if another test has refused.
    let quick = [heavy(shape), shape_change(cells, fitted), outliers(cells)];
    let mut found: Vec<TailRefusal> = quick.into_iter().flatten().collect();
    if found.is_empty() {
        let chance = chances(cells, fitted, width);
        let p = chance.both.min(chance.upper);
        found.extend((p < FIT_ALPHA).then_some(TailRefusal::NotOneMechanism { p }));
    }
    found
}

fn heavy((low, high): Interval) -> Option<TailRefusal> {
    let surely = low.is_some_and(|low| low > HEAVY.0);
    let perhaps = high.is_none_or(|high| high > HEAVY.1);
    (surely || perhaps).then(|| endless_tail((low, high)))
}

fn endless_tail((low, high): Interval) -> TailRefusal {
    TailRefusal::HeavyTail { low: low.unwrap_or(pareto::LEAST_SHAPE), high }
}

fn may_be_heavy((low, _): Interval) -> Option<TailRemark> {
    low.filter(|low| *low > 0.0).map(|low| TailRemark::MayBeHeavy { low })
}

/// Whether the largest quarter has the shape that follows from the whole.
fn shape_change(cells: &TailCells, fitted: &ParetoFit) -> Option<TailRefusal> {
    let wanted = cells.total() * UPPER_PART;
    let mut above = cells.above;
    let mut edge = cells.counts.len();
    while edge > 0 && above < wanted {
        edge -= 1;
        above += cells.counts[edge];
    }
    let upper = cells.over(edge);
    let own = fit(&upper, EXACT)?;
    let implied = fitted.scale + fitted.shape * cells.edges[edge];
    let deviance = 2.0 * (cost(&upper, implied, fitted.shape) - own.cost);
    // A tail that should have ended earlier has infinite deviance, which JSON cannot hold.
    let deviance = if deviance.is_finite() { deviance } else { f64::from(u16::MAX) };
    (deviance > SHAPE_DEVIANCE).then_some(TailRefusal::ShapeChanges { deviance })
}

/// Whether the largest are larger than the others predict.
fn outliers(cells: &TailCells) -> Option<TailRefusal> {
    let aside = if cells.total() >= BURSTS as f64 { SET_ASIDE.0 } else { SET_ASIDE.1 };
    let others = cells.censored(aside);
    let fitted = fit(&others, EXACT)?;
    let largest = cells.occupied().last()?.0;
    // Each of those set aside lies beyond the last edge of the others.
    let beyond = fitted.survival(others.end());
    let share = if beyond > 0.0 { (fitted.survival(largest) / beyond).min(1.0) } else { 0.0 };
    let p = -(others.above * (-share).ln_1p()).exp_m1();
    (p < OUTLIER_ALPHA).then_some(TailRefusal::OtherMechanism { largest: others.above as u64, p })
}

/// Whether the first half predicts how often high levels are exceeded in the second one (Arcaro
/// 2020).
fn judge_halves(bursts: &[TimedEvent], threshold: f64, width: f64) -> Option<TailRefusal> {
    let half = |second: bool| -> Vec<f64> {
        let of_half = bursts.iter().filter(|one| (one.at >= 0.5) == second);
        of_half.map(|one| one.size - threshold).collect()
    };
    let (first, second) = (half(false), half(true));
    if first.len() < FEWEST_IN_HALF {
        return None;
    }
    let fitted = fit(&TailCells::of_excesses(&first, width), EXACT)?;
    EXPECTED.into_iter().find_map(|expected| {
        let level = fitted.excess_at(expected / first.len() as f64);
        let seen = second.iter().filter(|excess| **excess >= level).count();
        let level_ns = Nanos((threshold + level) as i64);
        (count_from(seen as f64, expected) < HALVES_ALPHA).then_some(TailRefusal::HalvesDiffer {
            level_ns,
            expected,
            seen: seen as u64,
        })
    })
}

/// The latency that is exceeded about once in ten times the length of the run.
fn estimate(
    cells: &TailCells,
    fitted: &ParetoFit,
    threshold: f64,
    measured: Nanos,
) -> Option<TailEstimate> {
    let share = 1.0 / (cells.total() * REACH);
    let (value, (low, high)) = excess_interval(cells, fitted, share);
    let latency = |excess: f64| Nanos((threshold + excess) as i64);
    Some(TailEstimate {
        once_per_ns: Nanos((measured.0 as f64 * REACH) as i64),
        value_ns: latency(value),
        low_ns: latency(low?),
        high_ns: latency(high?),
    })
}
