//! A figure of a run with its change against the same figure of the baseline.

use crate::figures::{P50, P99_9, SaidLatency, maximum, resolution};
use crate::units::{grouped, short, trimmed};
use latlab_model::run::Summary;
use latlab_model::{Nanos, Run};

/// A figure of a run.
pub(crate) struct ComparedFigure {
    /// `p99.9`.
    pub name: &'static str,
    /// `719 us`; none where there is none.
    pub value: Option<String>,
    /// `+25.1 ms, 560 x`; none of the baseline itself.
    pub change: Option<String>,
}

/// A name, and which figure it is.
pub(crate) type Named = (&'static str, fn(&Summary) -> Option<SaidLatency>);

/// The largest, the tail and the median: the most telling first.
pub(crate) const FIGURES: [Named; 3] = [
    ("largest", maximum),
    (P99_9.name, |total| P99_9.of(total)),
    (P50.name, |total| P50.of(total)),
];

/// The figures of a run, each with its change against the baseline where there is one.
pub(crate) fn figures(run: &Run, baseline: Option<&Run>) -> Vec<ComparedFigure> {
    let figure = |(name, of): Named| {
        let resolved = |run: &Run| Some(of(&run.total)?.resolved(resolution(run)));
        let (value, before) = (resolved(run), baseline.and_then(resolved));
        // Of a bound no difference is known.
        let known = |one: SaidLatency| (!one.is_bound()).then_some(Nanos(one.ns as i64));
        let both = value.and_then(known).zip(before.and_then(known));
        ComparedFigure {
            name,
            value: value.map(|value| value.short()),
            change: both.map(|(value, before)| change(value, before)),
        }
    };
    FIGURES.into_iter().map(figure).collect()
}

/// The difference, and how many times as large.
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
        // A ratio to nothing, or of a latency below zero, means nothing.
        assert_eq!(of(90_000, 0), "+90 us");
        assert_eq!(of(-200, 500), "-700 ns");
    }
}
