//! What a keeper is told.

use latlab_model::load::Load;
use serde::{Deserialize, Serialize};

/// The first line that a keeper reads.
#[derive(Serialize, Deserialize)]
pub struct Order {
    /// Place of the load in the plan.
    pub number: u32,
    /// What to run.
    pub load: Load,
    /// Where the program of each of its processes lies.
    pub programs: Vec<String>,
    /// Where it may run.
    pub cpus: Vec<u32>,
}

/// The last line; without it, whoever started the keeper has died.
pub const STOP_WORD: &str = "stop\n";
