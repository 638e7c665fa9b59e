//! The verdict of a file against a deadline, for tests.

use latlab_formats::read::{ImportQuery, InputError, Recording};
use latlab_model::finding::{Finding, FindingKind, ImportFinding};
use latlab_model::frame::Message;
use latlab_model::plan::Until;
use latlab_model::{Nanos, Plan};

/// The verdict of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    Pass,
    Fail,
    Inconclusive,
    Refused,
}

/// The verdict of all recordings of a file together, and the largest latency they mention.
pub fn judge(read: &Result<Vec<Recording>, InputError>, deadline: Nanos) -> (Word, Nanos) {
    let Ok(recordings) = read else { return (Word::Refused, Nanos::ZERO) };
    let largest = recordings.iter().flat_map(|one| &one.series).map(|one| one.largest()).max();
    let words: Vec<Word> = recordings.iter().map(|one| word_of(one, deadline)).collect();
    let word = [Word::Fail, Word::Inconclusive].into_iter().find(|word| words.contains(word));
    (word.unwrap_or(Word::Pass), largest.unwrap_or_default())
}

/// The verdict of one recording, by the rules for runs.
fn word_of(recording: &Recording, deadline: Nanos) -> Word {
    let plan = Plan {
        until: Until { deadline_ns: Some(deadline), ..Until::default() },
        ..Plan::default()
    };
    let messages = recording.messages(&plan, "x", "0");
    let misses: u64 = messages
        .iter()
        .filter_map(
            |one| if let Message::Interval(one) = one { Some(one.counts.misses) } else { None },
        )
        .sum();
    let is_open = messages.iter().any(|one| {
        matches!(
            one,
            Message::Finding(Finding {
                kind: FindingKind::Import(ImportFinding::DeadlineUndecided { .. }),
                ..
            })
        )
    });
    match () {
        () if misses > 0 => Word::Fail,
        () if is_open || recording.is_incomplete() => Word::Inconclusive,
        () => Word::Pass,
    }
}

/// Reads a text as a file, without other information.
pub fn read_text(text: &[u8], query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    crate::common::try_read(text, query)
}
