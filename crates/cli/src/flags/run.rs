//! Flags of `latlab run`.

use crate::flags::Common;
use crate::flags::plan::MeasureArgs;
use crate::flags::sheet::SheetArgs;
use crate::flags::test_results::TestResultArgs;
use clap::Args;

/// Flags of `latlab run`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArgs {
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// Continue when the terminal is closed (SIGHUP)
    #[arg(long, help_heading = KEEP)]
    pub keep_going: bool,
    /// Print no progress and no live table
    #[arg(short, long, help_heading = OTHER)]
    pub quiet: bool,
    #[command(flatten)]
    pub results: TestResultArgs,
    #[command(flatten)]
    pub sheet: SheetArgs,
    #[command(flatten)]
    pub common: Common,
}

const KEEP: &str = "What to store";
const OTHER: &str = "Other";

const EXAMPLES: &str = "\
Examples:
  latlab run --for 60s --deadline 1ms
  latlab run -a 1-3 -i 200us -D 5h --name night --note 'new kernel'
  latlab run -t 16 -a 0-3 --cycles 1000000 -p 80
  latlab run --policy other --for 10s               needs no rights
  latlab run --policy deadline:100us/1ms/1ms --for 10s
  latlab run -b 150us --on-spike 'cat >>spikes.json'
  latlab run --deadline 125us --limit 10/h --until-decided --for 2h
  latlab run --instrument handoff --wake pipe --for 10s
  latlab run --instrument spin --for 60s            noise of each CPU
  latlab run --samples -i 50us --for 8h --keep-going --name night
  latlab run --load hackbench,groups=4 --load stressapptest --for 1h
  latlab run -a 1-3 --tune irqs=away --tune rt-throttling=off --for 1h
  latlab run --target pi --detach --for 8h          measure a board without the link to it
  latlab run stress-five --scale 20s --dry-run      show the plan of a ready-made sheet
  latlab run night.toml                             run a sheet of your own
  latlab run night.toml --junit junit.xml           and write its result for continuous integration
  latlab run --resume                               continue it

Times are written 200us, 1.5ms, 30s, 5h. Ctrl-C ends a run cleanly and keeps it.";
