//! Where on the page a part stands: a page of one run and a part of a page of several are made of
//! the same sections, with headings one level lower and anchors of their own.

use maud::{Markup, html};

/// The place of the sections of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    prefix: String,
    inner: bool,
}

impl Place {
    /// The whole page.
    pub fn page() -> Place {
        Place { prefix: String::new(), inner: false }
    }

    /// A part of a page, of which the first has number 1.
    pub fn part(number: usize) -> Place {
        Place { prefix: format!("run-{number}"), inner: true }
    }

    /// The anchor or id of something in this place.
    pub fn id(&self, name: &str) -> String {
        match self.prefix.as_str() {
            "" => name.to_string(),
            prefix => format!("{prefix}-{name}"),
        }
    }

    /// What belongs to this place for scripts.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The heading of the place itself.
    pub fn headline(&self, words: Markup) -> Markup {
        html! {
            @if self.inner { h2.headline id=(self.id("headline")) { (words) } }
            @else { h1.headline id=(self.id("headline")) { (words) } }
        }
    }

    /// The heading of a section.
    pub fn title(&self, name: &str, words: Markup) -> Markup {
        html! {
            @if self.inner { h3.title id=(self.id(name)) { (words) } }
            @else { h2.title id=(self.id(name)) { (words) } }
        }
    }

    /// A heading inside a section.
    pub fn subtitle(&self, words: &str) -> Markup {
        html! {
            @if self.inner { h4.subtitle { (words) } } @else { h3.subtitle { (words) } }
        }
    }

    /// A section with its heading and anchor.
    pub fn section(&self, name: &str, title: &str, content: Markup) -> Markup {
        html! {
            section aria-labelledby=(self.id(name)) {
                (self.title(name, html! { (title) }))
                (content)
            }
        }
    }
}
