//! Lines that begin with `#`: the comments around a histogram.

use crate::read::formats::is_line_of_tool;
use crate::read::numbers::{Cursor, shown};
use crate::read::recording::Recording;
use latlab_model::Nanos;

/// Lists of per-thread figures: name, and width to which numbers are zero-padded.
const LISTS: [(&[u8], usize); 5] = [
    (b"Total", 9),
    (b"Min Latencies", 5),
    (b"Avg Latencies", 5),
    (b"Max Latencies", 5),
    (b"Histogram Overflows", 5),
];
/// Comments that say nothing about the latencies.
const EMPTY: &[&str] = &[
    "Histogram",
    "Thread",
    "/dev/cpu_dma_latency",
    "cyclictest current status",
    "Break thread",
    "SMIs",
];
/// More columns than any machine has CPUs.
const MOST_COLUMNS: usize = 8192;

/// Content of the comments.
#[derive(Default)]
pub struct Footer {
    lists: [Option<Vec<u64>>; 5],
    /// Threads whose overflows are listed, and whether a list is shorter than their number.
    listed_threads: usize,
    /// Listed overflows per thread.
    listed: Vec<(usize, u64)>,
    /// Threads whose processes are named.
    named_threads: usize,
    break_value: Option<u64>,
    /// Whether the thread that exceeded the limit is named.
    has_break_thread: bool,
    facts: Vec<(String, String)>,
}

impl Footer {
    /// Latencies in the rows.
    pub fn total(&self) -> &[u64] {
        self.list(0)
    }

    /// Minimum of each thread.
    pub fn min(&self) -> &[u64] {
        self.list(1)
    }

    /// Mean of each thread.
    pub fn mean(&self) -> &[u64] {
        self.list(2)
    }

    /// Maximum of each thread.
    pub fn max(&self) -> &[u64] {
        self.list(3)
    }

    /// Latencies beyond the last row.
    pub fn overflows(&self) -> &[u64] {
        self.list(4)
    }

    fn list(&self, at: usize) -> &[u64] {
        self.lists[at].as_deref().unwrap_or_default()
    }

    /// Names of the lists that do not have one entry per column.
    pub fn lists_of_other_length(&self, columns: usize) -> Vec<(&'static str, usize)> {
        let named = LISTS.iter().zip(&self.lists);
        named
            .filter_map(|((name, _), list)| {
                let length = list.as_ref()?.len();
                let name = std::str::from_utf8(name).unwrap_or_default();
                (length != columns).then_some((name, length))
            })
            .collect()
    }

    /// Whether a comment repeats a statement about this recording, so that another one begins.
    pub fn has_ended_before(&self, comment: &[u8]) -> bool {
        let (name, _) = split(comment);
        let known = |at: usize| self.lists[at].is_some();
        LISTS.iter().position(|list| list.0 == name).is_some_and(known)
    }

    /// Takes the text after the `#`; returns whether it could be read.
    pub fn take(&mut self, comment: &[u8], is_whole: bool) -> bool {
        let (name, value) = split(comment);
        if let Some(at) = LISTS.iter().position(|list| list.0 == name) {
            let list = numbers(value, LISTS[at].1, is_whole);
            let was_read = list.is_some();
            self.lists[at] = list;
            return was_read;
        }
        if name == b"Break value" {
            let mut number = Cursor::new(value);
            self.break_value = number.unsigned().filter(|_| is_whole && number.rest().is_empty());
            return self.break_value.is_some();
        }
        let is_value = is_line_of_tool(comment);
        let has_words_only = value.is_empty() && !is_value && !super::may_hold_value(name);
        let is_known =
            has_words_only || EMPTY.iter().any(|empty| name.starts_with(empty.as_bytes()));
        let words = || value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        self.has_break_thread |= name == b"Break thread";
        if name == b"Thread Ids" {
            self.named_threads = self.named_threads.max(words().count());
        }
        if let Some(thread) =
            name.strip_prefix(b"Thread ").and_then(|it| Cursor::new(it).unsigned())
        {
            self.listed_threads += 1;
            let numbers = words().filter(|word| word.iter().all(u8::is_ascii_digit));
            self.listed.push((thread as usize, numbers.count() as u64));
        }
        // An unknown statement has a name and a value.
        let is_fact = !value.is_empty() && !is_known && !is_value;
        if is_fact
            && !name.is_empty()
            && self.facts.len() < 50
            && !name.iter().any(|byte| byte.is_ascii_digit() || *byte == b'\t')
        {
            self.facts.push((shown(name), shown(value)));
            return !super::is_figure(name, value) && !super::may_hold_value(comment);
        }
        is_known
    }

    pub fn named_threads(&self) -> usize {
        self.named_threads
    }

    /// The threads with more overflows listed than counted: thread, listed, counted.
    pub fn listed_above_count(&self) -> Vec<(usize, u64, u64)> {
        let counted = |thread: usize| self.overflows().get(thread).copied();
        let both = self
            .listed
            .iter()
            .filter_map(|(thread, listed)| Some((*thread, *listed, counted(*thread)?)));
        both.filter(|(_, listed, counted)| listed > counted).collect()
    }

    pub fn listed_threads(&self) -> usize {
        self.listed_threads
    }

    /// Whether there is no statement about the latencies.
    pub fn is_missing(&self) -> bool {
        self.lists.iter().all(Option::is_none)
    }

    /// Statements about the machine and the end of the test.
    pub fn conditions(&self, recording: &mut Recording, unit: i64) {
        for (name, text) in &self.facts {
            match name.to_ascii_lowercase().as_str() {
                "kernel" => recording.machine.kernel = text.clone(),
                "model name" => recording.machine.cpu_model = Some(text.clone()),
                _ => recording.fact(name, text.clone()),
            }
        }
        if self.has_break_thread && self.break_value.is_none() {
            recording.lacks("it names the thread of a break value, and not the value");
        }
        if let Some(value) = self.break_value {
            recording.note(format!("The test stopped itself at a latency of {value} (option -b)."));
            let value = value.saturating_mul(unit.unsigned_abs()).min(1 << 62) as i64;
            recording.has_at_least("Break value", Nanos(value));
        }
    }
}

/// Name and value of a comment.
pub fn split(comment: &[u8]) -> (&[u8], &[u8]) {
    let comment = comment.trim_ascii();
    match comment.iter().position(|byte| *byte == b':') {
        Some(colon) => (comment[..colon].trim_ascii(), comment[colon + 1..].trim_ascii()),
        None => (comment, b""),
    }
}

/// The numbers of a list, each zero-padded to this width; `None` if one is anything else, or may be
/// cut.
fn numbers(text: &[u8], filled_to: usize, is_whole: bool) -> Option<Vec<u64>> {
    let mut list = Vec::new();
    let mut last: &[u8] = b"";
    for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        let mut number = Cursor::new(word);
        let value = number.unsigned().filter(|_| number.rest().is_empty())?;
        let is_filled = word.len() == filled_to || (word.len() > filled_to && word[0] != b'0');
        if !is_filled || list.len() >= MOST_COLUMNS {
            return None;
        }
        list.push(value);
        last = word;
    }
    let is_cut = !is_whole && last.first() != Some(&b'0');
    (!is_cut).then_some(list)
}
