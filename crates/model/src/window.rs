//! The document of `show --window`.

use crate::Nanos;
use crate::respond::ResponseFigures;
use crate::run::Summary;
use serde::{Deserialize, Serialize};

/// The figures of a stretch of a run, from its samples.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Id of the run.
    pub run: String,
    /// First instant of the stretch, on CLOCK_MONOTONIC; it begins no earlier than the run.
    pub from_ns: Nanos,
    /// First instant after the stretch; it ends no later than the run.
    pub to_ns: Nanos,
    /// `from_ns` in UTC (RFC 3339).
    pub from: String,
    /// `to_ns` in UTC (RFC 3339).
    pub to: String,
    /// Each measuring thread.
    pub threads: Vec<WindowThread>,
    /// All measuring threads together.
    pub total: Summary,
    /// The figures of the responses, more exact than those above; only with the instrument `respond`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<ResponseFigures>,
    /// The largest latencies, the largest first.
    pub largest: Vec<LargeLatency>,
}

/// One measuring thread within a stretch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowThread {
    /// Number of the thread.
    pub thread: u32,
    /// CPU it is pinned to; none when it floats.
    pub cpu: Option<u32>,
    /// The figures of its cycles whose release lies in the stretch, and of the missed releases
    /// that do; `missed` and `misses` are none as well where samples of the thread were lost.
    pub summary: Summary,
}

/// A latency and when it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeLatency {
    /// Its release in UTC (RFC 3339), to the microsecond.
    pub time: String,
    /// Number of the thread.
    pub thread: u32,
    /// CPU the thread is pinned to.
    pub cpu: Option<u32>,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// How late it was.
    pub latency_ns: Nanos,
    /// The same in picoseconds, of a capture that tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ps: Option<i64>,
}
