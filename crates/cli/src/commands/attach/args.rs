//! Flags of `latlab attach`.

use crate::flags::Common;
use crate::flags::attach::AttachOptions;
use crate::flags::test_results::TestResultArgs;
use clap::Args;
use latlab_model::options::WHICH_PROGRAM;

const KEEP: &str = "What to store";

/// Flags of `latlab attach`.
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub struct AttachArgs {
    #[command(flatten)]
    pub options: AttachOptions,
    /// Show the threads, how they are released and how often, after 2 s or --for; store nothing
    #[arg(long, help_heading = WHICH_PROGRAM)]
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
  latlab attach --explain --load hackbench --for 60s -- ./control
  latlab attach --target ssh://pi@board --comm control --for 10min

The program is not changed: latlab reads the kernel's events of what its threads do, which needs root.
Ctrl-C ends a run cleanly and keeps it.";
