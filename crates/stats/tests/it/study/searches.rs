//! Searches for settings that help, on machines that drift, heat up and have neighbours; latencies
//! are drawn from recorded distributions.

use super::random::Random;
use super::score::Score;
use latlab_model::tune::Influence;
use latlab_stats::{Screening, coins};

/// Three settings that help, two that hurt, two that help only together, fourteen that do nothing.
const SETTINGS: usize = 21;
const HELP: [(usize, f64); 3] = [(2, -0.5), (7, -0.35), (11, -0.25)];
const HURT: [(usize, f64); 2] = [(4, 0.4), (15, 0.3)];
const TOGETHER: (usize, usize, f64) = (9, 17, -0.7);

/// Pairs of slots in an hour, of 8 s with their warm-up and start, less the untouched ones.
const PAIRS: usize = 145;
/// Latencies of a slot: two CPUs at 1 kHz.
const LATENCIES: f64 = 16_000.0;
/// Latencies of a slot above its p99.9.
const ABOVE: usize = 16;
const TOLERANCE: f64 = 0.1;

/// A machine in the time of a search.
pub struct SearchedMachine {
    pub name: &'static str,
    pub held_out: bool,
    /// Recorded quantiles: share of larger latencies, and the latency in microseconds.
    tail: &'static [(f64, f64)],
    /// Stalls of a slot, each of which delays ten latencies.
    stalls: f64,
    /// Growth of the level in a slot, and how much it wanders.
    drift: f64,
    wander: f64,
    /// How much warmer the machine becomes, as a logarithm of its latencies.
    heat: f64,
    /// How often a neighbour comes, who doubles the latencies of some slots.
    neighbour: f64,
}

/// A Raspberry Pi 3 with the stock kernel 4.14, four CPUs and 50 million cycles each (lemariva, 2018): a long tail.
const STOCK: &[(f64, f64)] =
    &[(0.1, 15.40), (0.01, 19.18), (1e-3, 28.79), (3e-4, 42.29), (1e-4, 56.88), (1e-5, 129.09)];
/// The same with 4.14-rt: a short tail.
const REALTIME: &[(f64, f64)] =
    &[(0.1, 35.39), (0.01, 52.86), (1e-3, 57.77), (3e-4, 59.96), (1e-4, 64.05), (1e-5, 73.97)];

const QUIET: SearchedMachine = SearchedMachine {
    name: "",
    held_out: false,
    tail: STOCK,
    stalls: 0.0,
    drift: 0.0,
    wander: 0.02,
    heat: 0.0,
    neighbour: 0.0,
};

pub const SEARCHED: [SearchedMachine; 7] = [
    SearchedMachine { name: "search, stock kernel", ..QUIET },
    SearchedMachine { name: "search, real-time kernel", tail: REALTIME, ..QUIET },
    SearchedMachine { name: "search, bursts", stalls: 0.5, ..QUIET },
    SearchedMachine { name: "search, drift", drift: 0.004, ..QUIET },
    SearchedMachine { name: "search, heat", heat: 0.6, held_out: true, ..QUIET },
    SearchedMachine { name: "search, neighbour", neighbour: 0.05, ..QUIET },
    SearchedMachine {
        name: "search, all of these",
        held_out: true,
        tail: STOCK,
        stalls: 0.3,
        drift: 0.003,
        wander: 0.05,
        heat: 0.4,
        neighbour: 0.03,
    },
];

/// The state of a machine during a search.
struct State<'a> {
    of: &'a SearchedMachine,
    random: Random,
    level: f64,
    slot: f64,
    visited: usize,
}

impl State<'_> {
    /// The logarithm of p99.9 of a slot with these settings.
    fn slot(&mut self, on: &[bool], planted: bool) -> f64 {
        let (of, random) = (self.of, &mut self.random);
        self.level += of.drift + of.wander * random.normal();
        self.slot += 1.0;
        if self.visited == 0 && random.uniform() < of.neighbour {
            self.visited = 1 + random.below(8);
        }
        let heat = of.heat * (1.0 - (-self.slot / 40.0).exp());
        let visit = if self.visited > 0 { 0.7 } else { 0.0 };
        self.visited = self.visited.saturating_sub(1);
        // The largest latencies of the slot: the shares above them are sums of exponential steps.
        let mut share = 0.0;
        let mut largest: Vec<f64> = (0..ABOVE)
            .map(|_| {
                share += random.exponential() / LATENCIES;
                quantile(of.tail, share)
            })
            .collect();
        for _ in 0..random.poisson(of.stalls) {
            let stall = quantile(of.tail, 1e-5) * random.pareto(1.5);
            largest.extend((1..=10).map(|part| stall * f64::from(part) / 10.0));
        }
        largest.sort_by(|one, other| other.total_cmp(one));
        largest[ABOVE - 1].ln() + self.level + heat + visit + if planted { effect(on) } else { 0.0 }
    }
}

/// Interpolates a recorded tail; beyond its end it goes on as it ended.
fn quantile(tail: &[(f64, f64)], share: f64) -> f64 {
    let at = tail.partition_point(|(above, _)| *above > share).clamp(1, tail.len() - 1);
    let ((from, low), (to, high)) = (tail[at - 1], tail[at]);
    let way = (from.ln() - share.ln()) / (from.ln() - to.ln());
    (low.ln() + way.min(2.0) * (high.ln() - low.ln())).exp()
}

fn effect(on: &[bool]) -> f64 {
    let single = HELP.iter().chain(&HURT).map(|(at, effect)| if on[*at] { *effect } else { 0.0 });
    let (first, second, together) = TOGETHER;
    single.sum::<f64>() + if on[first] && on[second] { together } else { 0.0 }
}

fn search(of: &SearchedMachine, seed: u64, planted: bool) -> Screening {
    let random = Random::new(seed);
    let mut state = State { of, random, level: 0.0, slot: 0.0, visited: 0 };
    // Two figures are judged in a usual search.
    let mut screening = Screening::new(SETTINGS, 2, TOLERANCE.ln_1p());
    for first in coins(SETTINGS, PAIRS, seed.wrapping_mul(7)) {
        let second: Vec<bool> = first.iter().map(|on| !on).collect();
        let figures = [&first, &second].map(|on| state.slot(on, planted));
        screening.take(&first, figures);
        if screening.is_decided() {
            break;
        }
    }
    screening
}

/// The true effect of a setting, as the mean over the others on and off.
fn truth(at: usize, planted: bool) -> f64 {
    let of =
        |all: &[(usize, f64)]| all.iter().find(|(one, _)| *one == at).map(|(_, effect)| *effect);
    let (first, second, together) = TOGETHER;
    let joint = if at == first || at == second { together / 2.0 } else { 0.0 };
    if planted { of(&HELP).or(of(&HURT)).unwrap_or(joint) } else { 0.0 }
}

fn is_true(influence: Influence, truth: f64) -> bool {
    match influence {
        Influence::Lowers => truth < 0.0,
        Influence::Raises => truth > 0.0,
        Influence::NoDifference => truth.abs() < TOLERANCE.ln_1p(),
        Influence::Undecided => true,
    }
}

/// How often a search says nothing false, and how often it finds all that was planted.
pub fn searches(of: &SearchedMachine, cases: usize) -> Vec<Score> {
    let score = |statement| Score::new(of.name, statement, of.held_out);
    let mut scores = [
        score("a search of 21 settings that do nothing says nothing false"),
        score("a search of 21 settings says nothing false"),
        score("it finds 3 that help and 2 that hurt"),
        score("it finds the pair that helps together"),
    ];
    for case in 0..cases {
        for planted in [false, true] {
            let found = search(of, 40_000 + case as u64, planted);
            let influences = found.influences();
            let joint = found.joint_effects();
            let pair = (TOGETHER.0, TOGETHER.1);
            let is_pair = |settings: (usize, usize)| planted && settings == pair;
            let is_right =
                influences.iter().enumerate().all(|(at, one)| is_true(*one, truth(at, planted)))
                    && joint.iter().all(|one| is_pair(one.settings));
            scores[usize::from(planted)].count(Some(is_right));
            if planted {
                let has = |at: usize, wanted| influences[at] == wanted;
                let helping = HELP.iter().all(|(at, _)| has(*at, Influence::Lowers));
                let hurting = HURT.iter().all(|(at, _)| has(*at, Influence::Raises));
                scores[2].count(Some(helping && hurting));
                scores[3].count(Some(joint.iter().any(|one| is_pair(one.settings))));
            }
        }
    }
    scores.to_vec()
}
