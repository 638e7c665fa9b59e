//! What all tables of the page have in common.

use maud::{Markup, html};

/// A box in which a wide table scrolls, so that the page itself never does.
pub fn scrolling(name: &str, tall: bool, table: Markup) -> Markup {
    html! {
        div class=(if tall { "scroll tall" } else { "scroll" }) role="region" tabindex="0"
            aria-label=(name) { (table) }
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
