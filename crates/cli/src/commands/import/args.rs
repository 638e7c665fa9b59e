//! Flags of `latlab import`.

use crate::flags::{FileRuns, check_positive, size, value_parser_of};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use latlab_formats::read::{FORMATS, Format, InputUnit, format_of_id};
use latlab_model::Nanos;
use std::path::PathBuf;

/// Flags of `latlab import`.
#[derive(Args)]
#[command(after_help = help())]
pub struct ImportArgs {
    /// Recordings of other tools, also compressed with gzip, xz or zstd; a folder stands for all
    /// files below it, - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only print what the files hold; store nothing
    #[arg(long, help_heading = CONTENT)]
    pub look: bool,
    /// Format of the files [default: by their content]
    #[arg(long = "as", value_name = "FORMAT", value_parser = format_parser(),
          hide_possible_values = true, help_heading = CONTENT)]
    pub file_format: Option<&'static Format>,
    /// Column with the latencies of a table: its name, or its number from 1
    #[arg(long, value_name = "COLUMN", help_heading = CONTENT)]
    pub column: Option<String>,
    /// Unit of the latencies, where the file does not say it: s, ms, us, ns
    #[arg(long, value_name = "UNIT", value_parser = value_parser_of(InputUnit::ALL, InputUnit::as_str),
          hide_possible_values = true, help_heading = CONTENT)]
    pub unit: Option<InputUnit>,

    /// The column has the times at which the cycles of a loop with this period began, and not latencies
    #[arg(long, value_name = "TIME", help_heading = CONTENT)]
    pub period: Option<Nanos>,

    /// Refuse what is larger: a size such as 500M or 4G
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = size,
          help_heading = CONTENT)]
    pub max_size: u64,

    /// The runs that are made of the files
    #[command(flatten)]
    pub runs: FileRuns,
}

const CONTENT: &str = "Content";

const EXAMPLES: &str = "\
Examples:
  latlab import output.txt --deadline 100us       the histogram of cyclictest -h, judged
  latlab import old/*.log.gz                      many recordings, one run each
  latlab import old --look                        what is in the files of a folder
  latlab import samples.csv --column latency --unit us
  latlab show last                                the imported run in the terminal";

fn help() -> String {
    let format = |one: &Format| format!("  {:<20}{}\n", one.id, one.title);
    let formats: String = FORMATS.iter().map(format).collect();
    format!(
        "{EXAMPLES}\n\nFormats:\n{formats}\nThe original is kept in the folder of the run. What the \
         file leaves open becomes a finding."
    )
}

fn format_parser() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.id))
        .try_map(|text| format_of_id(&text).ok_or(text))
}

impl ImportArgs {
    /// Refuses contradicting flags; an error is one line for the user.
    pub fn check(&self) -> Result<(), String> {
        check_positive([("--deadline", self.runs.deadline), ("--period", self.period)])
    }
}
