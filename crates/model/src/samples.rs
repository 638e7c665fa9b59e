//! Every latency of a thread with its release, packed into less than two bytes.
//!
//! Releases follow each other at the period, so only deviations are stored. Latencies are
//! Rice-coded (Rice and Plaunt 1971) in blocks: each is stored as the distance from its block's
//! median, with the low bits verbatim and the rest in unary, so that a rare large value costs only
//! its own bits.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Number of latencies that share a median and a number of low bits.
const BLOCK: usize = 128;
/// A quotient this long is stored as a plain number instead.
const LONGEST_ROW: u32 = 24;

/// One cycle: its release and its latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Release, on the clock of the run.
    pub release_ns: Nanos,
    /// The latency.
    pub latency_ns: Nanos,
    /// Remainder of the latency in picoseconds, signed; `None` if the resolution is a nanosecond.
    pub rest_ps: Option<i16>,
}

impl Sample {
    /// A latency in whole nanoseconds.
    pub fn new(release_ns: Nanos, latency_ns: Nanos) -> Sample {
        Sample { release_ns, latency_ns, rest_ps: None }
    }

    /// A latency in picoseconds.
    pub fn fine(release_ns: Nanos, latency_ps: i64) -> Sample {
        let nanos = (latency_ps.saturating_add(PICO / 2)).div_euclid(PICO);
        let rest_ps = i16::try_from(latency_ps - nanos * PICO).ok();
        Sample { release_ns, latency_ns: Nanos(nanos), rest_ps }
    }

    /// The latency in picoseconds, as exact as it is known.
    pub fn latency_ps(self) -> i64 {
        let whole = self.latency_ns.0.saturating_mul(PICO);
        whole.saturating_add(self.rest_ps.unwrap_or(0).into())
    }
}

/// Picoseconds in a nanosecond.
const PICO: i64 = 1_000;

/// Consecutive samples of one thread, as they are sent and stored in the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Samples {
    /// Number of the thread.
    pub thread: u32,
    /// Samples lost directly before the first of these.
    pub lost_before: u64,
    /// Release of the first sample, on CLOCK_MONOTONIC.
    pub first_release_ns: Nanos,
    /// Usual time between two releases.
    pub period_ns: Nanos,
    /// Number of samples.
    pub count: u32,
    /// Releases that do not follow the period: sample index, and the extra delay.
    pub jumps: Vec<(u32, Nanos)>,
    /// Packed latencies.
    pub packed: Vec<u8>,
}

/// Bytes that do not decode to samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("its samples cannot be decoded")]
pub struct Unreadable;

impl Samples {
    /// Packs samples without a period, so that each but the first is a jump; requires at least one.
    pub fn without_period(thread: u32, samples: &[Sample]) -> Samples {
        let jumps = (1..).zip(samples.windows(2));
        let jumps = jumps.map(|(index, pair)| (index, pair[1].release_ns - pair[0].release_ns));
        let latencies: Vec<i64> = samples.iter().map(|sample| sample.latency_ns.0).collect();
        Samples {
            thread,
            lost_before: 0,
            first_release_ns: samples[0].release_ns,
            period_ns: Nanos::ZERO,
            count: samples.len() as u32,
            jumps: jumps.filter(|(_, by)| *by > Nanos::ZERO).collect(),
            packed: pack(&latencies),
        }
    }

    /// Decodes the samples, in order.
    pub fn unpack(&self) -> Result<Vec<Sample>, Unreadable> {
        let latencies = unpack(&self.packed, self.count as usize).ok_or(Unreadable)?;
        let mut release = self.first_release_ns;
        let mut jumps = self.jumps.iter().peekable();
        let sample = |(index, latency): (u32, i64)| {
            if let Some((_, by)) = jumps.next_if(|jump| jump.0 == index) {
                release += *by;
            }
            let sample = Sample::new(release, Nanos(latency));
            release += self.period_ns;
            sample
        };
        let samples = (0..).zip(latencies).map(sample).collect();
        if jumps.next().is_some() { Err(Unreadable) } else { Ok(samples) }
    }
}

/// Samples from a source with picosecond resolution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FineSamples {
    /// The samples in nanoseconds.
    pub samples: Samples,
    /// Picosecond remainder of each, packed like the latencies.
    pub rests: Vec<u8>,
}

impl FineSamples {
    /// Packs samples without a period; requires at least one.
    pub fn without_period(thread: u32, samples: &[Sample]) -> FineSamples {
        let rests: Vec<i64> = samples.iter().map(|one| one.rest_ps.unwrap_or(0).into()).collect();
        FineSamples { samples: Samples::without_period(thread, samples), rests: pack(&rests) }
    }

    /// Decodes the samples, in order.
    pub fn unpack(&self) -> Result<Vec<Sample>, Unreadable> {
        let samples = self.samples.unpack()?;
        let rests = unpack(&self.rests, samples.len()).ok_or(Unreadable)?;
        let with_rest = |(sample, rest): (Sample, i64)| {
            let within = -PICO / 2..=PICO / 2;
            let rest = i16::try_from(rest).ok().filter(|rest| within.contains(&i64::from(*rest)));
            Ok(Sample { rest_ps: Some(rest.ok_or(Unreadable)?), ..sample })
        };
        samples.into_iter().zip(rests).map(with_rest).collect()
    }
}

/// Packs latencies; [`unpack`] reverses it.
pub fn pack(latencies: &[i64]) -> Vec<u8> {
    let mut bits = Bits::default();
    let mut before = 0;
    for block in latencies.chunks(BLOCK) {
        let mut sorted = [0; BLOCK];
        let sorted = &mut sorted[..block.len()];
        sorted.copy_from_slice(block);
        let middle = *sorted.select_nth_unstable(block.len() / 2).1;
        let low = low_bits(block, middle);
        bits.put_number(zigzag(middle.wrapping_sub(before)));
        bits.put(low.into(), 6);
        for latency in block {
            bits.put_rice(zigzag(latency.wrapping_sub(middle)), low);
        }
        before = middle;
    }
    bits.finish()
}

/// Unpacks `count` numbers; `None` if the bytes do not hold them.
pub fn unpack(packed: &[u8], count: usize) -> Option<Vec<i64>> {
    // Each number takes at least a bit, so damaged input cannot cause a large allocation.
    if count > packed.len() * 8 {
        return None;
    }
    let mut bits = Reader { bytes: packed.iter(), waiting: 0, length: 0 };
    let mut latencies = Vec::with_capacity(count);
    let mut middle = 0_i64;
    while latencies.len() < count {
        middle = middle.wrapping_add(unzigzag(bits.number()?));
        let low = bits.read_bits(6)? as u32;
        for _ in 0..BLOCK.min(count - latencies.len()) {
            latencies.push(middle.wrapping_add(unzigzag(bits.rice(low)?)));
        }
    }
    Some(latencies)
}

/// The number of low bits that keeps this block short: about the logarithm of the median distance,
/// which a few outliers do not affect.
fn low_bits(block: &[i64], middle: i64) -> u32 {
    let mut distances = [0; BLOCK];
    let distances = &mut distances[..block.len()];
    for (distance, latency) in distances.iter_mut().zip(block) {
        *distance = zigzag(latency.wrapping_sub(middle));
    }
    let median = *distances.select_nth_unstable(block.len() / 2).1;
    let guess = u64::BITS - median.leading_zeros();
    let length = |low: u32| -> u32 { distances.iter().map(|one| rice_length(*one, low)).sum() };
    let tries = guess.saturating_sub(2)..=(guess + 2).min(63);
    tries.min_by_key(|&low| length(low)).unwrap_or(0)
}

fn rice_length(value: u64, low: u32) -> u32 {
    match value >> low {
        row if row < LONGEST_ROW.into() => row as u32 + 1 + low,
        _ => LONGEST_ROW + 64,
    }
}

/// Maps signed numbers near zero to small unsigned ones.
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Packs bits into bytes, lowest bit first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    waiting: u64,
    length: u32,
}

impl Bits {
    /// Takes at most 32 bits.
    fn put(&mut self, value: u64, length: u32) {
        self.waiting |= value << self.length;
        self.length += length;
        while self.length >= 8 {
            self.bytes.push(self.waiting as u8);
            self.waiting >>= 8;
            self.length -= 8;
        }
    }

    fn put_wide(&mut self, value: u64, length: u32) {
        self.put(value & 0xffff_ffff & mask(length), length.min(32));
        if length > 32 {
            self.put(value >> 32 & mask(length - 32), length - 32);
        }
    }

    fn put_rice(&mut self, value: u64, low: u32) {
        let row = value >> low;
        if row >= LONGEST_ROW.into() {
            self.put(0, LONGEST_ROW);
            self.put_wide(value, 64);
            return;
        }
        self.put(1 << row, row as u32 + 1);
        self.put_wide(value & mask(low), low);
    }

    /// Stores a number of unknown size: its length in bits, then the bits.
    fn put_number(&mut self, value: u64) {
        let length = u64::BITS - value.leading_zeros();
        self.put(length.into(), 7);
        self.put_wide(value, length);
    }

    fn finish(mut self) -> Vec<u8> {
        if self.length > 0 {
            self.bytes.push(self.waiting as u8);
        }
        self.bytes
    }
}

fn mask(length: u32) -> u64 {
    if length >= 64 { u64::MAX } else { (1 << length) - 1 }
}

/// Unpacks bits from bytes.
struct Reader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    waiting: u64,
    length: u32,
}

impl Reader<'_> {
    /// Reads at most 32 bits.
    fn read_bits(&mut self, length: u32) -> Option<u64> {
        while self.length < length {
            self.waiting |= u64::from(*self.bytes.next()?) << self.length;
            self.length += 8;
        }
        let value = self.waiting & mask(length);
        self.waiting >>= length;
        self.length -= length;
        Some(value)
    }

    fn take_wide(&mut self, length: u32) -> Option<u64> {
        let low = self.read_bits(length.min(32))?;
        let high = if length > 32 { self.read_bits(length - 32)? } else { 0 };
        Some(low | high << 32)
    }

    fn rice(&mut self, low: u32) -> Option<u64> {
        let mut row = 0;
        while self.read_bits(1)? == 0 {
            row += 1;
            if row == LONGEST_ROW {
                return self.take_wide(64);
            }
        }
        let rest = self.take_wide(low)?;
        Some(u64::from(row).checked_shl(low).unwrap_or(0) | rest)
    }

    fn number(&mut self) -> Option<u64> {
        let length = self.read_bits(7)? as u32;
        if length > u64::BITS { None } else { self.take_wide(length) }
    }
}
