//! Quantile intervals of machines whose latencies depend on each other in many ways.

use super::random::Random;
use super::score::Score;
use latlab_model::{Bin, Nanos};
use latlab_stats::{Durations, SliceDependence, dependences, quantile_interval, slice_dependence};

/// Latencies per second, and seconds per run.
const RATE: usize = 1_000;
const SECONDS: usize = 200;
const SLICES: usize = 100;
/// Independent latencies from which the true quantiles are taken.
const TRUTH: usize = 2_000_000;
/// Quantiles in parts per million, with their statements.
const QUANTILES: [(u32, &str); 3] =
    [(500_000, "interval of p50"), (990_000, "interval of p99"), (999_000, "interval of p99.9")];

/// Generates latencies one after the other.
type Process = Box<dyn FnMut(&mut Random) -> f64>;

/// A machine with latencies of one kind, as logarithms or in any other unit.
pub struct Machine {
    name: &'static str,
    held_out: bool,
    /// Starts the machine in a random state.
    start: fn(&mut Random) -> Process,
}

impl Machine {
    pub fn name(&self) -> &'static str {
        self.name
    }
}

const fn tuned(name: &'static str, start: fn(&mut Random) -> Process) -> Machine {
    Machine { name, held_out: false, start }
}

const fn held_out(name: &'static str, start: fn(&mut Random) -> Process) -> Machine {
    Machine { name, held_out: true, start }
}

pub const MACHINES: [Machine; 20] = [
    tuned("independent, normal", |_| Box::new(|random| random.normal())),
    tuned("independent, ties", |_| Box::new(|random| (random.normal() * 1.2).round())),
    tuned("AR(1) with 0.99", |random| wander(random, 0.1, 1.0, 0.0)),
    held_out("AR(1) with 0.9", |random| wander(random, 0.0095, 1.0, 0.0)),
    held_out("Markov bursts of 20 ms", |random| {
        let length = |random: &mut Random| 0.02 * random.exponential();
        regimes(random, length, |random| coin(random, 0.1), 0.2)
    }),
    tuned("level wanders by 15 %, 5 s", |random| wander(random, 5.0, 0.15, 0.3)),
    tuned("level wanders by 15 %, 20 s", |random| wander(random, 20.0, 0.15, 0.3)),
    tuned("level wanders by 2 %, 10 s", |random| wander(random, 10.0, 0.02, 0.3)),
    tuned("two regimes of 10 s on average", |random| {
        regimes(random, |random| 10.0 * random.exponential(), |random| 0.4 * coin(random, 0.5), 0.2)
    }),
    tuned("regimes of 10 s", |random| {
        regimes(random, |_| 10.0, |random| 0.3 * random.normal(), 0.2)
    }),
    tuned("bursts of 50 ms, one a second", |random| bursts(random, 0.05, 1.0)),
    held_out("independent, Pareto 1.2", |_| Box::new(|random| random.pareto(1.2))),
    held_out("independent, two modes", |_| {
        Box::new(
            |random| {
                if random.uniform() < 0.01 { 3.0 + random.exponential() } else { random.normal() }
            },
        )
    }),
    held_out("level wanders, heavy tail, 3 s", |random| {
        let mut level = wander(random, 3.0, 0.2, 0.0);
        Box::new(move |random| level(random) + 0.2 * random.pareto(2.5).ln())
    }),
    held_out("levels of 0.2 s, 2 s and 8 s together", |random| {
        let mut levels = [0.2, 2.0, 8.0].map(|seconds| wander(random, seconds, 0.1, 0.0));
        Box::new(move |random| {
            let level: f64 = levels.iter_mut().map(|level| level(random)).sum();
            level + 0.2 * random.normal()
        })
    }),
    held_out("sawtooth of 7 s", |random| {
        let mut at = random.uniform();
        Box::new(move |random| {
            at = (at + 1.0 / (7.0 * RATE as f64)).fract();
            at + 0.3 * random.normal()
        })
    }),
    held_out("regimes of 1 to 15 s, three levels", |random| {
        let length = |random: &mut Random| 1.0 + 14.0 * random.uniform();
        regimes(random, length, |random| 0.25 * random.below(3) as f64, 0.25)
    }),
    held_out("slow scatter, 6 s", |random| {
        let mut scale = wander(random, 6.0, 0.4, 0.0);
        Box::new(move |random| scale(random).exp() * random.exponential())
    }),
    held_out("level wanders by 10 %, 40 s", |random| wander(random, 40.0, 0.10, 0.2)),
    held_out("random walk, reflected", |random| {
        let mut at = random.uniform();
        Box::new(move |random| {
            at += 0.002 * random.normal();
            at = if at < 0.0 {
                -at
            } else if at > 1.0 {
                2.0 - at
            } else {
                at
            };
            at + 0.2 * random.normal()
        })
    }),
];

/// The true quantiles, from latencies of independent machines.
fn truths(machine: &Machine) -> Vec<f64> {
    let random = &mut Random::new(77);
    let mut all: Vec<f64> = (0..TRUTH).map(|_| (machine.start)(random)(random)).collect();
    all.sort_by(f64::total_cmp);
    QUANTILES.iter().map(|(share, _)| all[rank(*share, TRUTH)]).collect()
}

fn rank(parts_per_million: u32, of: usize) -> usize {
    (f64::from(parts_per_million) / 1e6 * of as f64) as usize
}

/// How often the intervals of a machine contain the true quantiles.
pub fn intervals(machine: &Machine, cases: usize) -> Vec<Score> {
    let truths = truths(machine);
    let score = |(_, statement): &(u32, &'static str)| {
        Score::new(machine.name, statement, machine.held_out)
    };
    let mut scores: Vec<Score> = QUANTILES.iter().map(score).collect();
    for case in 0..cases {
        let random = &mut Random::new(20_000 + case as u64);
        let mut process = (machine.start)(random);
        let values: Vec<f64> = (0..RATE * SECONDS).map(|_| process(random)).collect();
        let run = Run::new(values);
        let shares = QUANTILES.map(|(share, _)| share);
        let found = dependences(&shares, |share, hint| run.dependence(share, hint));
        let of_share = shares.iter().zip(found).zip(scores.iter_mut().zip(&truths));
        for ((share, found), (score, truth)) in of_share {
            score.count(run.covers(*share, *truth, found));
        }
    }
    scores
}

/// The latencies of a run, in order and sorted.
struct Run {
    values: Vec<f64>,
    sorted: Vec<f64>,
}

impl Run {
    fn new(values: Vec<f64>) -> Run {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        Run { values, sorted }
    }

    fn dependence(&self, share: u32, hint: &Durations) -> Option<SliceDependence> {
        let level = self.sorted[rank(share, self.sorted.len())];
        let slice = |slice: &[f64]| {
            let above = slice.iter().filter(|value| **value >= level).count();
            (slice.len() as f64, above as f64)
        };
        let slices: Vec<(f64, f64)> =
            self.values.chunks(self.values.len() / SLICES).map(slice).collect();
        slice_dependence(&slices, &[], hint)
    }

    /// Whether the interval contains the truth; `None` if it is refused.
    fn covers(&self, share: u32, truth: f64, found: Option<SliceDependence>) -> Option<bool> {
        if found.is_some_and(|found| found.longer.is_some()) {
            return None;
        }
        // Each latency has a bin, numbered by its rank.
        let below = self.sorted.partition_point(|value| *value < truth);
        let up_to = self.sorted.partition_point(|value| *value <= truth);
        let all = self.sorted.len();
        let row = |from: usize, to: usize| Bin {
            low_ns: Nanos(from as i64),
            high_ns: Nanos(to as i64),
            count: (to - from) as u64,
        };
        let cut = all - all / 2 - all / 20;
        let mut rows = vec![row(0, cut)];
        rows.extend((cut..all).map(|at| row(at, at + 1)));
        let observed = (Nanos(0), Some(Nanos(all as i64)));
        let per_event = found.map(|found| found.per_event);
        let interval = quantile_interval(&rows, share, observed, per_event)?;
        let is_above = interval.low_ns.is_none_or(|low| low <= Nanos(up_to as i64));
        let is_below = interval.high_ns.is_none_or(|high| high + Nanos(1) >= Nanos(below as i64));
        Some(is_above && is_below)
    }
}

fn coin(random: &mut Random, chance: f64) -> f64 {
    f64::from(u8::from(random.uniform() < chance))
}

/// A level that reverts to its mean within this many seconds, plus independent scatter.
fn wander(random: &mut Random, seconds: f64, level: f64, scatter: f64) -> Process {
    let keeps = (-1.0 / (seconds * RATE as f64)).exp();
    let step = (1.0 - keeps * keeps).sqrt();
    let mut at = random.normal();
    Box::new(move |random| {
        at = keeps * at + step * random.normal();
        level * at + if scatter > 0.0 { scatter * random.normal() } else { 0.0 }
    })
}

/// A level that stays for a while and changes at once.
fn regimes(
    random: &mut Random,
    length: fn(&mut Random) -> f64,
    level: fn(&mut Random) -> f64,
    scatter: f64,
) -> Process {
    let (mut at, mut left) = (level(random), length(random) * random.uniform());
    Box::new(move |random| {
        left -= 1.0 / RATE as f64;
        if left <= 0.0 {
            (at, left) = (level(random), length(random));
        }
        at + scatter * random.normal()
    })
}

/// Latencies that are large for a while.
fn bursts(random: &mut Random, lasts: f64, apart: f64) -> Process {
    let mut is_on = random.uniform() < lasts / (lasts + apart);
    Box::new(move |random| {
        let mean = if is_on { lasts } else { apart };
        is_on ^= random.uniform() < 1.0 / (mean * RATE as f64);
        f64::from(u8::from(is_on)) * 1.5 + 0.2 * random.normal()
    })
}
