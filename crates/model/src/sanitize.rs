//! Texts as people may see them: no character in them steers a terminal, turns a line around or hides.

use crate::Run;
use crate::comparison::Comparison;
use crate::doctor::{Diagnosis, Examination};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Whether a character steers a terminal, turns the line around that it stands in, or cannot be
/// seen: control characters, line separators, and what Unicode lets a program ignore
/// (`Default_Ignorable_Code_Point`), to which the marks of writing direction belong.
pub fn is_hidden(c: char) -> bool {
    let ignorable = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    // XML has no place for the last two.
    c.is_control() || ignorable || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

/// Text in one line, with each hidden character as an escape such as `\u{202e}`.
pub fn escape_controls(text: &str) -> String {
    escape(text, |_| None)
}

/// The same of a text that may have several lines; a tab becomes a blank.
pub fn escape_lines(text: &str) -> String {
    escape(text, |c| match c {
        '\n' => Some('\n'),
        '\t' => Some(' '),
        _ => None,
    })
}

/// A text of the user's own for which there is one line, or why it is refused.
pub fn plain_line(text: &str) -> Result<String, String> {
    match text.chars().find(|c| is_hidden(*c)) {
        None => Ok(text.to_string()),
        Some(c) => Err(refusal(c)),
    }
}

/// The same for a name, which must not be blank either.
pub fn plain_name(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("expected a few plain words".to_string()),
        false => plain_line(text),
    }
}

/// Why a text is refused, in words for its author.
pub fn refusal(c: char) -> String {
    let kind = match c {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => "a line break",
        '\t' => "a tab",
        c if c.is_control() => "a control character",
        _ => "an invisible character",
    };
    format!("contains {kind} (U+{:04X}): remove it", u32::from(c))
}

/// The run with escapes in place of the hidden characters in its texts.
pub fn sanitize_run(run: &Run) -> serde_json::Result<Run> {
    let policy = run.asked.who.policy;
    let explanation = run.explanation.as_ref().map(|one| one.rendered(policy));
    let mut safe = sanitize_document(&Run { explanation, ..run.clone() })?;
    // A command finds a thread by its true name, so that remedies are made before names are escaped.
    if let (Some(safe), Some(run)) = (&mut safe.explanation, &run.explanation) {
        for (safe, cause) in safe.causes.iter_mut().zip(&run.causes) {
            safe.remedy = Some(cause.remedy(policy));
        }
    }
    keep_remedies(safe.doctor.iter_mut().flatten(), run.doctor.iter().flatten());
    Ok(safe)
}

/// The same of what the doctor says of a machine.
pub fn sanitize_examination(examination: &Examination) -> serde_json::Result<Examination> {
    let mut safe = sanitize_lines(examination)?;
    keep_remedies(&mut safe.findings, &examination.findings);
    Ok(safe)
}

/// The same of what has changed from one machine to another.
pub fn sanitize_comparison(comparison: &Comparison) -> serde_json::Result<Comparison> {
    let mut safe = sanitize_lines(comparison)?;
    keep_remedies(&mut safe.appeared, &comparison.appeared);
    keep_remedies(&mut safe.gone, &comparison.gone);
    let weighed = safe.weighed.iter_mut().map(|one| &mut one.now);
    keep_remedies(weighed, comparison.weighed.iter().map(|one| &one.now));
    Ok(safe)
}

/// Remedies have no hidden character, and are not read back with the rest of a document.
fn keep_remedies<'a>(
    safe: impl IntoIterator<Item = &'a mut Diagnosis>,
    all: impl IntoIterator<Item = &'a Diagnosis>,
) {
    for (safe, one) in safe.into_iter().zip(all) {
        safe.remedy.clone_from(&one.remedy);
        safe.undo.clone_from(&one.undo);
    }
}

/// The same of any document.
pub fn sanitize_document<T: Serialize + DeserializeOwned>(document: &T) -> serde_json::Result<T> {
    replace_texts(document, escape_controls)
}

/// The same of a document whose texts may have several lines.
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

/// The document with another text wherever one holds a hidden character.
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
