//! How many latencies stand for one that depends on no other, at all scales that a run is long enough for.
//!
//! A run is cut into slices, and the share of each that lies above a level is written as a sum of cosines,
//! the slowest first. Independent latencies make all of them equally large; what varies slowly makes the
//! slow ones larger. Which combination of constant and slow variation it is, and for how long the slow part
//! lasts, is left open and weighted by what the cosines say (Müller and Watson 2016, Review of Economic
//! Studies 83: 1711, with a white and an autoregressive part). So an interval grows by what is not known of
//! slow variation, and hardly where there is no sign of it.

use crate::dependence::size_bias;
use crate::special::{student_above, student_beyond};

/// The median, in parts per million.
const MEDIAN: u32 = 500_000;
/// Cosines that are looked at: slow ones, which decide, and as many faster ones as they are compared with.
const COSINES: usize = 36;
/// Of fewer slices nothing is known.
pub const FEWEST_SLICES: usize = 5;
/// How many times stronger the slow variation may be than what is independent; 0 is none.
const STRENGTHS: [f64; 12] = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0, 2048.0];
/// Numbers of cosines that the slow variation may reach: the first lasts for the whole run.
const CORNERS: usize = 14;
const FIRST_CORNER: f64 = 0.5;
/// Before the data is seen, latencies are taken as independent beyond the length of a slice with this
/// probability.
const INDEPENDENT: f64 = 0.9;
/// A slow variation of so few cosines goes up and down too seldom in the run …
const TOO_SLOW: f64 = 4.0;
/// … if it is so strong …
const STRONG: f64 = 2.0;
/// … and so probable.
const SURELY_SLOW: f64 = 0.8;
/// In a run of a suitable length the slow variation would reach this many cosines.
const ENOUGH_COSINES: f64 = 8.0;
/// What a two-sided interval of 95 % leaves to both sides, and the normal distribution that belongs to it.
const CHANCE: f64 = 0.05;
const NORMAL: f64 = 1.959_963_984_540_054;
/// A combination that is less probable changes nothing.
const NEGLIGIBLE: f64 = 1e-5;

/// How long slow variation lasts, as weights of the numbers of cosines that it may reach.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Durations([f64; CORNERS]);

impl Default for Durations {
    /// What is assumed before the data is seen: rather too long than too short.
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

    /// What one quantile says of another: half of it is taken over, since they need not vary alike.
    pub fn as_hint(self) -> Durations {
        let usual = Durations::default().0;
        Durations(std::array::from_fn(|at| (self.0[at] + usual[at]) / 2.0))
    }
}

fn corner(at: usize) -> f64 {
    FIRST_CORNER * 2_f64.powf(at as f64 / 2.0)
}

/// What slices of a run say of the latencies above a level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SliceDependence {
    /// How many latencies say as much as one that depends on no other.
    pub per_event: f64,
    /// How many times longer a run would have to be to say anything; `None` if this one does.
    pub longer: Option<f64>,
    /// How long slow variation lasts.
    pub durations: Durations,
}

/// The dependence near each of these quantiles, in parts per million and rising, by what tells that of one.
pub fn dependences(
    quantiles: &[u32],
    of: impl Fn(u32, &Durations) -> Option<SliceDependence>,
) -> Vec<Option<SliceDependence>> {
    // The median has the least chance in it, and tells the others what to look for.
    let usual = Durations::default();
    let of_median = of(MEDIAN, &usual).map_or(usual, |found| found.durations.as_hint());
    let mut lower: Option<(f64, SliceDependence)> = None;
    let one = |quantile: &u32| {
        let hint = if *quantile == MEDIAN { usual } else { of_median };
        let mut found = of(*quantile, &hint)?;
        let above = 1.0 - f64::from(*quantile) / 1e6;
        // What comes and goes lifts the latencies above both, so that as many of the fewer stand for one.
        if let Some((above_lower, known)) = lower {
            let least = 1.0 + (known.per_event - 1.0) * above / above_lower;
            found.per_event = found.per_event.max(least);
        }
        lower = Some((above, found));
        Some(found)
    };
    quantiles.iter().map(one).collect()
}

/// A combination of independent latencies with a slow variation.
struct Combination {
    probability: f64,
    strength: f64,
    corner: usize,
    /// How many times larger the variance of the whole is than that of independent latencies.
    variance: f64,
}

/// The dependence of latencies: how many each slice has, and how many of these lie above a level, in the
/// order of time. `bursts` are the known sizes of bursts above it. `None` for too few slices, and if
/// nothing or everything lies above.
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
    // A variance that few slices or few events make is not known well.
    let events = count * share.min(1.0 - share) / per_event;
    let known = events.min(contributions(&excess)).max(1.0);
    let student = (student_above(known, CHANCE / 2.0) / NORMAL).powi(2);
    Some(SliceDependence {
        per_event: 1.0 + (per_event - 1.0) * student,
        longer: (probability > SURELY_SLOW).then(longer),
        durations: durations(&combinations, expected),
    })
}

/// The squares of the slowest cosines of what the slices have too much or too little, each 1 on average if
/// that is chance.
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

/// All combinations with their probabilities.
fn combinations(cosines: &[f64], expected: &Durations) -> Vec<Combination> {
    let count = cosines.len() as f64;
    let mut found: Vec<(f64, Combination)> = Vec::new();
    for strength in STRENGTHS {
        for at in 0..CORNERS {
            // Without slow variation it makes no difference how long that lasts.
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
            // The mean of the run lies below its slowest cosine.
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

/// How many standard deviations of independent latencies the true share may lie off, either way.
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

/// How many times more the slices differ than by chance.
fn between(slices: &[(f64, f64)], share: f64) -> f64 {
    let square = |(count, above): &(f64, f64)| {
        let expected = count * share;
        (above - expected).powi(2) / (expected * (1.0 - share))
    };
    let squares: f64 = slices.iter().filter(|slice| slice.0 > 0.0).map(square).sum();
    squares / (slices.len() as f64 - 1.0)
}

/// How many independent values would scatter as unevenly as the slices do, or as five of them together: by
/// their kurtosis. Neighbours are alike, so each counts half.
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
