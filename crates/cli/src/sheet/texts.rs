//! Refuses characters in a sheet that editors do not show as they are.

use super::errors::SheetErrors;
use latlab_model::sanitize::{is_hidden, refusal};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Adds a mistake for each hidden character, also in comments, and for each string that contains
/// one as an escape such as `\u202E`. Line breaks and tabs are allowed where TOML allows them.
pub fn check(text: &str, table: &DeTable, mistakes: &mut SheetErrors) {
    for (at, c) in text.char_indices() {
        // The parser refuses ASCII control characters itself. A byte order mark may come first.
        if !c.is_ascii() && is_hidden(c) && (at, c) != (0, '\u{feff}') {
            mistakes.add(at..at + c.len_utf8(), refusal(c));
        }
    }
    check_table(text, table, mistakes);
}

fn check_table(text: &str, table: &DeTable, mistakes: &mut SheetErrors) {
    for (key, value) in table {
        check_text(text, key, key.get_ref(), mistakes);
        check_value(text, value, mistakes);
    }
}

fn check_value(text: &str, value: &Spanned<DeValue>, mistakes: &mut SheetErrors) {
    match value.get_ref() {
        DeValue::String(said) => check_text(text, value, said, mistakes),
        DeValue::Array(list) => list.iter().for_each(|one| check_value(text, one, mistakes)),
        DeValue::Table(table) => check_table(text, table, mistakes),
        _ => {}
    }
}

fn check_text<T>(text: &str, at: &Spanned<T>, said: &str, mistakes: &mut SheetErrors) {
    let source = text.get(at.span()).unwrap_or_default();
    let hidden = said.chars().find(|c| is_hidden(*c) && !matches!(c, '\n' | '\r' | '\t'));
    // A character written without an escape was reported above.
    if let Some(c) = hidden.filter(|c| !source.contains(*c)) {
        mistakes.add(at.span(), refusal(c));
    }
}
