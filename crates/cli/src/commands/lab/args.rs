//! Flags of `latlab lab`.

use crate::flags::sheet::Seeds;
use crate::flags::{Common, Format};
use clap::{Args, Subcommand};
use latlab_lab::GuestConfig;
use latlab_model::Nanos;

/// Flags of `latlab lab`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct LabArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: LabCommand,
}

/// What can be done in the lab.
#[derive(Subcommand)]
pub enum LabCommand {
    /// List the kernels, and which are downloaded.
    #[command(visible_alias = "list")]
    Kernels,
    /// Download kernels from Debian's archive, without installing them.
    Fetch {
        /// Also download the newer QEMU of Debian's backports, for targets such as
        /// lab:x86-64/rt,new-qemu
        #[arg(long)]
        qemu: bool,
        /// Kernels to download, such as x86-64/rt, arm64/stock-6.12
        #[arg(value_name = "MACHINE/KERNEL", required = true, value_parser = config)]
        guests: Vec<GuestConfig>,
    },
    /// Measure the five classic loads on stock and PREEMPT_RT in virtual time (the sheet
    /// lab-stress-five)
    StressFive(Comparison),
    /// Measure one thread and 16 threads on one CPU, on stock and PREEMPT_RT, in virtual time (the
    /// sheet lab-threads)
    Threads(Comparison),
    /// Find where a kernel keeps interrupts or preemption off for longest: guests are run with a plugin of
    /// QEMU that records what they execute
    Paths(PathsArgs),
}

/// What is run to find a kernel's longest paths.
#[derive(Args)]
pub struct PathsArgs {
    /// Machine and kernel, such as x86-64/stock, arm64/rt-6.12
    #[arg(value_name = "MACHINE/KERNEL", value_parser = config)]
    pub guest: GuestConfig,
    /// Seeds of the guests, such as 1..5: the more, the rarer the paths that are met
    #[arg(long, value_name = "N..M", default_value = "1..3")]
    pub seeds: Seeds,
    /// Time of each guest
    #[arg(long = "for", value_name = "TIME", default_value = "2s")]
    pub duration: Nanos,
    /// Load that calls the kernel, as for latlab run
    #[arg(long, value_name = "LOAD", default_value = "hackbench,groups=1")]
    pub load: Vec<String>,
    /// How to print the result: text, json
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// Parses a guest's configuration; an error is one line.
pub fn config(text: &str) -> Result<GuestConfig, String> {
    GuestConfig::resolve(&text.parse()?)
}

/// How a ready-made sheet is measured.
#[derive(Args)]
pub struct Comparison {
    /// Seeds of the guests, such as 1..5: each is an independent repeat
    #[arg(long, value_name = "N..M", default_value = "1")]
    pub seeds: Seeds,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the consoles of the guests while they run
    #[arg(long)]
    pub console: bool,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "\
Examples:
  latlab lab fetch x86-64/stock x86-64/rt
  latlab run --target lab:x86-64/rt --seed 1 --for 5s
  latlab run --target lab:x86-64/stock --load hackbench,groups=1 --for 5s
  latlab lab stress-five --seeds 1..5          both kernels under five loads, and a table
  latlab lab paths x86-64/stock --seeds 1..5   the longest sections without interrupts or preemption";
