//! The box with the verdict.

use crate::page::markup::Outline;
use crate::page::markup::prose;
use crate::sentence;
use crate::verdict::sentences;
use latlab_model::Run;
use maud::{Markup, html};

/// The verdict, or why there is none.
pub fn verdict(run: &Run, outline: &Outline) -> Markup {
    let Some(verdict) = &run.verdict else {
        return html! {
            section.verdict.none aria-labelledby=(outline.id("verdict")) {
                (outline.title("verdict", html! { "No verdict" }))
                p { "No deadline was given, so there is no verdict. To judge the run, repeat it \
                     with " code { "--deadline" } "." }
                @if sentence::is_invalid(run) {
                    p { strong.differs { "A finding below makes these figures worthless or incomplete." } }
                }
            }
        };
    };
    html! {
        section class={ "verdict " (verdict.word) } aria-labelledby=(outline.id("verdict")) {
            (outline.title("verdict", html! { "Verdict: " strong { (verdict.word) } }))
            p { (prose(&sentences(run, verdict))) }
        }
    }
}
