//! OpenMetrics: version 1.0 with classic buckets, and the native histograms of its next version, which
//! have a bucket for each 2 %.

use super::Format;
use super::prometheus::{
    Style, facts, labels_of, notes, sum_of, write_figures, write_histogram_head, write_histograms,
    write_verdict,
};
use crate::{Notes, Result, Source};
use latlab_model::units::counted;
use latlab_model::{Bin, Nanos};
use std::collections::BTreeMap;
use std::io::{self, Write};

pub const FORMAT: Format =
    Format { id: "openmetrics", title: "OpenMetrics 1.0", is_binary: false, write };
pub const NATIVE: Format = Format {
    id: "openmetrics-native",
    title: "OpenMetrics with native histograms",
    is_binary: false,
    write: write_native,
};

/// 2^5 buckets in each doubling, as many as latlab's own bins have above 1 ms.
const SCHEMA: i32 = 5;

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    write_head(source, out)?;
    write_histograms(source, out, Style::OpenMetrics)?;
    out.write_all(b"# EOF\n")?;
    Ok(notes(source))
}

fn write_native(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    source.require_histogram()?;
    write_head(source, out)?;
    write_histogram_head(source, out, Style::OpenMetrics)?;
    let mut notes = Notes::new();
    for thread in &source.run.threads {
        let rows = source.rows_of(thread);
        let native = Native::new(rows);
        let sum = sum_of(source, thread, rows);
        if sum.is_none() {
            let thread = thread.setup.thread;
            notes.push(format!("the sum of thread {thread} is not known: the file has NaN"));
        }
        if native.unbounded > 0 {
            let thread = thread.setup.thread;
            notes.push(format!(
                "thread {thread}: {} of unknown length counted where the bins end",
                counted(native.unbounded, "latency", "latencies")
            ));
        }
        let sum = sum.map_or("NaN".to_string(), |sum| sum.to_string());
        writeln!(
            out,
            "latlab_latency_seconds{} {}",
            labels_of(source, thread, None),
            native.text(&sum)
        )?;
    }
    out.write_all(b"# EOF\n")?;
    Ok(notes)
}

fn write_head(source: &Source<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# HELP latlab_run The run and its machine.\n# TYPE latlab_run info")?;
    writeln!(out, "latlab_run_info{} 1", facts(source))?;
    write_verdict(source, out)?;
    write_figures(source, out, Style::OpenMetrics)
}

/// A histogram whose buckets grow by the 32nd root of two.
struct Native {
    zero: u64,
    unbounded: u64,
    counts: BTreeMap<i32, u64>,
}

impl Native {
    fn new(rows: &[Bin]) -> Native {
        let mut native = Native { zero: 0, unbounded: 0, counts: BTreeMap::new() };
        for bin in rows {
            let middle = match bin.high_ns {
                Nanos::MAX => bin.low_ns.0,
                high => bin.low_ns.0.midpoint(high.0),
            };
            native.unbounded += if bin.high_ns == Nanos::MAX { bin.count } else { 0 };
            match middle {
                ..=0 => native.zero += bin.count,
                middle => {
                    let doublings = (middle as f64 / 1e9).log2();
                    let index = (doublings * f64::from(1 << SCHEMA)).ceil() as i32;
                    *native.counts.entry(index).or_default() += bin.count;
                }
            }
        }
        native
    }

    /// The composite value: spans of buckets with a count, and the difference of each to the one before.
    fn text(&self, sum: &str) -> String {
        let (mut spans, mut deltas): (Vec<(i32, u32)>, Vec<i64>) = (Vec::new(), Vec::new());
        let (mut end, mut before) = (0, 0);
        for (&index, &count) in &self.counts {
            match spans.last_mut() {
                Some(last) if index == end => last.1 += 1,
                _ => spans.push((index - end, 1)),
            }
            deltas.push(count as i64 - before);
            (end, before) = (index + 1, count as i64);
        }
        let spans: Vec<String> =
            spans.iter().map(|(from, length)| format!("{from}:{length}")).collect();
        let deltas: Vec<String> = deltas.iter().map(i64::to_string).collect();
        let count = self.zero + self.counts.values().sum::<u64>();
        format!(
            "{{count:{count},sum:{sum},schema:{SCHEMA},zero_threshold:1e-09,zero_count:{},\
             positive_spans:[{}],positive_deltas:[{}]}}",
            self.zero,
            spans.join(","),
            deltas.join(",")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_differences_give_the_counts_again() {
        let bin = |low, high, count| Bin { low_ns: Nanos(low), high_ns: Nanos(high), count };
        let rows =
            [bin(-5, 0, 2), bin(500_000_000, 500_000_002, 3), bin(999_000_000, 1_001_000_000, 4)];
        let native = Native::new(&rows);
        assert_eq!(native.zero, 2);
        // 0.500000001 s is in the bucket above 2^-1, 1 s in that which ends there.
        assert_eq!(native.counts, BTreeMap::from([(-31, 3), (0, 4)]));
        assert!(native.text("1.0").contains("positive_spans:[-31:1,30:1],positive_deltas:[3,1]"));
    }
}
