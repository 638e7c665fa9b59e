//! OSADL's "RT Dataset 1.0": the bin indices first, then a row for each CPU; the maxima are
//! separate, and there is no number of overflows.

use super::cyclictest::command;
use super::{Format, in_unit};
use crate::write::buckets::{AllBuckets, Buckets, note_overruns};
use crate::write::{Notes, OutputUnit, Result, Source};
use serde_json::{Map, Value, json};
use std::io::Write;

pub const FORMAT: Format =
    Format { id: "osadl", title: "OSADL RT Dataset 1.0", is_binary: false, write };

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    source.require_histogram()?;
    let buckets = AllBuckets::new(source)?;
    let run = source.run;
    let import = run.asked.method.import();
    let recorded = import.and_then(|one| one.recorded.clone()).unwrap_or(run.started.clone());
    let machine = &run.machine;
    let loads: Vec<&str> = run.asked.on.loads.iter().map(|load| load.name.as_str()).collect();
    let mut condition = Map::new();
    let load = if loads.is_empty() { "idle".to_string() } else { loads.join(", ") };
    condition.insert("load".to_string(), json!(load));
    condition.insert("cyclictest".to_string(), json!(command(source)));
    let cycles = run.threads.iter().map(|one| one.summary.cycles).max().unwrap_or(0);
    condition.insert("cycles".to_string(), json!(cycles));
    if let Some(period) = source.period() {
        condition.insert("interval".to_string(), json!(period.0 / 1_000));
    }
    let unit = buckets.unit;
    let maxima: Vec<i64> = run
        .threads
        .iter()
        .map(|one| one.summary.max_ns.map_or(0, |max| in_unit(max, unit).max(0)))
        .collect();
    let granularity = match unit {
        OutputUnit::Microseconds => "microseconds",
        OutputUnit::Nanoseconds => "nanoseconds",
    };
    let head = json!({
        "format": { "name": "RT Dataset", "version": "1.0" },
        "timestamps": { "origin": recorded, "dataset": run.started },
        "system": { "hostname": machine.hostname.clone().unwrap_or_default() },
        "processor": {
            "family": machine.architecture,
            "vendor": "",
            "type": machine.cpu_model.clone().unwrap_or_default(),
        },
        "kernel": {
            "version": machine.kernel,
            "config": [],
            "cmdline": machine.command_line.clone().unwrap_or_default(),
        },
        "condition": condition,
    });
    let head = serde_json::to_string_pretty(&head).map_err(std::io::Error::from)?;
    // The rows are long, so they are written one by one.
    let head = head.strip_suffix("\n}").unwrap_or(&head);
    write!(
        out,
        "{head},\n  \"latency\": {{\n    \"granularity\": \"{granularity}\",\n    \"cores\": ["
    )?;
    write_row(out, (0..buckets.number).map(u64::from))?;
    for one in &buckets.threads {
        out.write_all(b",")?;
        write_row(out, counts(one, buckets.number))?;
    }
    writeln!(out, "\n    ],\n    \"maxima\": {}\n  }}\n}}", Value::from(maxima))?;
    let mut notes = buckets.notes(false);
    note_overruns(source, &mut notes);
    Ok(notes)
}

/// The counts of all buckets, including empty ones.
fn counts(own: &Buckets, number: u32) -> impl Iterator<Item = u64> {
    let mut rest = own.counts.iter().peekable();
    (0..number).map(move |bucket| rest.next_if(|one| one.0 == bucket).map_or(0, |one| one.1))
}

fn write_row(out: &mut dyn Write, values: impl Iterator<Item = u64>) -> std::io::Result<()> {
    out.write_all(b"\n      [")?;
    for (at, value) in values.enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}{value}")?;
    }
    out.write_all(b"]")
}
