//! Flags of `latlab compare`.

use crate::commands::result_output::ResultOutputArgs;
use crate::flags::{rate_per_hour, share};
use clap::Args;

/// Flags of `latlab compare`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArgs {
    /// Runs to compare with: ids, names, paths; campaigns, or rows of them as CAMPAIGN:ROW
    #[arg(value_name = "BASE", required = true)]
    pub base: Vec<String>,
    /// Runs to judge, behind --
    #[arg(value_name = "CANDIDATE", required = true, last = true)]
    pub candidate: Vec<String>,
    /// Largest slowdown that is not a regression; twice as much for p99.99 and the median maximum
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share)]
    pub margin: f64,
    /// Bursts of deadline misses that the candidate may have, such as 0.1/h
    #[arg(long, value_name = "RATE", value_parser = rate_per_hour)]
    pub limit: Option<f64>,
    /// How the result is written.
    #[command(flatten)]
    pub result: ResultOutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  latlab compare idle -- hackbench                all runs of these names, side by side
  latlab compare stock-1 stock-2 stock-3 stock-4 -- rt-1 rt-2 rt-3 rt-4
  latlab compare five:stock -- five:rt            two kernels of a campaign, scenario by scenario
  latlab compare -o page.html stock -- rt         the same as a page with pictures
  latlab compare --limit 0.1/h stock -- rt        and no more than a burst of misses in ten hours
  latlab compare --gate --format junit before -- after >junit.xml

Each run gives one number for each metric, so that several runs a side are needed: 4 at least, 8 are
usual. Let the sides take turns, and reboot between the runs where kernels are compared.

Exit codes with --gate:
  0  no regression above the margin     2  wrong usage or input
  1  regressed                              4  the runs cannot tell
Flags stand before --.";
