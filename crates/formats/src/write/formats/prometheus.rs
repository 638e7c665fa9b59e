//! Prometheus text for its textfile collector, and OpenMetrics: version 1.0 with classic buckets,
//! and the native histograms of its next version, which have a bucket for each 2 %.

use super::Format;
use crate::write::metrics::{MetricsRun, Native, Style, crossing, families, sum_of, text};
use crate::write::{Notes, Result, Source};
use latlab_model::units::counted;
use std::io::Write;

pub const TEXT: Format = Format {
    id: "prometheus",
    title: "Prometheus text",
    is_binary: false,
    write: |source, out| write(source, out, Style::Prometheus),
};
pub const OPENMETRICS: Format = Format {
    id: "openmetrics",
    title: "OpenMetrics 1.0",
    is_binary: false,
    write: |source, out| write(source, out, Style::OpenMetrics),
};
pub const NATIVE: Format = Format {
    id: "openmetrics-native",
    title: "OpenMetrics with native histograms",
    is_binary: false,
    write: |source, out| write(source, out, Style::Native),
};

fn write(source: &Source<'_>, out: &mut (dyn Write + Send), style: Style) -> Result<Notes> {
    let notes = match style {
        Style::Native => native_notes(source)?,
        Style::Prometheus | Style::OpenMetrics => classic_notes(source),
    };
    // OpenMetrics has no comments.
    if style == Style::Prometheus {
        for note in &notes {
            writeln!(out, "# latlab: {note}")?;
        }
    }
    let labels = vec![("run", source.run.asked.name.clone())];
    let run = [MetricsRun { run: source.run, bins: source.bins, labels }];
    out.write_all(text(&families(&run), style).as_bytes())?;
    Ok(notes)
}

/// What classic buckets cannot express.
fn classic_notes(source: &Source<'_>) -> Notes {
    let mut notes = Notes::new();
    let crossing = crossing(source.run, source.bins);
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

/// What native histograms cannot express.
fn native_notes(source: &Source<'_>) -> Result<Notes> {
    source.require_histogram()?;
    let mut notes = Notes::new();
    for thread in &source.run.threads {
        let number = thread.setup.thread;
        if sum_of(source.run, thread, source.rows_of(thread)).is_none() {
            notes.push(format!("the sum of thread {number} is not known: the file has NaN"));
        }
        let unbounded = Native::new(source.rows_of(thread)).unbounded;
        if unbounded > 0 {
            notes.push(format!(
                "thread {number}: {} of unknown length counted where the bins end",
                counted(unbounded, "latency", "latencies")
            ));
        }
    }
    Ok(notes)
}
