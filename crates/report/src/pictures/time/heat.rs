//! Latency counts by size for each column of time.

use latlab_model::Nanos;
use latlab_stats::span::{Grid, add_counts};
use std::ops::Range;

#[derive(Clone, PartialEq, Debug)]
pub struct Heat {
    grid: Grid,
    /// Lower edge of each bin, ns.
    pub edges: Vec<i64>,
    columns: Vec<Option<HeatColumn>>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct HeatColumn {
    /// The time that its rows cover.
    pub stretch: Range<Nanos>,
    /// Latencies in each bin.
    pub counts: Vec<u64>,
    /// Total time of its rows, ns; two threads count twice.
    pub weight: f64,
}

impl Heat {
    pub fn new(grid: Grid, edges: &[i64]) -> Heat {
        Heat { grid, edges: edges.to_vec(), columns: vec![None; grid.parts()] }
    }

    /// Adds a row of one thread.
    pub fn add(&mut self, stretch: Range<Nanos>, coarse: &[i32]) {
        add_counts(&mut self.column(stretch).counts, coarse);
    }

    /// Adds one latency; the thread's next cycle comes at the end of the span.
    pub fn add_one(&mut self, stretch: Range<Nanos>, latency: Nanos) {
        let above = self.edges.partition_point(|edge| *edge <= latency.0);
        let column = self.column(stretch);
        // A negative latency has no bin.
        if let Some(bin) = above.checked_sub(1) {
            column.counts[bin] += 1;
        }
    }

    /// The column for a span of one thread, extended to cover it.
    fn column(&mut self, stretch: Range<Nanos>) -> &mut HeatColumn {
        let bins = self.edges.len();
        let column = self.columns[self.grid.part(stretch.start)].get_or_insert_with(|| {
            HeatColumn { stretch: stretch.clone(), counts: vec![0; bins], weight: 0.0 }
        });
        column.stretch.start = column.stretch.start.min(stretch.start);
        column.stretch.end = column.stretch.end.max(stretch.end);
        column.weight += (stretch.end - stretch.start).0.max(1) as f64;
        column
    }

    pub fn columns(&self) -> impl Iterator<Item = &HeatColumn> {
        self.columns.iter().flatten()
    }

    /// The range of non-empty bins.
    pub fn used(&self) -> Option<Range<usize>> {
        let used = |bin: &usize| self.columns().any(|column| column.counts[*bin] > 0);
        let first = (0..self.edges.len()).find(used)?;
        Some(first..(0..self.edges.len()).rfind(used)? + 1)
    }
}

impl HeatColumn {
    /// Latencies in a bin for each second of one thread.
    pub fn rate(&self, bin: usize) -> f64 {
        self.counts[bin] as f64 * 1e9 / self.weight
    }
}
