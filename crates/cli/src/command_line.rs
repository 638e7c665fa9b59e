//! The command line: the commands and their help.

use crate::commands::agent::AgentArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::cyclictest::{self, CyclictestArgs};
use crate::commands::doctor::args::DoctorArgs;
use crate::commands::lab::args::LabArgs;
use crate::commands::loads::LoadsArgs;
use crate::commands::plot::args::PlotArgs;
use crate::commands::report::args::ReportArgs;
use crate::commands::respond::args::RespondArgs;
use crate::commands::runs::args::{ListArgs, ShowArgs};
use crate::commands::scenarios::ScenariosArgs;
use crate::commands::serve::args::ServeArgs;
use crate::commands::verify::VerifyArgs;
use crate::flags::run::RunArgs;
use clap::{Parser, Subcommand};

/// How late can this machine be, why, and is that good enough for your deadline?
#[derive(Parser)]
#[command(
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  latlab run --for 60s --deadline 1ms       measure every CPU for a minute and judge it
  latlab show last                          what that run said, in the terminal
  latlab report last -o page.html           the same as a page with the picture
  latlab plot idle load --kind ccdf         two runs in one picture
  latlab verify --all                       whether every stored run is as it was stored
  latlab respond --from cap.sr --look       a capture of wires: what answers what, how fast?
  latlab doctor                             what on this machine costs latency, and what mends it

Exit codes:
  0  done, or the verdict is pass           3  could not measure (rights, missing feature)
  1  the verdict is fail                    4  the verdict is inconclusive or invalid
  2  wrong usage or input";

/// What latlab can do.
#[derive(Subcommand)]
pub enum Command {
    /// Measure how late this machine is, and store the run; or all that a sheet says.
    Run(Box<RunArgs>),
    /// Measure how fast a pin answers a pin: from captures, or in a simulator.
    Respond(Box<RespondArgs>),
    /// Say what on this machine, or on that of a run, costs latency, and how to mend it.
    Doctor(DoctorArgs),
    /// Kernels for guests in virtual time: list them, or get them.
    Lab(LabArgs),
    /// List the programs that can load the machine during a run.
    Loads(LoadsArgs),
    /// List the ready-made sheets, and the question that each answers.
    Scenarios(ScenariosArgs),
    /// List the stored runs, newest first.
    List(ListArgs),
    /// Show a stored run in the terminal.
    Show(ShowArgs),
    /// Write a stored run as one self-contained HTML page.
    Report(ReportArgs),
    /// Draw a stored run, or several on one scale.
    Plot(PlotArgs),
    /// Show the stored runs and those that go on in a browser.
    Serve(ServeArgs),
    /// Check that stored runs are as they were stored.
    Verify(VerifyArgs),
    /// Measure and print as cyclictest does, with its options; also by a link of that name.
    #[command(disable_help_flag = true, after_help = cyclictest::table::plain_usage())]
    Cyclictest(CyclictestArgs),
    /// Print what completes these commands in a shell.
    Completions(CompletionsArgs),
    /// Measure for another latlab, or write the program that does so on a board.
    Agent(AgentArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_are_consistent() {
        Cli::command().debug_assert();
    }
}
