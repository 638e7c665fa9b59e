//! Flags of `latlab list` and `latlab show`.

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
    Csv,
}

/// Flags of `latlab show`.
#[derive(Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub struct ShowArgs {
    /// An id, a part of one, `last`, or the path of a run folder.
    #[arg(default_value = "last")]
    pub run: String,
    /// Only a stretch of a run with samples: times in UTC, or since the first release (+10s)
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub window: Option<WindowSpec>,
    /// How to print the result: text, json, markdown; with --window text, json, csv (every sample)
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    pub format: ShowFormat,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  latlab show                                       the last run
  latlab show night --window 14:03:00..14:03:10     ten seconds of it, in UTC
  latlab show night --window +1h..+1h10s            the same since the first release
  latlab show night --window 2026-11-21T23:50:00Z..
  latlab show last --window ..+1min --format csv    every sample of the first minute
  latlab show --format markdown                     for an issue or a wiki

Either side of a window may be left out. A time without a date is the one that lies in the run.
Missed releases are those that lie in the window. CSV comes as it is stored: some thousand samples
of one thread, then of the next.

What is read from a table is compared with its checksum first, but for samples.parquet: gigabytes
are not read for the sake of a second. `latlab verify` reads everything.";
