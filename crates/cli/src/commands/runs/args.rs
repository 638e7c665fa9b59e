//! Flags of `latlab list` and `latlab show`.

use crate::flags::RunComparisonArgs;
use clap::{Args, ValueEnum};
use latlab_digest::window::WindowSpec;
use std::path::PathBuf;

/// How `latlab list` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ListFormat {
    #[default]
    Text,
    Json,
    Markdown,
}

/// Flags of `latlab list`.
#[derive(Args)]
pub struct ListArgs {
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How to print the list: text, json, markdown
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ListFormat,
}

/// How `latlab show` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum ShowFormat {
    #[default]
    Text,
    Json,
    Markdown,
    Html,
    Csv,
}

/// Flags of `latlab show`.
#[derive(Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub struct ShowArgs {
    /// Run to show: an id, a part of one, `last`, or the path of a run folder; several are compared
    /// with the first; or one campaign
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<String>,
    /// How they are compared and judged
    #[command(flatten)]
    pub comparison: RunComparisonArgs,
    /// Show only this part of a run with samples: times in UTC, or since the first release (+10s)
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub window: Option<WindowSpec>,
    /// How to print the result: text, json, markdown, html (the top of the page, for a notebook); with --window text, json,
    /// markdown, csv (every sample)
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ShowFormat,
    /// Show everything: each thread, conditions, findings, diagnoses, cost, the command
    #[arg(short = 'v', long)]
    pub all: bool,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  latlab show                                       the answer of the last run, on a screen
  latlab show night --all                           everything that is known of a run
  latlab show stock rt                              two runs side by side, with what differs
  latlab show a b c --baseline rt                   four runs, compared with rt
  latlab show night --limit 1/d                     judged by bursts of misses, not by each miss
  latlab show night --window 14:03:00..14:03:10     ten seconds of it, in UTC
  latlab show night --window +1h..+1h10s            the same since the first release
  latlab show night --window 2026-11-21T23:50:00Z..
  latlab show last --window ..+1min --format csv    every sample of the first minute
  latlab show --format markdown                     for an issue or a wiki

Either side of a window may be left out. A time without a date is the one within the run. Missed
releases are those within the window. CSV rows come in stored order: some thousand samples of one
thread, then of the next.

Tables are compared with their checksums, except samples.parquet and trace.parquet, which may be long. If
one was changed, the figures of run.json are shown, and the exit code is 2. `latlab verify` checks everything.";
