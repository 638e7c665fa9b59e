//! Findings about latlab's own threads that do not measure.

use super::kinds::{FindingEntry, findings};
use super::{INFO, WARNING, Weight};
use crate::Nanos;
use crate::own_work::OwnThread;
use crate::shell::Line;
use crate::units::counted;
use serde::{Deserialize, Serialize};

findings! {
    /// What latlab's own threads did.
    OwnThreadFinding {
        /// Some of the 20 largest latencies lie in the work of a thread of latlab on that CPU:
        /// telemetry, drainer, journal or another. A warning where the observed maximum does.
        InLargest = "own-threads-in-largest" (
            "info, warning",
            "none",
            "Leave a CPU that is not measured: `--cpus`. Else use `--telemetry off` to see what the \
             readings cost."
        ) {
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
        }
        /// Threads of latlab that do not measure ran on measured CPUs, although they had others.
        OnMeasuredCpus = "own-threads-on-measured-cpus" (
            "warning",
            "none",
            "Another program may have moved them: look for changes of affinity and cpusets."
        ) {
            /// For how long, from the first counted release on.
            ran_ns: Nanos,
            /// Which.
            threads: Vec<OwnThread>,
        }
        /// latlab does not know of all work of its own threads, because it was not sent in time.
        WorkLost = "own-work-lost" ("info", "none", "Use a faster disk, or `--helpers-on`.") {
            /// Stretches of work.
            stretches: u64,
        }
    }
}

impl OwnThreadFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use OwnThreadFinding::*;
        match self {
            InLargest { max_ns, max_without_ns, .. } if Some(*max_ns) == *max_without_ns => INFO,
            InLargest { .. } | OnMeasuredCpus { .. } => WARNING,
            WorkLost { .. } => INFO,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use OwnThreadFinding::*;
        match self {
            InLargest { affected, compared, threads, max_ns, max_without_ns } => {
                let lie = if *affected == 1 { "lies" } else { "lie" };
                let without = match max_without_ns {
                    Some(without) if without == max_ns => String::new(),
                    Some(without) => format!(
                        " Without such latencies, the largest would be {without} instead of \
                         {max_ns}."
                    ),
                    None => " No latency among the largest 200 is without such work.".to_string(),
                };
                format!(
                    "{affected} of the {compared} largest latencies {lie} in the work of latlab's \
                     own threads on that CPU ({}).{without}",
                    names(threads)
                )
            }
            OnMeasuredCpus { ran_ns, threads } => format!(
                "latlab's own threads ran on measured CPUs for {ran_ns}, although they had other \
                 CPUs ({}).",
                names(threads)
            ),
            WorkLost { stretches } => format!(
                "latlab does not know {} of its own threads; large latencies may lie in them.",
                counted(*stretches, "stretch of work", "stretches of work")
            ),
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        use OwnThreadFinding::*;
        let remedy = match self {
            InLargest { .. } => {
                "Leave a CPU that is not measured with --cpus: these threads run there then."
            }
            OnMeasuredCpus { .. } => {
                "Another program may have moved them: look for changes of affinity and cpusets."
            }
            WorkLost { .. } => return None,
        };
        Some(Line::new(remedy))
    }
}

/// `telemetry, drainer`.
fn names(threads: &[OwnThread]) -> String {
    let names: Vec<&str> = threads.iter().map(|thread| thread.as_str()).collect();
    names.join(", ")
}
