//! Flags of `latlab attach`.

use crate::flags::Common;
use crate::flags::plan::{add_options, given_options};
use crate::flags::test_results::TestResultArgs;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use latlab_model::options::{Given, PlanOption};

const WHICH: &str = "Which program";
const KEEP: &str = "What to store";

/// Flags of `latlab attach`.
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub struct AttachArgs {
    #[command(flatten)]
    pub options: AttachOptions,
    /// Show the threads, how they are released and how often, after 2 s or --for; store nothing
    #[arg(long, help_heading = WHICH)]
    pub list: bool,
    /// Continue when the terminal is closed (SIGHUP)
    #[arg(long, help_heading = KEEP)]
    pub keep_going: bool,
    /// Print no progress and no live table
    #[arg(short, long, help_heading = KEEP)]
    pub quiet: bool,
    #[command(flatten)]
    pub results: TestResultArgs,
    #[command(flatten)]
    pub common: Common,
}

const USAGE: &str = "\
latlab attach [OPTIONS] -- PROGRAM [ARGUMENTS]...
       latlab attach [OPTIONS] --pid ID
       latlab attach [OPTIONS] --comm NAME";

const EXAMPLES: &str = "\
Examples:
  latlab attach -- ./control --rate 1000            start it and measure it until it ends
  latlab attach --pid 4711 --for 10min --deadline 500us
  latlab attach --comm 'ec_cyclic*' --deadline wake-up:100us --for 1h
  latlab attach --comm jackd --list                 which threads, and how are they released?
  latlab attach --pid 4711 --activation read:7      a cycle ends when it reads descriptor 7
  latlab attach --load hackbench --for 60s -- ./control

The program is not changed: latlab reads the kernel's events of what its threads do, which needs root.
Ctrl-C ends a run cleanly and keeps it.";

/// The options of the shared table that were given.
pub struct AttachOptions(pub Vec<Given>);

impl Args for AttachOptions {
    fn augment_args(command: Command) -> Command {
        add_options(command, PlanOption::is_of_attach)
    }

    fn augment_args_for_update(command: Command) -> Command {
        AttachOptions::augment_args(command)
    }
}

impl FromArgMatches for AttachOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<AttachOptions, Error> {
        Ok(AttachOptions(given_options(matches, PlanOption::is_of_attach)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = AttachOptions::from_arg_matches(matches)?;
        Ok(())
    }
}
