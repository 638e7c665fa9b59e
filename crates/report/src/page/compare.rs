//! Several runs on one page: the answer, the main figures side by side, the differences, and the
//! charts overlaid.

use super::PageRun;
use super::pictures::compared;
use super::responders;
use crate::document::html::{content, open};
use crate::document::outline::{Outline, prose};
use crate::run_table::RunTable;
use crate::run_with_bins::RunWithBins;
use latlab_model::Run;
use latlab_stats::MeasuredRun;
use maud::{Markup, html};

pub fn comparison(runs: &[PageRun], outline: &Outline) -> Markup {
    let measured: Vec<RunWithBins> = runs.iter().map(PageRun::with_bins).collect();
    let judged: Vec<MeasuredRun> = runs.iter().map(PageRun::measured).collect();
    let all: Vec<&Run> = runs.iter().map(|one| one.run).collect();
    let comparison = RunTable::new(all).with_judgements(&judged);
    html! {
        section.comparison id="comparison" aria-labelledby=(outline.id("headline")) {
            header {
                p.kicker { "Comparison: " (comparison.title()) }
                @let (headline, more) = comparison.lines();
                (outline.headline(prose(&headline)))
                @for line in more { p.lead { (prose(&line)) } }
            }
            @match responders::compared(runs, outline) {
                Some(responders) => (responders),
                None => (content(&comparison.table())),
            }
            (compared(&measured, outline))
            (open(outline, &comparison.differing()))
        }
    }
}
