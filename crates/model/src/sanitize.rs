//! Makes texts safe to display: no character in them controls a terminal, reverses a line or hides.

use crate::doctor::{Diagnosis, Examination};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Whether a character controls a terminal, changes the direction of its line, or is invisible:
/// control characters, line separators, and Unicode's `Default_Ignorable_Code_Point`, which
/// includes the direction marks.
pub fn is_hidden(c: char) -> bool {
    let ignorable = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    // XML does not allow the last two.
    c.is_control() || ignorable || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

/// One line of text, with each hidden character as an escape such as `\u{202e}`.
pub fn escape_controls(text: &str) -> String {
    escape(text, |_| None)
}

/// Like [`escape_controls`] for text of several lines; a tab becomes a blank.
pub fn escape_lines(text: &str) -> String {
    escape(text, |c| match c {
        '\n' => Some('\n'),
        '\t' => Some(' '),
        _ => None,
    })
}

/// Text from the user that must fit on one line, or why it is refused.
pub fn plain_line(text: &str) -> Result<String, String> {
    match text.chars().find(|c| is_hidden(*c)) {
        None => Ok(text.to_string()),
        Some(c) => Err(refusal(c)),
    }
}

/// Like [`plain_line`] for a name, which must not be blank either.
pub fn plain_name(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("expected a few plain words".to_string()),
        false => plain_line(text),
    }
}

/// Error text for a character that is refused.
pub fn refusal(c: char) -> String {
    let kind = match c {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => "a line break",
        '\t' => "a tab",
        c if c.is_control() => "a control character",
        _ => "an invisible character",
    };
    format!("contains {kind} (U+{:04X}): remove it", u32::from(c))
}

/// A doctor's result with the hidden characters in its texts escaped.
pub fn sanitize_examination(examination: &Examination) -> serde_json::Result<Examination> {
    let mut safe = sanitize_lines(examination)?;
    keep_remedies(&mut safe.findings, &examination.findings);
    Ok(safe)
}

/// Restores the remedies, which are not read back with the document and have no hidden characters.
pub fn keep_remedies<'a>(
    safe: impl IntoIterator<Item = &'a mut Diagnosis>,
    all: impl IntoIterator<Item = &'a Diagnosis>,
) {
    for (safe, one) in safe.into_iter().zip(all) {
        safe.remedy.clone_from(&one.remedy);
        safe.undo.clone_from(&one.undo);
    }
}

/// Any document with the hidden characters in its texts escaped.
pub fn sanitize_document<T: Serialize + DeserializeOwned>(document: &T) -> serde_json::Result<T> {
    replace_texts(document, escape_controls)
}

/// Like [`sanitize_document`] for texts of several lines.
pub fn sanitize_lines<T: Serialize + DeserializeOwned>(document: &T) -> serde_json::Result<T> {
    replace_texts(document, escape_lines)
}

fn escape(text: &str, keeps: fn(char) -> Option<char>) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match keeps(c) {
            Some(instead) => safe.push(instead),
            None if is_hidden(c) => safe.extend(c.escape_default()),
            None => safe.push(c),
        }
    }
    safe
}

/// Replaces every text of the document that holds a hidden character.
fn replace_texts<T: Serialize + DeserializeOwned>(
    document: &T,
    clean: fn(&str) -> String,
) -> serde_json::Result<T> {
    fn visit(value: &mut Value, clean: fn(&str) -> String) {
        match value {
            Value::String(text) if text.contains(is_hidden) => *text = clean(text),
            Value::Array(values) => values.iter_mut().for_each(|value| visit(value, clean)),
            Value::Object(fields) => {
                let cleaned = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                    visit(&mut value, clean);
                    (escape_controls(&name), value)
                });
                *fields = cleaned.collect();
            }
            _ => {}
        }
    }
    let mut document = serde_json::to_value(document)?;
    visit(&mut document, clean);
    serde_json::from_value(document)
}
