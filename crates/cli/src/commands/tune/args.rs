//! Flags of `latlab tune`.

use crate::flags::attach::OfAttach;
use crate::flags::plan::{OfRun, OptionSet, TableArgs};
use crate::flags::{Common, share};
use crate::sheet::options::{NEEDS_PROGRAM, NOT_OF_PROGRAMS, is_known, names_program};
use clap::Args;
use latlab_model::options::{Given, OPTIONS, PlanOption, WHICH_PROGRAM};
use latlab_model::{Nanos, Plan, shell};
use std::path::PathBuf;

const SETTINGS: &str = "Which settings";
const SEARCH: &str = "Search";
const RESULT: &str = "Result";

/// Flags of `latlab tune`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TuneArgs {
    #[command(flatten)]
    pub measure: TableArgs<OfTune>,
    /// Judge by the cycles of this program and its arguments, started for each run, instead of latlab's own threads
    #[arg(long, value_name = "COMMAND", help_heading = WHICH_PROGRAM)]
    pub program: Option<String>,
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

/// The options of `latlab run`, and those of `latlab attach` that it has not.
pub enum OfTune {}

impl OptionSet for OfTune {
    fn has(option: &PlanOption) -> bool {
        let is_added = || !option.form.is_rest && !is_known(option.name, PlanOption::is_of_run);
        OfRun::has(option) || OfAttach::has(option) && is_added()
    }
}

impl TuneArgs {
    /// The measurement of each run; an error is one line.
    pub fn plan(&self, seed: u64) -> Result<Plan, String> {
        let is_named = self.measure.given().iter().any(|one| names_program(one.option.name));
        if self.program.is_none() && !is_named {
            return self.measure.as_of::<OfRun>(Vec::new(), NEEDS_PROGRAM)?.plan(seed);
        }
        let is_program = |option: &&PlanOption| option.form.is_rest && OfAttach::has(option);
        let words = self.program.iter().flat_map(|command| {
            let option = OPTIONS.iter().find(is_program)?;
            Some(Given { option, values: shell::split(command), is_default: false })
        });
        self.measure.as_of::<OfAttach>(words.collect(), NOT_OF_PROGRAMS)?.plan()
    }
}

const EXAMPLES: &str = "\
Examples:
  sudo latlab tune --deadline 100us --load hackbench    about an hour; tells the plan first
  sudo latlab tune --program './control --rate 1000' --deadline 500us    judged by its cycles
  sudo latlab tune --for 20min --only irqs,rps,console -a 1
  sudo latlab tune --settings mine.toml --allow nmi-watchdog
  latlab tune --dry-run                                 what would be changed, and for how long
  sudo latlab tune --resume                             go on after an interruption
  latlab report last -o page.html                       the answer as a page
  sudo latlab tune --apply                              make what helps for good
  sudo latlab tune --undo                               take that back

--for limits the whole search [default: 60min]. Each run sets about half of the settings and puts them back;
the untouched machine is measured in between. Ctrl-C puts everything back and keeps what was measured.";
