//! Flags of `latlab tune`.

use crate::flags::plan::MeasureArgs;
use crate::flags::{Common, share};
use clap::Args;
use latlab_model::Nanos;
use std::path::PathBuf;

const SETTINGS: &str = "Which settings";
const SEARCH: &str = "Search";
const RESULT: &str = "Result";

/// Flags of `latlab tune`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TuneArgs {
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Try this setting although it gives up a protection; may be repeated
    #[arg(long, value_name = "NAME", help_heading = SETTINGS)]
    pub allow: Vec<String>,
    /// Try only these settings
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = SETTINGS)]
    pub only: Vec<String>,
    /// Leave out these settings
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = SETTINGS)]
    pub without: Vec<String>,
    /// Also try the settings of this file: a table `[NAME]` for each, with set = ["FILE=VALUE"]
    #[arg(long, value_name = "FILE", help_heading = SETTINGS)]
    pub settings: Option<PathBuf>,
    /// Length of each run
    #[arg(long, value_name = "TIME", default_value = "8s", help_heading = SEARCH)]
    pub slot: Nanos,
    /// A smaller change makes no difference
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = share, help_heading = SEARCH)]
    pub tolerance: f64,
    /// Show what would be changed, and for how long; measure nothing
    #[arg(long, help_heading = SEARCH)]
    pub dry_run: bool,
    /// Go on with a search that was cut short [default: the last one]
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "last", help_heading = SEARCH)]
    pub resume: Option<String>,
    /// Make the settings that help for good: show what is written, ask, and write it [default: of the last search]
    #[arg(long, value_name = "SEARCH", num_args = 0..=1, default_missing_value = "last", group = "action",
          help_heading = RESULT)]
    pub apply: Option<String>,
    /// Show what was made for good, and whether it holds
    #[arg(long, group = "action", help_heading = RESULT)]
    pub status: bool,
    /// Take back what was made for good
    #[arg(long, group = "action", help_heading = RESULT)]
    pub undo: bool,
    /// With --apply: do not ask
    #[arg(long, requires = "apply", help_heading = RESULT)]
    pub yes: bool,
    /// Continue when the terminal is closed (SIGHUP)
    #[arg(long, help_heading = SEARCH)]
    pub keep_going: bool,
    /// Print no progress and no live table
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "\
Examples:
  sudo latlab tune --deadline 100us --load hackbench    about an hour; tells the plan first
  sudo latlab tune --for 20min --only irqs,rps,console -a 1
  sudo latlab tune --settings mine.toml --allow nmi-watchdog
  latlab tune --dry-run                                 what would be changed, and for how long
  sudo latlab tune --resume                             go on after an interruption
  latlab report last -o page.html                       the answer as a page
  sudo latlab tune --apply                              make what helps for good
  sudo latlab tune --undo                               take that back

--for limits the whole search [default: 60min]. Each run sets about half of the settings and puts them back;
the untouched machine is measured in between. Ctrl-C puts everything back and keeps what was measured.";
