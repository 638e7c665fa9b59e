//! Logs of HdrHistogram, as its libraries in all languages write them: a compressed histogram per
//! interval, with its own bins of increasing width.

use super::left_out::LeftOut;
use super::{Format, Part, check_number, contains, head_lines, is_text, number_parts};
use crate::read::bins::LARGEST_COUNT;
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::numbers::printed;
use crate::read::recording::{LatencySeries, Recording};
use flate2::{Decompress, FlushDecompress, Status};
use latlab_model::{BinLayout, Histogram, Nanos};
use std::collections::BTreeMap;

pub const FORMAT: Format = Format { id: "hdr", title: "HdrHistogram log", fits, has_value, read };

/// Start of a compressed histogram of version 2 in base64.
const MARK: &str = "HISTF";
/// Cookies of compressed histograms of versions 0, 1 and 2.
const COMPRESSED: [u32; 3] = [0x1c84_9309, 0x1c84_9302, 0x1c84_9304];
/// Cookies of uncompressed histograms.
const ENCODED: [u32; 3] = [0x1c84_9308, 0x1c84_9301, 0x1c84_9303];
/// The bits of a cookie that hold the word size.
const WORD_SIZE: u32 = 0xf0;
/// The longest encoded histogram that is read, in bytes.
const LARGEST: usize = 32 << 20;
/// More tags than any log has.
const MOST_TAGS: usize = 1_000;
/// Most bins of all intervals together.
const MOST_BINS: usize = 1_000_000;

fn fits(head: &[u8]) -> bool {
    let is_typical = |line: &[u8]| {
        let first = line.split(|byte| *byte == b',').next().unwrap_or_default();
        let is_time =
            !first.is_empty() && first.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        line.starts_with(b"\"StartTimestamp\"")
            || (contains(line, MARK) && (is_time || line.starts_with(b"Tag=")))
    };
    is_text(head) && head_lines(head).any(is_typical)
}

fn has_value(line: &[u8]) -> bool {
    contains(line, MARK)
}

/// The histograms of one tag.
#[derive(Default)]
struct Tagged {
    /// Lower edge of a bin: upper edge and count.
    bins: BTreeMap<i64, (i64, u64)>,
    intervals: u64,
    /// Start and end of its last interval.
    last_start: f64,
    last_end: f64,
    /// Seconds between its intervals that none of them covers.
    absent: f64,
}

#[derive(Default)]
struct Log {
    first_line: u64,
    tags: BTreeMap<String, Tagged>,
    /// The first logs have the end of an interval in place of its length.
    has_ends: bool,
    started: Option<String>,
    seconds: f64,
    left: LeftOut,
}

/// A line of an interval.
struct Interval<'a> {
    tag: &'a str,
    start: f64,
    second: f64,
    bins: Vec<(i64, i64, u64)>,
}

impl<'a> Interval<'a> {
    /// Parses `Tag=A,0.127,1.007,2.769,HISTF…`; the histogram itself shows whether it is complete.
    fn of_line(text: &'a str) -> Option<Interval<'a>> {
        let tagged = text.strip_prefix("Tag=").map(|rest| rest.split_once(','));
        let (tag, rest) = tagged.unwrap_or(Some(("", text)))?;
        let cells: Vec<&str> = rest.split(',').map(str::trim).collect();
        let [start, second, max, histogram] = cells[..] else { return None };
        printed(max)?;
        let bins = decode(histogram.trim_matches('"'))?;
        Some(Interval { tag, start: printed(start)?, second: printed(second)?, bins })
    }
}

fn read(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.map_or(1, |unit| unit.nanos());
    let mut parts = Vec::new();
    let mut log = Log { first_line: 1, ..Log::default() };
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        let interval = Interval::of_line(text);
        if log.ends_before(text, interval.as_ref()) {
            check_number(&parts, line.number)?;
            let next = Log { first_line: line.number, has_ends: log.has_ends, ..Log::default() };
            parts.push(std::mem::replace(&mut log, next).part(query));
        }
        let taken = match interval {
            Some(interval) => log.push(&interval, unit),
            None => log.take_head(text),
        };
        if !taken {
            log.left.lose(&line);
        }
    }
    parts.push(log.part(query));
    Ok(number_parts(parts))
}

fn is_heading(text: &str) -> bool {
    text.starts_with("\"StartTimestamp\"")
}

impl Log {
    /// Whether this line starts another log: its header comes again, or its times start over.
    fn ends_before(&self, text: &str, interval: Option<&Interval<'_>>) -> bool {
        let is_head = is_heading(text)
            || text.starts_with("#[Histogram log format")
            || text.starts_with("#[StartTime:");
        let begins_again = || {
            let interval = interval?;
            let known = self.tags.get(interval.tag).filter(|tagged| tagged.intervals > 0)?;
            (interval.start < known.last_start).then_some(())
        };
        !self.tags.is_empty() && (is_head || begins_again().is_some())
    }

    /// Takes a line that is not an interval; returns whether it certainly held none.
    fn take_head(&mut self, text: &str) -> bool {
        if let Some(comment) = text.strip_prefix('#') {
            if let Some((_, time)) = comment.split_once("StartTime:") {
                self.started = Some(time.trim().trim_end_matches(']').to_string());
            }
            return !comment.contains(MARK);
        }
        if is_heading(text) {
            self.has_ends = text.contains("EndTimestamp");
            return true;
        }
        text.is_empty()
    }

    fn push(&mut self, interval: &Interval<'_>, unit: i64) -> bool {
        let has_room = self.tags.len() < MOST_TAGS || self.tags.contains_key(interval.tag);
        if !has_room {
            return false;
        }
        let tagged = self.tags.entry(interval.tag.to_string()).or_default();
        let was_added = tagged.add(&interval.bins, unit);
        if was_added {
            let began = if self.has_ends { interval.start } else { 0.0 };
            let length = (interval.second - began).max(0.0);
            let pause = interval.start - tagged.last_end;
            if tagged.intervals > 1 && pause > length / 2.0 {
                tagged.absent += pause;
            }
            (tagged.last_start, tagged.last_end) = (interval.start, interval.start + length);
            self.seconds += length;
        }
        was_added
    }

    fn part(mut self, query: &ImportQuery) -> Part {
        let mut recording = Recording::new("HdrHistogram log");
        recording.quantity = "latency";
        recording.recorded = self.started;
        recording.length_ns = Nanos((self.seconds.min(9.0e9) * 1e9) as i64);
        drop_sum(&mut self.tags, &mut recording);
        for (tag, tagged) in self.tags {
            if tagged.absent > 0.0 {
                let absent = Nanos((tagged.absent.min(9.0e9) * 1e9) as i64);
                recording.lacks(format!("{absent} between its intervals are in none of them"));
            }
            if !tag.is_empty() {
                recording.fact(&format!("Thread {}", recording.series.len()), format!("tag {tag}"));
            }
            recording.series.extend(tagged.series());
        }
        if recording.series.is_empty() {
            return Part::none(self.first_line, self.left);
        }
        if query.unit.is_none() {
            recording
                .note("The log does not say its unit; nanoseconds were assumed, as is the custom.");
        }
        self.left.report("lines", &mut recording);
        Part::one(self.first_line, recording)
    }
}

/// Drops the histogram without a tag if it is the sum of those with one.
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
    /// Adds an interval, unless its bins have different edges.
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

    fn series(self) -> Option<LatencySeries> {
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
            // The middle of a bin, as in the library's own mean.
            let middle = low + (high - low) / 2;
            counts.sum_ns += i128::from(middle) * i128::from(*count);
        }
        (counts.min_ns, counts.max_ns) = (Nanos(first), Nanos(self.bins[&last].0 - 1));
        Some(LatencySeries { counts, ..LatencySeries::default() })
    }
}

/// The non-empty bins of a histogram: lower edge, upper edge, count.
fn decode(text: &str) -> Option<Vec<(i64, i64, u64)>> {
    let bytes = base64(text)?;
    if !COMPRESSED.contains(&(number::<4>(&bytes, 0).map(u32::from_be_bytes)? & !WORD_SIZE)) {
        return None;
    }
    let length = number::<4>(&bytes, 4).map(u32::from_be_bytes)? as usize;
    bins_of(&unpacked(bytes.get(8..)?.get(..length)?)?)
}

/// Decompresses; `None` if damaged or cut, as the checksum shows.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let mut unpacker = Decompress::new(true);
    let mut plain = Vec::new();
    loop {
        plain.reserve(plain.len().max(1 << 12));
        let (taken, given) = (unpacker.total_in(), unpacker.total_out());
        let rest = &packed[taken as usize..];
        let status = unpacker.decompress_vec(rest, &mut plain, FlushDecompress::Finish).ok()?;
        let goes_on = unpacker.total_in() > taken || unpacker.total_out() > given;
        match status {
            Status::StreamEnd => return Some(plain),
            _ if !goes_on || plain.len() > LARGEST => return None,
            _ => {}
        }
    }
}

/// The same for an uncompressed histogram.
fn bins_of(plain: &[u8]) -> Option<Vec<(i64, i64, u64)>> {
    let word = |at| number::<4>(plain, at).map(u32::from_be_bytes);
    let mark = word(0)?;
    let version = ENCODED.iter().position(|known| *known == mark & !WORD_SIZE)?;
    // Version 0 has no length, and its first fields are at lower offsets.
    let (digits_at, payload) = match version {
        0 => (4, plain.get(32..)?),
        _ => (12, plain.get(40..)?.get(..word(4)? as usize)?),
    };
    let lowest_at = if version == 0 { 8 } else { 16 };
    let lowest = number::<8>(plain, lowest_at).map(i64::from_be_bytes)?;
    let scale = HdrScale::new(word(digits_at)?, lowest)?;
    let mut bins = Vec::new();
    let mut push = |index: u64, count: i64| {
        let (low, high) = scale.edges(index).filter(|_| bins.len() < MOST_BINS)?;
        let count = u64::try_from(count).ok().filter(|count| *count < LARGEST_COUNT)?;
        bins.push((low, high, count));
        Some(())
    };
    if version < 2 {
        let size = (mark & WORD_SIZE) as usize >> 4 & 0xe;
        if ![2, 4, 8].contains(&size) {
            return None;
        }
        for (index, count) in (0..).zip(payload.chunks_exact(size)) {
            let count = count.iter().fold(0i64, |count, byte| count << 8 | i64::from(*byte));
            if count != 0 {
                push(index, count)?;
            }
        }
        return Some(bins);
    }
    let (mut index, mut rest) = (0u64, payload);
    while !rest.is_empty() {
        match zigzag(&mut rest)? {
            zeros if zeros < 0 => index = index.checked_add(zeros.unsigned_abs())?,
            0 => index += 1,
            count => {
                push(index, count)?;
                index += 1;
            }
        }
    }
    Some(bins)
}

fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> Option<[u8; SIZE]> {
    bytes.get(at..at + SIZE)?.try_into().ok()
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

/// A number in ZigZag LEB128, at most nine bytes.
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

/// Decodes base64.
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
    fn histograms_of_all_versions_are_read() {
        let of = |words: &[&[u8]]| words.concat();
        let (digits, lowest) = (3u32.to_be_bytes(), 1u64.to_be_bytes());
        let unused = [0; 8];
        let mark = |mark: u32| mark.to_be_bytes();
        let counts = [0u16, 7, 0, 300].map(u16::to_be_bytes).concat();
        let zero = of(&[&mark(0x1c84_9328), &digits, &lowest, &unused, &unused, &counts]);
        let length = (counts.len() as u32).to_be_bytes();
        let head = [&mark(0x1c84_9321)[..], &length, &[0; 4], &digits, &lowest, &unused, &unused];
        let one = of(&[&head.concat(), &counts]);
        let packed = [0x01, 14, 0x01, 0xd8, 0x04];
        let length = (packed.len() as u32).to_be_bytes();
        let head = [&mark(0x1c84_9313)[..], &length, &[0; 4], &digits, &lowest, &unused, &unused];
        let two = of(&[&head.concat(), &packed]);
        for (version, plain) in [zero, one, two].iter().enumerate() {
            assert_eq!(bins_of(plain), Some(vec![(1, 2, 7), (3, 4, 300)]), "version {version}");
        }
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
