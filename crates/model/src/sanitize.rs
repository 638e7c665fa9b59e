//! Texts of a document as they may be shown: none of them can steer a terminal or turn a line.

use crate::Run;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The run without control characters in its texts, which could steer the reader's terminal.
pub fn sanitize_run(run: &Run) -> serde_json::Result<Run> {
    sanitize_document(run)
}

/// The same of any document.
pub fn sanitize_document<T: Serialize + DeserializeOwned>(document: &T) -> serde_json::Result<T> {
    replace_texts(document, |text| text.replace(is_unsafe, "\u{fffd}"))
}

/// The same of a document whose texts may have several lines.
pub fn sanitize_lines<T: Serialize + DeserializeOwned>(document: &T) -> serde_json::Result<T> {
    replace_texts(document, |text| {
        let harmful = |c: char| is_unsafe(c) && c != '\n';
        text.replace('\t', " ").replace(harmful, "\u{fffd}")
    })
}

/// Whether a character could steer a terminal, or turn the line around that it stands in.
fn is_unsafe(c: char) -> bool {
    let hidden = matches!(c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}');
    c.is_control() || hidden
}

/// The document with another text wherever one holds a character that steers.
fn replace_texts<T: Serialize + DeserializeOwned>(
    document: &T,
    clean: fn(&str) -> String,
) -> serde_json::Result<T> {
    fn visit(value: &mut Value, clean: fn(&str) -> String) {
        match value {
            Value::String(text) if text.contains(is_unsafe) => *text = clean(text),
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

/// Text in one line that cannot steer the reader's terminal.
pub fn escape_controls(text: &str) -> String {
    text.replace(is_unsafe, "\u{fffd}")
}
