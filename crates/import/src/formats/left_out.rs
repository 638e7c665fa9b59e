//! What of a file could not be used, and the first of it.

use crate::numbers::shown;
use crate::recording::Recording;
use latlab_model::finding::ImportFinding;

/// Counts what could not be used.
#[derive(Clone, Default, Debug)]
pub struct LeftOut {
    count: u64,
    first_line: Option<u64>,
    first: String,
}

impl LeftOut {
    /// Counts one, of this line.
    pub fn push(&mut self, line: u64, text: &[u8]) {
        if self.count == 0 {
            (self.first_line, self.first) = (Some(line), shown(text));
        }
        self.count += 1;
    }

    /// Counts one of a document without lines.
    pub fn push_item(&mut self, text: &str) {
        if self.count == 0 {
            self.first = shown(text.as_bytes());
        }
        self.count += 1;
    }

    /// Says so in the recording.
    pub fn report(&self, items: &str, recording: &mut Recording) {
        if self.count > 0 {
            recording.add(ImportFinding::ImportLeftOut {
                count: self.count,
                items: items.to_string(),
                first_line: self.first_line,
                first: self.first.clone(),
            });
        }
    }
}
