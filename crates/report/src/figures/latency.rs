//! A latency as far as it is known, and the quantiles.

use crate::units::{bin_edge, short};
use latlab_model::run::{Quantiles, Summary};
use latlab_model::{Nanos, Run};

/// How a latency that is said stands to the one that is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LatencyBound {
    /// It is the one.
    Known,
    /// Larger ones may be missing.
    AtLeast,
    /// Only that it is larger is known.
    Above,
    /// Only that it is smaller is known.
    Below,
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
            LatencyBound::Below => "< ",
        };
        format!("{word}{}", unit(self.ns))
    }

    /// In a column of numbers: `>400`.
    pub fn in_column(&self, number: impl Fn(f64) -> String) -> String {
        let sign = match self.bound {
            LatencyBound::Known => "",
            LatencyBound::AtLeast => ">=",
            LatencyBound::Above => ">",
            LatencyBound::Below => "<",
        };
        format!("{sign}{}", number(self.ns))
    }

    /// The same with three digits.
    pub fn short(&self) -> String {
        self.words(short)
    }

    /// The same of a capture: a time below its resolution is that.
    pub fn resolved(self, resolution_ns: Option<f64>) -> SaidLatency {
        match resolution_ns {
            Some(resolution) if self.bound == LatencyBound::Known && self.ns < resolution => {
                SaidLatency { ns: resolution, bound: LatencyBound::Below }
            }
            _ => self,
        }
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

/// The observed maximum of a run, no better than its times are known.
pub fn maximum_of(run: &Run) -> Option<SaidLatency> {
    Some(maximum(&run.total)?.resolved(resolution(run)))
}

/// What no time of a capture is known better than.
pub fn resolution(run: &Run) -> Option<f64> {
    run.responses().and_then(|responses| responses.resolution_ns)
}

/// The observed maximum.
pub fn maximum(summary: &Summary) -> Option<SaidLatency> {
    let bound = match summary.max_is_at_least {
        true => LatencyBound::AtLeast,
        false => LatencyBound::Known,
    };
    Some(SaidLatency { ns: float(summary.max_ns?), bound })
}

/// A latency that is known.
pub fn known(ns: f64) -> SaidLatency {
    SaidLatency { ns, bound: LatencyBound::Known }
}

/// A quantile of a summary as its bin allows to say it; the end of the bin may be beyond all that was seen.
fn upper_edge(summary: &Summary, quantile: Nanos) -> Nanos {
    let edge = bin_edge(quantile);
    summary.max_ns.map_or(edge, |max| edge.min(max))
}

fn float(time: Nanos) -> f64 {
    time.0 as f64
}
