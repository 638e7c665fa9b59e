//! The change of a figure against the baseline.

use crate::figures::{Counts, Figure, SaidLatency, Value};
use crate::units::{grouped, short, trimmed};
use latlab_model::Nanos;

/// How a latency differs; `None` if either is only a bound.
pub(crate) fn latency_change(figure: &Figure, of: &Counts, before: &Counts) -> Option<String> {
    let known = |of: &Counts| match (figure.get)(of)? {
        Value::Latency(one) => exact(one),
        _ => None,
    };
    Some(change(known(of)?, known(before)?))
}

/// The latency, unless it is only a bound.
pub(crate) fn exact(latency: SaidLatency) -> Option<Nanos> {
    (!latency.is_bound()).then_some(Nanos(latency.ns as i64))
}

/// The difference and the ratio.
fn change(value: Nanos, before: Nanos) -> String {
    let difference = value - before;
    if difference == Nanos::ZERO {
        return "the same".to_string();
    }
    let sign = if difference > Nanos::ZERO { "+" } else { "" };
    let ratio = (before > Nanos::ZERO && value >= Nanos::ZERO)
        .then(|| format!(", {} x", ratio(value.0 as f64 / before.0 as f64)));
    format!("{sign}{}{}", short(difference.0 as f64), ratio.unwrap_or_default())
}

/// Three significant digits.
fn ratio(ratio: f64) -> String {
    let decimals = 2.0 - ratio.max(1e-9).log10().floor();
    match decimals {
        ..=0.0 => grouped(ratio.round() as u64),
        decimals => trimmed(format!("{ratio:.*}", decimals as usize)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_its_sign_and_three_digits_of_its_ratio() {
        let of = |value, before| change(Nanos(value), Nanos(before));
        assert_eq!(of(25_183_336, 45_000), "+25.1 ms, 560 x");
        assert_eq!(of(45_000, 25_183_336), "-25.1 ms, 0.00179 x");
        assert_eq!(of(45_000, 45_000), "the same");
        assert_eq!(of(90_000, 45_000), "+45 us, 2 x");
        assert_eq!(of(1_234_500_000, 1_000), "+1.23 s, 1 234 500 x");
        // A ratio to zero, or of a negative latency, is meaningless.
        assert_eq!(of(90_000, 0), "+90 us");
        assert_eq!(of(-200, 500), "-700 ns");
    }
}
