//! CSV: a line for each latency, or for each bin.

use super::Format;
use crate::write::{Error, Notes, Result, Rows, Source, Table};
use latlab_digest::window::{CSV_HEAD, SampleBlock};
use latlab_model::Nanos;
use latlab_model::run::ThreadRun;
use latlab_model::units::counted;
use std::io::Write;

pub const FORMAT: Format =
    Format { id: "csv", title: "CSV of samples or histogram", is_binary: false, write };

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    match samples_of(source)? {
        Some(blocks) => write_samples(source, blocks, out)?,
        None => write_histogram(source, out)?,
    }
    Ok(notes(source))
}

/// The samples, unless the histogram is requested or there are none.
pub fn samples_of<'a>(source: &'a Source<'_>) -> Result<Option<Rows<'a, SampleBlock>>> {
    if source.query.table == Some(Table::Histogram) {
        return Ok(None);
    }
    let samples = source.tables.samples()?;
    match (samples, source.query.table) {
        (None, Some(Table::Samples)) => Err(Error::Refused(
            "the run has no samples: measure with `latlab run --samples`, or export --table histogram"
                .to_string(),
        )),
        (samples, _) => Ok(samples),
    }
}

/// What neither table shows.
pub fn notes(source: &Source<'_>) -> Notes {
    let mut notes = Notes::new();
    let lost = source.run.losses.samples;
    if lost > 0 && source.query.table != Some(Table::Histogram) {
        notes.push(format!(
            "{} lost while it was measured",
            counted(lost, "sample was", "samples were")
        ));
    }
    notes
}

/// The CPU of a thread.
pub fn cpu_of(threads: &[ThreadRun], thread: u32) -> Option<u32> {
    threads.iter().find(|one| one.setup.thread == thread)?.setup.cpu
}

fn write_samples(
    source: &Source<'_>,
    blocks: Rows<'_, SampleBlock>,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    writeln!(out, "{CSV_HEAD}")?;
    for block in blocks {
        let block = block?;
        block.write_csv(cpu_of(&source.run.threads, block.thread), source.wall, out)?;
    }
    Ok(())
}

fn write_histogram(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<()> {
    source.require_histogram()?;
    out.write_all(b"thread,cpu,low_ns,high_ns,count\n")?;
    for thread in &source.run.threads {
        let (number, cpu) = (thread.setup.thread, thread.setup.cpu);
        let cpu = cpu.map(|cpu| cpu.to_string()).unwrap_or_default();
        for bin in source.rows_of(thread) {
            // The bin has no end if the largest latency is unknown.
            let high =
                if bin.high_ns == Nanos::MAX { String::new() } else { bin.high_ns.0.to_string() };
            writeln!(out, "{number},{cpu},{},{high},{}", bin.low_ns.0, bin.count)?;
        }
    }
    Ok(())
}
