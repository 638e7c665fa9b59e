//! A series of builds for the terminal and as Markdown.

use super::sections::builds;
use super::sentences::headline;
use crate::compare::colour;
use crate::document::style::Style;
use crate::document::table::wrapped;
use crate::document::{escaped, to_markdown, to_terminal};
use latlab_stats::builds::Trend;

pub fn show(of: &Trend, width: usize, style: Style) -> String {
    let head = style.paint(colour(of.word), &wrapped(&headline(of), width, 0));
    format!("{head}\n\n{}", to_terminal(&[builds(of)], width, style))
}

pub fn markdown(of: &Trend) -> String {
    format!("**{}**\n\n{}", escaped(&headline(of)), to_markdown(&[builds(of)]))
}
