//! Output of cyclictest about its threads: the histogram of `-h` and `-H`, and the document of
//! `--json`. `latlab cyclictest` prints the same.

use serde_json::{Value, json};
use std::fmt::Display;
use std::io::{self, Write};

/// Counts and figures of a thread, in the unit of the histogram.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct ThreadColumn {
    /// Bucket number and count, ascending.
    pub counts: Vec<(u32, u64)>,
    /// Latencies beyond the last bucket.
    pub overflows: u64,
    /// Cycle numbers of the overflows, as far as known; at most as many as there are buckets.
    pub cycles: Vec<u64>,
    pub min: i64,
    pub avg: f64,
    pub max: i64,
}

/// The form of a printed histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Number of buckets.
    pub buckets: u32,
    /// Whether to print `# Total:` and rows without counts, as up to rt-tests 2.6.
    pub totals_and_empty_rows: bool,
    /// Whether a column has the sums of several threads.
    pub sums: bool,
}

impl ThreadColumn {
    fn binned(&self) -> u64 {
        self.counts.iter().map(|one| one.1).sum()
    }
}

/// The whole histogram.
pub fn write_histogram(
    out: &mut dyn Write,
    columns: &[ThreadColumn],
    form: Form,
) -> io::Result<()> {
    let sums = form.sums && columns.len() > 1;
    out.write_all(b"# Histogram\n")?;
    write_rows(out, columns, Form { sums, ..form })?;
    if form.totals_and_empty_rows {
        let totals: Vec<u64> = columns.iter().map(ThreadColumn::binned).collect();
        let all = sums.then(|| totals.iter().sum());
        write_foot(out, "Total", totals.into_iter().chain(all), 9)?;
    }
    write_foot(out, "Min Latencies", columns.iter().map(|one| one.min), 5)?;
    write_foot(out, "Avg Latencies", columns.iter().map(|one| one.avg as i64), 5)?;
    let largest = columns.iter().map(|one| one.max).max().filter(|_| sums);
    write_foot(out, "Max Latencies", columns.iter().map(|one| one.max).chain(largest), 5)?;
    let over: Vec<u64> = columns.iter().map(|one| one.overflows).collect();
    let all = sums.then(|| over.iter().sum());
    write_foot(out, "Histogram Overflows", over.into_iter().chain(all), 5)?;
    out.write_all(b"# Histogram Overflow at cycle number:\n")?;
    for (number, one) in columns.iter().enumerate() {
        out.write_all(overflow_line(number, one, form).as_bytes())?;
    }
    out.write_all(b"\n")
}

fn write_rows(out: &mut dyn Write, columns: &[ThreadColumn], form: Form) -> io::Result<()> {
    let mut rests: Vec<&[(u32, u64)]> = columns.iter().map(|one| &one.counts[..]).collect();
    let mut row = 0;
    loop {
        if !form.totals_and_empty_rows {
            let next = rests.iter().filter_map(|rest| rest.first()).map(|one| one.0).min();
            row = next.unwrap_or(form.buckets);
        }
        if row >= form.buckets {
            return Ok(());
        }
        write!(out, "{row:06}")?;
        let (mut sum, mut separator) = (0, ' ');
        for rest in &mut rests {
            let own = rest.split_first().filter(|(first, _)| first.0 == row);
            let count = own.map_or(0, |(first, _)| first.1);
            *rest = own.map_or(*rest, |(_, next)| next);
            write!(out, "{separator}{count:06}")?;
            (sum, separator) = (sum + count, '\t');
        }
        if form.sums {
            write!(out, "\t{sum:06}")?;
        }
        out.write_all(b"\n")?;
        row += 1;
    }
}

fn write_foot<T: Display>(
    out: &mut dyn Write,
    name: &str,
    values: impl Iterator<Item = T>,
    width: usize,
) -> io::Result<()> {
    let values: Vec<String> = values.map(|value| format!("{value:0width$}")).collect();
    writeln!(out, "# {name}: {}", values.join(" "))
}

/// The numbers of the cycles beyond the last bucket, at most as many as there are buckets.
fn overflow_line(number: usize, column: &ThreadColumn, form: Form) -> String {
    let most = column.cycles.len().min(form.buckets as usize).min(column.overflows as usize);
    let listed = &column.cycles[..most];
    let mut text = format!("# Thread {number}:");
    listed.iter().for_each(|cycle| text += &format!(" {cycle:05}"));
    if listed.is_empty() && !form.totals_and_empty_rows {
        text.push(' ');
    }
    let others = column.overflows - listed.len() as u64;
    if others > 0 {
        text += &format!(" # {others:05} others");
    }
    text + "\n"
}

/// The content of the `--json` document besides the threads.
pub struct Envelope<'a> {
    pub command: &'a str,
    /// The version of rt-tests whose form this is, such as `2.40`.
    pub version: &'a str,
    /// Start and end of the run, as in e-mail headers.
    pub times: (String, String),
    /// Properties of the system: name and value.
    pub system: [(&'static str, Value); 6],
    /// Whether the numbers are nanoseconds.
    pub in_ns: bool,
}

/// A thread of the document.
pub struct JsonThread<'a> {
    pub column: &'a ThreadColumn,
    pub histogram: JsonHistogram,
    /// Number of latencies.
    pub cycles: u64,
    /// The CPU that it was pinned to.
    pub cpu: Option<u32>,
}

/// Whether a thread has a histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonHistogram {
    /// With its overflows.
    Full,
    /// An empty one, as without `-h` up to rt-tests 2.6.
    Empty,
    None,
}

/// The document of `--json`, with the keys of the original, two of which end in a colon.
pub fn write_json(
    out: &mut dyn Write,
    envelope: &Envelope<'_>,
    threads: &[JsonThread<'_>],
) -> io::Result<()> {
    let system: Vec<String> =
        envelope.system.iter().map(|(name, value)| format!("    \"{name}\": {value}")).collect();
    let (start, end) = &envelope.times;
    write!(
        out,
        "{{\n  \"file_version\": 1,\n  \"cmdline:\": {},\n  \"rt_test_version:\": {},\n  \
         \"start_time\": {},\n  \"end_time\": {},\n  \"return_code\": 0,\n  \"sysinfo\": {{\n{}\n  \
         }},\n  \"num_threads\": {},\n  \"resolution_in_ns\": {},\n  \"thread\": {{\n",
        json!(envelope.command),
        json!(envelope.version),
        json!(start),
        json!(end),
        system.join(",\n"),
        threads.len(),
        u8::from(envelope.in_ns),
    )?;
    for (number, thread) in threads.iter().enumerate() {
        let comma = if number + 1 < threads.len() { "," } else { "" };
        writeln!(out, "    \"{number}\": {{")?;
        match thread.histogram {
            JsonHistogram::Full => {
                write_object(out, &thread.column.counts)?;
                writeln!(out, "      \"overflow\": {},", thread.column.overflows)?;
            }
            JsonHistogram::Empty => write_object(out, &[])?,
            JsonHistogram::None => {}
        }
        let ThreadColumn { min, avg, max, .. } = thread.column;
        let cpu = thread.cpu.map_or(-1, i64::from);
        write!(
            out,
            "      \"cycles\": {},\n      \"min\": {min},\n      \"max\": {max},\n      \"avg\": \
             {avg:.2},\n      \"cpu\": {cpu},\n      \"node\": -1\n    }}{comma}\n",
            thread.cycles
        )?;
    }
    out.write_all(b"  }\n}\n")
}

/// The non-empty buckets.
fn write_object(out: &mut dyn Write, counts: &[(u32, u64)]) -> io::Result<()> {
    out.write_all(b"      \"histogram\": {")?;
    for (at, (bucket, count)) in counts.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}\n        \"{bucket}\": {count}")?;
    }
    match counts.is_empty() {
        true => out.write_all(b"      },\n"),
        false => out.write_all(b"\n      },\n"),
    }
}
