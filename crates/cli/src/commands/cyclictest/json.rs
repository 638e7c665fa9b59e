//! The document of `--json`, in the keys of the original, two of which end in a colon.

use super::dialect::Dialect;
use super::histogram::Buckets;
use super::lines::{ThreadFigures, Unit};
use super::state::Thread;
use serde_json::{Value, json};

/// What the document says beside the threads.
pub struct Envelope<'a> {
    /// The command line.
    pub command: &'a str,
    /// The version of rt-tests whose form this is.
    pub dialect: &'a Dialect,
    /// When the run began and ended, as e-mails write it.
    pub times: (String, String),
    /// Of the system: name and value.
    pub system: [(&'static str, Value); 6],
}

/// The whole document.
pub fn text(
    envelope: &Envelope<'_>,
    threads: &[Thread],
    buckets: Option<&[Buckets]>,
    unit: Unit,
) -> String {
    let mut all = Vec::new();
    for (number, thread) in threads.iter().enumerate() {
        let mut lines = Vec::new();
        match buckets.map(|all| &all[number]) {
            Some(buckets) => {
                lines.push(format!("      \"histogram\": {}", object(buckets)));
                lines.push(format!("      \"overflow\": {}", buckets.overflows));
            }
            None if envelope.dialect.totals_and_empty_rows => {
                lines.push(format!("      \"histogram\": {}", object(&Buckets::default())));
            }
            None => {}
        }
        let ThreadFigures { min, avg, max, .. } = ThreadFigures::new(thread, unit);
        let cpu = thread.cpu.map_or(-1, i64::from);
        lines.push(format!("      \"cycles\": {}", thread.total.count));
        lines.push(format!("      \"min\": {min}"));
        lines.push(format!("      \"max\": {max}"));
        lines.push(format!("      \"avg\": {avg:.2}"));
        lines.push(format!("      \"cpu\": {cpu}"));
        lines.push("      \"node\": -1".to_string());
        all.push(format!("    \"{number}\": {{\n{}\n    }}", lines.join(",\n")));
    }
    let system: Vec<String> =
        envelope.system.iter().map(|(name, value)| format!("    \"{name}\": {value}")).collect();
    let (start, end) = &envelope.times;
    format!(
        "{{\n  \"file_version\": 1,\n  \"cmdline:\": {},\n  \"rt_test_version:\": {},\n  \
         \"start_time\": {},\n  \"end_time\": {},\n  \"return_code\": 0,\n  \"sysinfo\": {{\n{}\n  \
         }},\n  \"num_threads\": {},\n  \"resolution_in_ns\": {},\n  \"thread\": {{\n{}\n  }}\n}}\n",
        json!(envelope.command),
        json!(envelope.dialect.version),
        json!(start),
        json!(end),
        system.join(",\n"),
        threads.len(),
        u8::from(unit == Unit::Nanoseconds),
        all.join(",\n"),
    )
}

/// The buckets that hold something.
fn object(buckets: &Buckets) -> String {
    let rows = buckets.counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let rows: Vec<String> =
        rows.map(|(value, count)| format!("        \"{value}\": {count}")).collect();
    match rows.is_empty() {
        true => "{      }".to_string(),
        false => format!("{{\n{}\n      }}", rows.join(",\n")),
    }
}

/// What the kernel calls itself.
pub fn system(read: impl Fn(&str) -> Option<String>) -> [(&'static str, Value); 6] {
    let of = |name: &str| json!(read(&format!("proc/sys/kernel/{name}")).unwrap_or_default());
    let realtime = read("sys/kernel/realtime").is_some_and(|text| text == "1");
    [
        ("sysname", of("ostype")),
        ("nodename", of("hostname")),
        ("release", of("osrelease")),
        ("version", of("version")),
        ("machine", json!(std::env::consts::ARCH)),
        ("realtime", json!(u8::from(realtime))),
    ]
}
