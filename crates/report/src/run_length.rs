//! How long a run must be, for the terminal.

use crate::document::style::{Colour, Style};
use crate::document::table::{Column, table, wrapped};
use crate::units::{percent, span, trimmed};
use latlab_model::Nanos;
use latlab_model::nanos::duration;
use latlab_model::shell::Line;
use latlab_stats::RunLength;

const REMARKS: [&str; 3] = [
    "Choose the row before the run. If you watch the run and stop as soon as a row is reached, use the last \
     column.",
    "A shorter period does not shorten the run: what is counted is bursts of misses, and they come with time.",
    "The answer holds for the load of the run, not for a heavier one.",
];

/// The answer, a table of plans, their limitations, and the command.
pub fn run_length(of: &RunLength, deadline: Option<Nanos>, width: usize, style: Style) -> String {
    let Some(first) = of.plans.first() else { return String::new() };
    let missed = deadline.map(|deadline| format!(" of the {deadline} deadline"));
    let answer = format!(
        "{} without a miss{} show, with {} confidence, fewer than {} of misses an hour.",
        span(first.fixed_ns),
        missed.unwrap_or_default(),
        percent(of.confidence),
        match of.limit_per_hour {
            1.0 => "1 burst".to_string(),
            limit => trimmed(format!("{limit:.6}")) + " bursts",
        },
    );
    let cells =
        |cell: &dyn Fn(usize) -> String| -> Vec<String> { (0..of.plans.len()).map(cell).collect() };
    let columns = vec![
        Column::new("bursts that may come", 0, cells(&|at| of.plans[at].bursts.to_string())),
        Column::new("fixed length", 0, cells(&|at| span(of.plans[at].fixed_ns))),
        Column::new("stop at any time", 0, cells(&|at| span(of.plans[at].any_time_ns))),
    ];
    let remarks = REMARKS.map(|line| format!("{}\n", wrapped(line, width, 0))).concat();
    // A run is judged by its limit only if it has a deadline.
    let deadline = deadline.map_or_else(|| "TIME".to_string(), duration);
    let limit = of.limit_per_hour;
    let seconds = first.fixed_ns.0.unsigned_abs().div_ceil(1_000_000_000);
    let run = Line::new("latlab run --deadline").word(deadline);
    let run = run.text("--limit").word(format!("{limit}/h"));
    let length = Line::new("--for").word(format!("{seconds}s"));
    let next_line =
        if run.as_str().len() + length.as_str().len() + 3 > width { "\\\n    " } else { "" };
    format!(
        "{}\n\n{}\n{remarks}\n  {run} {next_line}{length}\n",
        style.paint(Colour::Bold, &wrapped(&answer, width, 0)),
        table(columns, width, style)
    )
}
