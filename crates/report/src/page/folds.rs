//! The parts of a page below its answer: each folded under its title, with a list of them before.
//!
//! The anchor of a part is inside its fold, so that a browser unfolds what a link leads to without a
//! script.

use super::markup::Outline;
use maud::{Markup, html};

/// A part of a page that is shown when a reader asks for it.
pub struct Fold {
    name: &'static str,
    title: String,
    /// What it comes to, beside its title.
    sum: Option<String>,
    content: Markup,
}

impl Fold {
    /// Under this title; the name is that of its anchor.
    pub fn new(name: &'static str, title: &str, content: Markup) -> Fold {
        Fold { name, title: title.to_string(), sum: None, content }
    }

    /// The same with a few words of what it comes to.
    pub fn sum(self, words: Option<String>) -> Fold {
        Fold { sum: words, ..self }
    }
}

/// All of them, with the list of contents.
pub fn folds(outline: &Outline, all: &[Fold]) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            @for fold in all { a href={ "#" (outline.id(fold.name)) } { (fold.title) } }
        }
        @for fold in all { (one(outline, fold)) }
    }
}

fn one(outline: &Outline, fold: &Fold) -> Markup {
    let title = format!("{}-title", fold.name);
    html! {
        details.fold {
            summary {
                (outline.title(&title, html! { (fold.title) }))
                @if let Some(sum) = &fold.sum { span.sum { (sum) } }
            }
            section id=(outline.id(fold.name)) aria-labelledby=(outline.id(&title)) { (fold.content) }
        }
    }
}
