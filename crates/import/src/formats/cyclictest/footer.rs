//! Lines that begin with `#`: what stands around a histogram.

use crate::numbers::{Cursor, shown};
use crate::recording::Recording;

/// What the comments say.
#[derive(Default)]
pub struct Footer {
    pub total: Vec<u64>,
    pub min: Vec<u64>,
    pub mean: Vec<u64>,
    pub max: Vec<u64>,
    pub overflows: Vec<u64>,
    /// Whether a list of overflows is shorter than their number.
    pub lists_are_cut: bool,
    break_value: Option<u64>,
    facts: Vec<(String, String)>,
}

/// Comments that say nothing about the recording.
const EMPTY: &[&str] = &[
    "Histogram",
    "Thread",
    "/dev/cpu_dma_latency",
    "cyclictest current status",
    "Break thread",
    "SMIs",
    "-",
];

impl Footer {
    /// Takes what follows the `#`.
    pub fn take(&mut self, comment: &[u8]) {
        let comment = comment.trim_ascii();
        let Some(colon) = comment.iter().position(|byte| *byte == b':') else { return };
        let (name, value) = (&comment[..colon], &comment[colon + 1..]);
        let list = match name {
            b"Total" => &mut self.total,
            b"Min Latencies" => &mut self.min,
            b"Avg Latencies" => &mut self.mean,
            b"Max Latencies" => &mut self.max,
            b"Histogram Overflows" => &mut self.overflows,
            b"Break value" => {
                self.break_value = Cursor::new(value.trim_ascii()).unsigned();
                return;
            }
            _ => return self.take_other(name, value),
        };
        *list = numbers(value);
    }

    fn take_other(&mut self, name: &[u8], value: &[u8]) {
        if name.starts_with(b"Thread ") && value.trim_ascii().ends_with(b"others") {
            self.lists_are_cut = true;
        }
        let is_empty = EMPTY.iter().any(|empty| name.starts_with(empty.as_bytes()));
        let value = value.trim_ascii();
        if !is_empty && !value.is_empty() && self.facts.len() < 50 {
            self.facts.push((shown(name), shown(value)));
        }
    }

    /// Whether there is any statement about the latencies.
    pub fn is_missing(&self) -> bool {
        [&self.total, &self.min, &self.mean, &self.max, &self.overflows]
            .iter()
            .all(|list| list.is_empty())
    }

    /// What the comments say of the machine and of the end of the test.
    pub fn conditions(&self, recording: &mut Recording) {
        for (name, text) in &self.facts {
            match name.to_ascii_lowercase().as_str() {
                "kernel" => recording.machine.kernel = text.clone(),
                "model name" => recording.machine.cpu_model = Some(text.clone()),
                _ => recording.fact(name, text.clone()),
            }
        }
        if let Some(value) = self.break_value {
            recording.note(format!("The test stopped itself at a latency of {value} (option -b)."));
        }
    }
}

/// The numbers of a list; what is none is passed over, so that each stays in its column.
fn numbers(text: &[u8]) -> Vec<u64> {
    let mut cursor = Cursor::new(text);
    let mut list = Vec::new();
    loop {
        cursor.skip_separators();
        if cursor.rest().is_empty() || list.len() > 8192 {
            return list;
        }
        let mut word = Cursor::new(cursor.word());
        list.push(word.unsigned().unwrap_or(0));
    }
}
