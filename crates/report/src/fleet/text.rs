//! An answer for the terminal.

use super::cells::{cell, head, is_text};
use super::series::{FleetSeries, all_series};
use crate::document::style::{Colour, Style};
use crate::document::table::{Column, table, wrapped};
use crate::figures::figure_head;
use crate::fleet::FleetAnswer;
use crate::trend::change;
use crate::units::{counted, short};
use latlab_stats::comparison::ComparisonWord;

pub fn show(of: &FleetAnswer, width: usize, style: Style) -> String {
    match all_series(of) {
        Some(series) => with_steps(&series, width, style),
        None if of.rows.is_empty() => "No row: no run fits.\n".to_string(),
        None => table(columns(of), width, style),
    }
}

pub fn columns(of: &FleetAnswer) -> Vec<Column> {
    let column = |(at, name): (usize, &String)| {
        let cells =
            of.rows.iter().map(|row| row.get(at).map_or("-".into(), |value| cell(name, value)));
        // A narrow terminal drops the rightmost columns first.
        let rank = if at < 2 { 0 } else { at.min(200) as u8 };
        let column = Column::new(&head(name), rank, cells);
        if is_text(of, at) { column.left() } else { column }
    };
    of.columns.iter().enumerate().map(column).collect()
}

/// A summary of the series, and each with its newest level.
fn with_steps(all: &[FleetSeries], width: usize, style: Style) -> String {
    let line = style.paint(colour(all), &wrapped(&headline(all), width, 0));
    format!("{line}\n\n{}", table(series_columns(all), width, style))
}

pub fn series_columns(all: &[FleetSeries]) -> Vec<Column> {
    let cells =
        |cell: &dyn Fn(&FleetSeries) -> String| -> Vec<String> { all.iter().map(cell).collect() };
    vec![
        Column::new("board", 0, cells(&|one| one.board.clone())).left(),
        Column::new("scenario", 0, cells(&|one| one.scenario.clone())).left(),
        Column::new(figure_head("kernel"), 0, cells(&|one| one.kernel.clone())).left(),
        Column::new(figure_head("p99_9_ns"), 0, cells(&newest)),
        Column::new("newest step", 0, cells(&newest_step)).left(),
        Column::new("since", 1, cells(&since)).left(),
        Column::new("steps", 3, cells(&|one| one.trend.steps.len().to_string())),
        Column::new("runs", 2, cells(&|one| runs(one).to_string())),
    ]
}

fn colour(all: &[FleetSeries]) -> Colour {
    match all.iter().any(|one| one.regression().is_some()) {
        true => Colour::Bad,
        false => Colour::Good,
    }
}

pub fn headline(all: &[FleetSeries]) -> String {
    let series = counted(all.len() as u64, "series", "series");
    let regressed = all.iter().filter(|one| one.regression().is_some()).count();
    let with = |word: ComparisonWord| all.iter().filter(|one| one.trend.word == word).count();
    let untold = match with(ComparisonWord::Refused) {
        0 => String::new(),
        some => format!(" {some} are too short or drift, so that nothing is said of them."),
    };
    let high = match with(ComparisonWord::Inconclusive) {
        0 => String::new(),
        some => format!(" In {some} the newest value alone is high: measure these again."),
    };
    match all.first().filter(|one| one.regression().is_some()) {
        Some(worst) => format!(
            "{regressed} of {series} regressed: the newest level of p99.9 is higher than the one before, most on \
             {} ({}, {}): {}.{high}{untold}",
            worst.board,
            worst.scenario,
            worst.kernel,
            newest_step(worst)
        ),
        None => format!("None of {series} regressed.{high}{untold}"),
    }
}

fn newest(of: &FleetSeries) -> String {
    of.trend.builds.last().map_or("-".to_string(), |build| short(build.value_ns))
}

/// How the newest level differs from the one before.
pub fn newest_step(of: &FleetSeries) -> String {
    of.trend.steps.last().map_or("-".to_string(), change)
}

/// When the newest level began.
pub fn since(of: &FleetSeries) -> String {
    of.trend.steps.last().map_or("-".to_string(), |step| step.build.clone())
}

fn runs(of: &FleetSeries) -> usize {
    of.trend.builds.iter().map(|build| build.runs.len()).sum()
}
