//! Stored runs, one line each, for the terminal and as Markdown.

use crate::document::style::Style;
use crate::document::table::{Column, Table};
use crate::document::{Section, to_markdown, to_terminal};
use crate::figures::{Counts, Place, columns};
use crate::verdict::forbids_pass;
use latlab_model::Run;
use latlab_model::plan::Instrument;
use latlab_model::sanitize::escape_controls;

/// With more reasons than this, the list refers to the findings.
const NAMED_REASONS: usize = 5;

/// The list of runs, one per line, in at most `width` columns (at least 80).
pub fn list(runs: &[&Run], width: usize, style: Style) -> String {
    to_terminal(&[section(runs)], width, style)
}

pub fn markdown_list(runs: &[&Run]) -> String {
    to_markdown(&[section(runs)])
}

fn section(runs: &[&Run]) -> Section {
    let subjects: Vec<Counts> = runs.iter().map(|run| Counts::of_run(run)).collect();
    let ids = runs.iter().map(|run| escape_controls(&run.id));
    let mut all = vec![Column::new("run", 0, ids).left()];
    all.extend(columns(Place::List, &subjects));
    // A gap is not a latency: if the list has both, each row states its kind.
    if runs.iter().all(|run| run.asked.method.instrument() == Instrument::Cyclic) {
        all.retain(|column| column.head() != "instrument");
    }
    Section::new("list", "Runs").without_title().table(Table::new("Runs", all)).texts(notes(runs))
}

/// Why runs do not pass although no latency missed the deadline.
fn notes(runs: &[&Run]) -> Vec<String> {
    let reason = |run: &&Run| Some(format!("{} is inconclusive: {}.", run.id, forbids_pass(run)?));
    let forbidden: Vec<String> = runs.iter().filter_map(reason).collect();
    let named = forbidden.iter().take(NAMED_REASONS).map(|line| escape_controls(line));
    let more = forbidden.len().saturating_sub(NAMED_REASONS);
    let more = (more > 0).then(|| format!("{more} more are inconclusive: see `latlab show RUN`."));
    named.chain(more).collect()
}
