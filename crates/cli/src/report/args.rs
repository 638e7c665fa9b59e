//! The flags of `latlab report`.

use crate::common::Common;
use clap::Args;
use std::path::PathBuf;

/// Flags of `latlab report`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// Ids, parts of them, `last`, or paths of run folders; several are compared
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// The page to write, - for standard output [default: report.html in the run's folder,
    /// comparison.html in the first one's where several are compared]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Open the page in $BROWSER, else with xdg-open
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "\
Examples:
  latlab report --open                      the last run, in the browser
  latlab report night -o page.html
  latlab report stock rt -o both.html       two runs compared, and each of them
  latlab report last -o - | mail -s 'the last run' somebody@example.org

The page needs no network and no other file. It holds run.json and the figures of each second.";
