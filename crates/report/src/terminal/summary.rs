//! The summary of a run for the terminal: on one screen, or in a few lines.

use crate::document::style::{Colour, Style, verdict_colour};
use crate::document::table::wrapped;
use crate::document::{Block, On, PossibleCause, Section, to_terminal};
use crate::sections::{answer, attach};
use crate::summary::{
    Causes, Explained, causes, conditions, explained, figures_line, headline, key_figures,
};
use crate::verdict::{bound_in_short, capitalised};
use latlab_model::Run;

/// Whether the run is good enough, why not, and what to do, on 24 lines of `width` columns (at
/// least 80), of which two are left for commands. The histogram is dropped if the text needs the
/// room.
pub fn summarise(run: &Run, picture: &str, width: usize, style: Style) -> String {
    let (opening, figures) = (opening(run, width, style), figure_table(run, width, style));
    let causes = causes(run);
    let known = known(run, width, style);
    let lines = |text: &str| text.lines().count();
    let now_lines = lines(&now(&causes, width, style));
    let with = |picture: &str| {
        let mut parts = vec![opening.as_str(), &figures, picture];
        parts.retain(|part| !part.is_empty());
        let answer: usize = parts.iter().map(|part| lines(part)).sum();
        let used = answer + parts.len() + lines(&known) + now_lines;
        let room = SCREEN.saturating_sub(used + TITLE + COMMANDS);
        let why = why(&causes, width, style, room);
        let why = format!("{known}{why}{}", now(&causes, width, style));
        parts.extend(Some(why.as_str()).filter(|why| !why.is_empty()));
        parts.join("\n")
    };
    let text = with(picture);
    if lines(&text) > SCREEN - COMMANDS { with("") } else { text }
}

/// Without histogram and table, for the end of a measurement.
pub fn summarise_in_lines(run: &Run, width: usize, style: Style) -> String {
    let figures = match run.attached {
        Some(_) => figure_table(run, width, style),
        None => format!("{}\n", wrapped(&capitalised(&figures_line(run)), width, 0)),
    };
    let causes = causes(run);
    let why = why(&causes, width, style, CAUSE_LINES);
    let (known, now) = (known(run, width, style), now(&causes, width, style));
    [opening(run, width, style), figures, known, why, now].concat()
}

/// The causes of the recorded spikes, if kernel events were recorded.
fn known(run: &Run, width: usize, style: Style) -> String {
    to_terminal(&Vec::from_iter(explained(run).map(Explained::section)), width, style)
}

/// What to try first.
fn now(causes: &Causes, width: usize, style: Style) -> String {
    to_terminal(&Vec::from_iter(causes.advice()), width, style)
}

fn opening(run: &Run, width: usize, style: Style) -> String {
    let colour = run.verdict.as_ref().map_or(Colour::Bold, |verdict| verdict_colour(verdict.word));
    let headline = style.paint(colour, &wrapped(&headline(run), width, 0));
    let conditions = style.paint(Colour::Dim, &wrapped(&conditions(run), width, 0));
    let bound =
        answer::basis(run, bound_in_short).map(|bound| format!("{}\n", wrapped(&bound, width, 0)));
    format!("{headline}\n{conditions}\n{}", bound.unwrap_or_default())
}

fn figure_table(run: &Run, width: usize, style: Style) -> String {
    let section = if run.attached.is_some() { attach::section(run) } else { key_figures(run) };
    to_terminal(&Vec::from_iter(section), width, style)
}

/// Lines of a screen.
const SCREEN: usize = 24;
/// Lines that point to the rest of a report.
const COMMANDS: usize = 2;
/// Lines of the title of the causes.
const TITLE: usize = 1;
/// Lines of causes at the end of a measurement.
const CAUSE_LINES: usize = 6;

/// The causes in about `room` lines.
fn why(causes: &Causes, width: usize, style: Style, room: usize) -> String {
    let has_room = |named: &[PossibleCause]| {
        let drawn = Section::new("why", "").without_title();
        let drawn = drawn.add(On::Terminal, Block::PossibleCauses(named.to_vec()));
        to_terminal(&[drawn], width, style).lines().count() <= room
    };
    to_terminal(&[causes.section(has_room)], width, style)
}
