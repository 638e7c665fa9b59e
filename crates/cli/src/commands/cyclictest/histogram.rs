//! The histogram of `-h` and `-H`.

use super::dialect::Dialect;
use super::lines::{ThreadFigures, Unit, is_fine};
use super::state::Thread;
use latlab_model::Nanos;
use latlab_model::histogram::bin_low;

/// What a thread counted, in buckets as they are printed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Buckets {
    /// How many there were of each value.
    pub counts: Vec<u64>,
    /// How many lie beyond.
    pub overflows: u64,
    /// The numbers of their cycles, as far as they are known.
    pub cycles: Vec<u64>,
    /// How many were placed by a bin that is wider than a bucket.
    pub rough: u64,
}

impl Buckets {
    /// So many empty ones.
    pub fn new(buckets: usize) -> Buckets {
        Buckets { counts: vec![0; buckets], ..Buckets::default() }
    }

    /// Counts a latency of this cycle.
    pub fn count(&mut self, value: i64, cycle: u64) {
        match self.bucket(value) {
            Some(count) => *count += 1,
            None => {
                self.overflows += 1;
                // More than there are buckets is never printed.
                if self.cycles.len() < self.counts.len() {
                    self.cycles.push(cycle);
                }
            }
        }
    }

    fn bucket(&mut self, value: i64) -> Option<&mut u64> {
        self.counts.get_mut(usize::try_from(value.max(0)).ok()?)
    }

    /// The microseconds of what a thread counted in its own bins.
    pub fn from_thread(thread: &Thread, buckets: usize) -> Buckets {
        let mut all = Buckets::new(buckets);
        all.add(0, thread.total.underflow);
        let (fine, coarse): (Vec<_>, Vec<_>) =
            thread.total.bins.iter().partition(|(bin, _)| is_fine(*bin));
        fine.into_iter().for_each(|(bin, count)| all.add(bin_low(bin as usize) / 1000, count));
        let last_fine = Nanos(latlab_model::histogram::FINE_END as i64 - 1);
        let exact = thread.spikes.above(last_fine);
        let counted: u64 = coarse.iter().map(|(_, count)| count).sum();
        if exact.len() as u64 == counted {
            exact.iter().for_each(|spike| all.add((spike.latency_ns.0 / 1000) as u64, 1));
        } else {
            for (bin, count) in coarse {
                all.rough += if bin_low(bin as usize) / 1000 < buckets as u64 { count } else { 0 };
                all.add(bin_low(bin as usize) / 1000, count);
            }
        }
        let limit = Nanos(buckets as i64 * 1000 - 1);
        all.cycles = thread.spikes.cycles_above(limit, thread.first_release, thread.period);
        all
    }

    fn add(&mut self, microseconds: u64, count: u64) {
        match self.counts.get_mut(microseconds as usize) {
            Some(bucket) => *bucket += count,
            None => self.overflows += count,
        }
    }

    fn binned(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// The whole histogram; `sums` adds a column for all threads, of which there must be several.
pub fn text(
    threads: &[Thread],
    buckets: &[Buckets],
    dialect: &Dialect,
    sums: bool,
    unit: Unit,
) -> String {
    let sums = sums && threads.len() > 1;
    let rows = buckets.first().map_or(0, |first| first.counts.len());
    let mut text = "# Histogram\n".to_string();
    for row in 0..rows {
        let counts: Vec<u64> = buckets.iter().map(|one| one.counts[row]).collect();
        let sum: u64 = counts.iter().sum();
        if sum == 0 && !dialect.totals_and_empty_rows {
            continue;
        }
        let columns = counts.into_iter().chain(sums.then_some(sum));
        let columns: Vec<String> = columns.map(|count| format!("{count:06}")).collect();
        text += &format!("{row:06} {}\n", columns.join("\t"));
    }
    if dialect.totals_and_empty_rows {
        let totals: Vec<u64> = buckets.iter().map(Buckets::binned).collect();
        let all = sums.then(|| totals.iter().sum());
        text += &foot("Total", totals.into_iter().chain(all), 9);
    }
    let figures: Vec<ThreadFigures> =
        threads.iter().map(|thread| ThreadFigures::new(thread, unit)).collect();
    text += &foot("Min Latencies", figures.iter().map(|one| one.min), 5);
    text += &foot("Avg Latencies", figures.iter().map(|one| one.avg as i64), 5);
    let largest = figures.iter().map(|one| one.max).max().filter(|_| sums);
    text += &foot("Max Latencies", figures.iter().map(|one| one.max).chain(largest), 5);
    let over: Vec<u64> = buckets.iter().map(|one| one.overflows).collect();
    let all = sums.then(|| over.iter().sum());
    text += &foot("Histogram Overflows", over.into_iter().chain(all), 5);
    text += "# Histogram Overflow at cycle number:\n";
    for (number, one) in buckets.iter().enumerate() {
        text += &overflow_line(number, one, dialect);
    }
    text + "\n"
}

fn foot<T: std::fmt::Display>(name: &str, values: impl Iterator<Item = T>, width: usize) -> String {
    let values: Vec<String> = values.map(|value| format!("{value:0width$}")).collect();
    format!("# {name}: {}\n", values.join(" "))
}

/// The numbers of the cycles beyond the last bucket, no more of them than there are buckets.
fn overflow_line(number: usize, buckets: &Buckets, dialect: &Dialect) -> String {
    let listed = &buckets.cycles[..buckets.cycles.len().min(buckets.counts.len())];
    let listed = &listed[..listed.len().min(buckets.overflows as usize)];
    let mut text = format!("# Thread {number}:");
    listed.iter().for_each(|cycle| text += &format!(" {cycle:05}"));
    if listed.is_empty() && !dialect.totals_and_empty_rows {
        text.push(' ');
    }
    let others = buckets.overflows - listed.len() as u64;
    if others > 0 {
        text += &format!(" # {others:05} others");
    }
    text + "\n"
}
