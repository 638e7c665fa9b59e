//! The summary of a run for the terminal: on one screen, or in a few lines.

use crate::document::style::{Colour, Style, severity_colour, verdict_colour};
use crate::document::table::wrapped;
use crate::document::to_terminal;
use crate::sections::{answer, attach};
use crate::summary::{
    Causes, FirstTry, PossibleCause, causes, conditions, explained, figures_line, headline,
    key_figures,
};
use crate::verdict::{bound_in_short, capitalised};
use latlab_model::Run;

/// Whether the run is good enough, why not, and what to do, on 24 lines of `width` columns (at
/// least 80), of which two are left for commands. The histogram is dropped if the text needs the
/// room.
pub fn summarise(run: &Run, picture: &str, width: usize, style: Style) -> String {
    let (opening, figures) = (opening(run, width, style), figure_table(run, width, style));
    let causes = causes(run);
    let (known, now) = (known(run, width), now(&causes, width));
    let lines = |text: &str| text.lines().count();
    let with = |picture: &str| {
        let mut parts = vec![opening.as_str(), &figures, picture];
        parts.retain(|part| !part.is_empty());
        let answer: usize = parts.iter().map(|part| lines(part)).sum();
        let used = answer + parts.len() + lines(&known) + lines(&now);
        let room = SCREEN.saturating_sub(used + TITLE + COMMANDS);
        let why = format!("{known}{}{now}", why(run, &causes, width, style, room));
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
    let why = why(run, &causes, width, style, CAUSE_LINES);
    [opening(run, width, style), figures, known(run, width), why, now(&causes, width)].concat()
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

/// The causes of the recorded spikes, if kernel events were recorded.
fn known(run: &Run, width: usize) -> String {
    let Some(known) = explained(run) else { return String::new() };
    let more = match known.left_out {
        0 => String::new(),
        count => format!(" ({count} more in `latlab explain`)"),
    };
    let each = known.causes.iter();
    let each = each.map(|(share, text)| format!("  {share:>6}  {}\n", wrapped(text, width, 10)));
    let title = wrapped(&format!("{}{more}:", known.title), width, 0);
    format!("{title}\n{}", each.collect::<String>())
}

/// Lines of a screen.
const SCREEN: usize = 24;
/// Lines that point to the rest of a report.
const COMMANDS: usize = 2;
/// Lines of the title of the causes.
const TITLE: usize = 1;
/// Lines of causes at the end of a measurement.
const CAUSE_LINES: usize = 6;
const INDENT: usize = 10;

/// The causes in about `room` lines, but at least the first.
fn why(run: &Run, causes: &Causes, width: usize, style: Style, room: usize) -> String {
    let Causes { title, named: causes, left_out, .. } = causes;
    let mut left_out = *left_out;
    if causes.is_empty() {
        return String::new();
    }
    let each = causes.iter().map(|PossibleCause { severity, text, code, largest }| {
        let word = style.paint(severity_colour(*severity), &format!("{severity:<7}"));
        let largest = largest.map(|count| format!(": {count} of {} largest", run.largest.len()));
        let mark = format!("{code}{}", largest.unwrap_or_default());
        let text = wrapped(text, width, INDENT);
        let last = text.lines().last().map_or(0, |line| line.chars().count());
        let first = if text.contains('\n') { 0 } else { INDENT };
        // A mark is never split.
        let has_room = first + last + mark.chars().count() + 3 <= width;
        let gap = if has_room { " ".to_string() } else { format!("\n{}", " ".repeat(INDENT)) };
        format!("  {word} {text}{gap}[{mark}]\n")
    });
    let mut named = String::new();
    for cause in each {
        let lines = named.lines().count() + cause.lines().count();
        match named.is_empty() || lines <= room {
            true => named += &cause,
            false => left_out += 1,
        }
    }
    let more = match left_out {
        0 => String::new(),
        count => format!(" ({count} more in `latlab show --all`)"),
    };
    let title = wrapped(&format!("{title}{more}:"), width, 0);
    format!("{title}\n{named}")
}

fn now(causes: &Causes, width: usize) -> String {
    let Some(FirstTry { code, remedy, protects }) = &causes.first_try else { return String::new() };
    let line = format!("Try first [{code}]: {remedy}");
    let line = if remedy.is_command() { line } else { wrapped(&line, width, 2) };
    let caution = protects.as_ref().map(|what| {
        format!("{}\n", wrapped(&format!("  This removes a protection: {what}."), width, 2))
    });
    format!("{line}\n{}", caution.unwrap_or_default())
}
