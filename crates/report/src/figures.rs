//! The figures of latency that page and terminal show of each thread: one list for both.

use crate::units::{Scale, bin_edge, short};
use latlab_model::Nanos;
use latlab_model::run::{Quantiles, Summary};

/// How a latency that is said stands to the one that is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LatencyBound {
    /// It is the one.
    Known,
    /// Larger ones may be missing.
    AtLeast,
    /// Only that it is larger is known.
    Above,
}

/// A latency as far as it is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SaidLatency {
    /// The latency, or the bound.
    pub ns: f64,
    /// What it is.
    pub bound: LatencyBound,
}

impl SaidLatency {
    /// In a sentence or on its own, the latency as `unit` writes it: `above 400 us`.
    pub fn words(&self, unit: impl Fn(f64) -> String) -> String {
        let word = match self.bound {
            LatencyBound::Known => "",
            LatencyBound::AtLeast => "at least ",
            LatencyBound::Above => "above ",
        };
        format!("{word}{}", unit(self.ns))
    }

    /// In a column of numbers: `>400`.
    pub fn in_column(&self, number: impl Fn(f64) -> String) -> String {
        let sign = match self.bound {
            LatencyBound::Known => "",
            LatencyBound::AtLeast => ">=",
            LatencyBound::Above => ">",
        };
        format!("{sign}{}", number(self.ns))
    }

    /// The same with three digits.
    pub fn short(&self) -> String {
        self.words(short)
    }

    /// Whether it is no more than a bound.
    pub fn is_bound(&self) -> bool {
        self.bound != LatencyBound::Known
    }
}

/// A quantile with the number of latencies that it takes.
pub struct NamedQuantile {
    /// `p99.9`.
    pub name: &'static str,
    /// `99.9 %`.
    pub share: &'static str,
    least: u64,
    of: fn(&Quantiles) -> Option<Nanos>,
}

pub const P50: NamedQuantile = named("p50", "50 %", 1, |all| all.p50_ns);
pub const P99: NamedQuantile = named("p99", "99 %", 1, |all| all.p99_ns);
pub const P99_9: NamedQuantile = named("p99.9", "99.9 %", 1_000, |all| all.p99_9_ns);
pub const P99_99: NamedQuantile = named("p99.99", "99.99 %", 10_000, |all| all.p99_99_ns);
pub const P99_999: NamedQuantile = named("p99.999", "99.999 %", 100_000, |all| all.p99_999_ns);

const fn named(
    name: &'static str,
    share: &'static str,
    least: u64,
    of: fn(&Quantiles) -> Option<Nanos>,
) -> NamedQuantile {
    NamedQuantile { name, share, least, of }
}

impl NamedQuantile {
    /// Of a summary; none where it has too few latencies, or no bins.
    pub fn of(&self, summary: &Summary) -> Option<SaidLatency> {
        let quantiles = summary.quantiles.as_ref()?;
        match ((self.of)(quantiles), quantiles.above_ns) {
            (Some(value), _) => Some(known(float(upper_edge(summary, value)))),
            (None, Some(end)) if summary.cycles >= self.least => {
                Some(SaidLatency { ns: float(end), bound: LatencyBound::Above })
            }
            _ => None,
        }
    }
}

/// The observed maximum.
pub fn maximum(summary: &Summary) -> Option<SaidLatency> {
    let bound = match summary.max_is_at_least {
        true => LatencyBound::AtLeast,
        false => LatencyBound::Known,
    };
    Some(SaidLatency { ns: float(summary.max_ns?), bound })
}

/// One column of figures.
pub struct LatencyFigure {
    /// Its name on the page.
    pub name: &'static str,
    /// Its name in the terminal.
    pub short: &'static str,
    /// The larger, the sooner a narrow terminal does without it; with 0 it always stays.
    pub rank: u8,
    of: fn(&Summary) -> Option<SaidLatency>,
}

/// The observed maximum, which comes before all others, so that no narrow window hides it.
pub const MAXIMUM: LatencyFigure =
    LatencyFigure { name: "Observed maximum", short: "max", rank: 0, of: maximum };

/// All the others, in their order.
pub const LATENCIES: [LatencyFigure; 7] = [
    LatencyFigure { name: "Min", short: "min", rank: 3, of: |s| s.min_ns.map(float).map(known) },
    LatencyFigure { name: "Mean", short: "mean", rank: 2, of: |s| s.mean_ns.map(known) },
    quantile(P50.name, 5, |s| P50.of(s)),
    quantile(P99.name, 1, |s| P99.of(s)),
    quantile(P99_9.name, 4, |s| P99_9.of(s)),
    quantile(P99_99.name, 1, |s| P99_99.of(s)),
    quantile(P99_999.name, 7, |s| P99_999.of(s)),
];

const fn quantile(
    name: &'static str,
    rank: u8,
    of: fn(&Summary) -> Option<SaidLatency>,
) -> LatencyFigure {
    LatencyFigure { name, short: name, rank, of }
}

fn known(ns: f64) -> SaidLatency {
    SaidLatency { ns, bound: LatencyBound::Known }
}

/// A quantile of a summary as its bin allows to say it; the end of the bin may be beyond all that was seen.
pub fn upper_edge(summary: &Summary, quantile: Nanos) -> Nanos {
    let edge = bin_edge(quantile);
    summary.max_ns.map_or(edge, |max| edge.min(max))
}

fn float(time: Nanos) -> f64 {
    time.0 as f64
}

impl LatencyFigure {
    /// The unit of the column and its numbers, none where there is nothing to say.
    pub fn column<'a>(
        &self,
        summaries: impl Iterator<Item = &'a Summary>,
    ) -> (&'static str, Vec<Option<String>>) {
        let values: Vec<Option<SaidLatency>> = summaries.map(self.of).collect();
        let times = values.iter().flatten().map(|value| Nanos(value.ns as i64));
        let scale = Scale::for_times(times);
        let number = |value: SaidLatency| value.in_column(|ns| scale.number_f64(ns));
        (scale.unit(), values.into_iter().map(|value| value.map(number)).collect())
    }
}
