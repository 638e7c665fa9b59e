//! The top of a run's page: the judgement, the main figures, possible causes, and what to do first.

use crate::document::outline::{Outline, firm, prose};
use crate::facts;
use crate::sections::{answer, outliers};
use crate::summary::{self, Causes, FirstTry, PossibleCause};
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
    let Causes { title, named: causes, left_out, first_try } = summary::causes(run);
    let known = summary::explained(run);
    if causes.is_empty() && first_try.is_none() && known.is_none() {
        return None;
    }
    let title = if causes.is_empty() && known.is_none() { "No cause was seen" } else { title };
    Some(html! {
        section.why aria-labelledby=(outline.id("why")) {
            @if let Some(known) = &known {
                (outline.title("known", html! { (known.title) }))
                table.known {
                    @for (share, text) in &known.causes { tr { th scope="row" { (firm(share)) } td { (text) } } }
                }
                p.where {
                    a href={ "#" (outline.id("explained")) } {
                        @if known.left_out > 0 { (known.left_out) " more, and " } "every spike from release to wake-up"
                    }
                }
            }
            (outline.title("why", html! { (title) }))
            @if !causes.is_empty() {
                ul.findings { @for cause in &causes { (one_cause(cause, run)) } }
            }
            @if has_more { (more_causes(run, outline, left_out)) }
            @if let Some(FirstTry { code, remedy, protects }) = first_try {
                p.try { strong { "Try first" } " (" code { (code) } ")" }
                @if remedy.is_command() { pre { code { (remedy) } } } @else { p { (prose(remedy.as_str())) } }
                @if let Some(what) = protects { p { "This removes a protection: " (what) "." } }
            }
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

fn one_cause(cause: &PossibleCause, run: &Run) -> Markup {
    let many = terms::of_run(run).many;
    let largest = |count: usize| format!(" · {count} of the {} largest {many}", run.largest.len());
    html! {
        li class=(cause.severity) {
            p { (prose(&cause.text)) }
            p.where {
                span.tag { (cause.severity) } " " code { (cause.code) }
                @if let Some(count) = cause.largest { (largest(count)) }
            }
        }
    }
}
