//! Randomly damaged files for readers that must accept anything; the tests of two crates include
//! this.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// More, for a file of some kilobytes, would be proportional to it.
const MOST_MEMORY: u64 = 64 << 20;
/// Reading a file of some kilobytes takes far less on any machine.
const LONGEST: Duration = Duration::from_secs(20);

/// A reader to feed with damaged files, the same each time.
pub struct Fuzz<'a> {
    /// Its name, and the extension of a file on which it failed.
    pub name: &'a str,
    /// Number of damaged files, unless LATLAB_FUZZ_SECONDS is set.
    pub inputs: usize,
    /// What is inserted into files.
    pub words: &'a [&'a [u8]],
    /// The longest file.
    pub largest: usize,
}

impl Fuzz<'_> {
    /// Reads the seeds, then damaged ones; each is packed before it is read.
    pub fn run(&self, seeds: &[Vec<u8>], pack: &dyn Fn(&[u8]) -> Vec<u8>, read: &dyn Fn(&[u8])) {
        let name = self.name;
        let seconds = std::env::var("LATLAB_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
        let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let sum = |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte);
        let mut random = Random(name.bytes().fold(7, sum));
        seeds.iter().for_each(|seed| read(&pack(seed)));
        let mut inputs = 0;
        while end.map_or(inputs < self.inputs, |end| Instant::now() < end) {
            let input = pack(&self.damaged(seeds, &mut random));
            let began = Instant::now();
            let measured = || allocation_counter::measure(|| read(&input)).bytes_max;
            let done = catch_unwind(AssertUnwindSafe(measured));
            let took = began.elapsed();
            if !matches!(done, Ok(bytes) if bytes < MOST_MEMORY) || took > LONGEST {
                let kept = std::env::temp_dir().join(format!("latlab-fuzz-failed.{name}"));
                std::fs::write(&kept, &input).unwrap();
                panic!("{}: {done:?} in {took:?}", kept.display());
            }
            inputs += 1;
        }
        eprintln!("{name}: {inputs} inputs");
    }

    /// A damaged file: bits, bytes, stretches, words, or two files in one.
    fn damaged(&self, seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
        let mut input = seeds[random.below(seeds.len())].clone();
        for _ in 0..1 + random.below(6) {
            let at = random.below(input.len().max(1)).min(input.len());
            let length = random.below(64).min(input.len() - at);
            match random.below(8) {
                0 if !input.is_empty() => {
                    let at = at.min(input.len() - 1);
                    input[at] ^= 1 << random.below(8);
                }
                1 => input.truncate(at),
                2 => drop(input.drain(at..at + length)),
                3 => {
                    let piece = input[at..at + length].to_vec();
                    let to = random.below(input.len() + 1);
                    input.splice(to..to, piece);
                }
                4 => {
                    let word = self.words[random.below(self.words.len())];
                    input.splice(at..at, word.iter().copied());
                }
                5 => {
                    let other = &seeds[random.below(seeds.len())];
                    let from = random.below(other.len().max(1));
                    input.truncate(at);
                    input.extend_from_slice(&other[from..]);
                }
                6 => {
                    let end = (at + length).min(input.len());
                    input[at..end].fill(random.below(256) as u8);
                }
                _ => {
                    let end = (at + length).min(input.len());
                    input[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8);
                }
            }
        }
        input.truncate(self.largest);
        input
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}
