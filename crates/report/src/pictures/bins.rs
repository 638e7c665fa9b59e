//! Histogram bins summed up to the resolution of a chart; latencies outside of the axis are
//! counted. Drawn bins cannot all have the same width, since none may split a bin of the histogram.
//! So a chart shows densities, not counts: counts would double where the width of bins does, and
//! look like a second mode.

use crate::pictures::axis::{LatencyAxis, one_two_five};
use crate::pictures::curve::OpenStretch;
use crate::units::percent;
use latlab_model::histogram::{FINE_WIDTH, bin_high, bin_low, bin_of};
use latlab_model::{Bin, Nanos};

/// Approximate minimum width of a drawn bin.
const CELL_PIXELS: f64 = 2.0;

/// The drawn bins; every edge inside the axis is also an edge of the histogram.
pub struct PixelBins {
    edges: Vec<f64>,
    log: bool,
    /// The desired width, and the unit of widths: nanoseconds on a linear axis, a fraction of the
    /// latency on a logarithmic one.
    step: f64,
}

impl PixelBins {
    /// The drawn bins of an axis of this length, for lines whose bins are in ascending order.
    pub fn new(axis: &LatencyAxis, pixels: f64, lines: &[&[Bin]]) -> PixelBins {
        match axis.log {
            true => PixelBins::logarithmic(axis, pixels, lines),
            false => PixelBins::linear(axis, pixels, lines),
        }
    }

    fn linear(axis: &LatencyAxis, pixels: f64, lines: &[&[Bin]]) -> PixelBins {
        let own = narrowest(lines);
        // If all bins of the file are wider, the unit is one of those.
        let step = one_two_five((axis.to - axis.from) * CELL_PIXELS / pixels)
            .max(least_width(lines).unwrap_or(own));
        PixelBins { edges: edges(axis, lines, own, |edge| edge + step), log: false, step }
    }

    fn logarithmic(axis: &LatencyAxis, pixels: f64, lines: &[&[Bin]]) -> PixelBins {
        let step = one_two_five((axis.to / axis.from).powf(CELL_PIXELS / pixels) - 1.0);
        // Widths stay equal over a range, like those of the run's bins.
        let wanted = |edge: f64| edge + one_two_five(edge * step);
        PixelBins { edges: edges(axis, lines, narrowest(lines), wanted), log: true, step }
    }

    /// Width of a step in units, as the axis shows it.
    pub fn width(&self, step: &OutlineStep) -> f64 {
        let (low, high) = (self.edge(step.first), self.edge(step.end));
        match self.log {
            true => (high / low).ln() / self.step.ln_1p(),
            false => (high - low) / self.step,
        }
    }

    pub fn len(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    pub fn edge(&self, index: usize) -> f64 {
        self.edges.get(index).or(self.edges.last()).copied().unwrap_or(0.0)
    }

    /// The drawn bin that holds a latency; the last one also takes everything larger.
    fn holding(&self, latency: Nanos) -> usize {
        // Slightly above the edge, so that rounding cannot put a latency on an edge into the bin
        // below.
        let latency = latency.0 as f64 + 1e-3;
        self.edges.partition_point(|edge| *edge <= latency).saturating_sub(1)
    }

    pub fn unit_words(&self) -> String {
        match self.log {
            true => percent(self.step),
            false => Nanos(self.step.round() as i64).to_string(),
        }
    }
}

/// Edges from one end of an axis to the other: each is the bin edge closest to the desired distance
/// from the previous one.
fn edges(
    axis: &LatencyAxis,
    lines: &[&[Bin]],
    narrowest: f64,
    wanted: impl Fn(f64) -> f64,
) -> Vec<f64> {
    let mut edges = vec![axis.from];
    while let Some(edge) = edges.last().copied().filter(|edge| *edge < axis.to) {
        let next = match narrowest < FINE_WIDTH as f64 {
            // The edges of the lines' own bins are whole nanoseconds.
            true => wanted(edge).round().max(edge.floor() + 1.0),
            false => bin_edge_near(wanted(edge), edge),
        };
        edges.push(end_of_cut_bins(next, lines).min(axis.to));
    }
    edges
}

/// The width of the narrowest bin of all lines, at most that of latlab's own bins.
pub fn narrowest(lines: &[&[Bin]]) -> f64 {
    least_width(lines).map_or(FINE_WIDTH as f64, |width| width.min(FINE_WIDTH as f64))
}

/// The width of the narrowest bin of all lines.
fn least_width(lines: &[&[Bin]]) -> Option<f64> {
    let bins = lines.iter().flat_map(|bins| bins.iter());
    let widths = bins.filter(|bin| bin.low_ns > Nanos::ZERO).map(|bin| bin.high_ns - bin.low_ns);
    widths.map(|width| width.0).min().map(|width| width.max(1) as f64)
}

/// The first position from this latency on that splits no bin: the latency itself, or the end of
/// the longest foreign bin around it.
fn end_of_cut_bins(latency: f64, lines: &[&[Bin]]) -> f64 {
    let end = |bins: &&[Bin]| {
        let bin = bins.get(bins.partition_point(|bin| bin.high_ns.0 as f64 <= latency))?;
        let is_cut = (bin.low_ns.0 as f64) < latency && bin.low_ns >= Nanos::ZERO;
        is_cut.then_some(bin.high_ns.0 as f64)
    };
    // Foreign bins may overlap indefinitely, so a few of them are split; those count where they
    // begin.
    lines.iter().filter_map(end).reduce(f64::max).unwrap_or(latency)
}

/// The edge of a latlab bin that is nearest to a latency, among those after another one.
fn bin_edge_near(latency: f64, after: f64) -> f64 {
    let bin = bin_of(latency as u64);
    let (low, high) = (bin_low(bin) as f64, bin_high(bin) as f64);
    match low > after && latency - low <= high - latency {
        true => low,
        false if high > after => high,
        // Beyond the last bin.
        false => f64::INFINITY,
    }
}

fn is_below(bin: &Bin, axis: &LatencyAxis) -> bool {
    bin.low_ns < Nanos::ZERO || bin.high_ns.0 as f64 <= axis.from
}

fn is_beyond(bin: &Bin, axis: &LatencyAxis) -> bool {
    bin.low_ns.0 as f64 >= axis.to
}

/// Latencies outside of the axis, of all lines together.
#[derive(Default)]
pub struct OutsideAxis {
    /// Latencies below the lower end.
    pub below: u64,
    /// Whether all of those are negative.
    pub negative_only: bool,
    /// Latencies beyond the upper end.
    pub beyond: u64,
}

impl OutsideAxis {
    pub fn new<'a>(bins: impl Iterator<Item = &'a Bin>, axis: &LatencyAxis) -> OutsideAxis {
        let mut outside = OutsideAxis { negative_only: true, ..OutsideAxis::default() };
        for bin in bins {
            if is_below(bin, axis) {
                outside.below = outside.below.saturating_add(bin.count);
                outside.negative_only &= bin.low_ns < Nanos::ZERO;
            } else if is_beyond(bin, axis) {
                outside.beyond = outside.beyond.saturating_add(bin.count);
            }
        }
        outside
    }
}

impl OutsideAxis {
    /// Adds open-ended latencies that begin beyond the upper end.
    pub fn with_open(self, open: Option<OpenStretch>, axis: &LatencyAxis) -> OutsideAxis {
        let beyond = open.filter(|open| open.from.0 as f64 >= axis.to).map_or(0, |open| open.count);
        OutsideAxis { beyond: self.beyond.saturating_add(beyond), ..self }
    }
}

/// One step of a line: the drawn bins from `first` to before `end`, and their count.
pub struct OutlineStep {
    pub first: usize,
    pub end: usize,
    pub count: u64,
}

impl OutlineStep {
    /// Latencies per unit of width, and at least one: less means nothing to a reader.
    pub fn density(&self, cells: &PixelBins) -> f64 {
        (self.count as f64 / cells.width(self).max(1e-9)).max(1.0)
    }
}

/// A line summed up to the resolution of the chart.
pub struct CurveOutline {
    pub steps: Vec<OutlineStep>,
    pub below: u64,
    pub beyond: u64,
}

impl CurveOutline {
    /// From bins in ascending order.
    pub fn new(bins: &[Bin], axis: &LatencyAxis, cells: &PixelBins) -> CurveOutline {
        let OutsideAxis { below, beyond, .. } = OutsideAxis::new(bins.iter(), axis);
        let mut drawn = CurveOutline { steps: Vec::new(), below, beyond };
        let last = cells.len().max(1);
        let inside = bins.iter().filter(|bin| !is_below(bin, axis) && !is_beyond(bin, axis));
        for bin in inside.filter(|bin| bin.count > 0) {
            let first = cells.holding(bin.low_ns).min(last - 1);
            let end = cells.holding(bin.high_ns).clamp(first + 1, last);
            drawn.add(OutlineStep { first, end, count: bin.count });
        }
        drawn
    }

    /// Bins come in ascending order, so a new step can share drawn bins only with the last one.
    fn add(&mut self, step: OutlineStep) {
        match self.steps.last_mut() {
            Some(last) if step.first < last.end => {
                last.end = last.end.max(step.end);
                last.count = last.count.saturating_add(step.count);
            }
            _ => self.steps.push(step),
        }
    }

    pub fn densities(&self, cells: &PixelBins) -> impl Iterator<Item = f64> {
        self.steps.iter().map(|step| step.density(cells))
    }

    pub fn count(&self) -> u64 {
        self.steps.iter().fold(0, |sum, step| sum.saturating_add(step.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::BinLayout;
    use latlab_model::Histogram;

    #[test]
    fn drawn_bins_are_equal_where_those_of_the_run_are() {
        let axis = LatencyAxis { log: true, from: 2_000.0, to: 1_000_000.0 };
        let cells = PixelBins::new(&axis, 700.0, &[]);
        let widths: Vec<i64> =
            cells.edges.windows(2).map(|pair| (pair[1] - pair[0]).round() as i64).collect();
        // The last one ends with the axis.
        let widths = &widths[..widths.len() - 1];
        assert!(widths.is_sorted(), "no wider bin stands between narrower ones: {widths:?}");
        let mut kinds = widths.to_vec();
        kinds.dedup();
        assert_eq!(kinds[..3], [100, 200, 500], "{widths:?}");
    }

    #[test]
    fn no_step_is_lower_than_one_and_bins_of_a_file_are_its_own_unit() {
        let layout = BinLayout::equal(Nanos::ZERO, Nanos(10_000), 100).unwrap();
        let latencies = [15_000, 22_000, 22_000, 90_000].map(Nanos);
        let bins = Histogram::with_layout(layout, latencies).rows();
        let densities = |log, from| {
            let axis = LatencyAxis { log, from, to: 100_000.0 };
            let cells = PixelBins::new(&axis, 700.0, &[&bins]);
            let drawn = CurveOutline::new(&bins, &axis, &cells);
            (cells.unit_words(), drawn.densities(&cells).collect::<Vec<f64>>())
        };
        assert_eq!(densities(false, 0.0), ("10 us".to_string(), vec![1.0, 2.0, 1.0]));
        let (unit, all) = densities(true, 5_000.0);
        assert_eq!((unit.as_str(), all), ("1 %", vec![1.0; 3]));
    }

    #[test]
    fn drawn_bins_cut_no_bin_of_other_edges_and_lose_no_count() {
        let width = Nanos(7_777);
        let layout = BinLayout::equal(Nanos::ZERO, width, 1_000_000).unwrap();
        let latencies = (1..4_000).map(|number| Nanos(number * number * 431));
        let bins = Histogram::with_layout(layout, latencies).rows();
        for log in [false, true] {
            let axis = LatencyAxis { log, from: 1_000.0, to: 7e9 };
            let cells = PixelBins::new(&axis, 700.0, &[&bins]);
            for edge in &cells.edges[1..cells.len()] {
                let cut =
                    |bin: &&Bin| (bin.low_ns.0 as f64) < *edge && *edge < bin.high_ns.0 as f64;
                assert_eq!(bins.iter().find(cut), None, "{edge}");
            }
            let drawn = CurveOutline::new(&bins, &axis, &cells);
            assert_eq!(drawn.count() + drawn.below + drawn.beyond, 3_999);
        }
    }
}
