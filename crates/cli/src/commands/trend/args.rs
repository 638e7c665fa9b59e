//! Flags of `latlab trend`.

use crate::commands::result_output::ResultOutputArgs;
use crate::flags::{share, time_of_run, value_parser_of};
use clap::{Args, ValueEnum};
use latlab_stats::comparison::Metric;

/// Flags of `latlab trend`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TrendArgs {
    /// Runs of the series: ids, names, paths, campaigns, CAMPAIGN:ROW [default: all stored runs]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Only runs that started at this time (UTC) or later, such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = time_of_run)]
    pub since: Option<String>,
    /// Only runs of boards or hosts whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub board: Option<String>,
    /// What one build is: the runs of a kernel, of a name, or each run [default: the first of these in
    /// which the runs differ]
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub by: Option<BuildBy>,
    /// The figure that is followed: p50, p99, p99.9, p99.99, 'median maximum'
    #[arg(long, value_name = "METRIC", default_value = "p99.9", hide_possible_values = true,
          value_parser = value_parser_of(Metric::ALL, Metric::as_str))]
    pub metric: Metric,
    /// By how much a level may be higher than the one before
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = share)]
    pub margin: f64,
    /// How the result is written.
    #[command(flatten)]
    pub result: ResultOutputArgs,
}

/// What one build is.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildBy {
    /// All runs of a kernel: its release and the date of its build.
    Kernel,
    /// All runs of a name.
    Name,
    /// Each run.
    Run,
}

const EXAMPLES: &str = "\
Examples:
  latlab trend                                  p99.9 of all stored runs, a build for each kernel
  latlab trend nightly --since 2026-11-01       the runs of a name since a day
  latlab trend --by run --metric p50 -o page.html
  latlab trend --board rpi4 --gate --format junit >junit.xml

Steps are searched from 10 builds on. After a step that is accepted, begin anew with --since.

Exit codes with --gate:
  0  the newest level is not higher             2  wrong usage or input
  1  the newest level is higher by the limit    4  the runs cannot tell";
