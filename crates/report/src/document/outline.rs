//! Building blocks of a page's sections: headings, tables, marked-up text, numbers.

use crate::units::{grouped, with_fixed_spaces};
use maud::{Markup, html};

/// Headings and anchors of a page, or of a part of a page, whose headings are one level lower.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    prefix: String,
    inner: bool,
}

impl Outline {
    pub fn page() -> Outline {
        Outline { prefix: String::new(), inner: false }
    }

    /// A part of a page; the first has number 1.
    pub fn part(number: usize) -> Outline {
        Outline { prefix: format!("run-{number}"), inner: true }
    }

    /// The anchor or id for a name in this outline.
    pub fn id(&self, name: &str) -> String {
        match self.prefix.as_str() {
            "" => name.to_string(),
            prefix => format!("{prefix}-{name}"),
        }
    }

    /// Prefix of the ids of this part, for scripts.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The heading of the part itself.
    pub fn headline(&self, words: Markup) -> Markup {
        html! {
            @if self.inner { h2.headline id=(self.id("headline")) { (words) } }
            @else { h1.headline id=(self.id("headline")) { (words) } }
        }
    }

    pub fn title(&self, name: &str, words: Markup) -> Markup {
        html! {
            @if self.inner { h3.title id=(self.id(name)) { (words) } }
            @else { h2.title id=(self.id(name)) { (words) } }
        }
    }

    pub fn subtitle(&self, words: &str) -> Markup {
        html! {
            @if self.inner { h4.subtitle { (words) } } @else { h3.subtitle { (words) } }
        }
    }

    pub fn section(&self, name: &str, title: &str, content: Markup) -> Markup {
        html! {
            section aria-labelledby=(self.id(name)) {
                (self.title(name, html! { (title) }))
                (content)
            }
        }
    }
}

/// Facts with their labels, one a row.
pub fn pairs<'a>(caption: &str, rows: impl IntoIterator<Item = (&'a str, String)>) -> Markup {
    let table = html! {
        table.pairs {
            caption { span { (caption) } }
            tbody { @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } } }
        }
    };
    html! { div.scroll { (table) } }
}

/// Renders `backticks` as code.
pub fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // An unpaired backtick marks nothing.
    if parts.len().is_multiple_of(2) {
        return html! { (with_fixed_spaces(text)) };
    }
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index % 2 == 0 { (with_fixed_spaces(part)) } @else { code { (part) } }
        }
    }
}

/// A number that is never broken over two lines.
pub fn firm(text: &str) -> String {
    text.replace(' ', "\u{202f}")
}

/// Text that may wrap after a character, such as the words of a load after commas.
pub fn with_breaks(text: &str, behind: char) -> Markup {
    html! { @for part in text.split_inclusive(behind) { (part) @if part.ends_with(behind) { wbr; } } }
}

/// A count with digit groups.
pub fn count(number: u64) -> String {
    firm(&grouped(number))
}
