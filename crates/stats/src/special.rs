//! Quantiles of the distributions that counts are judged by, from the special functions of statrs.

use statrs::function::gamma::gamma_ur;

/// The rate at which as few as so many events have only this chance (Garwood).
pub fn count_above(events: f64, chance: f64) -> f64 {
    let start = (events + 1.0) * 2.0 + 50.0;
    root(0.0, start, |rate| gamma_ur(events + 1.0, rate.max(f64::MIN_POSITIVE)) - chance)
}

/// Where a falling function is zero, by halving; the upper end where it is nowhere below.
fn root(low: f64, high: f64, falling: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..2_000 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        match falling(middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}
