//! `latlab fleet-draw`: prints an answer from standard input, or draws it as a picture or a page.

use super::args::{AnswerFormat, DrawArgs};
use crate::output::{print, print_text, style, width, write_whole};
use anyhow::Context;
use latlab_report::fleet::FleetAnswer;
use latlab_report::{Options, Style, fleet, standalone};
use std::io;
use std::process::ExitCode;

/// Width of text that is written to a file.
const FILE_WIDTH: usize = 120;

pub fn draw(args: &DrawArgs) -> anyhow::Result<ExitCode> {
    let given = io::read_to_string(io::stdin()).context("cannot read the answer")?;
    let file = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    match (args.format, file) {
        (AnswerFormat::Text, None) => {
            print_text(&fleet::show(&answer(&given)?, width(), style()))?;
        }
        (format, file) => {
            let text = match format {
                AnswerFormat::Csv => given,
                AnswerFormat::Json => serde_json::to_string_pretty(&answer(&given)?)? + "\n",
                AnswerFormat::Svg => {
                    let options = Options { id: "fleet".to_string(), ..Options::default() };
                    standalone(&fleet::picture(&answer(&given)?, &options)) + "\n"
                }
                AnswerFormat::Html => fleet::page(&answer(&given)?),
                AnswerFormat::Text => fleet::show(&answer(&given)?, FILE_WIDTH, Style::default()),
            };
            match file {
                Some(path) => write_whole(path, text.as_bytes())?,
                None => print(&text)?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn answer(text: &str) -> anyhow::Result<FleetAnswer> {
    serde_json::from_str(text).context("standard input is not the answer of a query as JSON")
}
