//! Text with marks, as HTML.

use crate::units::joined;
use maud::{Markup, html};

/// A text in which `backticks` mark what is to be typed.
pub fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // A lone backtick marks nothing.
    if parts.len().is_multiple_of(2) {
        return html! { (joined(text)) };
    }
    html! {
        @for (index, part) in parts.iter().enumerate() {
            @if index % 2 == 0 { (joined(part)) } @else { code { (part) } }
        }
    }
}
