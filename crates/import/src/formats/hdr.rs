//! Logs of HdrHistogram, as its libraries of all languages write them: a compressed histogram for
//! each interval, with its own bins of rising width.

use super::left_out::LeftOut;
use super::{Format, contains, is_text};
use crate::bins::LARGEST_COUNT;
use crate::input::{Fault, Input, Query};
use crate::numbers::decimal;
use crate::recording::{Recording, Series};
use flate2::read::ZlibDecoder;
use latlab_model::{BinLayout, Histogram, Nanos};
use std::collections::BTreeMap;
use std::io::Read;

pub const FORMAT: Format = Format { id: "hdr", title: "HdrHistogram log", fits, read };

/// Begin of a compressed histogram of version 2, in base64 and in bytes.
const MARK: &str = "HISTF";
const COMPRESSED: u32 = 0x1c84_9304;
const ENCODED: u32 = 0x1c84_9303;
/// The part of these marks in which some libraries tell the size of their words.
const WORD_SIZE: u32 = 0xf0;
/// The longest encoded histogram that is read, in bytes.
const LARGEST: u64 = 32 << 20;
/// Bins of all intervals together.
const MOST_BINS: usize = 1_000_000;

fn fits(head: &[u8]) -> bool {
    is_text(head) && (contains(head, "Interval_Compressed_Histogram") || contains(head, MARK))
}

/// The histograms of one tag.
#[derive(Default)]
struct Tagged {
    /// Lower edge of a bin: upper edge and count.
    bins: BTreeMap<i64, (i64, u64)>,
    intervals: u64,
}

fn read(input: &mut Input, query: &Query) -> Result<Vec<Recording>, Fault> {
    let unit = query.unit.map_or(1, |unit| unit.nanos());
    let (mut tags, mut left): (BTreeMap<String, Tagged>, _) = (BTreeMap::new(), LeftOut::default());
    let (mut started, mut seconds) = (None, 0.0_f64);
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        if let Some(comment) = text.strip_prefix('#') {
            if let Some((_, time)) = comment.split_once("StartTime:") {
                started = Some(time.trim().trim_end_matches(']').to_string());
            }
            continue;
        }
        if text.is_empty() || text.starts_with("\"StartTimestamp\"") {
            continue;
        }
        let (tag, rest) = match text.strip_prefix("Tag=").and_then(|rest| rest.split_once(',')) {
            Some((tag, rest)) => (tag, rest),
            None => ("", text),
        };
        let cells: Vec<&str> = rest.split(',').collect();
        let bins = cells.last().and_then(|cell| decode(cell.trim_matches('"')));
        match (bins, tags.len() < 1_000 || tags.contains_key(tag)) {
            (Some(bins), true) if tags.entry(tag.to_string()).or_default().add(&bins, unit) => {
                seconds +=
                    cells.get(1).and_then(|it| decimal(it.as_bytes())).unwrap_or(0.0).max(0.0);
            }
            _ => left.push(line.number, line.bytes),
        }
    }
    let mut recording = Recording::new("HdrHistogram log");
    recording.quantity = "latency";
    recording.recorded = started;
    recording.length_ns = Nanos((seconds.min(9.0e9) * 1e9) as i64);
    drop_sum(&mut tags, &mut recording);
    for (tag, tagged) in tags {
        if !tag.is_empty() {
            recording.fact(&format!("Thread {}", recording.series.len()), format!("tag {tag}"));
        }
        recording.series.extend(tagged.series());
    }
    if query.unit.is_none() {
        recording
            .note("The log does not say its unit; nanoseconds were assumed, as is the custom.");
    }
    left.report("lines", &mut recording);
    Ok(vec![recording])
}

/// Leaves out the histogram without a tag, where it is the sum of those with one.
fn drop_sum(tags: &mut BTreeMap<String, Tagged>, recording: &mut Recording) {
    let mut sum: BTreeMap<i64, (i64, u64)> = BTreeMap::new();
    let tagged = tags.iter().filter(|(tag, _)| !tag.is_empty());
    for (low, (high, count)) in tagged.flat_map(|(_, tagged)| &tagged.bins) {
        sum.entry(*low).or_insert((*high, 0)).1 += count;
    }
    if tags.len() > 2 && tags.get("").is_some_and(|untagged| untagged.bins == sum) {
        tags.remove("");
        recording
            .note("The histogram without a tag is the sum of those with one, and was left out.");
    }
}

impl Tagged {
    /// Adds an interval, unless its bins have other edges than those before it.
    fn add(&mut self, bins: &[(i64, i64, u64)], unit: i64) -> bool {
        let scaled = |&(low, high, count): &(i64, i64, u64)| {
            Some((low.checked_mul(unit)?, high.checked_mul(unit)?, count))
        };
        let Some(bins) = bins.iter().map(scaled).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let fits = bins.iter().all(|(low, high, _)| {
            let before = self.bins.range(..high).next_back();
            before.is_none_or(|(known, (end, _))| (known == low && end == high) || end <= low)
        });
        if fits && self.bins.len() + bins.len() <= MOST_BINS {
            self.intervals += 1;
            for (low, high, count) in bins {
                let bin = self.bins.entry(low).or_insert((high, 0));
                bin.1 = bin.1.saturating_add(count).min(LARGEST_COUNT);
            }
            return true;
        }
        false
    }

    fn series(self) -> Option<Series> {
        let (first, last) = (*self.bins.first_key_value()?.0, *self.bins.last_key_value()?.0);
        let mut edges = Vec::with_capacity(self.bins.len() + 1);
        for (low, (high, _)) in &self.bins {
            if edges.last() != Some(low) {
                edges.push(*low);
            }
            edges.push(*high);
        }
        let layout = BinLayout::explicit(edges.into_iter().map(Nanos).collect()).ok()?;
        let mut counts = Histogram { layout, ..Histogram::default() };
        for (low, (high, count)) in &self.bins {
            counts.bins.push((counts.layout.bin_of(Nanos(*low)).ok()?, *count));
            counts.count = counts.count.saturating_add(*count);
            // The middle of a bin, as the library's own mean takes it.
            let middle = low + (high - low) / 2;
            counts.sum_ns += i128::from(middle) * i128::from(*count);
        }
        (counts.min_ns, counts.max_ns) = (Nanos(first), Nanos(self.bins[&last].0 - 1));
        Some(Series { counts, ..Series::default() })
    }
}

/// The bins of a histogram with a count: lower edge, upper edge, count.
fn decode(text: &str) -> Option<Vec<(i64, i64, u64)>> {
    let bytes = base64(text)?;
    let word =
        |bytes: &[u8], at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if word(&bytes, 0)? & !WORD_SIZE != COMPRESSED {
        return None;
    }
    let mut plain = Vec::new();
    ZlibDecoder::new(bytes.get(8..)?).take(LARGEST).read_to_end(&mut plain).ok()?;
    if word(&plain, 0)? & !WORD_SIZE != ENCODED {
        return None;
    }
    let digits = word(&plain, 12)?;
    let lowest = i64::from_be_bytes(plain.get(16..24)?.try_into().ok()?);
    let scale = HdrScale::new(digits, lowest)?;
    let length = word(&plain, 4)? as usize;
    let mut payload = plain.get(40..)?.get(..length)?;
    let (mut index, mut bins) = (0u64, Vec::new());
    while !payload.is_empty() {
        let value = zigzag(&mut payload)?;
        match value {
            zeros if zeros < 0 => index = index.checked_add(zeros.unsigned_abs())?,
            0 => index += 1,
            count => {
                let (low, high) = scale.edges(index)?;
                let count = u64::try_from(count).ok().filter(|count| *count < LARGEST_COUNT)?;
                bins.push((low, high, count));
                index += 1;
            }
        }
    }
    Some(bins)
}

/// How indices become values.
struct HdrScale {
    unit_bits: u32,
    half_bits: u32,
}

impl HdrScale {
    fn new(digits: u32, lowest: i64) -> Option<HdrScale> {
        if digits > 5 || lowest < 1 {
            return None;
        }
        let resolution = 2 * 10u64.pow(digits);
        let bits = 64 - (resolution - 1).leading_zeros();
        Some(HdrScale { unit_bits: lowest.ilog2(), half_bits: bits.max(1) - 1 })
    }

    fn edges(&self, index: u64) -> Option<(i64, i64)> {
        let half = 1u64 << self.half_bits;
        let (bucket, sub) = match index >> self.half_bits {
            0 => (0, index),
            bucket => (u32::try_from(bucket - 1).ok()?, index % half + half),
        };
        let bits = bucket.checked_add(self.unit_bits)?;
        if bits >= 62 || sub.leading_zeros() <= bits + 1 {
            return None;
        }
        let low = (sub << bits) as i64;
        Some((low, low + (1 << bits)))
    }
}

/// A number in ZigZag and LEB128, nine bytes at most.
fn zigzag(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0u64;
    for at in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if at == 8 {
            value |= u64::from(*byte) << 56;
            break;
        }
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

/// Bytes of a text in base64.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_grow_with_their_values() {
        let scale = HdrScale::new(3, 1).unwrap();
        assert_eq!(scale.edges(0), Some((0, 1)));
        assert_eq!(scale.edges(2047), Some((2047, 2048)));
        assert_eq!(scale.edges(2048), Some((2048, 2050)));
        assert_eq!(scale.edges(3071), Some((4094, 4096)));
        assert_eq!(scale.edges(3072), Some((4096, 4100)));
        assert_eq!(scale.edges(u64::MAX), None);
    }

    #[test]
    fn numbers_are_unpacked() {
        assert_eq!(zigzag(&mut &[0x02][..]), Some(1));
        assert_eq!(zigzag(&mut &[0x03][..]), Some(-2));
        assert_eq!(zigzag(&mut &[0x80, 0x02][..]), Some(128));
        assert_eq!(zigzag(&mut &[0x80][..]), None);
        assert_eq!(base64("SElTVEY=").as_deref(), Some(&b"HISTF"[..]));
    }
}
