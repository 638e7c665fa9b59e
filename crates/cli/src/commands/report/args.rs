//! Flags of `latlab report`.

use crate::flags::RunComparisonArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Flags of `latlab report`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArgs {
    /// Ids, parts of them, `last`, or paths of run folders; several are compared; or one campaign
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// How they are compared and judged
    #[command(flatten)]
    pub comparison: RunComparisonArgs,
    /// The page to write, - for standard output; of a campaign also a folder, written with a slash at
    /// its end: its page and one of each run [default: report.html in the run's folder,
    /// comparison.html in the first one's where several are compared]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Open the page in $BROWSER, else with xdg-open
    #[arg(long)]
    pub open: bool,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print the result: text, json; the table of a campaign also: markdown, csv, junit
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
}

/// How `latlab report` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ReportFormat {
    #[default]
    Text,
    Json,
    Markdown,
    Csv,
    Junit,
}

impl ReportFormat {
    /// Whether this is one of the table formats, which only campaigns have.
    pub fn is_of_a_campaign(self) -> bool {
        !matches!(self, ReportFormat::Text | ReportFormat::Json)
    }

    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default()
    }
}

const EXAMPLES: &str = "\
Examples:
  latlab report --open                      the last run, in the browser
  latlab report night -o page.html
  latlab report stock rt -o both.html       two runs compared, and each of them
  latlab report a b --baseline stock        three runs, compared with stock
  latlab report stress-five --open          a campaign: its table, and a page of each run
  latlab report stress-five -o pages/       the same in a folder to send or to publish
  latlab report stress-five --format junit >junit.xml
  latlab report last -o - | mail -s 'the last run' you@example.org

The page needs no network and no other file. It holds run.json and the figures of each second.";
