//! Chooses the bins of a capture: never finer than its times, and fine enough for its responses.

use latlab_model::histogram::FINE_WIDTH;
use latlab_model::{BinLayout, Nanos};

/// Width of latlab's own fine bins in picoseconds.
const OWN_PS: i64 = FINE_WIDTH as i64 * 1_000;
/// Latencies are counted in nanoseconds, so no bin is narrower.
const NARROWEST_PS: i64 = 1_000;
/// Approximate number of bins up to the median of the responses.
const TO_MEDIAN: i64 = 100;
/// If a bin is at least this many resolution steps wide, they cause no visible comb.
const NO_COMB: i64 = 10;

/// latlab's own bins if they fit, else narrower ones, centred on multiples of a coarse resolution.
pub fn layout(mut latencies: Vec<Nanos>, finest_ps: Option<i64>) -> BinLayout {
    latencies.sort_unstable();
    let median = latencies.get(latencies.len() / 2).copied().unwrap_or(Nanos::MAX);
    let wanted = one_two_five(median.0.max(0).saturating_mul(1_000) / TO_MEDIAN);
    let wanted = wanted.clamp(NARROWEST_PS, OWN_PS);
    let finest = finest_ps.unwrap_or(1).max(1);
    let fits_own = OWN_PS % finest == 0 || finest * NO_COMB <= OWN_PS;
    if wanted == OWN_PS && fits_own {
        return BinLayout::default();
    }
    // Whole steps of the resolution, and at least a nanosecond.
    let steps = (wanted / finest).max(NARROWEST_PS.saturating_add(finest - 1) / finest).max(1);
    let step = finest.saturating_mul(steps);
    let count = (i64::MAX / 1_000 / step).min(i64::from(u32::MAX) - 1).max(1) as u32;
    // Edges that latlab's own bins have as well, so that runs can be overlaid.
    let layout = match finest.saturating_mul(NO_COMB) <= wanted {
        true => BinLayout::equal(Nanos::ZERO, Nanos(wanted / 1_000), count),
        false => BinLayout::around(step, count),
    };
    layout.unwrap_or_default()
}

/// The largest of 1, 2, 5 and their decades up to `at_most`.
fn one_two_five(at_most: i64) -> i64 {
    let decade = 10_i64.pow(at_most.max(1).ilog10());
    [5, 2, 1].map(|digit| digit * decade).into_iter().find(|step| *step <= at_most).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lower edge of the second bin, and the edge after it.
    fn second(latency: i64, finest_ps: Option<i64>) -> Option<(i64, i64)> {
        let layout = layout(vec![Nanos(latency); 9], finest_ps);
        (!layout.is_standard()).then(|| (layout.low(1).0, layout.high(1).0))
    }

    #[test]
    fn bins_fit_the_responses_and_are_never_finer_than_the_times() {
        assert_eq!(second(48, Some(100)), Some((1, 2)));
        assert_eq!(second(9_000, Some(100)), Some((50, 100)));
        assert_eq!(second(48, Some(1)), Some((1, 2)));
        assert_eq!(second(48, Some(10_000)), Some((5, 15)));
        // A clock of 16 MHz: bins of 100 ns would show a comb.
        assert_eq!(second(9_000, Some(62_500)), Some((31, 94)));
        assert_eq!(second(12_000_000, Some(62_500)), Some((31, 94)));
        assert_eq!(second(20_000_000, Some(1_000_000)), Some((500, 1_500)));
        assert_eq!(second(12_000, Some(100)), None, "latlab's own");
        assert_eq!(second(280_000, None), None);
    }
}
