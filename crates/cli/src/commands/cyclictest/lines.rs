//! The lines of threads: live, at the end, and in snapshots.

use super::state::Thread;
use latlab_model::Nanos;
use latlab_model::histogram::{FINE_BINS, bin_low};

/// Printed as the minimum before there is one.
const NO_MINIMUM: i64 = 1_000_000;

/// Unit of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineUnit {
    /// Whole microseconds, truncated.
    Microseconds,
    Nanoseconds,
}

impl LineUnit {
    /// Converts a time to this unit.
    pub fn convert(self, time: Nanos) -> i64 {
        match self {
            LineUnit::Microseconds => time.0 / 1000,
            LineUnit::Nanoseconds => time.0,
        }
    }
}

/// A thread's figures as they are printed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ThreadFigures {
    pub min: i64,
    pub act: i64,
    /// Mean of the printed latencies: each is truncated before it is added, as cyclictest does.
    pub avg: f64,
    pub max: i64,
}

impl ThreadFigures {
    pub fn new(thread: &Thread, unit: LineUnit) -> ThreadFigures {
        let total = &thread.total;
        if total.count == 0 {
            return ThreadFigures { min: NO_MINIMUM, act: 0, avg: 0.0, max: 0 };
        }
        let avg = match unit {
            LineUnit::Nanoseconds => total.mean_ns().unwrap_or(0.0),
            LineUnit::Microseconds => truncated_sum(thread) as f64 / total.count as f64,
        };
        let (min, act, max) = (total.min_ns, thread.last, total.max_ns);
        ThreadFigures {
            min: unit.convert(min),
            act: unit.convert(act),
            avg,
            max: unit.convert(max),
        }
    }
}

/// Sum of the latencies in whole microseconds: a fine bin lies within one microsecond; of a coarse
/// bin the lower end is taken.
fn truncated_sum(thread: &Thread) -> u128 {
    let sum =
        |&(bin, count): &(u32, u64)| u128::from(bin_low(bin as usize) / 1000) * u128::from(count);
    thread.total.bins.iter().map(sum).sum()
}

/// Whether a bin lies within one microsecond.
pub fn is_fine(bin: u32) -> bool {
    (bin as usize) < FINE_BINS
}

pub fn thread_line(number: usize, thread: &Thread, unit: LineUnit) -> String {
    let ThreadFigures { min, act, avg, max } = ThreadFigures::new(thread, unit);
    let width = if unit == LineUnit::Nanoseconds { 8 } else { 5 };
    format!(
        "T:{number:2} ({:5}) P:{:2} I:{} C:{:7} Min:{min:7} Act:{act:width$} Avg:{:width$} Max:{max:8}\n",
        thread.id,
        thread.priority,
        thread.period.0 / 1000,
        thread.total.count,
        avg as i64,
    )
}

pub fn thread_lines(threads: &[Thread], unit: LineUnit) -> String {
    threads.iter().enumerate().map(|(number, thread)| thread_line(number, thread, unit)).collect()
}

/// The live block: policy, load average, and the threads.
pub fn block(policy: &str, load: &str, threads: &[Thread], unit: LineUnit) -> String {
    format!("policy: {policy}: loadavg: {load}          \n\n{}", thread_lines(threads, unit))
}

/// Moves the cursor to the start of the block.
pub fn back(threads: usize) -> String {
    format!("\x1b[{}A", threads + 2)
}

/// Moves the cursor below the block.
pub fn forth(threads: usize) -> String {
    format!("\x1b[{}B", threads + 2)
}

/// A snapshot of the run so far.
pub fn status(threads: &[Thread], unit: LineUnit) -> String {
    let rule = "#---------------------------\n";
    format!("{rule}# cyclictest current status:\n{}{rule}", thread_lines(threads, unit))
}

/// The latency that ended the run, and its thread.
pub fn break_lines(threads: &[Thread], broken: Option<(i32, i64)>) -> String {
    let ids: Vec<String> = threads.iter().map(|thread| format!("{:05}", thread.id)).collect();
    let mut text = format!("# Thread Ids: {}\n", ids.join(" "));
    if let Some((id, value)) = broken {
        text += &format!("# Break thread: {id}\n# Break value: {value}\n");
    }
    text
}

/// The list of `--spike`, in order of time, with at most `most` entries.
pub fn spike_lines(threads: &[Thread], above: Nanos, most: usize, unit: LineUnit) -> String {
    let of = |(number, thread): (usize, &Thread)| {
        let above = thread.spikes.above(above);
        above.into_iter().map(move |spike| (spike.release_ns + spike.latency_ns, number, spike))
    };
    let mut all: Vec<_> = threads.iter().enumerate().flat_map(of).collect();
    if all.is_empty() {
        return String::new();
    }
    all.sort_unstable_by_key(|(woke, number, _)| (*woke, *number));
    let mut text = "\n".to_string();
    for (woke, number, spike) in all.iter().take(most) {
        let (value, woke) = (unit.convert(spike.latency_ns), woke.0 / 1000);
        text += &format!("T:{number:2} Spike:{value:8}: TS: {woke:12}\n");
    }
    text + &format!("spikes = {}\n\n", all.len())
}
