//! Which of many settings change a figure, told apart while it is measured.
//!
//! Slots come in pairs next to each other in time. In the first slot of a pair each setting is on or off by a fair
//! coin, in the second each is the other way round (a fold-over). The difference of a pair's figures has no part in
//! which of the two slots a coin put a setting on, unless the setting matters. So each setting bets on its coins
//! ([`Bets`]): its capital grows for as long as its coins foretell the differences, and by chance it exceeds 1/p with
//! a probability of at most p at any time, whatever drift, heat, neighbours and the other settings do (an e-process;
//! testing by betting: Shafer 2021, JRSS A 184: 407; randomised signs: Fisher's permutation test).
//!
//! Effects of two settings together cancel in the difference, and what each does alone cancels in the sum, where the
//! products of two coins bet the same way.

mod bets;

use crate::random::Random;
use crate::rank::upper_median;
use bets::Bets;
use latlab_model::tune::Influence;

/// The probability of any false statement of a search, over all settings, figures and looks.
const CHANCE: f64 = 0.05;

/// What is said of a setting, or of two together: more than one statement of each kind is possible by chance alone.
const STATEMENTS: f64 = 4.0;

/// Bounds of effects are looked for between these logarithms of a ratio, in steps of [`STEP`].
const FARTHEST: f64 = 3.0;
const STEP: f64 = 0.02;

/// From this logarithm of a capital on, its growth foretells when it suffices.
const GROWN: f64 = 1.0;

/// Which settings are on in a slot.
pub type Assignment = Vec<bool>;

/// The effect of a setting, as the mean over the others on and off.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Effect {
    /// What can be said.
    pub influence: Influence,
    /// The logarithm of the figure with it over the figure without it.
    pub estimate: f64,
    /// Bounds of that logarithm that hold for all settings at whatever time one looks; infinite where open.
    pub bounds: (f64, f64),
    /// Estimate of the pairs that decide it; `None` if it is decided, or nothing points either way.
    pub more_pairs: Option<f64>,
}

/// Two settings that do more together than each alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Joint {
    /// The two settings.
    pub settings: (usize, usize),
    /// What both add to the logarithm of the figure, beyond what each adds without the other.
    pub estimate: f64,
}

/// Two slots with opposite settings.
#[derive(Clone, Debug)]
struct Pair {
    /// Of the first slot: 1 with the setting on, -1 with it off.
    signs: Vec<f64>,
    /// Mean of both figures, minus that of the pair before.
    rise: f64,
}

/// What the pairs said of a setting.
#[derive(Clone, Debug)]
struct Record {
    /// Its sign in each pair, and what of the difference the other settings do not explain.
    steps: Vec<(f64, f64)>,
    /// Bets that it does nothing, and that it changes the figure by the tolerance either way.
    nothing: Bets,
    more: Bets,
    less: Bets,
    influence: Influence,
}

/// The settings of the first slot of each pair, by fair coins; the second slot has all others.
pub fn coins(settings: usize, pairs: usize, seed: u64) -> Vec<Assignment> {
    let mut random = Random::new(seed);
    (0..pairs).map(|_| (0..settings).map(|_| random.below(2) == 1).collect()).collect()
}

/// A search through settings, for one figure.
pub struct Screening {
    records: Vec<Record>,
    pairs: Vec<Pair>,
    known: Contrasts,
    last_mean: Option<f64>,
    /// Capital at which a statement about one of the settings is made, and about two of them.
    enough: f64,
    enough_for_two: f64,
}

impl Screening {
    /// Begins a search with this many settings and figures, which share the probability of a false
    /// statement. A change below `tolerance`, a logarithm of a ratio, does not matter.
    pub fn new(settings: usize, figures: usize, tolerance: f64) -> Screening {
        let record = Record {
            steps: Vec::new(),
            nothing: Bets::against(0.0),
            more: Bets::against(tolerance),
            less: Bets::against(-tolerance),
            influence: Influence::Undecided,
        };
        let enough = |all: usize| STATEMENTS * (all * figures) as f64 / CHANCE;
        Screening {
            records: vec![record; settings],
            pairs: Vec::new(),
            known: Contrasts::new(settings),
            last_mean: None,
            enough: enough(settings),
            enough_for_two: enough(settings * settings.saturating_sub(1) / 2),
        }
    }

    /// Takes a pair: the settings of its first slot, and the logarithms of both figures.
    pub fn take(&mut self, first: &[bool], figures: [f64; 2]) {
        let signs: Vec<f64> = first.iter().map(|on| if *on { 1.0 } else { -1.0 }).collect();
        let (mean, difference) = ((figures[0] + figures[1]) / 2.0, figures[0] - figures[1]);
        // A pair is compared with what those before it say, so that nothing that a bet knows depends on its coin.
        let rests = self.known.rests(&signs, difference);
        for ((record, sign), rest) in self.records.iter_mut().zip(&signs).zip(&rests) {
            record.take((*sign, *rest), self.enough);
        }
        self.known.learn(&signs, &rests);
        let rise = self.last_mean.map_or(0.0, |last| mean - last);
        self.pairs.push(Pair { signs, rise });
        self.last_mean = Some(mean);
    }

    /// Whether every setting has its answer.
    pub fn is_decided(&self) -> bool {
        self.records.iter().all(|record| record.influence != Influence::Undecided)
    }

    /// What can be said of each setting.
    pub fn influences(&self) -> Vec<Influence> {
        self.records.iter().map(|record| record.influence).collect()
    }

    /// What is known of each setting.
    pub fn effects(&self) -> Vec<Effect> {
        self.records.iter().map(|record| record.effect(self.enough)).collect()
    }

    /// The pairs of settings that do more together, or less, than each alone.
    pub fn joint_effects(&self) -> Vec<Joint> {
        let settings = self.records.len();
        let mut found = Vec::new();
        for first in 0..settings {
            for second in first + 1..settings {
                let steps = || self.rises(first, second);
                if Bets::against(0.0).after(steps()).either() >= self.enough_for_two {
                    found.push(Joint {
                        settings: (first, second),
                        estimate: 2.0 * contrast(self.turns(first, second)),
                    });
                }
            }
        }
        found
    }

    /// Those where the product is another than in the pair before: both settings on in one of two slots, or in none,
    /// make a difference of half of what they add together.
    fn turns(&self, first: usize, second: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let before = self.pairs.iter().map(move |pair| pair.signs[first] * pair.signs[second]);
        let turned = self.rises(first, second).zip(before);
        turned.filter(|((sign, _), before)| sign != before).map(|(step, _)| step)
    }

    /// The product of two coins in each pair, and how the mean of the pair rose.
    fn rises(&self, first: usize, second: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let pairs = self.pairs.iter().skip(1);
        pairs.map(move |pair| (pair.signs[first] * pair.signs[second], pair.rise))
    }
}

impl Record {
    fn take(&mut self, step: (f64, f64), enough: f64) {
        self.steps.push(step);
        for bets in [&mut self.nothing, &mut self.more, &mut self.less] {
            bets.take(step);
        }
        if self.influence == Influence::Undecided {
            self.influence = self.influence_now(enough);
        }
    }

    fn influence_now(&self, enough: f64) -> Influence {
        let is_small = self.more.below() >= enough && self.less.above() >= enough;
        match () {
            () if self.nothing.below() >= enough => Influence::Lowers,
            () if self.nothing.above() >= enough => Influence::Raises,
            () if is_small => Influence::NoDifference,
            () => Influence::Undecided,
        }
    }

    /// The bounds are the shifts that bets have not refuted; what lies beyond the last one looked at is open.
    fn effect(&self, enough: f64) -> Effect {
        let estimate = contrast(self.steps.iter().copied());
        let against = |shift: f64| Bets::against(shift).after(self.steps.iter().copied());
        let grid = || (0..).map(|step| f64::from(step) * STEP).take_while(|far| *far <= FARTHEST);
        let below = grid().find(|far| against(estimate - far).above() >= enough);
        let above = grid().find(|far| against(estimate + far).below() >= enough);
        let bounds = (
            below.map_or(f64::NEG_INFINITY, |far| estimate - far),
            above.map_or(f64::INFINITY, |far| estimate + far),
        );
        let more_pairs = self.more_pairs(enough);
        Effect { influence: self.influence, estimate, bounds, more_pairs }
    }

    /// The capital of the statement that is nearest grows by the same factor for each pair.
    fn more_pairs(&self, enough: f64) -> Option<f64> {
        let small = self.more.below().min(self.less.above());
        let most = self.nothing.below().max(self.nothing.above()).max(small);
        let grown = most.ln();
        let is_open = self.influence == Influence::Undecided && grown > GROWN;
        is_open.then(|| self.steps.len() as f64 * (enough.ln() / grown - 1.0).max(0.0))
    }
}

/// The median of what a sign of 1 adds.
fn contrast(steps: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut signed: Vec<f64> = steps.map(|(sign, value)| sign * value).collect();
    upper_median(&mut signed)
}

/// What the pairs so far say of each setting: a mean that begins at zero and trusts a few pairs little.
struct Contrasts {
    sums: Vec<f64>,
    counts: Vec<f64>,
}

impl Contrasts {
    /// Pairs that no effect would have had: a mean of few is drawn towards zero.
    const CAUTION: f64 = 8.0;

    fn new(settings: usize) -> Contrasts {
        Contrasts { sums: vec![0.0; settings], counts: vec![Contrasts::CAUTION; settings] }
    }

    fn contrast(&self, setting: usize) -> f64 {
        self.sums[setting] / self.counts[setting]
    }

    /// What of the difference of a pair the others do not explain, for each setting.
    fn rests(&self, signs: &[f64], difference: f64) -> Vec<f64> {
        let explained = |(setting, sign): (usize, &f64)| sign * self.contrast(setting);
        let all: f64 = signs.iter().enumerate().map(explained).sum();
        signs.iter().enumerate().map(|one| difference - all + explained(one)).collect()
    }

    fn learn(&mut self, signs: &[f64], rests: &[f64]) {
        for (setting, sign) in signs.iter().enumerate() {
            self.sums[setting] += sign * rests[setting];
            self.counts[setting] += 1.0;
        }
    }
}

#[cfg(test)]
mod tests;
