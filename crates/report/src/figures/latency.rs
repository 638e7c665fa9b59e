//! Latencies with their bounds, and quantiles.

use crate::units::{bin_edge, short};
use latlab_model::run::{Quantiles, Summary};
use latlab_model::{Nanos, Run};

/// How a stated latency relates to the true one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LatencyBound {
    /// Exact.
    Known,
    /// Larger ones may be missing.
    AtLeast,
    /// The true one is larger.
    Above,
    /// The true one is smaller.
    Below,
}

/// A latency as far as it is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SaidLatency {
    /// The latency, or the bound.
    pub ns: f64,
    pub bound: LatencyBound,
}

impl SaidLatency {
    /// In a sentence, with `unit` formatting the latency: `above 400 us`.
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

    /// In a sentence, with three digits.
    pub fn short(&self) -> String {
        self.words(short)
    }

    /// Limits a latency to the resolution of a capture: a shorter time is only known to be below
    /// it.
    pub fn resolved(self, resolution_ns: Option<f64>) -> SaidLatency {
        match resolution_ns {
            Some(resolution) if self.bound == LatencyBound::Known && self.ns < resolution => {
                SaidLatency { ns: resolution, bound: LatencyBound::Below }
            }
            _ => self,
        }
    }

    pub fn is_bound(&self) -> bool {
        self.bound != LatencyBound::Known
    }
}

/// A quantile and the number of latencies it needs.
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
    /// `None` if the summary has too few latencies, or no bins.
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

/// The observed maximum of a run, limited to the resolution of its times.
pub fn maximum_of(run: &Run) -> Option<SaidLatency> {
    Some(maximum(&run.total)?.resolved(resolution(run)))
}

/// The time resolution of a capture.
pub fn resolution(run: &Run) -> Option<f64> {
    run.responses().and_then(|responses| responses.resolution_ns)
}

pub fn maximum(summary: &Summary) -> Option<SaidLatency> {
    let bound = match summary.max_is_at_least {
        true => LatencyBound::AtLeast,
        false => LatencyBound::Known,
    };
    Some(SaidLatency { ns: float(summary.max_ns?), bound })
}

pub fn known(ns: f64) -> SaidLatency {
    SaidLatency { ns, bound: LatencyBound::Known }
}

/// The upper edge of a quantile's bin, but not above the observed maximum.
fn upper_edge(summary: &Summary, quantile: Nanos) -> Nanos {
    let edge = bin_edge(quantile);
    summary.max_ns.map_or(edge, |max| edge.min(max))
}

fn float(time: Nanos) -> f64 {
    time.0 as f64
}
