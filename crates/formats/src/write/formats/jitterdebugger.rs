//! `results.json` of jitterdebugger, as jitterplot reads it. jitterdebugger itself drops latencies
//! above 1 ms from its histogram; here they are kept.

use super::{Format, in_unit};
use crate::write::buckets::{AllBuckets, note_overruns};
use crate::write::{Notes, Result, Source};
use latlab_model::Nanos;
use serde_json::json;
use std::io::Write;

pub const FORMAT: Format =
    Format { id: "jitterdebugger", title: "jitterdebugger results.json", is_binary: false, write };

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let buckets = AllBuckets::new(source)?;
    let (run, unit) = (source.run, buckets.unit);
    let machine = &run.machine;
    let system = json!({
        "sysname": "Linux",
        "nodename": machine.hostname.clone().unwrap_or_default(),
        "release": machine.kernel,
        "version": machine.kernel_version,
        "machine": machine.architecture,
        "realtime": u8::from(machine.preemption.as_deref() == Some("PREEMPT_RT")),
        "cpus_online": machine.cpus_online.len(),
        "resolution_in_ns": unit.nanos(),
    });
    write!(out, "{{\n  \"version\": 3,\n  \"sysinfo\": {system},\n  \"cpu\": {{")?;
    // The key is the thread number: jitterplot counts from 0.
    for (number, (thread, own)) in run.threads.iter().zip(&buckets.threads).enumerate() {
        let comma = if number > 0 { "," } else { "" };
        write!(out, "{comma}\n    \"{number}\": {{\n      \"histogram\": {{")?;
        for (at, (bucket, count)) in own.counts.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}\n        \"{bucket}\": {count}")?;
        }
        let summary = &thread.summary;
        let time = |time: Option<Nanos>| time.map_or(0, |time| in_unit(time, unit).max(0));
        let mean = match own.is_empty() {
            true => summary.mean_ns.unwrap_or(0.0) / unit.nanos() as f64,
            false => own.mean,
        };
        let (min, max) = (time(summary.min_ns), time(summary.max_ns));
        write!(
            out,
            "\n      }},\n      \"count\": {},\n      \"min\": {min},\n      \"max\": {max},\n      \
             \"avg\": {mean:.2}\n    }}",
            summary.cycles
        )?;
    }
    out.write_all(b"\n  }\n}\n")?;
    let mut notes = if source.has_histogram() { buckets.notes(false) } else { Notes::new() };
    note_overruns(source, &mut notes);
    Ok(notes)
}
