//! Unread lines and values of a file: those that may have held a value are reported as lost, other
//! text is counted.

use super::is_line_of_tool;
use crate::read::lines::Line;
use crate::read::numbers::shown;
use crate::read::prefix::is_time;
use crate::read::recording::Recording;
use latlab_model::finding::ImportFinding;
use std::collections::VecDeque;

/// Shorter words may be the remains of a number.
const LEAST_WORD: usize = 3;

/// Most lost lines kept until it is known whether later screens replace them; the newest ones
/// count.
const MOST_LOST: usize = 100_000;

/// Counts what was not read.
#[derive(Clone, Default, Debug)]
pub struct LeftOut {
    lost: Counted,
    other: Counted,
}

/// A number of lines, and the first of them.
#[derive(Clone, Default, Debug)]
struct Counted {
    count: u64,
    first_line: Option<u64>,
    first: String,
}

impl Counted {
    fn push(&mut self, line: Option<u64>, text: &[u8]) {
        if self.count == 0 {
            (self.first_line, self.first) = (line, shown(text));
        }
        self.count += 1;
    }
}

impl LeftOut {
    /// Counts a line that may have held a value.
    pub fn lose(&mut self, line: &Line<'_>) {
        self.lost.push(Some(line.number), line.bytes);
    }

    /// The same for a line of which only its number and beginning are known.
    pub fn lose_text(&mut self, number: u64, text: &[u8]) {
        self.lost.push(Some(number), text);
    }

    /// Counts a value of a document without lines.
    pub fn lose_item(&mut self, text: &str) {
        self.lost.push(None, text.as_bytes());
    }

    /// Counts a line outside the format; it is lost if it may be the remains of a value.
    pub fn pass_over(&mut self, line: &Line<'_>, may_hold_value: bool) {
        let is_value = (may_hold_value && !is_of_shell(line.bytes))
            || states_failure(line.bytes)
            || is_line_of_tool(line.bytes);
        match is_value || is_cut(line) {
            true => self.lose(line),
            false => self.other.push(Some(line.number), line.bytes),
        }
    }

    /// Reports it in the recording.
    pub fn report(&self, items: &str, recording: &mut Recording) {
        let Counted { count, first_line, first } = self.lost.clone();
        if count > 0 {
            let items = items.to_string();
            recording.add(ImportFinding::ImportLeftOut { count, items, first_line, first });
        }
        let Counted { count, first_line, first } = self.other.clone();
        if let Some(first_line) = first_line {
            recording.add(ImportFinding::ImportOtherText { count, first_line, first });
        }
    }
}

/// Lost lines of a screen that is redrawn: what a later screen shows is not lost.
#[derive(Default)]
pub struct LostOnScreen {
    lines: VecDeque<(u64, Vec<u8>)>,
}

impl LostOnScreen {
    /// Keeps a line that could not be read.
    pub fn push(&mut self, number: u64, bytes: &[u8]) {
        if self.lines.len() == MOST_LOST {
            self.lines.pop_front();
        }
        self.lines.push_back((number, bytes.to_vec()));
    }

    /// Reports the lines whose content no later line shows.
    pub fn report(&self, is_replaced: impl Fn(u64, &[u8]) -> bool, left: &mut LeftOut) {
        for (number, bytes) in self.lines.iter().filter(|lost| !is_replaced(lost.0, &lost.1)) {
            left.lose_text(*number, bytes);
        }
    }
}

/// Whether a line is what terminals or logs print around the output of a tool: prose, shell output,
/// or a rule.
pub fn is_other_text(line: &[u8], least_words: usize) -> bool {
    let text = line.trim_ascii();
    let begins_as_number = |first: &u8| first.is_ascii_digit() || b"+-.,".contains(first);
    let is_rule = text.iter().all(u8::is_ascii_punctuation);
    let has_words = !text.first().is_some_and(begins_as_number) && words(text) >= least_words;
    is_rule || has_words || is_of_shell(text)
}

/// Whether a line is a command after its prompt, a time, or output of shells and test systems.
pub fn is_of_shell(line: &[u8]) -> bool {
    const STARTS: [&[u8]; 4] = [b"$ ", b"TAP version", b"exit code", b"```"];
    const TIMES: [&[u8]; 3] = [b"real", b"user", b"sys"];
    let text = line.trim_ascii();
    let is_blank = |rest: &[u8]| rest.first().is_some_and(|byte| b" \t".contains(byte));
    let is_timing = TIMES.iter().any(|word| text.strip_prefix(*word).is_some_and(is_blank));
    // The root prompt, a command and an option.
    let command = text.strip_prefix(b"# ").unwrap_or_default();
    // `set -x` of a shell.
    let traced = text.iter().take_while(|byte| **byte == b'+').count();
    let is_traced = traced > 0
        && text[traced..].starts_with(b" ")
        && text.get(traced + 1).is_some_and(u8::is_ascii_alphabetic);
    let first = text.split(|byte| *byte == b' ').next().unwrap_or_default();
    let is_prompt = first.contains(&b'@') && first.last().is_some_and(|byte| b"#$".contains(byte));
    let is_of_name = |byte: &&u8| byte.is_ascii_lowercase() || b"./_-".contains(byte);
    let name = command.iter().take_while(is_of_name).count();
    let is_of_root = name > 1 && command[name..].starts_with(b" -");
    let starts = STARTS.iter().any(|start| text.starts_with(start));
    starts || is_title(text) || is_traced || is_prompt || is_timing || is_of_root || is_time(text)
}

/// Whether a shell or a test system reports that the tool failed.
fn states_failure(line: &[u8]) -> bool {
    const STARTS: [&str; 4] = ["exit code", "exit status", "return code", "exited with"];
    let text = String::from_utf8_lossy(line).trim().to_ascii_lowercase();
    let Some(rest) = STARTS.iter().find_map(|start| text.strip_prefix(start)) else { return false };
    let code = rest.trim_matches(|c: char| !c.is_ascii_digit());
    code.parse::<u32>().is_ok_and(|code| code != 0)
}

/// Whether a line is a title like `*** run 1 ***`, or a test result like `ok 1 cyclictest`.
fn is_title(text: &[u8]) -> bool {
    let is_ruled = [b"***", b"===", b"---"]
        .iter()
        .any(|rule| text.starts_with(*rule) && text.ends_with(*rule));
    let result = text.strip_prefix(b"not ").unwrap_or(text);
    let number = result.strip_prefix(b"ok ").map_or(0, |rest| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if rest.get(digits) == Some(&b' ') { digits } else { 0 }
    });
    (is_ruled || number > 0) && words(text) > 0
}

/// Whether an unterminated last line may be the start of one with a value: it is neither prose nor
/// a shell prompt.
fn is_cut(line: &Line<'_>) -> bool {
    let text = line.bytes.trim_ascii();
    let is_prompt = text.last().is_some_and(|byte| b"$#>%".contains(byte));
    !line.is_whole && !text.is_empty() && !is_prompt && words(text) < 2
}

/// Words of a line that are longer than the remains of a number.
fn words(line: &[u8]) -> usize {
    line.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| word.len() >= LEAST_WORD).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_words_holds_no_value() {
        for line in [
            "root@board:~# cyclictest -l100000 -m",
            "$ ./x 5",
            "[   12.345678] usb 1-1: new high-speed device number 4",
            "real\t0m1.012s",
            "-----|----",
            "",
            "+ x=5",
        ] {
            assert!(is_other_text(line.as_bytes(), 2), "{line}");
        }
        for line in ["12x4", "x", "inf", "timeout", "000004 00[12.3] usb 1-1: new device", "-5"] {
            assert!(!is_other_text(line.as_bytes(), 2), "{line}");
        }
    }
}
