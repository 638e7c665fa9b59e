//! The document of `--json`.

use super::dialect::Dialect;
use super::histogram::{Buckets, column};
use super::lines::LineUnit;
use super::state::Thread;
use latlab_formats::write::cyclictest::{
    Envelope, JsonHistogram, JsonThread, ThreadColumn, write_json,
};
use latlab_model::machine::is_realtime_version;
use serde_json::{Value, json};

pub fn text(
    envelope: &Envelope<'_>,
    dialect: &Dialect,
    threads: &[Thread],
    buckets: Option<&[Buckets]>,
    unit: LineUnit,
) -> String {
    let histogram = match (buckets, dialect.totals_and_empty_rows) {
        (Some(_), _) => JsonHistogram::Full,
        (None, true) => JsonHistogram::Empty,
        (None, false) => JsonHistogram::None,
    };
    let own = |number: usize| buckets.and_then(|all| all.get(number));
    let columns: Vec<ThreadColumn> = threads
        .iter()
        .enumerate()
        .map(|(number, thread)| column(thread, own(number), unit))
        .collect();
    let threads: Vec<JsonThread<'_>> = threads
        .iter()
        .zip(&columns)
        .map(|(thread, column)| JsonThread {
            column,
            histogram,
            cycles: thread.total.count,
            cpu: thread.cpu,
        })
        .collect();
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_json(&mut text, envelope, &threads);
    String::from_utf8_lossy(&text).into_owned()
}

/// The `uname` fields and whether the kernel is a real-time one.
pub fn system(read: impl Fn(&str) -> Option<String>) -> [(&'static str, Value); 6] {
    let of = |name: &str| json!(read(&format!("proc/sys/kernel/{name}")).unwrap_or_default());
    // Mainline has no such file.
    let realtime = read("sys/kernel/realtime").is_some_and(|text| text == "1")
        || read("proc/sys/kernel/version").is_some_and(|line| is_realtime_version(&line));
    [
        ("sysname", of("ostype")),
        ("nodename", of("hostname")),
        ("release", of("osrelease")),
        ("version", of("version")),
        ("machine", json!(std::env::consts::ARCH)),
        ("realtime", json!(u8::from(realtime))),
    ]
}
