//! The histogram of a thread in buckets of equal width, as most tools have it.

use crate::write::source::{OutputUnit, Source};
use crate::write::{Notes, Result};
use latlab_model::run::ThreadRun;
use latlab_model::units::{counted, within_sentence};
use latlab_model::{Bin, Nanos};
use latlab_report::InWords;

/// More buckets than cyclictest has.
pub const MOST_BUCKETS: u32 = 1_000_000;
/// Below this, latlab's own bins are at most 100 ns wide.
const FINE_END: Nanos = Nanos(latlab_model::histogram::FINE_END as i64);

/// The counts of a thread.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Buckets {
    /// Bucket number and count, ascending.
    pub counts: Vec<(u32, u64)>,
    /// Latencies beyond the last bucket.
    pub overflows: u64,
    /// Mean of the latencies in whole units, as cyclictest computes it.
    pub mean: f64,
    /// Latencies whose bin is wider than a bucket, counted at the lower edge of the bin.
    rough: u64,
    /// Latencies below zero, counted in the first bucket.
    below_zero: u64,
    /// Latencies of unknown length beyond the bins of an imported file.
    unknown: u64,
}

/// The buckets of all threads.
pub struct AllBuckets {
    /// Per thread, in the order of the run.
    pub threads: Vec<Buckets>,
    /// Number of buckets.
    pub number: u32,
    /// Their width.
    pub unit: OutputUnit,
}

impl AllBuckets {
    /// As many buckets as requested, or enough for every known latency.
    pub fn new(source: &Source<'_>) -> Result<AllBuckets> {
        let unit = source.unit();
        let spikes = source.tables.spikes()?;
        let placed: Vec<Placed> = source
            .run
            .threads
            .iter()
            .map(|thread| {
                let own = spikes.iter().filter(|spike| spike.thread == thread.setup.thread);
                let exact = own.map(|spike| spike.spike.latency_ns);
                Placed::new(source, thread, exact.collect(), unit)
            })
            .collect();
        let needed = placed.iter().map(Placed::buckets).max().unwrap_or(1).max(1);
        let number = source.query.bins.map_or(needed, u64::from).min(MOST_BUCKETS.into()) as u32;
        let threads = placed.into_iter().map(|one| one.limited(number)).collect();
        Ok(AllBuckets { threads, number, unit })
    }

    /// What the buckets do not show, in a format with or without a number of overflows.
    pub fn notes(&self, has_overflows: bool) -> Notes {
        let fate = if has_overflows { "counted as overflows" } else { "not in the histogram" };
        let sum = |of: fn(&Buckets) -> u64| self.threads.iter().map(of).sum::<u64>();
        let unit = self.unit.as_str();
        let latencies = |count| counted(count, "latency", "latencies");
        let mut notes = Notes::new();
        let rough = sum(|one| one.rough);
        if rough > 0 {
            let (lie, each) = if rough == 1 { ("lies", "it") } else { ("lie", "each") };
            notes.push(format!(
                "{} {lie} in bins wider than 1 {unit}: {each} counts where its bin begins",
                latencies(rough)
            ));
        }
        let below = sum(|one| one.below_zero);
        if below > 0 {
            notes.push(format!("{} below zero: counted as 0 {unit}", latencies(below)));
        }
        let unknown = sum(|one| one.unknown);
        let beyond = sum(|one| one.overflows) - unknown;
        if beyond > 0 {
            notes.push(format!("{} of {} {unit} or more: {fate}", latencies(beyond), self.number));
        }
        if unknown > 0 {
            notes.push(format!(
                "{} beyond the bins of the imported file, of unknown length: {fate}",
                latencies(unknown)
            ));
        }
        notes
    }
}

/// Latencies with their bucket numbers, before the number of buckets is limited.
#[derive(Default)]
struct Placed {
    counts: Vec<(u64, u64)>,
    /// End of the known ones, in buckets, if an imported file states it.
    end: u64,
    stated_mean: Option<f64>,
    buckets: Buckets,
}

impl Placed {
    fn new(source: &Source<'_>, thread: &ThreadRun, exact: Vec<Nanos>, unit: OutputUnit) -> Placed {
        let overflow = source.overflow_of(thread);
        let mut placed = Placed::default();
        if let Some((end, mean)) = overflow {
            placed.end = (end.0 / unit.nanos()).max(0) as u64;
            placed.stated_mean = mean.map(|mean| (mean.0 / unit.nanos()) as f64);
        }
        let rows = source.rows_of(thread);
        let coarse = |bin: &&Bin| bin.low_ns >= FINE_END;
        let exact: Vec<Nanos> = exact.into_iter().filter(|one| *one >= FINE_END).collect();
        let counted: u64 = rows.iter().filter(coarse).map(|bin| bin.count).sum();
        let is_exact = overflow.is_none() && exact.len() as u64 == counted;
        for bin in rows {
            match () {
                () if is_exact && coarse(&bin) => {}
                () if overflow.is_some_and(|(end, _)| bin.low_ns >= end) => {
                    placed.buckets.unknown += bin.count
                }
                () => placed.add(bin, unit.nanos()),
            }
        }
        if is_exact {
            exact.iter().for_each(|one| placed.counts.push(((one.0 / unit.nanos()) as u64, 1)));
        }
        placed.counts.sort_unstable_by_key(|one| one.0);
        placed.counts.dedup_by(|next, one| {
            let same = next.0 == one.0;
            if same {
                one.1 += next.1;
            }
            same
        });
        placed
    }

    fn add(&mut self, bin: &Bin, unit: i64) {
        if bin.low_ns < Nanos::ZERO {
            self.buckets.below_zero += bin.count;
            return self.counts.push((0, bin.count));
        }
        let bucket = bin.low_ns.0 / unit;
        if bin.high_ns.0 > (bucket + 1).saturating_mul(unit) {
            self.buckets.rough += bin.count;
        }
        self.counts.push((bucket as u64, bin.count));
    }

    fn buckets(&self) -> u64 {
        self.counts.last().map_or(0, |last| last.0 + 1).max(self.end)
    }

    fn limited(self, number: u32) -> Buckets {
        let Placed { counts, stated_mean, mut buckets, .. } = self;
        let sum: u128 = counts.iter().map(|one| u128::from(one.0) * u128::from(one.1)).sum();
        let known: u64 = counts.iter().map(|one| one.1).sum();
        let mean = if known == 0 { 0.0 } else { sum as f64 / known as f64 };
        buckets.mean = stated_mean.filter(|_| buckets.unknown > 0).unwrap_or(mean);
        let within = counts.partition_point(|one| one.0 < u64::from(number));
        let beyond: u64 = counts[within..].iter().map(|one| one.1).sum();
        buckets.overflows = beyond + buckets.unknown;
        buckets.counts = counts[..within].iter().map(|one| (one.0 as u32, one.1)).collect();
        buckets
    }
}

/// What no format of another tool can express: latencies that may be missing, and overruns.
pub fn note_overruns(source: &Source<'_>, notes: &mut Notes) {
    if let Some(incomplete) = source.run.incomplete() {
        let why = within_sentence(incomplete.finding.text().trim_end_matches('.'));
        notes.push(format!("latencies may be missing: {why}"));
    }
    if let Some(overruns) = source.run.total.overruns.filter(|overruns| *overruns > 0) {
        let word = if overruns == 1 { "it has" } else { "they have" };
        notes.push(format!(
            "{} not in the file: {word} no latency",
            counted(overruns, "overrun is", "overruns are")
        ));
    }
}

impl Buckets {
    /// Whether nothing was counted in bins.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.overflows == 0
    }
}
