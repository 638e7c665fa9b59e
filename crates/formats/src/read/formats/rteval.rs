//! The summary.xml of rteval: statistics and histogram of cyclictest or timerlat for each core. The
//! element `system` is the sum of all cores; it must agree.

use super::left_out::{LeftOut, is_other_text};
use super::{Format, Part, check_number, contains, head_lines, is_text, number_parts};
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::lines::Line;
use crate::read::numbers::{nanos, printed, whole};
use crate::read::recording::Recording;
use crate::read::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, contradiction, note_summary, note_unknown_overflow,
};
use latlab_model::Nanos;
use std::io::{BufRead, BufReader, Read};

pub const FORMAT: Format = Format { id: "rteval", title: "rteval summary", fits, has_value, read };

/// It counts in microseconds.
const UNIT: i64 = 1_000;
/// Longest text between two tags of a recording.
const LONGEST_PART: u64 = 1 << 20;
/// Elements of a core that can be derived from its histogram.
const DERIVED: [&str; 7] = [
    "statistics",
    "histogram",
    "median",
    "mode",
    "range",
    "mean_absolute_deviation",
    "standard_deviation",
];
/// Elements with figures of a core.
const FIGURES: [&str; 5] = ["samples", "minimum", "maximum", "mean", "bucket"];

fn fits(head: &[u8]) -> bool {
    // The kernel prefixes lines with their level, as `<6>`.
    let is_tag = |tag: &[u8]| tag[0] == b'<' && !tag.get(1).is_some_and(u8::is_ascii_digit);
    let mut tags =
        head_lines(head).map(<[u8]>::trim_ascii_start).filter(|line| line.contains(&b'<'));
    is_text(head) && contains(head, "<rteval") && tags.next().is_some_and(is_tag)
}

fn has_value(line: &[u8]) -> bool {
    line.starts_with(b"<") && contains(line, "</") && line.iter().any(u8::is_ascii_digit)
}

/// A core, or the sum of all, while its elements are read.
#[derive(Default)]
struct Core {
    is_system: bool,
    cpu: Option<u32>,
    priority: Option<String>,
    /// Number of cores in the sum.
    cores: Option<u64>,
    bins: Bins,
    last_bin: Option<u64>,
    stated: StatedFigures,
}

/// The cores of one tool.
struct Measurement {
    tool: String,
    command: Option<String>,
    cores: Vec<Core>,
    system: Option<Core>,
    /// The latency at which it stopped itself.
    stopped_at: Option<i64>,
}

#[derive(Default)]
struct Summary {
    first_line: u64,
    /// What is known of the machine and of rteval itself.
    head: Recording,
    measurements: Vec<Measurement>,
    is_measuring: bool,
    core: Option<Core>,
    date: String,
    has_begun: bool,
    is_closed: bool,
    left: LeftOut,
}

fn read(input: &mut Input, _: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let mut source = BufReader::new(input);
    let (mut parts, mut line, mut part) = (Vec::new(), 1, Vec::new());
    let mut summary = Summary { first_line: 1, ..Summary::default() };
    source.by_ref().take(LONGEST_PART).read_until(b'<', &mut part)?;
    pass_over(&part[..part.len().saturating_sub(1)], line, &mut summary.left);
    loop {
        line += part.iter().filter(|byte| **byte == b'\n').count() as u64;
        part.clear();
        if source.by_ref().take(LONGEST_PART).read_until(b'<', &mut part)? == 0 {
            break;
        }
        let is_cut = part.len() as u64 == LONGEST_PART && !part.ends_with(b"<");
        if is_cut {
            summary.left.lose_text(line, &part);
            source.skip_until(b'<')?;
        }
        let text = String::from_utf8_lossy(part.strip_suffix(b"<").unwrap_or(&part));
        let (tag, content) = text.split_once('>').unwrap_or((&text, ""));
        let tag = tag.trim_end_matches('/').trim();
        if name_of(tag) == "rteval" && summary.has_begun {
            check_number(&parts, line)?;
            let next = Summary { first_line: line, ..Summary::default() };
            parts.push(std::mem::replace(&mut summary, next).part());
        }
        let taken = match tag.strip_prefix('/') {
            Some(name) => summary.close(name.trim(), content.trim()),
            None => summary.open(tag, content.trim()),
        };
        if !taken && !is_cut {
            summary.left.lose_text(line, text.trim().as_bytes());
        }
        if summary.is_closed || !summary.has_begun {
            let of_tag = tag.matches('\n').count() as u64;
            pass_over(content.as_bytes(), line + of_tag, &mut summary.left);
        }
    }
    parts.push(summary.part());
    Ok(number_parts(parts))
}

/// Skips text before or after the document, from this line on.
fn pass_over(text: &[u8], first_line: u64, left: &mut LeftOut) {
    for (number, bytes) in (first_line..).zip(text.split(|byte| *byte == b'\n')) {
        if !bytes.trim_ascii().is_empty() {
            let may_hold_value = bytes.iter().any(u8::is_ascii_digit) && !is_other_text(bytes, 1);
            left.pass_over(&Line { number, bytes, is_whole: true }, may_hold_value);
        }
    }
}

/// The name of an element.
fn name_of(tag: &str) -> &str {
    tag.split_ascii_whitespace().next().unwrap_or_default()
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}="))?;
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (value, _) = rest[1..].split_once(quote)?;
    Some(value)
}

/// A text with XML entities resolved.
fn plain(text: &str) -> String {
    let pairs = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&apos;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

impl Summary {
    /// Takes an element with the text after its tag; returns whether nothing of a core was lost.
    fn open(&mut self, tag: &str, content: &str) -> bool {
        let name = name_of(tag);
        let machine = &mut self.head.machine;
        match name {
            "rteval" => {
                self.has_begun = true;
                let version = attribute(tag, "version");
                self.head.tool = version.map(|version| format!("rteval {version}"));
            }
            "cyclictest" | "timerlat" => {
                self.end_core();
                self.is_measuring = true;
                self.measurements.push(Measurement {
                    tool: name.to_string(),
                    command: attribute(tag, "command_line").map(plain),
                    cores: Vec::new(),
                    system: None,
                    stopped_at: None,
                });
            }
            "node" if !content.is_empty() => machine.hostname = Some(plain(content)),
            "kernel" if !content.is_empty() => {
                machine.kernel = plain(content);
                if attribute(tag, "is_RT") == Some("1") {
                    machine.preemption = Some("PREEMPT_RT".to_string());
                }
            }
            "arch" if !content.is_empty() => machine.architecture = plain(content),
            "date" | "time" if self.date.len() < 60 => self.date += &format!(" {}", plain(content)),
            "core" | "system" if self.is_measuring => return self.open_core(name, tag),
            "breaktrace" if self.is_measuring => {
                let latency = attribute(tag, "measured_latency").and_then(time);
                let Some(measurement) = self.measurements.last_mut() else { return false };
                measurement.stopped_at = measurement.stopped_at.max(latency);
                return latency.is_some();
            }
            _ if self.core.is_some() => return self.take_figure(name, tag, content),
            _ => return !(self.is_measuring && FIGURES.contains(&name)),
        }
        true
    }

    fn open_core(&mut self, name: &str, tag: &str) -> bool {
        self.end_core();
        let mut core = Core { is_system: name == "system", ..Core::default() };
        if core.is_system {
            // Its description begins with `(16 cores)`.
            let cores = attribute(tag, "description").and_then(|text| text.strip_prefix('('));
            core.cores = cores.and_then(|text| whole(text.split_once(" cores)")?.0));
        } else {
            core.cpu = attribute(tag, "id").and_then(|id| whole(id)?.try_into().ok());
            core.priority = attribute(tag, "priority").map(|one| format!("priority {one}"));
        }
        let is_known = core.is_system || core.cpu.is_some();
        self.core = Some(core);
        is_known
    }

    fn take_figure(&mut self, name: &str, tag: &str, content: &str) -> bool {
        let Some(core) = &mut self.core else { return false };
        let is_in_unit = attribute(tag, "unit").is_none_or(|unit| unit == "us");
        let stated = &mut core.stated;
        match name {
            "samples" => {
                stated.binned = whole(content).filter(|count| *count < LARGEST_COUNT);
                stated.binned.is_some()
            }
            "minimum" => {
                stated.min_ns = time(content).filter(|_| is_in_unit);
                stated.min_ns.is_some()
            }
            "maximum" => {
                stated.max_ns = time(content).filter(|_| is_in_unit);
                stated.max_ns.is_some()
            }
            "mean" => {
                stated.mean_ns =
                    printed(content).filter(|_| is_in_unit).map(|mean| mean * UNIT as f64);
                stated.mean_ns.is_some()
            }
            "bucket" => content.is_empty() && core.take_bucket(tag),
            _ => DERIVED.contains(&name) || tag.starts_with("!--"),
        }
    }

    fn close(&mut self, name: &str, content: &str) -> bool {
        let is_in_core = self.core.is_some();
        match name {
            "core" | "system" => self.end_core(),
            "cyclictest" | "timerlat" => {
                self.end_core();
                self.is_measuring = false;
            }
            "rteval" => self.is_closed = true,
            _ if is_in_core => {
                let is_known = DERIVED.contains(&name) || FIGURES.contains(&name);
                return is_known && content.is_empty();
            }
            _ => {}
        }
        // Between two cores there is nothing.
        !is_in_core || content.is_empty()
    }

    fn end_core(&mut self) {
        let Some(core) = self.core.take() else { return };
        let Some(measurement) = self.measurements.last_mut() else { return };
        match core.is_system {
            true => measurement.system = Some(core),
            false => measurement.cores.push(core),
        }
    }

    fn part(mut self) -> Part {
        self.end_core();
        let date = self.date.trim();
        self.head.recorded = Some(date.to_string()).filter(|date| !date.is_empty());
        let measured: Vec<Measurement> =
            self.measurements.drain(..).filter(|one| !one.cores.is_empty()).collect();
        let is_one = measured.len() < 2;
        let recordings = measured.into_iter().map(|measurement| {
            let part = Some(measurement.tool.clone()).filter(|_| !is_one);
            let mut recording = measurement.recording(&self.head);
            recording.part = part;
            if !self.is_closed {
                recording.lacks("the document breaks off before its end");
            }
            self.left.report("elements", &mut recording);
            recording
        });
        let recordings = recordings.collect();
        Part::of(self.first_line, recordings, self.left)
    }
}

impl Core {
    /// Takes a bin; they are ascending.
    fn take_bucket(&mut self, tag: &str) -> bool {
        let number = |name: &str| attribute(tag, name).and_then(whole);
        let bin = number("index")
            .filter(|bin| *bin < MOST_BINS && self.last_bin.is_none_or(|last| last < *bin));
        let count = number("value").filter(|count| *count < LARGEST_COUNT);
        let Some((bin, count)) = bin.zip(count) else { return false };
        self.bins.push(bin as u32, count);
        self.last_bin = Some(bin);
        true
    }
}

impl Measurement {
    fn recording(self, head: &Recording) -> Recording {
        let adds_up = self.tool == "timerlat";
        let mut recording = Recording { command: self.command, ..head.clone() };
        (recording.format, recording.quantity) = match adds_up {
            true => ("rteval summary", "latency of interrupt, thread and user space together"),
            false => ("rteval summary", "wake-up latency"),
        };
        recording.resolution_ns = Some(Nanos(UNIT));
        let sum: Vec<StatedFigures> = self.cores.iter().map(|core| core.stated).collect();
        for core in self.cores {
            add_core(core, adds_up, &mut recording);
        }
        match self.system {
            Some(system) => compare_system(&system, &sum, &mut recording),
            None => recording.note("The file has no sum of all cores to compare them with."),
        }
        if let Some(latency) = self.stopped_at {
            recording.has_at_least("Latency that stopped it", Nanos(latency));
        }
        if adds_up {
            recording.note(
                "rteval adds up the latencies of interrupt, thread and user space of a cycle, and \
                 drops those beyond its buckets without a word.",
            );
        }
        recording.compare_cycles(true);
        note_unknown_overflow(&mut recording);
        note_summary(&mut recording);
        recording
    }
}

fn add_core(mut core: Core, drops_overflow: bool, recording: &mut Recording) {
    let thread = recording.series.len();
    if core.bins.total() > 0 {
        let bins = core.last_bin.unwrap_or(0) as u32 + 1;
        let scale =
            Scale { start_ns: 0, width_ns: UNIT, bins, unit_ns: UNIT, is_limited: drops_overflow };
        // If it drops overflows, its maximum is that of the rest.
        let max_ns = core.stated.max_ns.filter(|_| !drops_overflow);
        let stated = StatedFigures { max_ns, ..core.stated };
        let StatedFigures { binned, min_ns, max_ns, mean_ns, .. } = core.stated;
        let figures = [
            ("samples", binned.is_some()),
            ("minimum", min_ns.is_some()),
            ("maximum", max_ns.is_some()),
            ("mean", mean_ns.is_some()),
        ];
        for (name, _) in figures.into_iter().filter(|(_, is_there)| !is_there) {
            recording.lacks(format!("thread {thread} has no {name}"));
        }
        add_bins(recording, std::mem::take(&mut core.bins), scale, &stated);
    } else {
        add_summary(recording, &StatedFigures { count: core.stated.binned, ..core.stated });
    }
    if let Some(series) = recording.series.get_mut(thread) {
        series.cpu = core.cpu;
        series.policy = core.priority.unwrap_or_default();
    }
}

/// Compares the sum of all cores with them.
fn compare_system(system: &Core, cores: &[StatedFigures], recording: &mut Recording) {
    if let Some(announced) = system.cores.filter(|announced| *announced != cores.len() as u64) {
        recording.lacks(format!("it has {} of {announced} cores", cores.len()));
    }
    let counted = cores.iter().map(|core| core.binned).sum::<Option<u64>>();
    if let Some((count, counted)) = system.stated.binned.zip(counted).filter(|(a, b)| a != b) {
        let counted = format!("{counted} of all cores");
        contradiction(recording, 0, "Number of all latencies", count.to_string(), counted);
    }
    if let Some(max) = system.stated.max_ns {
        recording.has_at_least("Maximum of all cores", Nanos(max));
    }
}

fn time(text: &str) -> Option<i64> {
    whole(text).and_then(|us| nanos(us as f64, UNIT))
}
