//! What `stress-ng --cyclic` prints: figures, and with `--cyclic-dist` a histogram of 250 bins at most.

use super::{Format, contains, is_text};
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::input::{Input, InputError, Query};
use crate::numbers::{decimal, nanos};
use crate::recording::Recording;
use crate::stated_figures::{Scale, StatedFigures, add_bins, add_summary, note_summary};
use latlab_model::Nanos;
use std::collections::BTreeMap;

pub const FORMAT: Format = Format { id: "stress-ng", title: "stress-ng cyclic", fits, read };

fn fits(head: &[u8]) -> bool {
    is_text(head)
        && contains(head, "cyclic:")
        && (contains(head, "stress-ng") || contains(head, "cyclic: sched SCHED_"))
}

/// One instance of the stressor.
#[derive(Default)]
struct Instance {
    stated: StatedFigures,
    policy: String,
    width: i64,
    rows: Vec<(u64, u64)>,
    facts: Vec<(String, String)>,
    notes: Vec<String>,
}

fn read(input: &mut Input, _: &Query) -> Result<Vec<Recording>, InputError> {
    let mut instances: BTreeMap<String, Instance> = BTreeMap::new();
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let Some((head, said)) = text.split_once("cyclic:") else { continue };
        // Instances are told apart by the number of their process.
        let process = head.split(['[', ']']).nth(1).unwrap_or_default().to_string();
        if instances.len() < 8192 || instances.contains_key(&process) {
            instances.entry(process).or_default().take(said.trim());
        }
    }
    let mut recording = Recording::new("stress-ng cyclic");
    recording.resolution_ns = Some(Nanos(1));
    for instance in instances.into_values().filter(|one| one.stated.max_ns.is_some()) {
        instance.add_to(&mut recording);
    }
    recording.note("stress-ng sleeps for a time from now on: late cycles delay all that follow.");
    note_summary(&mut recording);
    Ok(vec![recording])
}

impl Instance {
    fn take(&mut self, said: &str) {
        let words: Vec<&str> = said.split_ascii_whitespace().collect();
        let number = |at: usize| decimal(words.get(at)?.trim_end_matches(',').as_bytes());
        let time = |at: usize| nanos(number(at)?, 1).filter(|time| *time >= 0);
        match words[..] {
            ["sched", policy, _, "ns", ..] => {
                self.policy =
                    policy.trim_end_matches(':').trim_start_matches("SCHED_").to_lowercase();
                let count = number(words.len().saturating_sub(2));
                self.stated.count =
                    count.map(|count| count as u64).filter(|it| *it < LARGEST_COUNT);
            }
            ["mean:", _, "ns,", ..] => self.stated.mean_ns = number(1),
            ["min:", _, "ns,", "max:", _, ..] => {
                (self.stated.min_ns, self.stated.max_ns) = (time(1), time(4));
            }
            ["latency", "distribution", width, ..] => {
                let width = width.trim_start_matches('(').parse().ok();
                self.width = width.filter(|width| (1..1 << 40).contains(width)).unwrap_or(0);
            }
            ["Note:", ..] => self.notes.push(format!("stress-ng says: {said}")),
            [share, value, "ns"] if share.ends_with("%:") && self.facts.len() < 50 => {
                self.facts.push((share.trim_end_matches(':').to_string(), format!("{value} ns")));
            }
            [start, count] if self.width > 0 && start != ".." => {
                if let (Ok(start), Ok(count)) = (start.parse(), count.parse())
                    && count < LARGEST_COUNT
                    && self.rows.len() < MOST_BINS as usize
                {
                    self.rows.push((start, count));
                }
            }
            _ => {}
        }
    }

    fn add_to(self, recording: &mut Recording) {
        let width = self.width.max(1);
        if self.rows.is_empty() {
            add_summary(recording, &self.stated);
        } else {
            let (mut bins, mut end) = (Bins::default(), 1);
            for (start, count) in self.rows {
                let bin = start / width as u64;
                if bin < MOST_BINS {
                    bins.push(bin as u32, count);
                    end = end.max(bin as u32 + 1);
                }
            }
            let scale =
                Scale { start_ns: 0, width_ns: width, bins: end, unit_ns: 1, is_limited: true };
            add_bins(recording, bins, scale, &self.stated);
        }
        if let Some(series) = recording.series.last_mut() {
            series.policy = self.policy;
        }
        self.facts.iter().for_each(|(name, text)| recording.fact(name, text.clone()));
        self.notes.into_iter().for_each(|note| recording.note(note));
    }
}
