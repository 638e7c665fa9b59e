//! Answers of queries over many runs: for the terminal, as a chart, as a page.

mod cells;
mod page;
mod row;
mod series;
mod text;

pub use page::page;
pub use row::{FleetAnswer, FleetEntry, RunColumn, run_columns, run_row};
pub use text::show;

use crate::pictures::options::Options;
use crate::pictures::{marks, small_trends};
use series::all_series;

/// The chart of an answer: series with their steps if there are any, else a line for each row.
pub fn picture(of: &FleetAnswer, options: &Options) -> String {
    match all_series(of) {
        Some(series) => {
            let series: Vec<_> = series.iter().map(|one| (one.name(), &one.trend)).collect();
            small_trends::draw(&series, options)
        }
        None => marks::draw(&cells::marked_rows(of), options),
    }
}
