//! What a window of a run has: the result of `latlab show --window`.

use latlab_model::Nanos;
use latlab_model::respond::ResponseFigures;
use latlab_model::run::Summary;
use serde::{Deserialize, Serialize};

/// Figures of a part of a run, from its samples.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Run id.
    pub run: String,
    /// Start of the window, on CLOCK_MONOTONIC; not before the start of the run.
    pub from_ns: Nanos,
    /// End of the window (exclusive), on CLOCK_MONOTONIC; not after the end of the run.
    pub to_ns: Nanos,
    /// `from_ns` in UTC (RFC 3339).
    pub from: String,
    /// `to_ns` in UTC (RFC 3339).
    pub to: String,
    /// Each measuring thread.
    pub threads: Vec<WindowThread>,
    /// All measuring threads together.
    pub total: Summary,
    /// Exact figures of the responses, not limited by bins; only with the instrument `respond`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<ResponseFigures>,
    /// The largest latencies, largest first.
    pub largest: Vec<LargeLatency>,
}

/// One measuring thread within the window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowThread {
    /// Number of the thread.
    pub thread: u32,
    /// CPU it is pinned to; `None` if it floats.
    pub cpu: Option<u32>,
    /// Figures of the cycles and overruns whose release lies in the window; `missed` and `misses`
    /// are also `None` if samples of the thread were lost.
    pub summary: Summary,
}

/// A latency and its time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeLatency {
    /// Release, UTC (RFC 3339), to the microsecond.
    pub time: String,
    /// Number of the thread.
    pub thread: u32,
    /// CPU the thread is pinned to; `None` if it floats.
    pub cpu: Option<u32>,
    /// Release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// Latency.
    pub latency_ns: Nanos,
    /// Latency in picoseconds, if a capture has that resolution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ps: Option<i64>,
}
