//! The summary.xml of rteval: for each core the statistics and the histogram of cyclictest or
//! timerlat. The element `system` is the sum of all cores, and no further data.

use super::{Format, contains, is_text};
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::input::{Input, InputError, Query};
use crate::numbers::{decimal, nanos};
use crate::recording::Recording;
use crate::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, note_summary, note_unknown_overflow,
};
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;
use std::io::{BufRead, BufReader, Read};

pub const FORMAT: Format = Format { id: "rteval", title: "rteval summary", fits, read };

/// It counts in microseconds.
const UNIT: i64 = 1_000;

/// A longer text between two tags is none of a recording.
const LONGEST_PART: u64 = 1 << 20;

fn fits(head: &[u8]) -> bool {
    is_text(head) && contains(head, "<rteval")
}

/// A core while its elements are read.
#[derive(Default)]
struct Core {
    cpu: Option<u32>,
    priority: Option<String>,
    bins: Bins,
    end: u32,
    stated: StatedFigures,
}

#[derive(Default)]
struct Summary {
    recording: Recording,
    core: Option<Core>,
    name: String,
    date: String,
    closed: bool,
}

fn read(input: &mut Input, _: &Query) -> Result<Vec<Recording>, InputError> {
    let mut source = BufReader::new(input);
    let mut summary = Summary { recording: Recording::new("rteval summary"), ..Summary::default() };
    summary.recording.resolution_ns = Some(Nanos(UNIT));
    let mut part = Vec::new();
    source.skip_until(b'<')?;
    loop {
        part.clear();
        if source.by_ref().take(LONGEST_PART).read_until(b'<', &mut part)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(part.strip_suffix(b"<").unwrap_or(&part));
        let (tag, content) = text.split_once('>').unwrap_or((&text, ""));
        match tag.strip_prefix('/') {
            Some(name) => summary.close(name.trim()),
            None => summary.open(tag.trim_end_matches('/'), content.trim()),
        }
    }
    summary.end_core();
    let Summary { mut recording, date, closed, .. } = summary;
    recording.recorded = Some(date.trim().to_string()).filter(|date| !date.is_empty());
    if !closed {
        let missing = "the document breaks off before its end".to_string();
        recording.add(ImportFinding::ImportIncomplete { missing });
    }
    note_unknown_overflow(&mut recording);
    note_summary(&mut recording);
    Ok(vec![recording])
}

/// The value of an attribute.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}="))?;
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    rest[1..].split(quote).next()
}

/// A text without the escapes of XML.
fn plain(text: &str) -> String {
    let pairs = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

impl Summary {
    fn open(&mut self, tag: &str, content: &str) {
        let name = tag.split_ascii_whitespace().next().unwrap_or_default();
        self.name = name.to_string();
        let recording = &mut self.recording;
        match name {
            "rteval" => {
                recording.tool =
                    attribute(tag, "version").map(|version| format!("rteval {version}"))
            }
            "cyclictest" | "timerlat" => {
                recording.command = attribute(tag, "command_line").map(plain);
            }
            "node" if !content.is_empty() => recording.machine.hostname = Some(plain(content)),
            "kernel" if !content.is_empty() => {
                recording.machine.kernel = plain(content);
                if attribute(tag, "is_RT") == Some("1") {
                    recording.machine.preemption = Some("PREEMPT_RT".to_string());
                }
            }
            "arch" if !content.is_empty() => recording.machine.architecture = plain(content),
            "date" | "time" if self.date.len() < 60 => self.date += &format!(" {}", plain(content)),
            "core" => {
                self.end_core();
                let cpu = attribute(tag, "id").and_then(|id| id.parse().ok());
                let priority = attribute(tag, "priority").map(|one| format!("priority {one}"));
                self.core = Some(Core { cpu, priority, ..Core::default() });
            }
            "system" => self.end_core(),
            _ => self.take_figure(name, tag, content),
        }
    }

    fn take_figure(&mut self, name: &str, tag: &str, content: &str) {
        let Some(core) = &mut self.core else { return };
        let value = decimal(content.as_bytes()).filter(|value| *value >= 0.0);
        let time = value.and_then(|value| nanos(value, UNIT));
        let number = |name: &str| attribute(tag, name).and_then(|it| it.parse::<u64>().ok());
        match name {
            "samples" => {
                core.stated.count = value.map(|it| it as u64).filter(|it| *it < LARGEST_COUNT)
            }
            "minimum" => core.stated.min_ns = time,
            "maximum" => core.stated.max_ns = time,
            "mean" => core.stated.mean_ns = value.map(|mean| mean * UNIT as f64),
            "bucket" => {
                if let (Some(bin), Some(count)) = (number("index"), number("value"))
                    && bin < MOST_BINS
                    && count < LARGEST_COUNT
                {
                    core.bins.push(bin as u32, count);
                    core.end = core.end.max(bin as u32 + 1);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "core" => self.end_core(),
            "rteval" => self.closed = true,
            _ => {}
        }
    }

    fn end_core(&mut self) {
        let Some(core) = self.core.take() else { return };
        if core.bins.total() > 0 {
            let scale = Scale {
                start_ns: 0,
                width_ns: UNIT,
                bins: core.end,
                unit_ns: UNIT,
                is_limited: true,
            };
            add_bins(&mut self.recording, core.bins, scale, &core.stated);
        } else {
            add_summary(&mut self.recording, &core.stated);
        }
        if let Some(series) = self.recording.series.last_mut() {
            series.cpu = core.cpu;
            series.policy = core.priority.unwrap_or_default();
        }
    }
}
