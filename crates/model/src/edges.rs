//! What a guest's pin pair reports: when edges came, and when they were answered.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// All edges of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Edges {
    /// Number of the thread that answers.
    pub thread: u32,
    /// Edges in order.
    pub edges: Vec<Edge>,
    /// Responses to an edge after the first.
    pub double: u64,
    /// Responses before the first edge.
    pub spurious: u64,
    /// CPU time of the interrupt handlers.
    pub interrupts: CpuUse,
    /// CPU time of the responding threads.
    pub threads: CpuUse,
}

/// One edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// Planned time, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Time of its first response; `None` if there was none.
    pub answered_ns: Option<Nanos>,
}

/// CPU time spent on a number of edges.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CpuUse {
    /// CPU time.
    pub used_ns: Nanos,
    /// Number of edges.
    pub edges: u64,
}

impl CpuUse {
    /// CPU time per edge; `None` without edges.
    pub fn each_ns(&self) -> Option<f64> {
        (self.edges > 0).then(|| self.used_ns.0 as f64 / self.edges as f64)
    }
}

impl Edges {
    /// Parses the text of the module `pinpair`; `None` if it is anything else.
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

/// The numbers of a line; `None` if it holds anything else.
fn numbers(line: &str) -> Option<Vec<i64>> {
    line.split(' ').map(|word| word.parse().ok()).collect()
}
