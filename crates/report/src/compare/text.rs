//! A comparison for the terminal and as Markdown.

use super::ComparedSides;
use super::sections::{changes, of_scenario};
use super::sentences::{headline, scenario};
use crate::document::style::{Colour, Style};
use crate::document::table::wrapped;
use crate::document::{escaped, to_markdown, to_terminal};
use latlab_stats::comparison::{ComparisonWord, RunComparison, ScenarioComparison};

pub fn show(sides: &ComparedSides, width: usize, style: Style) -> String {
    let of = &sides.runs;
    let head = wrapped(&headline(of), width, 0);
    let mut text = format!("{}\n", style.paint(colour(of.word), &head));
    for one in &of.scenarios {
        if let Some(line) = heading(of, one) {
            let line = wrapped(&format!("{line}: {}", scenario(one)), width, 2);
            text += &format!("\n{}\n", style.paint(Colour::Bold, &line));
        }
        text += &to_terminal(&of_scenario(one), width, style);
    }
    format!("{text}\n{}", to_terminal(&[changes(sides)], width, style))
}

pub fn markdown(sides: &ComparedSides) -> String {
    let of = &sides.runs;
    let mut text = format!("**{}**\n\n", escaped(&headline(of)));
    for one in &of.scenarios {
        if let Some(name) = heading(of, one) {
            text += &format!("#### {}\n\n{}\n\n", escaped(name), escaped(&scenario(one)));
        }
        text += &format!("{}\n", to_markdown(&of_scenario(one)));
    }
    text + &to_markdown(&[changes(sides)])
}

/// The name of a scenario if there are several.
fn heading<'a>(of: &RunComparison, one: &'a ScenarioComparison) -> Option<&'a str> {
    (of.scenarios.len() > 1).then(|| one.name.as_deref().unwrap_or("runs"))
}

pub(crate) fn colour(word: ComparisonWord) -> Colour {
    match word {
        ComparisonWord::NoRegression => Colour::Good,
        ComparisonWord::Regressed => Colour::Bad,
        _ => Colour::Warn,
    }
}
