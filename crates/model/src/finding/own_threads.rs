//! Findings about latlab's own threads that do not measure.

use super::kinds::{FindingRow, findings};
use super::{INFO, WARNING, Weight};
use crate::Nanos;
use crate::self_interference::OwnThread;
use serde::{Deserialize, Serialize};

findings! {
    /// What latlab's own threads did.
    OwnThreadFinding {
        "own-threads-in-largest" InLargest {
            /// Number of the largest latencies affected.
            affected: u64,
            /// Number of latencies examined.
            compared: u64,
            /// latlab's own threads that were running.
            threads: Vec<OwnThread>,
            /// The largest latency.
            max_ns: Nanos,
            /// The largest latency during which none of these threads ran; `None` if there is none
            /// among the largest 200.
            max_without_ns: Option<Nanos>,
        } => WARNING, INFO if Some(*max_ns) == *max_without_ns;
        "own-threads-on-measured-cpus" OnMeasuredCpus {
            /// Their CPU time, from the first counted release.
            ran_ns: Nanos,
            /// The threads concerned.
            threads: Vec<OwnThread>,
        } => WARNING;
        "own-work-lost" WorkLost {
            /// Number of stretches of work that are not known.
            stretches: u64,
        } => INFO;
    }
}
