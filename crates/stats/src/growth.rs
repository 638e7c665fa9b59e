//! Whether the largest latencies still grow; if so, no statement about them holds for later.

use crate::special::normal;

/// Fewer stretches of time show no trend.
pub const FEWEST_STRETCHES: usize = 10;
/// How many of the largest events the lateness tests use.
const LARGEST: [usize; 2] = [10, 50];

/// An event that a trend could move: its time as a share of the run, and its size.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimedEvent {
    /// From 0 at the first release to 1 at the end.
    pub at: f64,
    pub size: f64,
}

/// The probability that a run without growth looks this much like growing, by three tests together
/// (Holm): the trend of the maxima of its stretches, and how late the largest 10 and the largest 50
/// events came. `None` if the run is too short.
pub fn growth_chance(maxima: &[f64], events: &[TimedEvent]) -> Option<f64> {
    if maxima.len() < FEWEST_STRETCHES {
        return None;
    }
    let trend = rising_order(maxima).chance;
    let mut sorted: Vec<TimedEvent> = events.to_vec();
    sorted.sort_by(|one, other| other.size.total_cmp(&one.size));
    let late = LARGEST.into_iter().filter(|count| sorted.len() >= *count);
    let late = late.map(|count| lateness(sorted[..count].iter().map(|event| event.at)));
    let chances: Vec<f64> = [trend].into_iter().chain(late).collect();
    // First step of Holm: the smallest probability times the number of tests.
    let least = chances.iter().copied().fold(1.0, f64::min);
    Some((least * chances.len() as f64).min(1.0))
}

/// How much a sequence of values rises.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RisingOrder {
    /// From -1 for descending to 1 for ascending (Kendall's tau-b).
    pub tau: f64,
    /// Probability of rising this much without a trend.
    pub chance: f64,
}

/// One-sided test for a rising sequence.
pub fn rising_order(values: &[f64]) -> RisingOrder {
    let n = values.len() as f64;
    let score: f64 = pairs(values).map(|(earlier, later)| sign(later - earlier)).sum();
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties = || sorted.chunk_by(|one, other| one == other).map(|equal| equal.len() as f64);
    let weighted: f64 = ties().map(|equal| equal * (equal - 1.0) * (2.0 * equal + 5.0)).sum();
    let tied: f64 = ties().map(|equal| equal * (equal - 1.0) / 2.0).sum();
    // Time has no ties.
    let variance = (n * (n - 1.0) * (2.0 * n + 5.0) - weighted) / 18.0;
    let all = n * (n - 1.0) / 2.0;
    match variance > 0.0 && all > tied {
        true => RisingOrder {
            tau: score / (all * (all - tied)).sqrt(),
            chance: normal(-score / variance.sqrt()),
        },
        false => RisingOrder { tau: 0.0, chance: 1.0 },
    }
}

fn pairs(values: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let behind = |at: usize| values.iter().skip(at + 1);
    let earlier = values.iter().enumerate();
    earlier.flat_map(move |(at, one)| behind(at).map(move |later| (*one, *later)))
}

fn sign(difference: f64) -> f64 {
    if difference == 0.0 { 0.0 } else { difference.signum() }
}

/// The probability that events without a trend come this late in a run (Laplace; Cox and Lewis
/// 1966).
pub fn lateness(times: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = times.len() as f64;
    let mean = times.sum::<f64>() / count.max(1.0);
    normal(-(mean - 0.5) * (12.0 * count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, expected: f64) -> bool {
        (got / expected - 1.0).abs() < 1e-9
    }

    /// scipy.stats.kendalltau with ties, and norm.sf.
    #[test]
    fn chances_are_those_of_the_oracle() {
        let maxima = [31, 29, 35, 30, 33, 36, 34, 38, 33, 37, 40, 36].map(f64::from);
        let RisingOrder { tau, chance } = rising_order(&maxima);
        assert!(near(tau, 0.553_911_709_406_997_3), "{tau}");
        assert!(near(chance, 0.006_563_554_695_785_33), "{chance}");
        let late = [0.1, 0.35, 0.62, 0.7, 0.81, 0.88, 0.9, 0.95, 0.97, 0.99];
        assert!(near(lateness(late.into_iter()), 0.006_447_421_077_047_418));
        let even = [0.05, 0.2, 0.3, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.95];
        assert!(near(lateness(even.into_iter()), 0.456_385_309_548_281_05));
    }

    #[test]
    fn a_growing_run_is_told_from_a_steady_one() {
        let steady: Vec<f64> = (0..100).map(|at| f64::from(at * 37 % 100)).collect();
        let growing: Vec<f64> = (0..100).map(|at| f64::from(at * 37 % 100 + 2 * at)).collect();
        assert!(growth_chance(&steady, &[]).unwrap() > 0.2);
        assert!(growth_chance(&growing, &[]).unwrap() < 0.001);
        assert_eq!(growth_chance(&steady[..9], &[]), None);
        assert_eq!(growth_chance(&[7.0; 100], &[]), Some(1.0));
        // A mode that occurs only at the end.
        let late: Vec<TimedEvent> =
            (0..10).map(|at| TimedEvent { at: 0.9 + 0.01 * f64::from(at), size: 9.0 }).collect();
        assert!(growth_chance(&steady, &late).unwrap() < 0.001);
    }
}
