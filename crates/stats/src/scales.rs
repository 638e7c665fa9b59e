//! How many dependent latencies count as one independent latency, over all time scales that a run
//! covers.
//!
//! A run is cut into slices, and the share of each that lies above a level is written as a sum of
//! cosines, the slowest first. Independent latencies make all of them equally large; slow variation
//! makes the slow ones larger. Which mix of constant and slow variation applies, and how long the
//! slow part lasts, is left open and weighted by the likelihood of the cosines (Müller and Watson
//! 2016, Review of Economic Studies 83: 1711, with a white and an autoregressive part). So an
//! interval grows with the uncertainty about slow variation, and hardly if there is no sign of it.

use crate::dependence::size_bias;
use crate::special::{student_above, student_beyond};

/// The median, in parts per million.
const MEDIAN: u32 = 500_000;
/// Cosines used: the slow ones, which decide, and faster ones to compare with.
const COSINES: usize = 36;
/// With fewer slices, nothing is known.
pub const FEWEST_SLICES: usize = 5;
/// Candidate strengths of the slow variation relative to the independent part; 0 is none.
const STRENGTHS: [f64; 12] = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0, 2048.0];
/// Candidate numbers of cosines that the slow variation reaches: the first lasts for the whole run.
const CORNERS: usize = 14;
const FIRST_CORNER: f64 = 0.5;
/// Prior probability that latencies are independent beyond the length of a slice.
const INDEPENDENT: f64 = 0.9;
/// A slow variation of this few cosines changes too seldom during the run …
const TOO_SLOW: f64 = 4.0;
/// … if it is this strong …
const STRONG: f64 = 2.0;
/// … and this probable.
const SURELY_SLOW: f64 = 0.8;
/// In a run of suitable length the slow variation would reach this many cosines.
const ENOUGH_COSINES: f64 = 8.0;
/// Both tails of a two-sided 95 % interval.
const CHANCE: f64 = 0.05;
const NORMAL: f64 = 1.959_963_984_540_054;
/// Less probable combinations are ignored.
const NEGLIGIBLE: f64 = 1e-5;

/// How long slow variation lasts, as weights of `CORNERS`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Durations([f64; CORNERS]);

impl Default for Durations {
    /// Prior: rather too long than too short.
    fn default() -> Durations {
        let weights: [f64; CORNERS] = std::array::from_fn(|at| corner(at).powf(-0.5));
        Durations(weights).normalised()
    }
}

impl Durations {
    fn normalised(self) -> Durations {
        let sum: f64 = self.0.iter().sum();
        Durations(self.0.map(|weight| weight / sum))
    }

    /// Prior for another quantile, taken over by half, since quantiles need not vary alike.
    pub fn as_hint(self) -> Durations {
        let usual = Durations::default().0;
        Durations(std::array::from_fn(|at| (self.0[at] + usual[at]) / 2.0))
    }
}

fn corner(at: usize) -> f64 {
    FIRST_CORNER * 2_f64.powf(at as f64 / 2.0)
}

/// What slices of a run show about the latencies above a level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SliceDependence {
    /// How many latencies count as one independent latency.
    pub per_event: f64,
    /// How many times longer a run would need to be for a statement; `None` if this one is long
    /// enough.
    pub longer: Option<f64>,
    pub durations: Durations,
}

/// The dependence near each of these quantiles (parts per million, ascending), given a function for
/// one of them.
pub fn dependences(
    quantiles: &[u32],
    of: impl Fn(u32, &Durations) -> Option<SliceDependence>,
) -> Vec<Option<SliceDependence>> {
    // The median is the least noisy, and gives the others their prior.
    let usual = Durations::default();
    let of_median = of(MEDIAN, &usual).map_or(usual, |found| found.durations.as_hint());
    let mut lower: Option<(f64, SliceDependence)> = None;
    let one = |quantile: &u32| {
        let hint = if *quantile == MEDIAN { usual } else { of_median };
        let mut found = of(*quantile, &hint)?;
        let above = 1.0 - f64::from(*quantile) / 1e6;
        // What comes and goes affects the latencies above both levels, so at least as many count as
        // one.
        if let Some((above_lower, known)) = lower {
            let least = 1.0 + (known.per_event - 1.0) * above / above_lower;
            found.per_event = found.per_event.max(least);
        }
        lower = Some((above, found));
        Some(found)
    };
    quantiles.iter().map(one).collect()
}

/// A mix of independent latencies with a slow variation.
struct Combination {
    probability: f64,
    strength: f64,
    corner: usize,
    /// Variance relative to that of independent latencies.
    variance: f64,
}

/// The dependence of latencies: their number in each slice and how many of these lie above a level,
/// in order of time. `bursts` are the known sizes of bursts above it. `None` with too few slices,
/// and if all or none lie above.
pub fn slice_dependence(
    slices: &[(f64, f64)],
    bursts: &[u64],
    expected: &Durations,
) -> Option<SliceDependence> {
    let sum = |of: fn(&(f64, f64)) -> f64| slices.iter().map(of).sum::<f64>();
    let (count, above) = (sum(|slice| slice.0), sum(|slice| slice.1));
    let share = above / count.max(1.0);
    if slices.len() < FEWEST_SLICES || share <= 0.0 || share >= 1.0 {
        return None;
    }
    let excess: Vec<f64> = slices.iter().map(|(count, above)| above - count * share).collect();
    let of_chance = count / slices.len() as f64 * share * (1.0 - share);
    let cosines = cosines(&excess, of_chance);
    let combinations = combinations(&cosines, expected);
    let deviations = two_sided(&combinations, cosines.len() as f64) / NORMAL;
    let of_bursts = size_bias(bursts).unwrap_or(1.0);
    let per_event = deviations.powi(2).max(between(slices, share)).max(of_bursts).max(1.0);
    let slow: Vec<&Combination> = combinations
        .iter()
        .filter(|one| one.strength >= STRONG && corner(one.corner) < TOO_SLOW)
        .collect();
    let probability: f64 = slow.iter().map(|one| one.probability).sum();
    let longer = || {
        let logs = slow.iter().map(|one| one.probability * corner(one.corner).ln()).sum::<f64>();
        ENOUGH_COSINES / (logs / probability).exp()
    };
    // A variance from few slices or few events is uncertain.
    let events = count * share.min(1.0 - share) / per_event;
    let known = events.min(contributions(&excess)).max(1.0);
    let student = (student_above(known, CHANCE / 2.0) / NORMAL).powi(2);
    Some(SliceDependence {
        per_event: 1.0 + (per_event - 1.0) * student,
        longer: (probability > SURELY_SLOW).then(longer),
        durations: durations(&combinations, expected),
    })
}

/// Squares of the slowest cosines of the slices' excess, each 1 on average if due to chance.
fn cosines(excess: &[f64], of_chance: f64) -> Vec<f64> {
    let slices = excess.len() as f64;
    let square = |number: usize| {
        let step = std::f64::consts::PI * number as f64 / slices;
        let wave = |(at, excess): (usize, &f64)| excess * (step * (at as f64 + 0.5)).cos();
        let sum: f64 = excess.iter().enumerate().map(wave).sum();
        sum * sum * 2.0 / slices / of_chance
    };
    (1..=COSINES.min(excess.len() - 1)).map(square).collect()
}

/// All mixes with their probabilities.
fn combinations(cosines: &[f64], expected: &Durations) -> Vec<Combination> {
    let count = cosines.len() as f64;
    let mut found: Vec<(f64, Combination)> = Vec::new();
    for strength in STRENGTHS {
        for at in 0..CORNERS {
            // Without slow variation its duration makes no difference.
            if strength == 0.0 && at > 0 {
                break;
            }
            let size = |number: f64| 1.0 + strength / (1.0 + (number / corner(at)).powi(2));
            let sizes = (1..).map(|number| size(f64::from(number)));
            let (mut logs, mut sum) = (0.0, 0.0);
            for (square, size) in cosines.iter().zip(sizes) {
                logs += size.ln();
                sum += square / size;
            }
            let before = match strength > 0.0 {
                false => INDEPENDENT,
                true => (1.0 - INDEPENDENT) / (STRENGTHS.len() - 1) as f64 * expected.0[at],
            };
            let log = before.ln() - 0.5 * logs - 0.5 * count * sum.max(f64::MIN_POSITIVE).ln();
            // The mean of the run is slower than its slowest cosine.
            let variance = sum / count * size(0.25);
            found.push((log, Combination { probability: 0.0, strength, corner: at, variance }));
        }
    }
    let most = found.iter().map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
    let all: f64 = found.iter().map(|(log, _)| (log - most).exp()).sum();
    let probable = found
        .into_iter()
        .map(|(log, one)| Combination { probability: (log - most).exp() / all, ..one });
    probable.filter(|one| one.probability > NEGLIGIBLE).collect()
}

/// Two-sided quantile of the true share's deviation, in standard deviations of independent
/// latencies.
fn two_sided(combinations: &[Combination], freedom: f64) -> f64 {
    let beyond = |deviations: f64| {
        let chance = |one: &Combination| {
            let distance = deviations / one.variance.max(f64::MIN_POSITIVE).sqrt();
            one.probability * student_beyond(freedom, distance)
        };
        combinations.iter().map(chance).sum::<f64>()
    };
    let (mut low, mut high) = (1e-3_f64, 1e6_f64);
    while high / low > 1.0 + 1e-4 {
        let middle = (low * high).sqrt();
        if beyond(middle) > CHANCE { low = middle } else { high = middle }
    }
    high
}

/// Variance between slices relative to chance.
fn between(slices: &[(f64, f64)], share: f64) -> f64 {
    let square = |(count, above): &(f64, f64)| {
        let expected = count * share;
        (above - expected).powi(2) / (expected * (1.0 - share))
    };
    let squares: f64 = slices.iter().filter(|slice| slice.0 > 0.0).map(square).sum();
    squares / (slices.len() as f64 - 1.0)
}

/// Effective number of independent contributions, by the kurtosis of the slices, or of five of them
/// together. Neighbours are alike, so each counts half.
fn contributions(excess: &[f64]) -> f64 {
    let of = |joined: usize| {
        let sums = excess.chunks(joined).map(|chunk| chunk.iter().sum::<f64>());
        let (squares, fourth) = sums
            .fold((0.0, 0.0), |(squares, fourth), sum| (squares + sum * sum, fourth + sum.powi(4)));
        if fourth > 0.0 { 1.5 * squares * squares / fourth } else { excess.len() as f64 }
    };
    of(1).min(of(5))
}

fn durations(combinations: &[Combination], expected: &Durations) -> Durations {
    let mut weights = [0.0; CORNERS];
    for one in combinations.iter().filter(|one| one.strength > 0.0) {
        weights[one.corner] += one.probability;
    }
    match weights.iter().sum::<f64>() > 0.0 {
        true => Durations(weights).normalised(),
        false => *expected,
    }
}
