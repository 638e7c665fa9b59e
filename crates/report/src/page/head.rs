//! The top of a run's page: the judgement, the main figures, possible causes, and what to do first.

use crate::document::html::{content, titled};
use crate::document::outline::{Outline, prose};
use crate::facts;
use crate::sections::{answer, outliers};
use crate::summary;
use crate::terms;
use crate::units::with_fixed_spaces;
use crate::verdict::bound_in_short;
use latlab_model::Run;
use maud::{Markup, html};

/// The judgement with its figures, and the conditions.
pub fn opening(run: &Run, outline: &Outline) -> Markup {
    let bound = answer::basis(run, bound_in_short);
    html! {
        header class={ "answer " (run.verdict.as_ref().map_or("none", |verdict| verdict.word.as_str())) } {
            p.kicker {
                (terms::of_run(run).title) " run " (run.id) " · " (facts::started(&run.started))
                @if let Some(note) = &run.asked.note { " · " (note) }
            }
            (outline.headline(prose(&summary::headline(run))))
            p.lead { (with_fixed_spaces(&summary::conditions(run))) }
            @if let Some(bound) = bound { p { (prose(&bound)) } }
            @if let Some(text) = answer::worthless(run) { p { strong.differs { (text) } } }
        }
    }
}

/// Possible causes of large latencies, and the first command to try; `None` if nothing is known.
/// The page of a single run links to more of them.
pub fn causes(run: &Run, outline: &Outline, has_more: bool) -> Option<Markup> {
    let mut causes = summary::causes(run);
    let known = summary::explained(run);
    if causes.is_empty() && known.is_none() {
        return None;
    }
    if causes.named.is_empty() && known.is_none() {
        causes.title = "No cause was seen";
    }
    let more = known.as_ref().map_or(0, |known| known.left_out);
    Some(html! {
        section.why aria-labelledby=(outline.id("why")) {
            @if let Some(known) = known {
                (titled(outline, &known.section()))
                p.where {
                    a href={ "#" (outline.id("explained")) } {
                        @if more > 0 { (more) " more, and " } "every spike from release to wake-up"
                    }
                }
            }
            (titled(outline, &causes.section(|_| true)))
            @if has_more { (more_causes(run, outline, causes.left_out)) }
            @if let Some(advice) = causes.advice() { (content(&advice)) }
        }
    })
}

/// Links to the parts of the page with more about the causes.
fn more_causes(run: &Run, outline: &Outline, left_out: usize) -> Markup {
    html! {
        @if let Some(sum) = outliers::sum(run) {
            p { a href={ "#" (outline.id("largest")) } { (with_fixed_spaces(&sum)) } }
        }
        @if left_out > 0 {
            p { a href={ "#" (outline.id("findings")) } { (left_out) " more" } " below." }
        }
    }
}
