//! Prometheus text, as its textfile collector takes it, and the figures that OpenMetrics has as well.

use super::Format;
use crate::{Notes, Result, Source};
use latlab_model::run::{Summary, ThreadRun, VerdictWord};
use latlab_model::units::counted;
use latlab_model::{Bin, Nanos};
use std::io::{self, Write};

pub const FORMAT: Format =
    Format { id: "prometheus", title: "Prometheus text", is_binary: false, write };

/// The smallest and the largest boundary of a bucket, which are 1, 2 and 5 in each decade.
const FIRST_BOUNDARY: i64 = 1_000;
const LAST_BOUNDARY: i64 = 10_000_000_000;

/// A figure of each thread: the end of its name, what it says, and its value.
pub type Figure = (&'static str, &'static str, fn(&Summary) -> Option<f64>);

/// The figures beside the histogram.
pub const FIGURES: [Figure; 8] = [
    ("latency_min_seconds", "Smallest latency.", |one| seconds(one.min_ns)),
    ("latency_mean_seconds", "Mean latency.", |one| one.mean_ns.map(|mean| mean / 1e9)),
    ("latency_p99_seconds", "Latency that 99 % of the cycles do not exceed.", |one| {
        seconds(one.quantiles.as_ref().map(|all| all.p99_ns))
    }),
    ("latency_p999_seconds", "Latency that 99.9 % of the cycles do not exceed.", |one| {
        seconds(one.quantiles.as_ref()?.p99_9_ns)
    }),
    ("latency_max_seconds", "Observed maximum.", |one| seconds(one.max_ns)),
    ("cycles", "Latencies recorded.", |one| Some(one.cycles as f64)),
    ("missed_releases", "Releases without a cycle of their own.", |one| {
        one.missed.map(|missed| missed as f64)
    }),
    ("deadline_misses", "Releases later than the deadline.", |one| {
        one.misses.map(|misses| misses as f64)
    }),
];

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let notes = write_comments(source, out)?;
    writeln!(out, "# HELP latlab_run_info The run and its machine.\n# TYPE latlab_run_info gauge")?;
    writeln!(out, "latlab_run_info{} 1", facts(source))?;
    write_verdict(source, out)?;
    write_figures(source, out, Style::Prometheus)?;
    write_histograms(source, out, Style::Prometheus)?;
    Ok(notes)
}

/// Which of the two texts it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// Prometheus text 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

/// What the buckets cannot say; OpenMetrics has no comments.
pub fn notes(source: &Source<'_>) -> Notes {
    let mut crossing = 0;
    let boundaries = boundaries(source);
    for thread in &source.run.threads {
        for bin in source.rows_of(thread) {
            let first = boundaries.partition_point(|one| *one <= bin.low_ns);
            if boundaries.get(first).is_some_and(|next| bin.high_ns > *next) {
                crossing += bin.count;
            }
        }
    }
    let mut notes = Notes::new();
    if crossing > 0 {
        notes.push(format!(
            "{} in bins that cross a bucket's boundary: counted in the bucket above it",
            counted(crossing, "latency lies", "latencies lie")
        ));
    }
    if !source.has_histogram() {
        notes.push("the run has no histogram, only figures".to_string());
    }
    notes
}

fn write_comments(source: &Source<'_>, out: &mut dyn Write) -> io::Result<Notes> {
    let notes = notes(source);
    for note in &notes {
        writeln!(out, "# latlab: {note}")?;
    }
    Ok(notes)
}

/// The facts of the run, as labels.
pub fn facts(source: &Source<'_>) -> String {
    let run = source.run;
    let machine = &run.machine;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    labels(&[
        ("run", &run.asked.name),
        ("id", &run.id),
        ("latlab", &run.latlab),
        ("host", &text(&machine.hostname)),
        ("kernel", &machine.kernel),
        ("preemption", &text(&machine.preemption)),
        ("started", &run.started),
    ])
}

/// The verdict: 1 for the word that holds.
pub fn write_verdict(source: &Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    let run = source.run;
    let Some(verdict) = &run.verdict else { return Ok(()) };
    writeln!(out, "# HELP latlab_verdict The judgement against the deadline.")?;
    writeln!(out, "# TYPE latlab_verdict gauge")?;
    let words =
        [VerdictWord::Pass, VerdictWord::Fail, VerdictWord::Inconclusive, VerdictWord::Invalid];
    for word in words {
        let labels = labels(&[("run", &run.asked.name), ("verdict", word.as_str())]);
        writeln!(out, "latlab_verdict{labels} {}", u8::from(verdict.word == word))?;
    }
    writeln!(out, "# HELP latlab_deadline_seconds The deadline.")?;
    writeln!(out, "# TYPE latlab_deadline_seconds gauge")?;
    let labels = labels(&[("run", &run.asked.name)]);
    writeln!(out, "latlab_deadline_seconds{labels} {}", go_float(verdict.deadline_ns.as_secs_f64()))
}

/// The figures of each thread.
pub fn write_figures(source: &Source<'_>, out: &mut dyn Write, style: Style) -> io::Result<()> {
    for (name, help, value) in FIGURES {
        let of =
            |thread: &ThreadRun| Some((labels_of(source, thread, None), value(&thread.summary)?));
        let values: Vec<(String, f64)> = source.run.threads.iter().filter_map(of).collect();
        if values.is_empty() {
            continue;
        }
        writeln!(out, "# HELP latlab_{name} {help}\n# TYPE latlab_{name} gauge")?;
        if style == Style::OpenMetrics && name.ends_with("_seconds") {
            writeln!(out, "# UNIT latlab_{name} seconds")?;
        }
        for (labels, value) in values {
            writeln!(out, "latlab_{name}{labels} {}", go_float(value))?;
        }
    }
    Ok(())
}

/// The histograms with classic buckets.
pub fn write_histograms(source: &Source<'_>, out: &mut dyn Write, style: Style) -> io::Result<()> {
    if !source.has_histogram() {
        return Ok(());
    }
    write_histogram_head(source, out, style)?;
    let boundaries = boundaries(source);
    for thread in &source.run.threads {
        let rows = source.rows_of(thread);
        for boundary in &boundaries {
            let count: u64 =
                rows.iter().filter(|bin| bin.high_ns <= *boundary).map(|bin| bin.count).sum();
            let le = go_float(boundary.as_secs_f64());
            writeln!(
                out,
                "latlab_latency_seconds_bucket{} {count}",
                labels_of(source, thread, Some(&le))
            )?;
        }
        let count: u64 = rows.iter().map(|bin| bin.count).sum();
        writeln!(
            out,
            "latlab_latency_seconds_bucket{} {count}",
            labels_of(source, thread, Some("+Inf"))
        )?;
        let labels = labels_of(source, thread, None);
        writeln!(out, "latlab_latency_seconds_count{labels} {count}")?;
        if let Some(sum) = sum_of(source, thread, rows) {
            writeln!(out, "latlab_latency_seconds_sum{labels} {}", go_float(sum))?;
        }
    }
    Ok(())
}

/// What comes before the histograms.
pub fn write_histogram_head(
    source: &Source<'_>,
    out: &mut dyn Write,
    style: Style,
) -> io::Result<()> {
    let quantity = source.run.asked.method.import().map_or("wake-up latency", |one| &one.quantity);
    writeln!(out, "# HELP latlab_latency_seconds Histogram of the {quantity}.")?;
    writeln!(out, "# TYPE latlab_latency_seconds histogram")?;
    match style {
        Style::OpenMetrics => writeln!(out, "# UNIT latlab_latency_seconds seconds"),
        Style::Prometheus => Ok(()),
    }
}

/// The sum of all latencies in seconds; none where not all of them are known.
pub fn sum_of(source: &Source<'_>, thread: &ThreadRun, rows: &[Bin]) -> Option<f64> {
    let is_known = source.overflow_of(thread).is_none() && rows.first()?.low_ns >= Nanos::ZERO;
    let mean = thread.summary.mean_ns.filter(|_| is_known)?;
    Some(mean * thread.summary.cycles as f64 / 1e9)
}

/// The boundaries of the buckets, the deadline among them.
fn boundaries(source: &Source<'_>) -> Vec<Nanos> {
    let decades = std::iter::successors(Some(FIRST_BOUNDARY), |decade| decade.checked_mul(10));
    let decades = decades.take_while(|decade| *decade <= LAST_BOUNDARY);
    let steps = decades.flat_map(|decade| [decade, decade * 2, decade * 5]);
    let mut all: Vec<Nanos> = steps.filter(|step| *step <= LAST_BOUNDARY).map(Nanos).collect();
    all.extend(source.run.asked.deadline_ns);
    all.sort_unstable();
    all.dedup();
    all
}

/// The labels of a thread, and the boundary of a bucket.
pub fn labels_of(source: &Source<'_>, thread: &ThreadRun, le: Option<&str>) -> String {
    let (number, cpu) = (thread.setup.thread.to_string(), thread.setup.cpu);
    let cpu = cpu.map(|cpu| cpu.to_string());
    let mut all = vec![("run", source.run.asked.name.as_str()), ("thread", number.as_str())];
    all.extend(cpu.as_deref().map(|cpu| ("cpu", cpu)));
    all.extend(le.map(|le| ("le", le)));
    labels(&all)
}

fn labels(all: &[(&str, &str)]) -> String {
    let label = |(name, value): &(&str, &str)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    };
    format!("{{{}}}", all.iter().map(label).collect::<Vec<_>>().join(","))
}

fn seconds(time: Option<Nanos>) -> Option<f64> {
    time.map(Nanos::as_secs_f64)
}

/// A number as Go prints it, which OpenMetrics wants of boundaries.
pub fn go_float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e21).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let text = value.to_string();
    if text.contains('.') { text } else { text + ".0" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_go() {
        let texts = [1e-6, 2e-5, 1.5e-5, 1e-4, 0.25, 10.0, 0.0].map(go_float);
        assert_eq!(texts, ["1e-06", "2e-05", "1.5e-05", "0.0001", "0.25", "10.0", "0.0"]);
    }

    #[test]
    fn labels_are_quoted() {
        assert_eq!(labels(&[("run", "a\"b\\c\nd")]), "{run=\"a\\\"b\\\\c\\nd\"}");
    }
}
