//! The command line: the commands and their help.

use crate::commands::agent::AgentArgs;
use crate::commands::attach::args::AttachArgs;
use crate::commands::collect::CollectArgs;
use crate::commands::compare::args::CompareArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::cyclictest::{self, CyclictestArgs};
use crate::commands::doctor::args::DoctorArgs;
use crate::commands::explain::args::ExplainArgs;
use crate::commands::export::args::ExportArgs;
use crate::commands::fleet::args::{DrawArgs, FleetArgs};
use crate::commands::import::args::ImportArgs;
use crate::commands::lab::args::LabArgs;
use crate::commands::loads::LoadsArgs;
use crate::commands::plan::PlanArgs;
use crate::commands::plot::args::PlotArgs;
use crate::commands::report::args::ReportArgs;
use crate::commands::respond::args::RespondArgs;
use crate::commands::runs::args::{ListArgs, ShowArgs};
use crate::commands::scenarios::ScenariosArgs;
use crate::commands::serve::args::ServeArgs;
use crate::commands::target::TargetArgs;
use crate::commands::trend::args::TrendArgs;
use crate::commands::tune::args::TuneArgs;
use crate::commands::verify::VerifyArgs;
use crate::commands::watch::args::{WatchArgs, with_defaults};
use crate::flags::run::RunArgs;
use clap::{Command as Program, CommandFactory, Parser, Subcommand};

/// How late can this machine be, why, and is that good enough for your deadline?
#[derive(Parser)]
#[command(
    version = latlab_model::VERSION,
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
  latlab attach -- ./control --rate 1000    are the cycles of this program in time?
  latlab watch --deadline 1ms --on-fail CMD 5 s of each minute, with a warning
  latlab show last                          the result of that run, in the terminal
  latlab explain last                       why its spikes were large (after `run --explain`)
  latlab report last -o page.html           the same as a page with charts
  latlab plot idle load --kind ccdf         two runs in one chart
  latlab compare idle -- hackbench          are the runs of one name worse than those of another?
  latlab trend --since 2026-11-01           a figure over builds, with its steps
  latlab fleet query worst                  the largest latencies of many boards
  latlab verify --all                       check every stored run for damage
  latlab respond --from cap.sr --look       list the channels of a capture
  latlab import output.txt                  a recording of cyclictest becomes a run
  latlab export last --to cyclictest        a run becomes a histogram of cyclictest
  latlab doctor                             find settings that cost latency, with remedies
  latlab tune --deadline 100us              prove which settings of this machine help

Exit codes:
  0  done, or the verdict is pass           3  could not measure or write (rights, features, space)
  1  the verdict is fail                    4  the verdict is inconclusive or invalid
  2  wrong usage or input";

/// The whole command line, with the settings that all commands share.
pub fn program() -> Program {
    Cli::command().mut_subcommand("watch", with_defaults)
}

/// What latlab can do.
#[derive(Subcommand)]
pub enum Command {
    /// Measure wake-up latency and store the run; or measure all runs of a sheet.
    Run(Box<RunArgs>),
    /// Measure the threads of your own program: are its cycles in time, and what delays them?
    Attach(Box<AttachArgs>),
    /// Measure a little, often, within a budget of CPU time and disk.
    Watch(Box<WatchArgs>),
    /// Measure how fast a pin answers a pin, from captures or in a simulator.
    Respond(Box<RespondArgs>),
    /// Compute how long a run must be to exclude a rate of deadline misses.
    Plan(PlanArgs),
    /// Turn recordings of other tools into runs: cyclictest, rtla, jitterdebugger and more.
    Import(Box<ImportArgs>),
    /// Write a stored run in the format of another tool: cyclictest, Prometheus, Perfetto and more.
    Export(ExportArgs),
    /// Find settings of this machine, or of a run's machine, that cost latency.
    Doctor(DoctorArgs),
    /// Prove which settings of this machine help, and make them for good.
    Tune(Box<TuneArgs>),
    /// List or download kernels for guests in virtual time.
    Lab(LabArgs),
    /// Name boards, set their defaults, and show what runs on them.
    Target(TargetArgs),
    /// Fetch runs that a board measured on its own (`latlab run --detach`), and store them.
    Collect(CollectArgs),
    /// List the loads that can run beside a measurement.
    Loads(LoadsArgs),
    /// List the ready-made sheets.
    Scenarios(ScenariosArgs),
    /// List the stored runs, newest first.
    List(ListArgs),
    /// Show a stored run in the terminal.
    Show(ShowArgs),
    /// Tell what delayed the thread in each spike of a run with `--explain`.
    Explain(ExplainArgs),
    /// Write stored runs as one self-contained HTML page.
    Report(ReportArgs),
    /// Judge whether some runs are worse than others.
    Compare(CompareArgs),
    /// Follow a figure over builds, and judge the newest.
    Trend(TrendArgs),
    /// Keep the runs of many boards in tables, and query these (with the Python package).
    Fleet(Box<FleetArgs>),
    /// Draw stored runs as SVG or PNG.
    Plot(PlotArgs),
    /// Serve stored and running measurements to a browser.
    Serve(ServeArgs),
    /// Check stored runs for damage.
    Verify(VerifyArgs),
    /// Measure with the options and output of cyclictest; also through a link of that name.
    #[command(disable_help_flag = true, after_help = cyclictest::option_table::plain_usage())]
    Cyclictest(CyclictestArgs),
    /// Generate shell completions.
    Completions(CompletionsArgs),
    /// Read run folders for the tables of `latlab fleet`.
    #[command(hide = true)]
    FleetRows,
    /// Print an answer of `latlab fleet query`.
    #[command(hide = true)]
    FleetDraw(DrawArgs),
    /// Run as the measuring agent of another latlab, or write the agent program.
    Agent(AgentArgs),
}

impl Command {
    /// Whether the command stores its result, so that it succeeded even if nothing could be
    /// printed.
    pub fn keeps_its_result(&self) -> bool {
        use Command::*;
        matches!(
            self,
            Run(_)
                | Attach(_)
                | Watch(_)
                | Tune(_)
                | Respond(_)
                | Import(_)
                | Collect(_)
                | Serve(_)
                | Cyclictest(_)
                | Agent(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_flags_are_consistent() {
        program().debug_assert();
    }
}
