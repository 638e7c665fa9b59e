//! Finds large latencies that come with a period, such as that of the kernel's tick.
//!
//! Their times are points on a line: the periodogram of such points (Bartlett 1963) is that of a
//! series of zeros and ones, and without a period its heights are exponentially distributed. A
//! periodogram of the latencies themselves shows little, since a single outlier outweighs any
//! period.

use crate::fourier::transform;
use crate::phase::better_period;
use crate::special::{share_above, share_below};
use latlab_model::Nanos;
use latlab_model::statistics::PeriodicLatencies;
use num_complex::Complex;
use std::f64::consts::TAU;

/// How many of the largest events are searched.
const LARGEST: [usize; 2] = [50, 200];
/// With fewer, no period can be seen.
const FEWEST: usize = 10;
/// Significance level of a peak.
const ALPHA: f64 = 0.01;
/// Bins for the series of all threads together; longer runs get coarser ones, between which the
/// known periods are still found.
const ALL_STEPS: usize = 1 << 22;
/// Upper limit per series …
const MOST_STEPS: usize = 1 << 20;
/// … and lower limit, regardless of the number of threads.
const FEWEST_STEPS: usize = 1 << 14;
/// Fewest periods in a run.
const LEAST_PERIODS: f64 = 3.0;
/// A period may show up as up to this fraction of itself (a harmonic).
const PARTS: u32 = 50;
/// Periods of known disturbances, in milliseconds: ticks, displays, watchdogs, writeback.
const KNOWN: [f64; 15] =
    [1.0, 2.0, 4.0, 10.0, 16.7, 20.0, 33.3, 50.0, 100.0, 250.0, 500.0, 1e3, 2e3, 5e3, 10e3];
/// A period within this relative distance of a known one is taken for it.
const KNOWN_TO: f64 = 0.003;
/// Points within this share of the period around the usual phase belong to the period.
const NEAR: f64 = 0.1;
/// Each tail of a 95 % interval.
const TAIL: f64 = 0.025;

/// A large latency that is the first of its burst.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Onset {
    /// Number of its release, counting overruns.
    pub release: u64,
    pub latency_ns: Nanos,
}

/// What the search needs of a thread.
#[derive(Clone, Copy, Debug)]
pub struct PeriodicEvidence<'a> {
    pub onsets: &'a [Onset],
    /// Releases that were due.
    pub releases: u64,
    pub period_ns: Nanos,
    /// Number of threads searched, in each of which a period may appear by chance.
    pub threads: usize,
}

/// The period of the largest latencies; `None` if there is none beyond chance.
pub fn periodic(evidence: &PeriodicEvidence) -> Option<PeriodicLatencies> {
    let releases = evidence.releases;
    let mut onsets: Vec<Onset> =
        evidence.onsets.iter().copied().filter(|onset| onset.release < releases).collect();
    onsets.sort_by_key(|onset| std::cmp::Reverse(onset.latency_ns));
    if onsets.len() < FEWEST || evidence.period_ns <= Nanos::ZERO {
        return None;
    }
    let sets = LARGEST.map(|count| &onsets[..count.min(onsets.len())]);
    let most_steps = (ALL_STEPS / evidence.threads.max(1)).clamp(FEWEST_STEPS, MOST_STEPS);
    let peaks = highest_peaks(sets, releases, most_steps as u64);
    let known = KNOWN.map(|ms| evidence.period_ns.0 as f64 / (ms * 1e6));
    let mut best: Option<(f64, f64, &[Onset])> = None;
    for (set, peak) in sets.into_iter().zip(&peaks.frequencies) {
        let (tests, least) = (peaks.frequencies_tested + KNOWN.len() as f64, peaks.least);
        let usable = known.into_iter().filter(|known| *known >= least && *known < 0.5);
        let exact = usable.map(|known| (height(set, known), known));
        // A peak refined between two tested frequencies is not a separate test.
        let seen = peak.map(|peak| (height(set, peak), refined(set, peak, peaks.resolution).1));
        let highest = exact.chain(seen).max_by(|one, other| one.0.total_cmp(&other.0));
        let Some((height, frequency)) = highest else { continue };
        let looks = (LARGEST.len() * evidence.threads.max(1)) as f64;
        let p = (tests * (-height).exp() * looks).min(1.0);
        if best.is_none_or(|(least, ..)| p < least) {
            best = Some((p, frequency, set));
        }
    }
    let (p, peak, set) = best.filter(|(p, ..)| *p < ALPHA)?;
    let frequency = fundamental(set, peak, &known, &peaks);
    Some(describe(evidence, set, frequency, p))
}

/// The highest peaks of the periodograms of two sets of points.
struct Peaks {
    /// One per set, in cycles per release.
    frequencies: [Option<f64>; 2],
    /// Effective number of independent frequencies.
    frequencies_tested: f64,
    /// Distance of neighbouring frequencies.
    resolution: f64,
    /// Lowest frequency searched.
    least: f64,
}

/// Both sets in one transform, as its real and imaginary parts.
fn highest_peaks(sets: [&[Onset]; 2], releases: u64, most_steps: u64) -> Peaks {
    let releases = releases.max(1);
    let step = releases.div_ceil(most_steps);
    let steps = releases.div_ceil(step) as usize;
    let length = (2 * steps).next_power_of_two();
    let mut series = vec![Complex { re: 0.0, im: 0.0 }; length];
    for onset in sets[0] {
        series[(onset.release / step) as usize].re = 1.0;
    }
    for onset in sets[1] {
        series[(onset.release / step) as usize].im = 1.0;
    }
    let mean = series.iter().sum::<Complex<f64>>() / steps as f64;
    series[..steps].iter_mut().for_each(|value| *value -= mean);
    let power = |share: f64| (steps as f64 * share * (1.0 - share)).max(f64::MIN_POSITIVE);
    let powers = [power(mean.re), power(mean.im)];
    transform(&mut series);
    let least = LEAST_PERIODS / steps as f64;
    let first = (least * length as f64).ceil() as usize;
    let mut highest = [(0.0, None), (0.0, None)];
    for at in first.max(1)..length / 2 {
        let (one, other) = (series[at], series[length - at].conj());
        let parts = [(one + other) / 2.0, (one - other) / 2.0];
        for ((highest, part), power) in highest.iter_mut().zip(parts).zip(powers) {
            let height = part.norm_sqr() / power;
            if height > highest.0 {
                *highest = (height, Some(at as f64 / (length as f64 * step as f64)));
            }
        }
    }
    Peaks {
        frequencies: highest.map(|(_, at)| at),
        // Only half as many are independent, but oversampling by two raises the highest.
        frequencies_tested: steps as f64,
        resolution: 1.0 / (steps as f64 * step as f64),
        least: least / step as f64,
    }
}

/// Mean resultant vector of all points at one turn per period: length and direction.
fn arrow(onsets: &[Onset], frequency: f64) -> Complex<f64> {
    let turns = onsets.iter().map(|onset| (onset.release as f64 * frequency).fract() * TAU);
    turns.map(|angle| Complex { re: angle.cos(), im: angle.sin() }).sum::<Complex<f64>>()
        / onsets.len().max(1) as f64
}

/// The periodogram at any frequency (Rayleigh), with mean 1 without a period.
fn height(onsets: &[Onset], frequency: f64) -> f64 {
    arrow(onsets, frequency).norm_sqr() * onsets.len() as f64
}

/// The highest point next to a peak.
fn refined(onsets: &[Onset], peak: f64, resolution: f64) -> (f64, f64) {
    let around = (-20..=20).map(|step| peak + resolution * f64::from(step) / 20.0);
    let heights = around.map(|frequency| (height(onsets, frequency), frequency));
    heights.max_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((0.0, peak))
}

/// The lowest frequency of which the peak may be a multiple, among its fractions and the known
/// periods.
fn fundamental(onsets: &[Onset], peak: f64, known: &[f64], peaks: &Peaks) -> f64 {
    let highest = height(onsets, peak);
    let parts = (1..=PARTS).map(|part| refined(onsets, peak / f64::from(part), peaks.resolution).1);
    let all = parts.chain(known.iter().copied());
    let usable = all.filter(|frequency| *frequency >= peaks.least && *frequency <= peak * 1.001);
    let high = usable.filter(|frequency| height(onsets, *frequency) >= highest / 2.0);
    high.fold(peak, f64::min)
}

/// The period of a known disturbance, if it matches one.
fn exact(period: Nanos) -> Nanos {
    let known = KNOWN.into_iter().map(|ms| Nanos((ms * 1e6) as i64));
    let is_near = |known: &Nanos| (period.0 as f64 / known.0 as f64 - 1.0).abs() < KNOWN_TO;
    known.into_iter().find(is_near).unwrap_or(period)
}

fn describe(
    evidence: &PeriodicEvidence,
    onsets: &[Onset],
    frequency: f64,
    p: f64,
) -> PeriodicLatencies {
    let mean = arrow(onsets, frequency);
    let phase = (mean.arg() / TAU).rem_euclid(1.0);
    let is_near = |onset: &&Onset| {
        let off = (onset.release as f64 * frequency - phase).rem_euclid(1.0);
        off.min(1.0 - off) <= NEAR
    };
    let (near, all) = (onsets.iter().filter(is_near).count() as f64, onsets.len() as f64);
    // Latencies at random times are near the phase in proportion to the window.
    let with_period = |share: f64| ((share - 2.0 * NEAR) / (1.0 - 2.0 * NEAR)).clamp(0.0, 1.0);
    let limits = (share_below(near, all, TAIL), share_above(near, all, TAIL));
    let period_ns = Nanos((evidence.period_ns.0 as f64 / frequency).round() as i64);
    let better_period_ns = better_period(evidence.period_ns, exact(period_ns));
    PeriodicLatencies {
        period_ns,
        events: onsets.len() as u64,
        from_ns: onsets.iter().map(|onset| onset.latency_ns).min().unwrap_or_default(),
        share: with_period(near / all),
        share_interval: (with_period(limits.0), with_period(limits.1)),
        concentration: mean.norm(),
        phase,
        p,
        locked_to_ns: better_period_ns.map(|_| evidence.period_ns),
        better_period_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Large latencies, a share of them with a period in releases, the others at random times.
    fn onsets(seed: u64, releases: u64, period: f64, share: f64) -> Vec<Onset> {
        let mut random = Random::new(seed);
        let one = |random: &mut Random| {
            let release = match random.uniform() < share {
                true => {
                    let times = (releases as f64 / period) as usize;
                    (random.below(times) as f64 * period + period / 3.0) as u64
                }
                false => random.below(releases as usize) as u64,
            };
            Onset { release, latency_ns: Nanos(60_000 + random.below(40_000) as i64) }
        };
        (0..400).map(|_| one(&mut random)).collect()
    }

    fn found(onsets: &[Onset], releases: u64, period_ns: i64) -> Option<PeriodicLatencies> {
        let period_ns = Nanos(period_ns);
        periodic(&PeriodicEvidence { onsets, releases, period_ns, threads: 1 })
    }

    #[test]
    fn a_period_is_found_with_its_share() {
        // Releases every 211 us; a tick of 4 ms, a second, and a period that is not in the list.
        for (ms, share) in [(4.0, 0.6), (1_000.0, 0.5), (37.3, 0.4)] {
            let period = ms * 1e6 / 211_000.0;
            let all = onsets(1, 400_000, period, share);
            let seen = found(&all, 400_000, 211_000).unwrap();
            let off = seen.period_ns.0 as f64 / (ms * 1e6) - 1.0;
            assert!(off.abs() < 1e-3, "{ms} ms: {seen:?}");
            assert!(seen.share_interval.0 <= share && share <= seen.share_interval.1, "{seen:?}");
            assert_eq!(seen.locked_to_ns, None, "{seen:?}");
        }
    }

    #[test]
    fn a_long_run_finds_the_known_periods_between_its_steps() {
        let releases = 100_000_000;
        let seen = found(&onsets(2, releases, 4e6 / 211e3, 0.7), releases, 211_000).unwrap();
        assert!((seen.period_ns.0 - 4_000_000).abs() < 100, "{seen:?}");
    }

    #[test]
    fn so_does_one_of_many_threads() {
        let all = onsets(2, 400_000, 4e6 / 211e3, 0.7);
        let evidence = PeriodicEvidence {
            onsets: &all,
            releases: 400_000,
            period_ns: Nanos(211_000),
            threads: 1024,
        };
        let seen = periodic(&evidence).unwrap();
        assert!((seen.period_ns.0 - 4_000_000).abs() < 100, "{seen:?}");
    }

    #[test]
    fn releases_that_meet_the_tick_at_the_same_point_are_named() {
        let all = onsets(3, 400_000, 20.0, 0.8);
        let seen = found(&all, 400_000, 200_000).unwrap();
        assert!((seen.period_ns.0 - 4_000_000).abs() < 100, "{seen:?}");
        assert_eq!(seen.locked_to_ns, Some(Nanos(200_000)));
        assert_eq!(seen.better_period_ns, Some(Nanos(199_000)));
    }

    #[test]
    fn no_period_is_found_where_there_is_none() {
        let seen = (0..60).filter_map(|seed| {
            let seen = found(&onsets(seed, 50_000, 9.0, 0.0), 50_000, 211_000);
            seen.map(|seen| (seed, seen.period_ns, seen.p, seen.events))
        });
        let alarms: Vec<_> = seen.collect();
        assert!(alarms.len() <= 2, "{alarms:?}");
        assert_eq!(found(&[], 0, 0), None);
    }
}
