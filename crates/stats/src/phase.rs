//! The sampling phase: a period that divides the kernel's tick, or is a multiple of it, aliases
//! with it.

use latlab_model::Nanos;
use latlab_model::finding::{Finding, MachineFinding};
use latlab_model::nanos::SECOND;

/// Usual CONFIG_HZ values, for a machine whose tick rate is unknown.
const USUAL_TICKS: [u32; 4] = [1_000, 300, 250, 100];
/// If releases meet the tick at points at least this far apart, a disturbance of common length fits
/// into the gaps.
const GAP: Nanos = Nanos(10_000);
/// Releases whose phase against a disturbance moves by less than this share of the shorter period
/// meet it always or never for a long time.
const SAME_POINT: f64 = 0.01;
/// Longer periods are not used to sample a tick, and the search for a prime stays short.
const LONGEST: Nanos = Nanos(10 * SECOND.0);

/// A warning if the releases of this period always meet the tick at the same few points.
pub fn period_aliases_tick(period: Nanos, tick_hz: Option<u32>) -> Option<Finding> {
    if period <= Nanos::ZERO || period > LONGEST {
        return None;
    }
    let (known, candidates) = match &tick_hz {
        Some(hz) => (true, std::slice::from_ref(hz)),
        None => (false, &USUAL_TICKS[..]),
    };
    let hz = candidates.iter().copied().find(|&hz| locks(period, hz))?;
    Some(Finding::new(MachineFinding::PeriodAliasesTick {
        period_ns: period,
        tick_hz: hz,
        tick_is_known: known,
        points: points_in_tick(period, hz),
        better_period_ns: nearest_prime(period),
    }))
}

/// Whether period and tick divide each other or share a coarse grid.
fn locks(period: Nanos, hz: u32) -> bool {
    if hz == 0 {
        return false;
    }
    let (periods, ticks) = ratio(period, hz);
    let shared_ns = greatest_divisor(periods, ticks) / u64::from(hz);
    periods.is_multiple_of(ticks) || ticks.is_multiple_of(periods) || shared_ns >= GAP.0 as u64
}

/// A period whose releases neither always nor never meet a disturbance of this period; `None` if
/// the measured one is fine.
pub fn better_period(period: Nanos, disturbance: Nanos) -> Option<Nanos> {
    let (long, short) = (period.max(disturbance), period.min(disturbance));
    if short <= Nanos::ZERO || long > LONGEST {
        return None;
    }
    let rest = (long.0 as f64 / short.0 as f64).fract();
    (rest.min(1.0 - rest) < SAME_POINT).then(|| nearest_prime(period))
}

/// Number of points within the tick at which releases can lie.
fn points_in_tick(period: Nanos, hz: u32) -> u64 {
    let (periods, ticks) = ratio(period, hz);
    ticks / greatest_divisor(periods, ticks)
}

/// Period and tick in a unit in which both are whole; nanoseconds are not, for 300 Hz.
fn ratio(period: Nanos, hz: u32) -> (u64, u64) {
    (period.0.unsigned_abs().saturating_mul(u64::from(hz)), SECOND.0 as u64)
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// The nearest period that is a prime number of microseconds (of nanoseconds if short).
fn nearest_prime(period: Nanos) -> Nanos {
    let unit = if period < GAP { 1 } else { 1_000 };
    let wanted = period.0 / unit;
    let near = (1..wanted)
        .flat_map(|distance| [wanted - distance, wanted + distance])
        .find(|&number| is_prime(number));
    Nanos(near.unwrap_or(wanted + 1) * unit)
}

fn is_prime(number: i64) -> bool {
    number > 1
        && (2..)
            .take_while(|divisor| divisor * divisor <= number)
            .all(|divisor| number % divisor != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::finding::FindingKind;
    use proptest::prelude::*;

    fn microseconds(count: i64) -> Nanos {
        Nanos(count * 1_000)
    }

    /// The better period, whether the tick is known, and the points of it that releases meet.
    fn aliased(finding: &Finding) -> (Nanos, bool, u64) {
        match finding.kind {
            FindingKind::Machine(MachineFinding::PeriodAliasesTick {
                better_period_ns,
                tick_is_known,
                points,
                ..
            }) => (better_period_ns, tick_is_known, points),
            _ => panic!("{finding:?}"),
        }
    }

    #[test]
    fn periods_that_fit_the_tick_are_named() {
        for (period, hz) in
            [(200, 250), (1_000, 1_000), (1_000, 250), (8_000, 250), (1_500, 1_000), (20, 100)]
        {
            let finding = period_aliases_tick(microseconds(period), Some(hz)).unwrap();
            assert!(!finding.invalidates() && aliased(&finding).1);
        }
        assert!(
            period_aliases_tick(Nanos(10_000_000), Some(300)).is_some(),
            "three ticks of 300 Hz"
        );
    }

    #[test]
    fn co_prime_periods_pass() {
        for period in [997, 211, 199, 1_009, 4_999] {
            for hz in [None, Some(100), Some(250), Some(300), Some(1_000)] {
                assert_eq!(
                    period_aliases_tick(microseconds(period), hz),
                    None,
                    "{period} us, {hz:?}"
                );
            }
        }
    }

    #[test]
    fn an_unknown_tick_makes_it_a_may() {
        let finding = period_aliases_tick(microseconds(200), None).unwrap();
        assert_eq!(aliased(&finding), (microseconds(199), false, 5));
    }

    #[test]
    fn the_points_of_the_tick_are_counted() {
        let finding = period_aliases_tick(microseconds(1_000), Some(250)).unwrap();
        assert_eq!(aliased(&finding), (microseconds(997), true, 4));
    }

    proptest! {
        #[test]
        fn whatever_is_recommended_passes(period in 1_000i64..5_000_000_000, hz in 0usize..5) {
            let hz = [None, Some(1_000), Some(300), Some(250), Some(100)][hz];
            let better = nearest_prime(Nanos(period));
            // A prime that divides a tick is 2 or 5: too short for these periods.
            prop_assert_eq!(period_aliases_tick(better, hz), None);
        }

        #[test]
        fn no_input_panics(
            period in prop_oneof![any::<i64>(), 0..=LONGEST.0], hz in any::<Option<u32>>()) {
            let _ = period_aliases_tick(Nanos(period), hz);
        }
    }
}
