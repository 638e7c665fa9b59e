//! Bins of a histogram summed up for the pixels of a picture; what does not fit is counted.

use crate::axis::{HorizontalAxis, one_two_five};
use crate::units::percent;
use latlab_model::histogram::FINE_WIDTH;
use latlab_model::{Bin, Nanos};

/// About the least width of a drawn bin.
const CELL_PIXELS: f64 = 2.0;

/// The drawn bins: every edge is one of fine bins too.
pub struct Cells {
    edges: Vec<f64>,
    log: bool,
    /// Their width: nanoseconds on a linear axis, a share of the latency on a logarithmic one.
    step: f64,
}

impl Cells {
    /// The drawn bins of an axis of this length.
    pub fn new(axis: &HorizontalAxis, pixels: f64) -> Cells {
        match axis.log {
            true => Cells::logarithmic(axis, pixels),
            false => Cells::linear(axis, pixels),
        }
    }

    fn linear(axis: &HorizontalAxis, pixels: f64) -> Cells {
        let step = one_two_five(axis.to * CELL_PIXELS / pixels).max(FINE_WIDTH as f64);
        let cells = (axis.to / step).round() as usize;
        Cells { edges: (0..=cells).map(|index| index as f64 * step).collect(), log: false, step }
    }

    fn logarithmic(axis: &HorizontalAxis, pixels: f64) -> Cells {
        let ratio = (axis.to / axis.from).powf(CELL_PIXELS / pixels) - 1.0;
        let mut edges = vec![axis.from];
        while let Some(edge) = edges.last().copied().filter(|edge| *edge < axis.to) {
            edges.push(next_log_edge(edge, ratio).min(axis.to));
        }
        Cells { edges, log: true, step: ratio }
    }

    /// Latency at an edge.
    pub fn edge(&self, index: usize) -> f64 {
        self.edges.get(index).or(self.edges.last()).copied().unwrap_or(0.0)
    }

    /// The drawn bin that holds a latency; the last one holds whatever is larger.
    fn holding(&self, latency: Nanos) -> usize {
        // A hair more than the edge, because an edge on the grid must not fall below it.
        let latency = latency.0 as f64 + 1e-3;
        self.edges.partition_point(|edge| *edge <= latency).saturating_sub(1)
    }

    /// What one step of a line stands for.
    pub fn step_words(&self) -> String {
        match self.log {
            true => format!("steps of {}, 100 ns or more", percent(self.step)),
            false => format!("steps of {}", Nanos(self.step.round() as i64)),
        }
    }
}

/// The next edge of a logarithmic axis: a whole number of fine bins further, and never fewer
/// than before, because drawn bins of alternating width would look like a comb.
fn next_log_edge(edge: f64, ratio: f64) -> f64 {
    let fine = FINE_WIDTH as f64;
    match edge < fine {
        true => fine,
        false => edge + (edge * ratio / fine).round().max(1.0) * fine,
    }
}

fn is_below(bin: &Bin) -> bool {
    bin.low_ns < Nanos::ZERO
}

fn is_beyond(bin: &Bin, axis: &HorizontalAxis) -> bool {
    bin.low_ns.0 as f64 >= axis.to
}

/// What lies outside of an axis, of all lines together.
#[derive(Default)]
pub struct Outside {
    /// Latencies below zero.
    pub below: u64,
    /// The lowest of them, or zero.
    pub lowest: Nanos,
    /// Latencies beyond the right end.
    pub beyond: u64,
}

impl Outside {
    pub fn of<'a>(bins: impl Iterator<Item = &'a Bin>, axis: &HorizontalAxis) -> Outside {
        let mut outside = Outside::default();
        for bin in bins {
            if is_below(bin) {
                outside.below = outside.below.saturating_add(bin.count);
                outside.lowest = outside.lowest.min(bin.low_ns);
            } else if is_beyond(bin, axis) {
                outside.beyond = outside.beyond.saturating_add(bin.count);
            }
        }
        outside
    }
}

/// One step of a line: drawn bins from `first` to before `end`, and their count.
pub struct Step {
    pub first: usize,
    pub end: usize,
    pub count: u64,
}

/// A line summed up for the pixels it has.
pub struct Drawn {
    pub steps: Vec<Step>,
    pub below: u64,
    pub beyond: u64,
}

impl Drawn {
    /// Of bins in rising order.
    pub fn new(bins: &[Bin], axis: &HorizontalAxis, cells: &Cells) -> Drawn {
        let Outside { below, beyond, .. } = Outside::of(bins.iter(), axis);
        let mut drawn = Drawn { steps: Vec::new(), below, beyond };
        let last = cells.edges.len().saturating_sub(1).max(1);
        let inside = bins.iter().filter(|bin| !is_below(bin) && !is_beyond(bin, axis));
        for bin in inside.filter(|bin| bin.count > 0) {
            let first = cells.holding(bin.low_ns).min(last - 1);
            let end = cells.holding(bin.high_ns).clamp(first + 1, last);
            drawn.add(Step { first, end, count: bin.count });
        }
        drawn
    }

    /// Bins come in rising order, so only the last step can share drawn bins with a new one.
    fn add(&mut self, step: Step) {
        match self.steps.last_mut() {
            Some(last) if step.first < last.end => {
                last.end = last.end.max(step.end);
                last.count = last.count.saturating_add(step.count);
            }
            _ => self.steps.push(step),
        }
    }

    /// The largest count that is drawn anywhere.
    pub fn largest(&self) -> u64 {
        let steps = self.steps.iter().map(|step| step.count);
        steps.chain([self.below, self.beyond]).max().unwrap_or(0)
    }

    /// Count of all steps.
    pub fn count(&self) -> u64 {
        self.steps.iter().fold(0, |sum, step| sum.saturating_add(step.count))
    }
}
