//! cyclictest: its histogram, which OSADL's and other scripts plot, and its JSON. Rows without
//! counts and totals are printed as up to rt-tests 2.6, because some scripts take the line number
//! for the latency.

use super::{Format, in_unit};
use crate::write::buckets::{AllBuckets, Buckets, note_overruns};
use crate::write::cyclictest::{
    Envelope, Form, JsonHistogram, JsonThread, ThreadColumn, write_histogram, write_json,
};
use crate::write::{Notes, OutputUnit, Result, Source};
use jiff::{SignedDuration, Timestamp};
use latlab_model::Nanos;
use latlab_model::run::ThreadRun;
use serde_json::json;
use std::io::Write;

pub const HISTOGRAM: Format =
    Format { id: "cyclictest", title: "cyclictest histogram", is_binary: false, write: histogram };
pub const JSON: Format =
    Format { id: "cyclictest-json", title: "cyclictest JSON", is_binary: false, write: json };

/// The version of rt-tests whose form this is, for its JSON.
const VERSION: &str = "2.40";

fn histogram(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    source.require_histogram()?;
    let buckets = AllBuckets::new(source)?;
    let columns = columns(source, &buckets);
    let notes = notes(source, &buckets);
    writeln!(out, "# latlab: {}", command(source))?;
    for note in &notes {
        writeln!(out, "# latlab: {note}")?;
    }
    if !source.run.machine.kernel.is_empty() {
        writeln!(out, "# Kernel: {}", source.run.machine.kernel)?;
    }
    let form = Form { buckets: buckets.number, totals_and_empty_rows: true, sums: false };
    write_histogram(out, &columns, form)?;
    Ok(notes)
}

fn json(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let buckets = AllBuckets::new(source)?;
    let columns = columns(source, &buckets);
    let histogram = if source.has_histogram() { JsonHistogram::Full } else { JsonHistogram::Empty };
    let run = source.run;
    let threads: Vec<JsonThread<'_>> = run
        .threads
        .iter()
        .zip(&columns)
        .map(|(thread, column)| JsonThread {
            column,
            histogram,
            cycles: thread.summary.cycles,
            cpu: thread.setup.cpu,
        })
        .collect();
    let machine = &run.machine;
    let realtime = machine.preemption.as_deref() == Some("PREEMPT_RT");
    let command = command(source);
    let envelope = Envelope {
        command: &command,
        version: VERSION,
        times: times(source),
        system: [
            ("sysname", json!("Linux")),
            ("nodename", json!(machine.hostname.clone().unwrap_or_default())),
            ("release", json!(machine.kernel)),
            ("version", json!(machine.kernel_version)),
            ("machine", json!(machine.architecture)),
            ("realtime", json!(u8::from(realtime))),
        ],
        in_ns: buckets.unit == OutputUnit::Nanoseconds,
    };
    write_json(out, &envelope, &threads)?;
    Ok(notes(source, &buckets))
}

fn notes(source: &Source<'_>, buckets: &AllBuckets) -> Notes {
    let mut notes = if source.has_histogram() { buckets.notes(true) } else { Notes::new() };
    for thread in source.run.threads.iter().filter(|one| one.summary.cycles > 0) {
        if thread.summary.max_ns.is_none() {
            let thread = thread.setup.thread;
            notes.push(format!(
                "the maximum of thread {thread} is not known: the file has that of its bins"
            ));
        }
    }
    note_overruns(source, &mut notes);
    notes
}

fn columns(source: &Source<'_>, buckets: &AllBuckets) -> Vec<ThreadColumn> {
    let threads = source.run.threads.iter().zip(&buckets.threads);
    threads.map(|(thread, own)| column(thread, own, buckets.unit)).collect()
}

fn column(thread: &ThreadRun, own: &Buckets, unit: OutputUnit) -> ThreadColumn {
    let summary = &thread.summary;
    let of = |time: Option<Nanos>| time.map(|time| in_unit(time, unit).max(0));
    let edge = |bucket: Option<&(u32, u64)>| bucket.map_or(0, |one| i64::from(one.0));
    let stated_mean = || summary.mean_ns.map_or(0.0, |mean| mean / unit.nanos() as f64);
    ThreadColumn {
        overflows: own.overflows,
        cycles: Vec::new(),
        min: of(summary.min_ns).unwrap_or_else(|| edge(own.counts.first())),
        avg: if own.is_empty() { stated_mean() } else { own.mean },
        max: of(summary.max_ns).unwrap_or_else(|| edge(own.counts.last())),
        counts: own.counts.clone(),
    }
}

/// The command line of an imported file, or the one that repeats the run.
pub fn command(source: &Source<'_>) -> String {
    let imported = source.run.asked.method.import().and_then(|one| one.command.clone());
    imported.unwrap_or_else(|| source.run.asked.repeat().to_string())
}

/// Start and end of the run, as in e-mail headers.
fn times(source: &Source<'_>) -> (String, String) {
    let began = source.run.started.parse::<Timestamp>().unwrap_or_default();
    let length = SignedDuration::from_nanos(source.run.measured_ns.0);
    let ended = began.checked_add(length).unwrap_or(began);
    let text = |time: Timestamp| time.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string();
    (text(began), text(ended))
}
