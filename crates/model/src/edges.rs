//! What the pin pair of a guest tells: when its edges came, and when they were answered.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// All edges of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Edges {
    /// Number of the thread that answers.
    pub thread: u32,
    /// The edges, in their order.
    pub edges: Vec<Edge>,
    /// Responses beyond the first to an edge.
    pub double: u64,
    /// Responses before the first edge.
    pub spurious: u64,
    /// CPU time of the interrupts.
    pub interrupts: CpuUse,
    /// CPU time of the threads that answered.
    pub threads: CpuUse,
}

/// One edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// When it was to come, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// When its first response came.
    pub answered_ns: Option<Nanos>,
}

/// CPU time that was used for some edges.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CpuUse {
    /// The time.
    pub used_ns: Nanos,
    /// The edges.
    pub edges: u64,
}

impl CpuUse {
    /// For one edge; none where it was used for none.
    pub fn each_ns(&self) -> Option<f64> {
        (self.edges > 0).then(|| self.used_ns.0 as f64 / self.edges as f64)
    }
}

impl Edges {
    /// From the text of the module `pinpair`; none where it is another one.
    pub fn parse(thread: u32, text: &str) -> Option<Edges> {
        let mut lines = text.lines().map(numbers);
        let [double, spurious, interrupts, of_edges, threads, of_answers] = lines.next()??[..]
        else {
            return None;
        };
        let used = |used, edges: i64| CpuUse { used_ns: Nanos(used), edges: edges as u64 };
        let edge = |line: Option<Vec<i64>>| match line?[..] {
            [at, answered] => {
                let answered_ns = (answered > 0).then_some(Nanos(answered));
                Some(Edge { at_ns: Nanos(at), answered_ns })
            }
            _ => None,
        };
        Some(Edges {
            thread,
            edges: lines.map(edge).collect::<Option<_>>()?,
            double: double as u64,
            spurious: spurious as u64,
            interrupts: used(interrupts, of_edges),
            threads: used(threads, of_answers),
        })
    }
}

/// The numbers of a line; none where anything else is in it.
fn numbers(line: &str) -> Option<Vec<i64>> {
    line.split(' ').map(|word| word.parse().ok()).collect()
}
