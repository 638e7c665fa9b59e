//! The latencies of a thread in slices of its time, as far as the table of intervals shows them.

use crate::rows::{IntervalRow, coarse_edges};
use latlab_model::{Bin, Nanos};
use latlab_stats::span::add_counts;
use latlab_stats::{normal, normal_quantile};

/// If the odds at a coarse edge differ more than this from those of a quantile, it does not
/// represent the quantile.
const NEAR: f64 = 1.1;
/// The share above p99.
const P99_ABOVE: f64 = 0.01;
/// Least share of the variance attributed to the inside of slices.
const LEAST_WITHIN: f64 = 0.01;

/// Position of an interval's quantile among all latencies of its thread, as a standard normal
/// score: this way the shape of the distribution does not matter.
pub struct NormalScores {
    highs: Vec<Nanos>,
    scores: Vec<f64>,
}

impl NormalScores {
    /// For a thread with these bins, ascending.
    pub fn new(bins: &[Bin]) -> NormalScores {
        let all: f64 = bins.iter().map(|bin| bin.count as f64).sum();
        let mut below = 0.0;
        let score = |bin: &Bin| {
            below += bin.count as f64;
            // Half a latency keeps the last bin from infinity.
            normal_quantile(((below - 0.5) / all.max(1.0)).clamp(1e-12, 1.0 - 1e-12))
        };
        NormalScores {
            scores: bins.iter().map(score).collect(),
            highs: bins.iter().map(|bin| bin.high_ns).collect(),
        }
    }

    /// The score of a latency; `None` for a thread without latencies.
    fn of(&self, latency: Nanos) -> Option<f64> {
        let at = self.highs.partition_point(|high| *high <= latency);
        self.scores.get(at.min(self.scores.len().saturating_sub(1))).copied()
    }
}

/// What a thread recorded in a slice of its time.
#[derive(Clone, Default)]
pub struct Slice {
    pub count: u64,
    pub max_ns: Option<Nanos>,
    coarse: Vec<u64>,
    /// Scores of median and p99 of its intervals, weighted by their counts.
    median: WeightedSum,
    p99: WeightedSum,
}

#[derive(Clone, Copy, Default)]
struct WeightedSum {
    sum: f64,
    weight: f64,
}

impl WeightedSum {
    fn add(&mut self, other: WeightedSum) {
        self.sum += other.sum;
        self.weight += other.weight;
    }

    fn mean(self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

impl Slice {
    pub fn add(&mut self, row: &IntervalRow, scores: &NormalScores) {
        let weighted = |latency: Option<Nanos>| {
            let score = latency.and_then(|latency| scores.of(latency));
            score.map_or_else(WeightedSum::default, |score| {
                let weight = row.count as f64;
                WeightedSum { sum: score * weight, weight }
            })
        };
        self.count = self.count.saturating_add(row.count);
        self.max_ns = self.max_ns.max(row.max_ns);
        self.median.add(weighted(row.p50_ns));
        self.p99.add(weighted(row.p99_ns));
        self.coarse.resize(row.coarse.len().max(self.coarse.len()), 0);
        add_counts(&mut self.coarse, &row.coarse);
    }

    pub fn join(&mut self, other: &Slice) {
        self.count = self.count.saturating_add(other.count);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.median.add(other.median);
        self.p99.add(other.p99);
        self.coarse.resize(other.coarse.len().max(self.coarse.len()), 0);
        self.coarse.iter_mut().zip(&other.coarse).for_each(|(sum, count)| *sum += count);
    }

    /// Latencies of at least this edge.
    fn above(&self, edge: usize) -> u64 {
        self.coarse.iter().skip(edge).fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// For each slice its latencies, and roughly how many of them exceed a quantile; `None` without
/// latencies.
pub fn above_quantile(slices: &[Slice], parts_per_million: u32) -> Option<Vec<(f64, f64)>> {
    let wanted = 1.0 - f64::from(parts_per_million) / 1e6;
    let edge = nearest_edge(slices, wanted);
    let at_edge = |edge: usize| {
        let of = |slice: &Slice| (slice.count as f64, slice.above(edge) as f64);
        slices.iter().map(of).collect()
    };
    match edge {
        Some((edge, distance)) if distance < NEAR => Some(at_edge(edge)),
        // Nearly all latencies may lie between two coarse edges.
        _ => by_scores(slices, wanted).or_else(|| edge.map(|(edge, _)| at_edge(edge))),
    }
}

/// The level of the coarse edge closest to a quantile, if close enough.
pub fn level_of(slices: &[Slice], parts_per_million: u32) -> Option<Nanos> {
    let (edge, distance) = nearest_edge(slices, 1.0 - f64::from(parts_per_million) / 1e6)?;
    (distance < NEAR).then(|| Nanos(coarse_edges()[edge]))
}

/// The coarse edge above which about this share of the latencies lies, and the difference of the
/// log odds.
fn nearest_edge(slices: &[Slice], wanted: f64) -> Option<(usize, f64)> {
    let count: u64 = slices.iter().map(|slice| slice.count).sum();
    let odds = |share: f64| (share / (1.0 - share)).ln();
    let distance = |edge: usize| {
        let above: u64 = slices.iter().map(|slice| slice.above(edge)).sum();
        let share = above as f64 / count as f64;
        (above > 0 && above < count).then(|| (odds(share) - odds(wanted)).abs())
    };
    let edges = (0..coarse_edges().len()).filter_map(|edge| Some((edge, distance(edge)?)));
    edges.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// The same from the medians of the intervals, or from their p99 for higher quantiles: how far a
/// normal distribution that moves with them reaches above the quantile.
fn by_scores(slices: &[Slice], wanted: f64) -> Option<Vec<(f64, f64)>> {
    let (of, shift): (fn(&Slice) -> WeightedSum, f64) = match wanted > P99_ABOVE * 1.01 {
        true => (|slice| slice.median, 0.0),
        false => (|slice| slice.p99, normal_quantile(1.0 - P99_ABOVE)),
    };
    let scores: Vec<(f64, f64)> = slices
        .iter()
        .map(|slice| Some((slice.count as f64, of(slice).mean()?)))
        .collect::<Option<_>>()?;
    let count: f64 = scores.iter().map(|(count, _)| count).sum();
    let mean = scores.iter().map(|(count, score)| count * score).sum::<f64>() / count;
    let square = |(count, score): &(f64, f64)| count * (score - mean).powi(2);
    let between = scores.iter().map(square).sum::<f64>() / count;
    // Variance not between the slices is within them.
    let within = (1.0 - between).max(LEAST_WITHIN).sqrt();
    let level = normal_quantile(1.0 - wanted);
    let above = |(count, score): (f64, f64)| {
        let middle = score - shift * within;
        (count, count * normal((middle - level) / within))
    };
    Some(scores.into_iter().map(above).collect())
}
