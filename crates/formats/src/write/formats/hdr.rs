//! A log of HdrHistogram: one compressed histogram (version 2) of all threads, and with several
//! threads one tagged histogram for each. Values are nanoseconds.

use super::Format;
use crate::write::buckets::note_overruns;
use crate::write::{Notes, Result, Source};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use jiff::Timestamp;
use latlab_model::run::ThreadRun;
use latlab_model::units::counted;
use latlab_model::{Bin, Nanos};
use std::collections::BTreeMap;
use std::io::Write;

pub const FORMAT: Format = Format { id: "hdr", title: "HdrHistogram log", is_binary: false, write };

/// Cookies of a compressed and of an encoded histogram of version 2, including the word size.
const COMPRESSED: u32 = 0x1c84_9314;
const ENCODED: u32 = 0x1c84_9313;
/// Significant decimal digits: enough for each of latlab's own bins to get a separate bucket.
const DIGITS: u32 = 4;
/// Buckets up to the first doubling: the power of two that holds 2 * 10^4.
const SUB_BUCKET_BITS: u32 = 15;
/// Half of these are in each doubling.
const HALF_BITS: u32 = SUB_BUCKET_BITS - 1;

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    source.require_histogram()?;
    let run = source.run;
    let threads: Vec<HdrCounts> =
        run.threads.iter().map(|one| HdrCounts::new(source, one)).collect();
    let mut all = HdrCounts::default();
    threads.iter().for_each(|one| all.add(one));
    let mut notes = all.notes();
    note_overruns(source, &mut notes);
    writeln!(out, "#[Histogram log format version 1.3]")?;
    writeln!(out, "#[Latencies in nanoseconds, of {}]", run.id)?;
    for note in &notes {
        writeln!(out, "#[{note}]")?;
    }
    let began = run.started.parse::<Timestamp>().unwrap_or_default();
    let seconds = began.as_nanosecond() as f64 / 1e9;
    writeln!(out, "#[StartTime: {seconds:.3} (seconds since epoch), {began}]")?;
    out.write_all(
        b"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
    )?;
    let length = run.measured_ns.as_secs_f64();
    let mut line = |tag: String, counts: &HdrCounts| -> Result<()> {
        let largest = counts.largest as f64 / 1e6;
        let text = BASE64_STANDARD.encode(counts.encode()?);
        Ok(writeln!(out, "{tag}0.000,{length:.3},{largest:.3},{text}")?)
    };
    line(String::new(), &all)?;
    if threads.len() > 1 {
        for (thread, counts) in run.threads.iter().zip(&threads) {
            line(format!("Tag=thread-{},", thread.setup.thread), counts)?;
        }
    }
    Ok(notes)
}

/// Counts by HdrHistogram's index.
#[derive(Default)]
struct HdrCounts {
    counts: BTreeMap<u64, u64>,
    largest: u64,
    below_zero: u64,
    /// Latencies of imported bins that share a bucket with those of another bin.
    joined: u64,
    unknown: u64,
}

impl HdrCounts {
    fn new(source: &Source<'_>, thread: &ThreadRun) -> HdrCounts {
        let mut all = HdrCounts::default();
        let mut ends: BTreeMap<u64, i64> = BTreeMap::new();
        let overflow = source.overflow_of(thread).map(|(end, _)| end);
        let (smallest, largest) = (thread.summary.min_ns, thread.summary.max_ns);
        for bin in source.rows_of(thread) {
            if overflow.is_some_and(|end| bin.low_ns >= end) && bin.count > 1 {
                all.unknown += bin.count - 1;
            }
            if bin.low_ns < Nanos::ZERO {
                all.below_zero += bin.count;
            }
            for (value, count) in values(bin, smallest, largest) {
                let index = index_of(value);
                let before = ends.insert(index, bin.low_ns.0);
                if before.is_some_and(|before| before != bin.low_ns.0) {
                    all.joined += count;
                }
                *all.counts.entry(index).or_default() += count;
                all.largest = all.largest.max(value);
            }
        }
        all
    }

    fn add(&mut self, other: &HdrCounts) {
        other
            .counts
            .iter()
            .for_each(|(index, count)| *self.counts.entry(*index).or_default() += count);
        self.largest = self.largest.max(other.largest);
        self.below_zero += other.below_zero;
        self.joined += other.joined;
        self.unknown += other.unknown;
    }

    fn notes(&self) -> Notes {
        let latencies = |count| counted(count, "latency", "latencies");
        let mut notes = Notes::new();
        if self.below_zero > 0 {
            notes.push(format!("{} below zero: counted as 0", latencies(self.below_zero)));
        }
        if self.joined > 0 {
            notes.push(format!(
                "{} counted together with those of the next bin: HdrHistogram's buckets are wider",
                latencies(self.joined)
            ));
        }
        if self.unknown > 0 {
            notes.push(format!(
                "{} beyond the bins of the imported file, of unknown length: counted where the bins end",
                latencies(self.unknown)
            ));
        }
        notes
    }

    /// The histogram of version 2, compressed.
    fn encode(&self) -> Result<Vec<u8>> {
        let mut payload = Vec::new();
        let mut next = 0;
        for (&index, &count) in &self.counts {
            match index - next {
                0 => {}
                // A negative number is a run of zeros.
                zeros => zigzag(-(zeros as i64), &mut payload),
            }
            zigzag(count as i64, &mut payload);
            next = index + 1;
        }
        let highest = self.largest.max(1 << SUB_BUCKET_BITS).next_power_of_two();
        let mut plain = Vec::with_capacity(40 + payload.len());
        plain.extend(ENCODED.to_be_bytes());
        plain.extend((payload.len() as u32).to_be_bytes());
        plain.extend(0u32.to_be_bytes());
        plain.extend(DIGITS.to_be_bytes());
        plain.extend(1u64.to_be_bytes());
        plain.extend(highest.to_be_bytes());
        plain.extend(1f64.to_be_bytes());
        plain.extend(payload);
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&plain)?;
        let packed = zlib.finish()?;
        let mut bytes = COMPRESSED.to_be_bytes().to_vec();
        bytes.extend((packed.len() as u32).to_be_bytes());
        bytes.extend(packed);
        Ok(bytes)
    }
}

/// The values of a bin: the smallest and the largest latency exactly, the others at the lower edge.
fn values(
    bin: &Bin,
    smallest: Option<Nanos>,
    largest: Option<Nanos>,
) -> impl Iterator<Item = (u64, u64)> {
    let within = |time: &Nanos| *time >= bin.low_ns && *time < bin.high_ns;
    let value = |time: Nanos| time.0.max(0) as u64;
    let mut ends: Vec<u64> = Vec::new();
    ends.extend(largest.filter(within).map(value));
    ends.extend(smallest.filter(within).map(value).filter(|_| bin.count > ends.len() as u64));
    // In the bin of the smallest latency, the lower edge lies below all latencies.
    let low = smallest.filter(within).map_or(value(bin.low_ns), value);
    let rest = bin.count.saturating_sub(ends.len() as u64);
    let rest = (rest > 0).then_some((low, rest));
    ends.into_iter().map(|value| (value, 1)).chain(rest)
}

/// The index of a value, as HdrHistogram computes it.
fn index_of(value: u64) -> u64 {
    let doublings = (64 - SUB_BUCKET_BITS)
        .saturating_sub((value | ((1 << SUB_BUCKET_BITS) - 1)).leading_zeros());
    let sub_bucket = value >> doublings;
    (u64::from(doublings) << HALF_BITS) + sub_bucket
}

/// A number in ZigZag LEB128, at most nine bytes.
fn zigzag(value: i64, bytes: &mut Vec<u8>) {
    let mut rest = (value << 1 ^ value >> 63) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            return bytes.push(rest as u8);
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::histogram::{BINS, bin_low};

    #[test]
    fn indices_rise_with_their_values() {
        assert_eq!((index_of(0), index_of(32_767), index_of(32_768)), (0, 32_767, 32_768));
        assert_eq!(
            (index_of(32_769), index_of(65_535), index_of(65_536)),
            (32_768, 49_151, 49_152)
        );
    }

    #[test]
    fn each_of_latlabs_own_bins_has_a_bucket_of_its_own() {
        let mut indices: Vec<u64> = (0..BINS).map(|bin| index_of(bin_low(bin))).collect();
        indices.dedup();
        assert_eq!(indices.len(), BINS);
    }

    #[test]
    fn numbers_are_packed() {
        let packed = |value| {
            let mut bytes = Vec::new();
            zigzag(value, &mut bytes);
            bytes
        };
        assert_eq!((packed(1), packed(-2), packed(128)), (vec![2], vec![3], vec![0x80, 2]));
        assert_eq!(packed(i64::MIN).len(), 9);
    }
}
