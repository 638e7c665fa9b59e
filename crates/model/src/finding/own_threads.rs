//! Findings about latlab's own threads that do not measure.

use super::kinds::{FindingRow, findings};
use super::{INFO, WARNING, Weight};
use crate::Nanos;
use crate::own_work::OwnThread;
use serde::{Deserialize, Serialize};

findings! {
    /// What latlab's own threads did.
    OwnThreadFinding {
        "own-threads-in-largest" InLargest {
            /// How many of the largest latencies.
            affected: u64,
            /// Of so many.
            compared: u64,
            /// latlab's own threads that worked then.
            threads: Vec<OwnThread>,
            /// The largest latency.
            max_ns: Nanos,
            /// The largest latency in which none of these threads worked; none where there is none
            /// among the largest 200.
            max_without_ns: Option<Nanos>,
        } => WARNING, INFO if Some(*max_ns) == *max_without_ns;
        "own-threads-on-measured-cpus" OnMeasuredCpus {
            /// For how long, from the first counted release on.
            ran_ns: Nanos,
            /// Which.
            threads: Vec<OwnThread>,
        } => WARNING;
        "own-work-lost" WorkLost {
            /// Stretches of work.
            stretches: u64,
        } => INFO;
    }
}
