//! Words as the page writes them.

use crate::units::grouped;

/// A number that is never broken over two lines.
pub fn firm(text: &str) -> String {
    text.replace(' ', "\u{202f}")
}

/// A count with groups of digits.
pub fn count(number: u64) -> String {
    firm(&grouped(number))
}

/// How many of something.
pub fn plural(number: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// What stands where there is nothing to say.
pub fn dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_string())
}
