//! Bounds and decisions about bursts on a machine with several CPUs.

use super::random::Random;
use super::score::Score;
use latlab_model::Nanos;
use latlab_stats::{
    Burst, BurstCount, ENOUGH_FOR_CLUMPS, LateCycle, MissesInTime, Rounds, begins_at_most, bursts,
    clump, share_at_most,
};

const HOUR: f64 = 3.6e12;
const PERIOD: Nanos = Nanos(1_000_000);
const THREADS: u32 = 8;
/// Misses of the longest stall in one thread.
const LARGEST: u32 = 100_000;
/// Releases of all threads in an hour.
const RELEASES: u64 = 8 * 3_600_000;

/// How stalls hit the threads of a machine.
pub struct Stalls {
    pub name: &'static str,
    pub held_out: bool,
    /// Stalls per hour.
    pub rate: f64,
    /// Threads hit by each stall.
    pub threads: u32,
    /// Longest time until the last of them is hit.
    pub spread: Nanos,
    /// Pareto exponent of the misses per thread; large for equal stalls.
    pub power: f64,
}

pub const STALLS: [Stalls; 5] = [
    Stalls {
        name: "stalls of one CPU",
        held_out: false,
        rate: 6.0,
        threads: 1,
        spread: Nanos(0),
        power: 4.0,
    },
    Stalls {
        name: "stalls of 2 of 8 CPUs at once",
        held_out: false,
        rate: 6.0,
        threads: 2,
        spread: Nanos(1_000_000),
        power: 4.0,
    },
    Stalls {
        name: "stalls of 8 of 8 CPUs at once",
        held_out: false,
        rate: 6.0,
        threads: 8,
        spread: Nanos(1_000_000),
        power: 4.0,
    },
    Stalls {
        name: "stalls of 8 of 8 CPUs within 8 ms",
        held_out: false,
        rate: 40.0,
        threads: 8,
        spread: Nanos(8_000_000),
        power: 4.0,
    },
    Stalls {
        name: "few stalls of unequal length",
        held_out: false,
        rate: 6.0,
        threads: 1,
        spread: Nanos(0),
        power: 1.1,
    },
];

/// The cycles that an hour of these stalls makes late.
fn hour(stalls: &Stalls, random: &mut Random) -> Vec<LateCycle> {
    let mut late = Vec::new();
    for _ in 0..random.poisson(stalls.rate) {
        let at = random.uniform() * HOUR;
        let first = random.below(THREADS as usize) as u32;
        for number in 0..stalls.threads {
            let after = random.uniform() * stalls.spread.0 as f64;
            let misses = random.pareto(stalls.power).min(f64::from(LARGEST)) as u64;
            late.push(LateCycle {
                thread: (first + number) % THREADS,
                release_ns: Nanos((at + after) as i64),
                period_ns: PERIOD,
                latency_ns: PERIOD * misses as i64,
                misses,
            });
        }
    }
    late
}

/// How often the bounds from one hour hold.
pub fn bounds(stalls: &Stalls, cases: usize) -> Vec<Score> {
    let score = |statement| Score::new(stalls.name, statement, stalls.held_out);
    let mut scores =
        ["bursts an hour", "share that begins a burst", "share that misses"].map(score).to_vec();
    // Sizes are whole, so the mean is the sum of the probabilities to reach each.
    let of_thread: f64 = (1..=LARGEST).map(|size| f64::from(size).powf(-stalls.power)).sum();
    let mean = of_thread * f64::from(stalls.threads);
    for case in 0..cases {
        let late = hour(stalls, &mut Random::new(40_000 + case as u64));
        let found = bursts(&late);
        let sizes: Vec<u64> = found.iter().map(|burst| burst.misses).collect();
        let (least, measured) = (found.len() as u64, Nanos(HOUR as i64));
        let clump = clump(&found, Nanos::ZERO, measured);
        let count = BurstCount { least, most: least, measured, clump };
        scores[0].count(Some(count.rate().at_most_per_hour >= stalls.rate));
        let begins = begins_at_most(least, clump, RELEASES);
        scores[1].count(Some(begins * RELEASES as f64 >= stalls.rate));
        let share = share_at_most(&MissesInTime {
            misses: sizes.iter().sum(),
            releases: RELEASES,
            runs: &[],
            slices: &[],
            bursts: &sizes,
            bursts_below: &[],
        });
        // Without a miss the share is that of releases that begin a burst.
        let share = share.filter(|_| least > 0);
        scores[2].count(share.map(|share| share * RELEASES as f64 >= stalls.rate * mean));
    }
    scores
}

/// How bursts clump.
pub struct Clumps {
    pub name: &'static str,
    pub held_out: bool,
    /// Mean number of bursts per clump.
    pub size: f64,
    /// Whether all clumps have this size exactly.
    pub is_even: bool,
    /// Minutes over which a clump spreads.
    pub minutes: f64,
    /// How many times more bursts, clumped alike, a level below the deadline has; 0 without such a
    /// level.
    pub below: f64,
}

pub const CLUMPS: [Clumps; 5] = [
    Clumps {
        name: "bursts one by one",
        held_out: false,
        size: 1.0,
        is_even: true,
        minutes: 0.0,
        below: 0.0,
    },
    Clumps {
        name: "bursts in threes",
        held_out: false,
        size: 3.0,
        is_even: true,
        minutes: 1.0,
        below: 0.0,
    },
    Clumps {
        name: "bursts one by one, and many below",
        held_out: true,
        size: 1.0,
        is_even: true,
        minutes: 0.0,
        below: 10.0,
    },
    Clumps {
        name: "bursts in sixes, and many below",
        held_out: true,
        size: 6.0,
        is_even: true,
        minutes: 2.0,
        below: 10.0,
    },
    Clumps {
        name: "bursts in twos on average, uneven",
        held_out: true,
        size: 2.0,
        is_even: false,
        minutes: 5.0,
        below: 0.0,
    },
];

/// Times of bursts, in hours, within `hours` at `rate` per hour on average.
fn times(clumps: &Clumps, rate: f64, hours: f64, random: &mut Random) -> Vec<f64> {
    let mut times = Vec::new();
    for _ in 0..random.poisson(rate * hours / clumps.size) {
        let at = random.uniform() * hours;
        let size = if clumps.is_even { clumps.size as u64 } else { random.size(clumps.size) };
        times.extend((0..size).map(|_| at + random.uniform() * clumps.minutes / 60.0));
    }
    times.sort_by(f64::total_cmp);
    times
}

/// The longest run of the study, in hours, and the times at which it is checked.
const LONGEST: f64 = 60.0;
const LOOKS: usize = 150;

/// How often a run that ends as soon as it is decided does not decide wrongly, on a machine exactly
/// at the limit: neither that it meets a slightly lower one nor that it exceeds a slightly higher
/// one.
pub fn decisions(clumps: &Clumps, cases: usize) -> Vec<Score> {
    let score = |statement| Score::new(clumps.name, statement, clumps.held_out);
    let mut scores = vec![score("--until-decided: pass"), score("--until-decided: fail")];
    for case in 0..cases {
        let random = &mut Random::new(60_000 + case as u64);
        let at_deadline = times(clumps, 1.0, LONGEST, random);
        let below = times(clumps, clumps.below, LONGEST, random);
        let (mut passes, mut fails) = (false, false);
        for look in 1..=LOOKS {
            let hours = LONGEST * look as f64 / LOOKS as f64;
            let until = |times: &[f64]| -> Vec<Burst> {
                let times = times.iter().take_while(|time| **time <= hours);
                times.map(|time| burst(*time)).collect()
            };
            let (found, measured) = (until(&at_deadline), Nanos((hours * HOUR) as i64));
            let of_clumps = match found.len() < ENOUGH_FOR_CLUMPS {
                true => [found.clone(), until(&below)].concat(),
                false => found.clone(),
            };
            let clump = clump(&of_clumps, Nanos::ZERO, measured);
            let least = found.len() as u64;
            let limit = BurstCount { least, most: least, measured, clump }.against(1.0, true);
            passes |= limit.at_most_per_hour < 1.0;
            fails |= limit.at_least_per_hour > 1.0;
            if passes || fails {
                break;
            }
        }
        scores[0].count(Some(!passes));
        scores[1].count(Some(!fails));
    }
    scores
}

/// Length of a round of the watch in hours; one starts every minute.
const ROUND: f64 = 5.0 / 3600.0;
const MINUTE: f64 = 1.0 / 60.0;
/// True and allowed bursts per hour.
const WATCHED_RATE: f64 = 20.0;

const fn watched(name: &'static str, held_out: bool, size: f64, minutes: f64) -> Clumps {
    Clumps { name, held_out, size, is_even: false, minutes, below: 0.0 }
}

pub const WATCHES: [Clumps; 5] = [
    watched("rounds, bursts one by one", false, 1.0, 0.0),
    watched("rounds, bursts in threes within a second", false, 3.0, MINUTE),
    watched("rounds, bad minutes", true, 12.0, 5.0),
    watched("rounds, bad hours", false, 40.0, 60.0),
    watched("rounds, bad half hours", true, 25.0, 30.0),
];

/// How often a watch that is checked after each round never decides wrongly, on a machine exactly
/// at the limit.
pub fn watches(clumps: &Clumps, cases: usize) -> Vec<Score> {
    let score = |statement| Score::new(clumps.name, statement, clumps.held_out);
    let mut scores = vec![score("watch --limit: never pass"), score("watch --limit: never fail")];
    for case in 0..cases {
        let random = &mut Random::new(65_000 + case as u64);
        let mut of_round = vec![0_u64; (LONGEST / MINUTE) as usize];
        for time in times(clumps, WATCHED_RATE, LONGEST, random) {
            let round = (time / MINUTE) as usize;
            if let Some(count) = of_round.get_mut(round).filter(|_| time % MINUTE < ROUND) {
                *count += 1;
            }
        }
        let mut rounds = Rounds::new();
        let (mut passes, mut fails) = (false, false);
        for (round, bursts) in of_round.into_iter().enumerate() {
            let measured = Nanos((ROUND * HOUR) as i64);
            rounds.add(BurstCount { least: bursts, most: bursts, measured, clump: None });
            // Between two bursts an occasional check suffices.
            if bursts == 0 && round % 10 > 0 {
                continue;
            }
            let (limit, _) = rounds.against(WATCHED_RATE).unwrap();
            passes |= limit.at_most_per_hour < WATCHED_RATE;
            fails |= limit.at_least_per_hour > WATCHED_RATE;
        }
        scores[0].count(Some(!passes));
        scores[1].count(Some(!fails));
    }
    scores
}

fn burst(hours: f64) -> Burst {
    let from_ns = Nanos((hours * HOUR) as i64);
    Burst { from_ns, to_ns: from_ns, misses: 1, largest_ns: PERIOD }
}
