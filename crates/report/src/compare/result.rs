//! What `latlab compare` prints and writes.

use latlab_doctor::comparison::{Comparison, FactChange};
use latlab_stats::comparison::RunComparison;
use serde::{Deserialize, Serialize};

/// Two sides of runs, and how their plans and machines differ: `latlab compare --format json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedSides {
    /// The comparison of their runs.
    #[serde(flatten)]
    pub runs: RunComparison,
    /// Differences from the base in plans, tools and machines.
    pub changes: Vec<FactChange>,
    /// Comparison of the machines of each side's first run; `None` if one has no snapshot.
    pub machines: Option<Comparison>,
}
