//! The figures of each measuring thread.

use crate::document::Section;
use crate::document::table::{Column, Table};
use crate::figures::{Counts, Place, columns};
use crate::sections::respond;
use crate::sentence;
use crate::units::counted;
use latlab_model::Run;

/// `None` for a run without threads, and for an attached program, whose cycles are more
/// informative.
pub fn section(run: &Run) -> Option<Section> {
    if run.threads.is_empty() || run.attached.is_some() {
        return None;
    }
    if let Some(columns) = respond::columns(&[run]) {
        let table = Table::new(respond::MEANING, columns);
        return Some(Section::new("threads", "Figures").without_title().table(table));
    }
    let caption = format!(
        "Each measuring thread in {}{}. Quantiles are the upper edge of their bin.",
        sentence::exposure(run),
        sentence::over(run),
    );
    let threads = run.threads.len();
    let table = Table::new(caption, thread_columns(run)).with_total(threads > 1);
    let section = Section::new("threads", "Threads").without_title().table(table);
    Some(section.sum(Some(counted(threads as u64, "thread", "threads"))))
}

/// A row for each thread, and a total if there are several.
fn thread_columns(run: &Run) -> Vec<Column> {
    let total = (run.threads.len() > 1).then(|| Counts::of_run(run));
    let names = run.threads.iter().map(|one| one.setup.thread.to_string());
    let names = names.chain(total.as_ref().map(|_| "all".to_string()));
    let subjects: Vec<Counts> =
        run.threads.iter().map(|one| Counts::of_thread(run, one)).chain(total).collect();
    let figures = columns(Place::Threads, &subjects);
    std::iter::once(Column::new("thread", 0, names)).chain(figures).collect()
}
