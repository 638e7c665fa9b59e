//! The share of releases that miss, if misses depend on each other.

use crate::bursts::ENOUGH_BURSTS;
use crate::special::{share_above, student_above};

/// Error probability of a one-sided 95 % bound.
const CHANCE: f64 = 0.05;
/// The normal quantile for that probability.
const NORMAL: f64 = 1.644_853_626_951_472_2;

/// Misses of one or several runs, with what shows their dependence.
#[derive(Clone, Copy, Debug)]
pub struct MissesInTime<'a> {
    pub misses: u64,
    pub releases: u64,
    /// Misses of each run; a single run shows no differences between runs.
    pub runs: &'a [u64],
    /// Misses in equal slices of time.
    pub slices: &'a [u64],
    /// Sizes of the bursts.
    pub bursts: &'a [u64],
    /// Sizes of bursts at a level below the deadline, used in addition if there are only a few
    /// bursts.
    pub bursts_below: &'a [u64],
}

/// How many misses count as one independent event: the largest estimate from runs, slices and
/// bursts (Korn and Graubard 1998).
pub fn misses_per_event(misses: &MissesInTime) -> f64 {
    let below = size_bias(misses.bursts_below).filter(|_| misses.bursts.len() < ENOUGH_BURSTS);
    let terms =
        [dispersion(misses.runs), dispersion(misses.slices), size_bias(misses.bursts), below];
    terms.into_iter().flatten().fold(1.0, f64::max)
}

/// Upper 95 % bound of the share of releases that miss. `None` if burst sizes are known from a few
/// bursts only, or if a few bursts hold most of the misses: a larger one may be just as likely.
pub fn share_at_most(misses: &MissesInTime) -> Option<f64> {
    let of_bursts = [misses.bursts.len(), misses.bursts_below.len()].into_iter().max().unwrap_or(0);
    let is_timed = !misses.bursts.is_empty();
    let are_few = of_bursts < ENOUGH_BURSTS || uneven(misses) < ENOUGH_BURSTS;
    if is_timed && misses.misses > 0 && are_few {
        return None;
    }
    let samples = if misses.runs.len() > 1 { misses.runs.len() } else { misses.slices.len() };
    // The variance is known no better than the bursts that cause it.
    let samples = if is_timed { samples.min(uneven(misses)) } else { samples };
    let student = match samples {
        0 | 1 => 1.0,
        samples => (student_above(samples as f64 - 1.0, CHANCE) / NORMAL).powi(2),
    };
    let each = match misses.misses {
        0 => 1.0,
        _ => misses_per_event(misses) * student,
    };
    Some(share_above(misses.misses as f64 / each, misses.releases as f64 / each, CHANCE))
}

/// How many independent bursts would have sizes as uneven as these, by their kurtosis; at least
/// two.
fn uneven(misses: &MissesInTime) -> usize {
    let of = |sizes: &[u64]| {
        let sum = |power: i32| sizes.iter().map(|size| (*size as f64).powi(power)).sum::<f64>();
        if sizes.is_empty() { 0.0 } else { (3.0 * sum(2).powi(2) / sum(4)).min(sizes.len() as f64) }
    };
    let events = match misses.bursts.len() {
        0..ENOUGH_BURSTS => of(misses.bursts).max(of(misses.bursts_below)),
        _ => of(misses.bursts),
    };
    events.ceil().max(2.0) as usize
}

/// Upper 95 % bound of the share of releases that begin a burst; `clump` is the number of bursts
/// that occur together, if known.
pub fn begins_at_most(bursts: u64, clump: Option<f64>, releases: u64) -> f64 {
    let clump = clump.unwrap_or(1.0).max(1.0);
    share_above(bursts as f64 / clump, releases as f64 / clump, CHANCE)
}

/// Variance over mean of counts, which is 1 if they are independent; `None` with too few.
fn dispersion(counts: &[u64]) -> Option<f64> {
    let mean = counts.iter().map(|count| *count as f64).sum::<f64>() / counts.len() as f64;
    let squares = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum::<f64>();
    (counts.len() > 1 && mean > 0.0).then(|| squares / (counts.len() as f64 - 1.0) / mean)
}

/// The size of the burst that contains the typical miss.
pub fn size_bias(bursts: &[u64]) -> Option<f64> {
    let sum = |of: fn(f64) -> f64| bursts.iter().map(|size| of(*size as f64)).sum::<f64>();
    let misses = sum(|size| size);
    (misses > 0.0).then(|| sum(|size| size * size) / misses)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: [u64; 5] = [12, 27, 9, 24, 32];
    const SLICES: [u64; 25] =
        [1, 2, 5, 0, 4, 6, 8, 2, 9, 2, 3, 1, 2, 1, 2, 4, 8, 2, 6, 4, 10, 4, 9, 2, 7];

    fn near(got: f64, expected: f64) -> bool {
        (got / expected - 1.0).abs() < 1e-9
    }

    /// Values of the prototype, by scipy.stats.beta.ppf.
    #[test]
    fn the_dependent_bound_is_that_of_the_oracle() {
        let bursts = [[1; 60].as_slice(), &[2; 10], &[3; 4], &[6, 6]].concat();
        assert!(near(dispersion(&RUNS).unwrap(), 4.697_115_384_615_385));
        assert!(near(dispersion(&SLICES).unwrap(), 2.076_923_076_923_077));
        assert!(near(size_bias(&bursts).unwrap(), 2.0), "{:?}", size_bias(&bursts));
        let misses = MissesInTime {
            misses: 104,
            releases: 200_000,
            runs: &RUNS,
            slices: &SLICES,
            bursts: &bursts,
            bursts_below: &[],
        };
        assert!(near(share_at_most(&misses).unwrap(), 8.239_855_940_692_012e-4));
        let naive = MissesInTime { runs: &[], slices: &[], bursts: &[], ..misses };
        assert!(near(share_at_most(&naive).unwrap(), 6.119_909_334_014_83e-4));
    }

    #[test]
    fn sizes_of_a_few_bursts_come_from_a_lower_level() {
        let few = MissesInTime {
            misses: 3,
            releases: 200_000,
            runs: &[],
            slices: &[],
            bursts: &[1, 2],
            bursts_below: &[9; 12],
        };
        assert!(near(misses_per_event(&few), 9.0));
        let enough = [1; 10];
        let many = MissesInTime { misses: 10, bursts: &enough, ..few };
        assert!(near(misses_per_event(&many), 1.0));
        // A stall that was seen is not made smaller by what lies below.
        let stall = MissesInTime { misses: 46, bursts: &[1, 45], bursts_below: &[1; 12], ..few };
        assert!(near(misses_per_event(&stall), 2026.0 / 46.0));
        let none = MissesInTime { misses: 0, bursts: &[], ..few };
        assert!(near(share_at_most(&none).unwrap(), crate::at_most_share(200_000)));
        // A few bursts alone give no bound; uneven ones tell less than even ones.
        assert_eq!(share_at_most(&MissesInTime { bursts_below: &[], ..few }), None);
        let (even, uneven) = ([4; 12], [2, 2, 2, 2, 2, 2, 6, 6, 6, 6, 6, 6]);
        let of = |bursts: &[u64]| share_at_most(&MissesInTime { misses: 48, bursts, ..none });
        assert!(of(&uneven).unwrap() > of(&even).unwrap());
        // If a few hold most of the misses, a larger one may be just as likely.
        assert_eq!(of(&[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 37]), None);
        assert_eq!(of(&[2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 24]), None);
    }
}
