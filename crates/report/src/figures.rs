//! The figures of latency that page and terminal show of each thread: one list for both.

use crate::units::{Scale, bin_edge};
use latlab_model::Nanos;
use latlab_model::run::{Quantiles, Summary};

/// One column of figures.
pub struct LatencyFigure {
    /// Its name on the page.
    pub name: &'static str,
    /// Its name in the terminal.
    pub short: &'static str,
    /// The larger, the sooner a narrow terminal does without it; with 0 it always stays.
    pub rank: u8,
    of: fn(&Summary) -> Option<f64>,
}

/// The observed maximum, which comes before all others, so that no narrow window hides it.
pub const MAXIMUM: LatencyFigure =
    LatencyFigure { name: "Observed maximum", short: "max", rank: 0, of: |s| s.max_ns.map(float) };

/// All the others, in their order.
pub const LATENCIES: [LatencyFigure; 7] = [
    LatencyFigure { name: "Min", short: "min", rank: 3, of: |s| s.min_ns.map(float) },
    LatencyFigure { name: "Mean", short: "mean", rank: 2, of: |s| s.mean_ns },
    quantile("p50", 5, |s| edge(s, |q| Some(q.p50_ns))),
    quantile("p99", 1, |s| edge(s, |q| Some(q.p99_ns))),
    quantile("p99.9", 4, |s| edge(s, |q| q.p99_9_ns)),
    quantile("p99.99", 1, |s| edge(s, |q| q.p99_99_ns)),
    quantile("p99.999", 7, |s| edge(s, |q| q.p99_999_ns)),
];

const fn quantile(name: &'static str, rank: u8, of: fn(&Summary) -> Option<f64>) -> LatencyFigure {
    LatencyFigure { name, short: name, rank, of }
}

fn edge(summary: &Summary, of: fn(&Quantiles) -> Option<Nanos>) -> Option<f64> {
    let quantile = summary.quantiles.as_ref().and_then(of)?;
    Some(float(upper_edge(summary, quantile)))
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
        let values: Vec<Option<f64>> = summaries.map(self.of).collect();
        let scale = Scale::for_times(values.iter().flatten().map(|value| Nanos(*value as i64)));
        let numbers = values.into_iter().map(|value| value.map(|value| scale.number_f64(value)));
        (scale.unit(), numbers.collect())
    }
}
