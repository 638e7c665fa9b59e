//! Texts of a document as they may be shown: none of them can steer a terminal or turn a line.

use crate::Run;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The run without control characters in its texts, which could steer the reader's terminal.
pub fn harmless(run: &Run) -> serde_json::Result<Run> {
    harmless_document(run)
}

/// The same of any document.
pub fn harmless_document<T: Serialize + DeserializeOwned>(document: &T) -> serde_json::Result<T> {
    cleaned(document, |text| text.replace(steers, "\u{fffd}"))
}

/// The same of a document whose texts may have several lines.
pub fn harmless_lines<T: Serialize + DeserializeOwned>(document: &T) -> serde_json::Result<T> {
    cleaned(document, |text| {
        let harmful = |c: char| steers(c) && c != '\n';
        text.replace('\t', " ").replace(harmful, "\u{fffd}")
    })
}

/// Whether a character could steer a terminal, or turn the line around that it stands in.
fn steers(c: char) -> bool {
    let hidden = matches!(c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}');
    c.is_control() || hidden
}

/// The document with another text wherever one holds a character that steers.
fn cleaned<T: Serialize + DeserializeOwned>(
    document: &T,
    clean: fn(&str) -> String,
) -> serde_json::Result<T> {
    fn go(value: &mut Value, clean: fn(&str) -> String) {
        match value {
            Value::String(text) if text.contains(steers) => *text = clean(text),
            Value::Array(values) => values.iter_mut().for_each(|value| go(value, clean)),
            Value::Object(fields) => {
                let cleaned = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                    go(&mut value, clean);
                    (visible(&name), value)
                });
                *fields = cleaned.collect();
            }
            _ => {}
        }
    }
    let mut document = serde_json::to_value(document)?;
    go(&mut document, clean);
    serde_json::from_value(document)
}

/// Text in one line that cannot steer the reader's terminal.
pub fn visible(text: &str) -> String {
    text.replace(steers, "\u{fffd}")
}
