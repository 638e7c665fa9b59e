//! Output and exit code of `latlab compare` and `latlab trend`.

use crate::exit::{EXIT_FAIL, EXIT_NO_ANSWER};
use crate::flags::test_results::TestResultArgs;
use crate::output::{print, print_json, print_text, style, width, write_whole};
use clap::{Args, ValueEnum};
use latlab_report::Style;
use latlab_report::test_suite::TestSuite;
use latlab_stats::comparison::ComparisonWord;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Width of text that is written to a file.
const FILE_WIDTH: usize = 100;

/// Flags of a command that judges stored runs.
#[derive(Args)]
pub struct ResultOutputArgs {
    /// End with the exit code of the answer
    #[arg(long)]
    gate: bool,
    /// How to print the result: text, json, markdown, junit, html
    #[arg(long, hide_possible_values = true, value_name = "FORMAT", default_value = "text")]
    format: ResultFormat,
    /// The file to write, - for standard output [default: standard output]; a page if its name ends in
    /// .html
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    results: TestResultArgs,
}

/// How a judgement is printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
enum ResultFormat {
    #[default]
    Text,
    Json,
    Markdown,
    Junit,
    Html,
}

/// A result in each output format.
pub trait ResultOutput: Serialize {
    fn word(&self) -> ComparisonWord;
    /// For a terminal of this width.
    fn text(&self, width: usize, style: Style) -> anyhow::Result<String>;
    /// For issues and wikis.
    fn markdown(&self) -> anyhow::Result<String>;
    /// For continuous integration.
    fn test_suite(&self) -> anyhow::Result<TestSuite>;
    /// As an HTML page.
    fn page(&self) -> anyhow::Result<String>;
}

impl ResultOutputArgs {
    /// Prints the result, or writes it to a file.
    pub fn print(&self, found: &impl ResultOutput) -> anyhow::Result<ExitCode> {
        let stdout_is_taken = self.file().is_none() && self.format != ResultFormat::Text;
        self.results.check(stdout_is_taken)?;
        match (self.format(), self.file()) {
            (ResultFormat::Text, None) if self.results.replace_text() => {}
            (ResultFormat::Json, None) => print_json(found)?,
            (ResultFormat::Text, None) => print_text(&found.text(width(), style())?)?,
            (format, file) => {
                let text = match format {
                    ResultFormat::Json => serde_json::to_string_pretty(found)? + "\n",
                    ResultFormat::Text => found.text(FILE_WIDTH, Style::default())?,
                    ResultFormat::Markdown => found.markdown()?,
                    ResultFormat::Junit => found.test_suite()?.junit(),
                    ResultFormat::Html => found.page()?,
                };
                match file {
                    Some(path) => write_whole(path, text.as_bytes())?,
                    None => print(&text)?,
                }
            }
        }
        self.results.write(|| found.test_suite())?;
        Ok(ExitCode::from(if self.gate { gate(found.word()) } else { 0 }))
    }

    /// The output file. `None` for standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// The format from the flag, else from the file's name.
    fn format(&self) -> ResultFormat {
        let is_page = self.file().and_then(Path::extension).is_some_and(|end| end == "html");
        match self.format {
            ResultFormat::Text if is_page => ResultFormat::Html,
            format => format,
        }
    }
}

fn gate(word: ComparisonWord) -> u8 {
    match word {
        ComparisonWord::NoRegression => 0,
        ComparisonWord::Regressed => EXIT_FAIL,
        ComparisonWord::Changed | ComparisonWord::Inconclusive | ComparisonWord::Refused => {
            EXIT_NO_ANSWER
        }
    }
}
