//! Flags of `latlab verify`.

use crate::flags::Common;
use clap::Args;

/// Flags of `latlab verify`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// Ids, parts of them, `last`, or paths of run folders; of a campaign: all its runs
    #[arg(value_name = "RUN", default_value = "last", conflicts_with = "all")]
    pub runs: Vec<String>,
    /// Every stored run, those of campaigns too
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "\
Examples:
  latlab verify                   the last run
  latlab verify --all             every run, a line each

Compares size and SHA-256 of every file with run.json, and the sums of the tables with its counts.
Files that do not belong to a run are named; they harm nothing.

Exit codes:
  0  every run is whole      1  a run is damaged      2  wrong usage or input";
