//! The summary of a run for the terminal: on a screen, or in some lines.

use crate::doctor::severity_colour;
use crate::summary::{
    Cause, Figure, capitalised, causes, conditions, explained, figures, figures_line, headline,
    remedy,
};
use crate::terminal::style::{Colour, Style};
use crate::terminal::table::{Column, shortened, table, wrapped};
use crate::terminal::text::verdict_colour;
use crate::verdict::bound_in_short;
use latlab_model::Run;

/// Whether it is good enough, why not, and what now: on 24 lines of `width` columns (from 80 up).
pub fn summarise(run: &Run, picture: &str, width: usize, style: Style) -> String {
    let parts = [
        opening(run, width, style),
        figure_table(run, width, style),
        picture.to_string(),
        format!("{}{}{}", known(run, width), why(run, width, style), now(run, width)),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// The same without a picture and without a table, for the end of a measurement.
pub fn summarise_in_lines(run: &Run, width: usize, style: Style) -> String {
    let figures = format!("{}\n", wrapped(&capitalised(&figures_line(run)), width, 0));
    let (known, possible) = (known(run, width), why(run, width, style));
    [opening(run, width, style), figures, known, possible, now(run, width)].concat()
}

fn opening(run: &Run, width: usize, style: Style) -> String {
    let colour = run.verdict.as_ref().map_or(Colour::Bold, |verdict| verdict_colour(verdict.word));
    let headline = style.paint(colour, &wrapped(&headline(run), width, 0));
    let conditions = style.paint(Colour::Dim, &wrapped(&conditions(run), width, 0));
    let bound = match &run.verdict {
        Some(verdict) => bound_in_short(run, verdict),
        None => Some("Not judged: no deadline was given (--deadline TIME).".to_string()),
    };
    let bound = bound.map(|bound| format!("{}\n", wrapped(&bound, width, 0)));
    format!("{headline}\n{conditions}\n{}", bound.unwrap_or_default())
}

fn figure_table(run: &Run, width: usize, style: Style) -> String {
    let figures = figures(run);
    if figures.is_empty() {
        return String::new();
    }
    let has_shares = run.asked.deadline_ns.is_some();
    let has_intervals = figures.iter().any(|figure| figure.interval.is_some());
    let interval = has_intervals.then_some("95 % interval");
    let first = [Some(""), has_shares.then_some("of the deadline"), interval].into_iter().flatten();
    let mut columns = vec![Column::new("", 0, first.map(str::to_string)).left()];
    columns.extend(figures.into_iter().map(|Figure { name, value, share, interval, .. }| {
        let share = has_shares.then(|| share.unwrap_or_else(|| "-".to_string()));
        let interval = has_intervals.then(|| interval.unwrap_or_else(|| "-".to_string()));
        Column::new(name, 0, [Some(value), share, interval].into_iter().flatten())
    }));
    table(columns, width, style)
}

/// In fewer columns a cause is not shortened, since nothing of it would be left.
const LEAST_ROOM: usize = 20;

/// Who held the thread off, where the kernel's events were recorded.
fn known(run: &Run, width: usize) -> String {
    let Some(known) = explained(run) else { return String::new() };
    let more = match known.left_out {
        0 => String::new(),
        count => format!(" ({count} more in `latlab explain`)"),
    };
    let each = known.causes.iter();
    let each = each.map(|(share, text)| {
        format!("  {share:>6}  {}\n", shortened(text, width.saturating_sub(10).max(LEAST_ROOM)))
    });
    let title = wrapped(&format!("{}{more}:", known.title), width, 0);
    format!("{title}\n{}", each.collect::<String>())
}

fn why(run: &Run, width: usize, style: Style) -> String {
    let (causes, left_out) = causes(run);
    if causes.is_empty() {
        return String::new();
    }
    let each = causes.into_iter().map(|Cause { severity, text, code, largest }| {
        let word = style.paint(severity_colour(severity), &format!("{severity:<7}"));
        let largest = largest.map(|count| format!(": {count} of {} largest", run.largest.len()));
        let mark = format!("{code}{}", largest.unwrap_or_default());
        let room = width.saturating_sub(13 + mark.chars().count());
        if room < LEAST_ROOM {
            let text = wrapped(&format!("{text} [{mark}]"), width, 4);
            return format!("  {}\n    {text}\n", word.trim_end());
        }
        format!("  {word} {} [{mark}]\n", shortened(&text, room))
    });
    let more = match left_out {
        0 => String::new(),
        count => format!(" ({count} more in `latlab show --all`)"),
    };
    let title = wrapped(&format!("Possible causes{more}:"), width, 0);
    format!("{title}\n{}", each.collect::<String>())
}

fn now(run: &Run, width: usize) -> String {
    let line = remedy(run).map(|(code, remedy)| match remedy.is_command() {
        true => format!("Try first [{code}]: {remedy}"),
        false => wrapped(&format!("Try first [{code}]: {remedy}"), width, 2),
    });
    let line = line.filter(|line| line.chars().count() <= 2 * width.max(60));
    line.map(|line| line + "\n").unwrap_or_default()
}
