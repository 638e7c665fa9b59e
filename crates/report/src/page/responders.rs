//! What pages show of responders in addition to what they show of every run.

use super::PageRun;
use super::pictures::in_widths;
use crate::document::Section;
use crate::document::outline::Outline;
use crate::document::outline::prose;
use crate::document::table::{Column, Table};
use crate::pictures::options::Options;
use crate::pictures::phase::{Fold as Period, draw};
use crate::sections::kernels;
use crate::sections::pairs::{self, PairedRuns};
use crate::sections::published::{self, Repetition};
use crate::sections::respond;
use latlab_model::Run;
use maud::{Markup, html};

/// Responses against the phase of a possible disturbance; `None` if that is not known.
pub fn phase(of: &PageRun, outline: &Outline) -> Option<Section> {
    let period = Period::of_run(of.run).filter(|_| !of.samples.is_empty())?;
    let caption = "Each response at the time of its stimulus, modulo the period of the marker: \
                   delays that come with the marker appear at one phase, whatever the distance of \
                   the stimuli is.";
    let draw = |options: &Options| draw(of.run, of.samples, period, options);
    let picture = in_widths("phase", outline, caption, &draw);
    Some(Section::new("phase", "Against the phase").html(picture))
}

/// Responders next to each other and in pairs; `None` if other runs are among them.
pub fn compared(runs: &[PageRun], outline: &Outline) -> Option<Markup> {
    let all: Vec<&Run> = runs.iter().map(|one| one.run).collect();
    let columns = respond::columns(&all)?;
    let of_kernels = kernels::columns(&all);
    let latencies: Vec<Vec<i64>> = runs
        .iter()
        .map(|one| one.samples.iter().map(|sample| sample.latency_ps()).collect())
        .collect();
    let series: Vec<PairedRuns> =
        all.iter().zip(&latencies).map(|(&run, latencies)| PairedRuns { run, latencies }).collect();
    let loaded = pairs::load_comparisons(&series);
    let published = Repetition::of(&all);
    Some(html! {
        @if let Some(columns) = &of_kernels {
            (outline.section("kernels", "Kernels side by side", drawn(columns.clone(), kernels::MEANING)))
        }
        (drawn(columns, &respond::meaning(true)))
        @if let Some(published) = &published {
            (outline.section("published", "Next to the published figures", html! {
                (drawn(published.columns(), published::meaning()))
                @if let Some(order) = published.order() { p { (prose(&order)) } }
                (drawn(published.condition_columns(), published::source()))
            }))
        }
        @match pairs::columns(&series) {
            Some(columns) => {
                (outline.section("pairs", "Faster responder", drawn(columns, pairs::MEANING)))
            }
            None => p { "There are too many responses or runs to compare them in pairs." }
        }
        @if !loaded.is_empty() {
            (outline.section("idle-busy", "Idle and under load", html! {
                (drawn(pairs::load_comparison_columns(&loaded), "Effect of the load: the median \
                                                                   of all differences of two \
                                                                   responses, under load minus \
                                                                   idle, of these series."))
                p { (prose(pairs::WHY)) }
            }))
        }
    })
}

fn drawn(columns: Vec<Column>, caption: &str) -> Markup {
    crate::document::table::markup(&Table::new(caption, columns))
}
