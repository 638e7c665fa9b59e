//! Output of oslat: a column of counts for each CPU, whose last row has everything above.

use super::left_out::{LeftOut, is_other_text};
use super::{Format, Part, check_number, contains, head_lines, is_text, number_parts};
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::lines::Line;
use crate::read::numbers::{nanos, printed, whole};
use crate::read::recording::Recording;
use crate::read::stated_figures::{Scale, StatedFigures, add_bins, add_summary, contradiction};
use latlab_model::Nanos;

pub const FORMAT: Format = Format { id: "oslat", title: "oslat", fits, has_value: is_row, read };

/// oslat counts in microseconds, unless its buckets are narrower.
const UNIT: i64 = 1_000;

/// Statements other than figures, as the text before their values.
const FACTS: [&str; 7] = [
    "Thread priority",
    "CPU list",
    "CPU for main thread",
    "Workload",
    "Workload mem",
    "Preheat cores",
    "Version",
];
/// Messages of oslat while it runs.
const REMARKS: [&str; 6] =
    ["Pre-heat for ", "Test starts", "Test completed", "Stopping the test", "INFO", "WARN"];
/// The lines below the rows, the first three with latencies.
const FOOTER: [&str; 5] = ["Minimum", "Average", "Maximum", "Max-Min", "Duration"];
/// A run shorter than this share of the requested time was cut short.
const LEAST_SHARE: f64 = 0.9;
/// More threads than any machine has CPUs.
const MOST_THREADS: usize = 8192;

/// Position of oslat's buckets. Each is named after the longest gap that it counts, and oslat
/// rounds gaps up to its unit: the 5 us wide bucket named 10 counts gaps of 6 to 10 us.
pub struct Buckets {
    /// The unit of oslat: a nanosecond if the names have decimals.
    pub unit_ns: i64,
    width_ns: i64,
    start_ns: i64,
}

impl Buckets {
    /// The buckets with these names, in nanoseconds, after the bias that option `-B` subtracts; the
    /// width is the largest that fits all names, unless the command line states it.
    pub fn new(names: &[i64], in_ns: bool, bias_ns: i64, asked_ns: Option<i64>) -> Buckets {
        let unit_ns = if in_ns { 1 } else { UNIT };
        let common = names.iter().map(|name| name - bias_ns).fold(0, divisor);
        let width_ns = asked_ns.filter(|width| *width > 0).unwrap_or(common.max(unit_ns));
        let first = names.iter().min().map_or(0, |first| (first - width_ns).rem_euclid(width_ns));
        Buckets { unit_ns, width_ns, start_ns: first + unit_ns }
    }

    /// The number of the bucket with this name.
    pub fn bin(&self, name_ns: i64) -> Option<u32> {
        let bin = (name_ns + self.unit_ns - self.start_ns) / self.width_ns - 1;
        u32::try_from(bin).ok().filter(|bin| u64::from(*bin) < MOST_BINS)
    }

    /// The scale of `bins` buckets.
    pub fn scale(&self, bins: u32) -> Scale {
        let Buckets { unit_ns, width_ns, start_ns } = *self;
        Scale { start_ns, width_ns, bins, unit_ns, is_limited: true }
    }
}

/// Greatest common divisor.
fn divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

/// The name of a bucket, in microseconds, as nanoseconds.
pub fn name_of(text: &str) -> Option<i64> {
    // In a table they are zero-padded.
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = text.matches('.').count() < 2 && text.split('.').all(is_digits);
    let name = text.parse().ok().filter(|_| is_name)?;
    nanos(name, UNIT).filter(|name| (0..1 << 40).contains(name))
}

fn fits(head: &[u8]) -> bool {
    let is_stop =
        |line: &[u8]| contains(line, "Trace threshold (") && contains(line, " triggered ");
    is_text(head)
        && head_lines(head).any(|line| is_row(line) || is_stop(line))
        && (contains(head, "Core:") || contains(head, "oslat"))
}

fn is_row(line: &[u8]) -> bool {
    let name = line.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    name > 0 && line[name..].starts_with(b" (us):")
}

#[derive(Default)]
struct Table {
    first_line: u64,
    cpus: Vec<u32>,
    /// The name of each bucket, its counts, and whether empty buckets before it were left out.
    rows: Vec<(i64, Vec<u64>, bool)>,
    /// Whether an ellipsis precedes the next row.
    leaves_out: bool,
    last_is_over: bool,
    /// The figures below the rows, in nanoseconds, and where each was read.
    footer: [Option<Vec<f64>>; FOOTER.len()],
    in_ns: bool,
    bias: i64,
    asked_seconds: Option<u64>,
    listed_cpus: Option<u64>,
    triggered: Option<i64>,
    facts: Vec<(String, String)>,
    tool: Option<String>,
    left: LeftOut,
}

fn read(input: &mut Input, _: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let mut parts = Vec::new();
    let mut table = Table { first_line: 1, ..Table::default() };
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        let is_next = text.starts_with("oslat V") || text.starts_with("Core:");
        if is_next && table.has_ended(text) {
            check_number(&parts, line.number)?;
            let next = Table { first_line: line.number, ..Table::default() };
            parts.push(std::mem::replace(&mut table, next).part());
        }
        if !text.is_empty() && !table.take(text, &line) {
            table.left.pass_over(&line, may_hold_value(text));
        }
    }
    parts.push(table.part());
    Ok(number_parts(parts))
}

/// Whether an unrecognised line may be the remains of one with figures.
fn may_hold_value(text: &str) -> bool {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let marks = ["(us)", "(sec)", "us):", "overflows", " us!", "seconds", "\t "];
    let is_named = FOOTER.iter().chain(&["Core"]).any(|name| text.starts_with(name));
    let has_mark = is_named || marks.iter().any(|mark| text.contains(mark));
    has_digit && (has_mark || !is_other_text(text.as_bytes(), 2))
}

/// Number of CPUs in a list like `1,3-5`; `None` if it is not a list.
fn number_of_cpus(list: &str) -> Option<u64> {
    let count = |part: &str| match part.split_once('-') {
        Some((first, last)) => Some(whole(last)?.checked_sub(whole(first)?)? + 1),
        None => whole(part).map(|_| 1),
    };
    list.split(',').map(count).sum()
}

/// The cells of a line of figures after its name; the line must end with one of `ends`.
fn cells<'a>(values: &'a str, ends: &[&str]) -> Option<Vec<&'a str>> {
    let end = ends.iter().find(|end| values.ends_with(**end))?;
    Some(values[..values.len() - end.len()].split_ascii_whitespace().collect())
}

impl Table {
    /// Whether a line that may begin a table begins another one.
    fn has_ended(&self, text: &str) -> bool {
        let has_data = !self.rows.is_empty() || self.triggered.is_some();
        has_data || (text.starts_with("Core:") && !self.cpus.is_empty())
    }

    /// Takes a line; returns whether it could be read.
    fn take(&mut self, text: &str, line: &Line<'_>) -> bool {
        // The last figure of a line may be cut, but not if the text after it is there.
        let is_whole = line.is_whole || text.ends_with(')');
        if let Some((name, values)) = text.split_once(':').filter(|_| is_whole)
            && let Some(was_read) = self.take_named(name.trim(), values.trim())
        {
            return was_read;
        }
        if text == "..." {
            self.leaves_out = true;
            return true;
        }
        if text.starts_with("oslat V") {
            self.tool = Some(text.to_string());
            return true;
        }
        self.take_bias(text)
            || self.take_trigger(text)
            || REMARKS.iter().any(|remark| text.starts_with(remark))
    }

    /// Takes a line with a name; `None` if the name is unknown.
    fn take_named(&mut self, name: &str, values: &str) -> Option<bool> {
        if let Some(bucket) = name.strip_suffix("(us)") {
            return Some(self.take_row(bucket.trim(), values));
        }
        if let Some(figure) = FOOTER.iter().position(|known| *known == name) {
            return Some(self.take_figures(figure, values));
        }
        if name == "CPU list" {
            self.listed_cpus = number_of_cpus(values);
        }
        if FACTS.contains(&name) {
            self.facts.push((name.to_string(), values.to_string()));
            return Some(true);
        }
        match name {
            "Core" => {
                let cpus = values.split_ascii_whitespace();
                let cpus: Option<Vec<u32>> = cpus.map(|cpu| whole(cpu)?.try_into().ok()).collect();
                self.cpus = cpus.unwrap_or_default();
                Some(!self.cpus.is_empty() && self.cpus.len() <= MOST_THREADS)
            }
            "Counter Freq" | "CPU Freq" => Some(true),
            "Total runtime" => {
                self.asked_seconds = values.strip_suffix(" seconds").and_then(whole);
                Some(self.asked_seconds.is_some())
            }
            _ => None,
        }
    }

    fn take_row(&mut self, bucket: &str, values: &str) -> bool {
        const OVER: &str = "(including overflows)";
        let counts = cells(values, &[OVER, ""]).and_then(|cells| {
            let count = |cell: &&str| whole(cell).filter(|count| *count < LARGEST_COUNT);
            cells.iter().map(count).collect::<Option<Vec<u64>>>()
        });
        let (Some(name), Some(counts)) = (name_of(bucket), counts) else { return false };
        let is_next = self.rows.last().is_none_or(|last| last.0 < name) && !self.last_is_over;
        if !is_next || counts.len() != self.cpus.len() || self.rows.len() >= MOST_BINS as usize {
            return false;
        }
        self.in_ns |= bucket.contains('.');
        self.last_is_over = values.ends_with(OVER);
        self.rows.push((name, counts, std::mem::take(&mut self.leaves_out)));
        true
    }

    /// Takes a line below the rows: a figure for each CPU.
    fn take_figures(&mut self, figure: usize, values: &str) -> bool {
        let (end, unit) = match FOOTER[figure] {
            "Duration" => ("(sec)", 1e9),
            _ => ("(us)", UNIT as f64),
        };
        let values = cells(values, &[end]).and_then(|cells| {
            cells.iter().map(|cell| Some(printed(cell)? * unit)).collect::<Option<Vec<f64>>>()
        });
        let values = values.filter(|values| values.len() == self.cpus.len());
        let was_read = values.is_some() && self.footer[figure].is_none();
        if was_read {
            self.footer[figure] = values;
        }
        was_read
    }

    /// Takes `Global bias set to 2 (us)`, which is subtracted from the counted gaps.
    fn take_bias(&mut self, text: &str) -> bool {
        let bias = text.strip_prefix("Global bias set to ");
        let Some(bias) = bias.and_then(|rest| name_of(rest.strip_suffix(" (us)")?)) else {
            return false;
        };
        self.bias = bias;
        self.facts.push(("Bias".to_string(), Nanos(bias).to_string()));
        true
    }

    /// Takes `oslat: Trace threshold (20 us) triggered on cpu 1 with 941 us!`.
    fn take_trigger(&mut self, text: &str) -> bool {
        let gap = text.split_once(" triggered ").and_then(|(_, rest)| {
            let (_, value) = rest.rsplit_once("with ")?;
            nanos(printed(value.strip_suffix(" us!")?)?, UNIT)
        });
        self.triggered = self.triggered.max(gap);
        gap.is_some()
    }

    fn part(mut self) -> Part {
        let mut recording = Recording::new("oslat histogram");
        recording.quantity = "time taken from a busy loop";
        recording.tool = self.tool.take();
        let has_figures = match self.rows.is_empty() {
            false => self.add_rows(&mut recording),
            true => self.add_trigger(&mut recording),
        };
        if has_figures.is_none() {
            return Part::none(self.first_line, self.left);
        }
        if let Some(gap) = self.triggered {
            recording.has_at_least("Gap that stopped the test", Nanos(gap));
        }
        for (name, text) in &self.facts {
            recording.fact(name, text.clone());
        }
        self.left.report("lines", &mut recording);
        Part::one(self.first_line, recording)
    }

    /// A test that stopped itself prints no table, but the gap that stopped it.
    fn add_trigger(&self, recording: &mut Recording) -> Option<()> {
        let stated =
            StatedFigures { count: Some(1), max_ns: self.triggered, ..StatedFigures::default() };
        self.triggered?;
        recording.resolution_ns = Some(Nanos(UNIT));
        add_summary(recording, &stated);
        recording
            .lacks("the test stopped itself at a gap (option -T), before it printed its table");
        Some(())
    }

    fn add_rows(&mut self, recording: &mut Recording) -> Option<()> {
        let names: Vec<i64> = self.rows.iter().map(|row| row.0).collect();
        let buckets = Buckets::new(&names, self.in_ns, self.bias, None);
        recording.resolution_ns = Some(Nanos(buckets.unit_ns));
        let last = names.iter().filter_map(|name| buckets.bin(*name)).max()?;
        let end = if self.last_is_over { last } else { last + 1 };
        let scale = buckets.scale(end);
        for (thread, cpu) in self.cpus.iter().enumerate() {
            let (mut bins, mut over) = (Bins::default(), 0u64);
            for (name, counts, _) in &self.rows {
                match buckets.bin(*name)? {
                    bin if bin >= end => over = over.saturating_add(counts[thread]),
                    bin => bins.push(bin, counts[thread]),
                }
            }
            let figure = |figure: usize| self.footer[figure].as_ref().map(|it| it[thread]);
            let time = |at: usize| figure(at).and_then(|value| nanos(value, 1));
            let stated = StatedFigures {
                overflow: self.last_is_over.then_some(over),
                min_ns: time(0),
                mean_ns: figure(1),
                max_ns: time(2),
                ..StatedFigures::default()
            };
            add_bins(recording, bins, scale, &stated);
            if let Some(series) = recording.series.last_mut() {
                series.cpu = Some(*cpu);
            }
            if let (Some(min), Some(max), Some(range)) = (time(0), time(2), time(3))
                && max - min != range
            {
                let (stated, between) = (Nanos(range).to_string(), Nanos(max - min).to_string());
                contradiction(recording, thread, "Max-Min", stated, between);
            }
        }
        self.report_absent(&buckets, recording);
        self.compare_durations(recording);
        Some(())
    }

    /// Reports missing rows and lines.
    fn report_absent(&self, buckets: &Buckets, recording: &mut Recording) {
        let first = self.bias + buckets.width_ns;
        let first = self.rows.first().filter(|row| !row.2 && row.0 != first);
        let holes = self.rows.windows(2).filter(|pair| {
            let step = pair[1].0 - pair[0].0;
            !pair[1].2 && step != buckets.width_ns
        });
        let holes = holes.count() + usize::from(first.is_some());
        if holes > 0 {
            let places = if holes == 1 { "one place" } else { "several places" };
            recording.lacks(format!("rows of the histogram are not there in {places}"));
        }
        let columns = self.cpus.len() as u64;
        if let Some(listed) = self.listed_cpus.filter(|listed| *listed != columns) {
            recording.lacks(format!("it has {columns} of {listed} CPUs"));
        }
        if !self.last_is_over {
            recording.lacks("the last row of the histogram is not there");
        }
        let absent: Vec<&str> = FOOTER
            .iter()
            .zip(&self.footer)
            .filter_map(|(name, figures)| figures.is_none().then_some(*name))
            .collect();
        if !absent.is_empty() {
            recording.lacks(format!("these lines of its end are not there: {}", absent.join(", ")));
        }
    }

    /// Compares the watched time of each CPU with the others, and with the requested time.
    fn compare_durations(&self, recording: &mut Recording) {
        let [.., Some(durations)] = &self.footer else { return };
        let longest = durations.iter().copied().fold(0.0, f64::max);
        recording.length_ns = Nanos(longest as i64);
        let asked = self.asked_seconds.map(|seconds| seconds as f64 * 1e9);
        let (due, by) = match asked {
            Some(asked) if asked > longest => (asked, "were asked for"),
            _ => (longest, "others were watched"),
        };
        for (thread, watched) in durations.iter().enumerate() {
            if *watched < due * LEAST_SHARE {
                let [watched, due] = [*watched, due].map(|time| Nanos(time as i64));
                recording.lacks(format!("thread {thread} was watched for {watched}, {due} {by}"));
            }
        }
    }
}
