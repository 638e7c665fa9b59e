//! Flags of `latlab fleet`.

use crate::flags::format_of;
use clap::{Args, Subcommand, ValueEnum};
use latlab_model::Nanos;
use latlab_model::nanos::SECOND;
use latlab_model::sanitize::plain_line;
use serde::Serialize;
use std::path::PathBuf;

/// Flags of `latlab fleet`.
#[derive(Args)]
#[command(subcommand_required = true, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct FleetArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: FleetCommand,
    /// Folder of the tables [default: $LATLAB_FLEET, else ./fleet]
    #[arg(long, value_name = "DIR", global = true)]
    pub table: Option<PathBuf>,
}

/// The commands of `latlab fleet`; the Python package gets them as JSON.
#[derive(Subcommand, Serialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum FleetCommand {
    /// Add runs to the tables, each once.
    Add(AddArgs),
    /// Query the tables: board-tail, worst, trend, matrix, changed, coverage, or SQL of your own.
    Query(QueryArgs),
    /// Merge many small files of the tables into few large ones.
    Compact,
    /// Delete files that the tables no longer need.
    Vacuum {
        /// Keep files that versions of the tables up to this age need
        #[arg(long, value_name = "TIME", default_value = "168h", value_parser = hours)]
        #[serde(rename = "keep_hours")]
        keep: i64,
    },
    /// Rebuild the tables from the run folders.
    Rebuild {
        /// Run folders, or folders of runs, besides those that the tables were made of
        #[arg(value_name = "FOLDER")]
        folders: Vec<PathBuf>,
        /// Leave out runs whose folders no longer exist
        #[arg(long)]
        without_missing: bool,
    },
    /// Compare the tables with the seals of the run folders.
    Verify,
}

/// Flags of `latlab fleet add`.
#[derive(Args, Serialize)]
pub struct AddArgs {
    /// Run folders, or folders of runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// Name of the board [default: the host's name of each run]
    #[arg(long, value_name = "NAME", value_parser = board)]
    pub board: Option<String>,
    /// A word to find the runs by; may be given several times
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag)]
    pub tags: Vec<String>,
    /// Keep running, and add new runs as they appear
    #[arg(long)]
    #[serde(skip)]
    pub watch: bool,
    /// With --watch, time between two checks of the folders
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "watch")]
    #[serde(skip)]
    pub every: Nanos,
    /// Seconds of it; none without --watch.
    #[arg(skip)]
    watch_s: Option<f64>,
}

/// Flags of `latlab fleet query`.
#[derive(Args, Serialize)]
pub struct QueryArgs {
    /// What to ask: board-tail, worst, trend, matrix, changed, coverage
    #[arg(value_name = "QUERY", required_unless_present = "sql", hide_possible_values = true)]
    pub query: Option<FleetQuery>,
    /// A file with SQL of your own
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub sql: Option<PathBuf>,
    /// What answers: duckdb (this machine), spark (a cluster)
    #[arg(long, value_name = "NAME", default_value = "duckdb", hide_possible_values = true)]
    pub engine: Engine,
    /// Cluster of Spark, such as spark://host:7077 [default: $LATLAB_SPARK, else this machine]
    #[arg(long, value_name = "URL")]
    pub master: Option<String>,
    /// Only runs of this board; may be given several times
    #[arg(long = "board", value_name = "NAME")]
    pub boards: Vec<String>,
    /// Only runs of this scenario: a row of a sheet, or the name of a run; may be given several times
    #[arg(long = "scenario", value_name = "NAME")]
    pub scenarios: Vec<String>,
    /// Only runs that started at this time (UTC) or later, such as 2026-11-01
    #[arg(long, value_name = "TIME", value_parser = crate::flags::time_of_run)]
    pub since: Option<String>,
    /// Only runs that started before this time (UTC)
    #[arg(long, value_name = "TIME", value_parser = crate::flags::time_of_run)]
    pub until: Option<String>,
    /// How to print the answer: text, json, csv, svg, html [default: by the end of the file's name, else text]
    #[arg(long, hide_possible_values = true, value_name = "FORMAT")]
    pub format: Option<AnswerFormat>,
    /// The file to write, - for standard output [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The queries that come with the Python package.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FleetQuery {
    /// Quantiles of each board, kernel and scenario.
    BoardTail,
    /// The runs with the largest latencies.
    Worst,
    /// p99.9 over time, with its steps.
    Trend,
    /// Boards and scenarios: the newest run, and how all were judged.
    Matrix,
    /// The newest kernel of each board against the one before.
    Changed,
    /// What was measured where, how long, and how long ago.
    Coverage,
}

/// What answers a query.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// DuckDB, in the process of the package.
    Duckdb,
    /// Apache Spark.
    Spark,
}

/// How an answer is printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerFormat {
    #[default]
    #[value(alias = "txt")]
    Text,
    Json,
    Csv,
    Svg,
    Html,
}

/// Flags of the command that draws an answer for the Python package.
#[derive(Args)]
pub struct DrawArgs {
    /// How
    #[arg(long)]
    pub format: AnswerFormat,
    /// Where to
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

impl AddArgs {
    /// Fills in the default folder if none was named.
    pub fn with_defaults(self, runs: PathBuf) -> AddArgs {
        let folders = if self.folders.is_empty() { vec![runs] } else { self.folders };
        let watch_s = self.watch.then_some(self.every.0 as f64 / SECOND.0 as f64);
        AddArgs { folders, watch_s, ..self }
    }
}

impl QueryArgs {
    /// Fills in the format from the file's name.
    pub fn with_format(self) -> anyhow::Result<QueryArgs> {
        let format = format_of(self.format, self.output.as_deref())?;
        Ok(QueryArgs { format: Some(format), ..self })
    }
}

/// A board's name, which becomes part of folder names.
fn board(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    match !text.is_empty() && text.len() <= 80 && text.chars().all(fits) {
        true => Ok(text.to_string()),
        false => Err(format!("'{text}' is not a name of letters, digits, '.', '_' and '-'")),
    }
}

fn tag(text: &str) -> Result<String, String> {
    let text = plain_line(text)?;
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() && !text.contains(' ') => {
            Ok(text)
        }
        _ => Err(format!("'{text}' is not KEY=VALUE without blanks, such as place=rack-3")),
    }
}

fn hours(text: &str) -> Result<i64, String> {
    let time: Nanos = text.parse().map_err(|error| format!("{error}"))?;
    match time >= Nanos::ZERO {
        true => Ok(time.0 / (3600 * SECOND.0)),
        false => Err(format!("'{text}' is less than 0")),
    }
}

const EXAMPLES: &str = "\
Examples:
  latlab fleet add runs                                 make the tables of all runs, or add the new ones
  latlab fleet add --watch --board rack-3 /srv/runs     go on for as long as boards measure
  latlab fleet query board-tail                         quantiles of each board, kernel and scenario
  latlab fleet query trend --since 2026-01-01 -o year.html
  latlab fleet query --sql mine.sql --format csv
  latlab fleet query matrix --engine spark --master spark://host:7077
  latlab fleet compact                                  after many additions

This is a part of the Python package: in a clone of latlab, `pip install './python[fleet]'` after `make`.
The tables are Delta Lake; the run folders stay the truth, and `rebuild` makes the tables of them again.

Exit codes:
  0  done                                   2  wrong usage or input
  1  a run is damaged, or the tables        3  could not read or write, or the package is missing";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::parse;

    #[test]
    fn mistakes_are_told() {
        for (flags, expected) in [
            ("add --board rack/3", "letters, digits"),
            ("add --tag place", "KEY=VALUE"),
            ("add --every 5s", "--watch"),
            ("query", "<QUERY"),
            ("query tail", "board-tail, worst, trend, matrix, changed, coverage"),
            ("query worst --sql x.sql", "cannot be used with"),
            ("query worst --engine trino", "duckdb, spark"),
            ("query worst --format png", "text, json, csv, svg, html"),
            ("query worst --since yesterday", "not a time such as"),
            ("vacuum --keep -1h", "unexpected argument"),
            ("vacuum --keep 5", "has no unit"),
        ] {
            let error = parse::<FleetArgs>(flags.split(' ')).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(expected), "{flags}: {error}");
        }
    }

    #[test]
    fn the_format_is_that_of_the_name_unless_said() {
        let format = |flags: &str| {
            let words = ["query", "worst"].into_iter().chain(flags.split_whitespace());
            match parse::<FleetArgs>(words).unwrap().command {
                FleetCommand::Query(args) => {
                    args.with_format().map(|args| args.format.unwrap()).ok()
                }
                _ => panic!("another command"),
            }
        };
        assert_eq!(format(""), Some(AnswerFormat::Text));
        assert_eq!(format("-o a.SVG"), Some(AnswerFormat::Svg));
        assert_eq!(format("-o a.html --format csv"), Some(AnswerFormat::Csv));
        assert_eq!(format("-o a.txt"), Some(AnswerFormat::Text));
        assert_eq!(format("-o a.pdf"), None);
    }
}
