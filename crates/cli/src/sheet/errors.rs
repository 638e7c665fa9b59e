//! Mistakes in a sheet, each with its place, the line, and the word underlined.

use std::fmt::Write;
use std::ops::Range;

/// All mistakes in a file.
pub struct SheetErrors<'a> {
    file: &'a str,
    text: &'a str,
    errors: Vec<(Range<usize>, String)>,
}

impl<'a> SheetErrors<'a> {
    pub fn new(file: &'a str, text: &'a str) -> SheetErrors<'a> {
        SheetErrors { file, text, errors: Vec::new() }
    }

    /// Adds a mistake in these bytes. A repeated mistake is reported once.
    pub fn add(&mut self, at: Range<usize>, what: impl Into<String>) {
        let mistake = (at, what.into());
        if !self.errors.contains(&mistake) {
            self.errors.push(mistake);
        }
    }

    /// Adds an unknown word, with the nearest word that is valid there.
    pub fn unknown(&mut self, at: Range<usize>, word: &str, place: &str, known: &[&str]) {
        let nearest = nearest(word, known);
        let meant = match nearest {
            Some(name) => format!("did you mean '{name}'?"),
            None => format!("available: {}", known.join(", ")),
        };
        self.add(at, format!("unknown key '{word}' in {place}; {meant}"));
    }

    pub fn count(&self) -> usize {
        self.errors.len()
    }

    /// All mistakes as text, in the order of the file; `Ok` if there are none.
    pub fn into_result(mut self) -> Result<(), String> {
        if self.errors.is_empty() {
            return Ok(());
        }
        self.errors.sort_by_key(|(at, _)| at.start);
        Err(self.errors.iter().map(|(at, what)| self.format_error(at, what)).collect())
    }

    fn format_error(&self, at: &Range<usize>, what: &str) -> String {
        let start = floor(self.text, at.start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[line_start..].split(['\n', '\r']).next().unwrap_or("");
        let (number, column) =
            (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        let end =
            floor(self.text, at.end).clamp(start, line_start + line.len().max(start - line_start));
        let marks = self.text[start..end].chars().count().max(1);
        let mut text = format!("{}:{number}:{column}: {what}\n", self.file);
        // Keep tabs, so that the marks stay below their word.
        let blank = |c: char| if c == '\t' { '\t' } else { ' ' };
        let indent: String = before[line_start..].chars().map(blank).collect();
        let _ = writeln!(text, "{number:>5} | {line}\n      | {indent}{}", "^".repeat(marks));
        text
    }
}

/// The known word nearest to `word`, if one is close.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let far = |name: &&&str| strsim::damerau_levenshtein(word, name);
    let nearest = known.iter().min_by_key(far)?;
    (strsim::damerau_levenshtein(word, nearest) <= nearest.len().div_ceil(3).max(1))
        .then_some(nearest)
}

/// The nearest character boundary at or before this byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_its_place_its_line_and_a_mark_below_the_word() {
        let text = "a = 1\n\tönly = 2\n";
        let mut mistakes = SheetErrors::new("x.toml", text);
        mistakes.unknown(7..12, "önly", "a sheet", &["only", "other"]);
        mistakes.add(text.len()..text.len() + 9, "it ends");
        let told = mistakes.into_result().unwrap_err();
        let expected = "x.toml:2:2: unknown key 'önly' in a sheet; did you mean 'only'?\n    \
                        2 | \tönly = 2\n      | \t^^^^\nx.toml:3:1: it ends\n    3 | \n      | ^\n";
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_near_nothing_gets_the_whole_list() {
        assert_eq!(nearest("priod", &["period", "phase"]), Some("period"));
        assert_eq!(nearest("colour", &["period", "phase"]), None);
    }
}
