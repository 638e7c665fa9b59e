//! Flags of `latlab lab`.

use clap::{Args, Subcommand};
use latlab_lab::Target;

/// Flags of `latlab lab`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct LabArgs {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
}

/// What can be done in the lab.
#[derive(Subcommand)]
pub enum What {
    /// List the kernels, and which of them are here.
    Kernels,
    /// Get kernels from Debian's archive; nothing is installed.
    Fetch {
        /// Such as x86-64/rt, arm64/stock-6.12
        #[arg(value_name = "MACHINE/KERNEL", required = true)]
        targets: Vec<Target>,
    },
}

const EXAMPLES: &str = "\
Examples:
  latlab lab fetch x86-64/stock x86-64/rt
  latlab run --target lab:x86-64/rt --seed 1 --for 5s";
