//! The states of a signal: its most frequent values, separated by infrequent ones (IEEE 181 finds
//! levels by such a histogram, in either half of it).
//!
//! A half is meaningless if a few values lie far outside, so all states are found first, and the
//! two that count are chosen among them.

use crate::values::{ValueCount, ValueCounts};

/// Number of most frequent states that are examined.
const MOST_STATES: usize = 24;
/// States are separate if values between them are this much less frequent.
const VALLEY: f64 = 0.5;
/// Values this much less frequent between two states leave no doubt that they are separate.
const CLEAN: f64 = 0.05;
/// Least share of the values in a state at which a signal rests.
const RESTING: f64 = 0.05;
/// A state with fewer values is not one that a signal returns to.
const FEWEST: u64 = 10;
/// A continuous waveform is this many times wider than its noise.
const WAVEFORM: f64 = 16.0;
/// The least gap between two bands, as a share of the swing.
const GAP: f64 = 0.05;
/// The share of the values outside the usual range, on either side.
const UNUSUAL: f64 = 0.005;

/// A value at which a signal rests.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    /// The most frequent value.
    pub level: f64,
    /// Number of values around it.
    pub count: u64,
}

/// The values of a signal, with its noise.
pub struct Distribution {
    rising: Vec<ValueCount>,
    /// For each value the number of values within the window.
    around: Vec<u64>,
    /// Values closer than this differ only by noise.
    window: f64,
    /// Deviation of the noise between adjacent values.
    fast_noise: f64,
    all: u64,
}

impl Distribution {
    /// From the values, and the differences between adjacent ones.
    pub fn new(values: &ValueCounts, differences: &ValueCounts) -> Distribution {
        let rising = values.rising();
        let fast_noise = fast_noise(&differences.rising());
        let window = window(&rising, fast_noise);
        let around = counts_around(&rising, window);
        Distribution { around, window, fast_noise, all: values.count(), rising }
    }

    /// All values, ascending.
    pub fn rising(&self) -> &[ValueCount] {
        &self.rising
    }

    /// Deviation of the noise that the differences between adjacent values show.
    pub fn fast_noise(&self) -> f64 {
        self.fast_noise
    }

    /// The states, the most frequent first.
    pub fn states(&self) -> Vec<State> {
        self.state_indices().into_iter().map(|index| self.state(index)).collect()
    }

    fn state(&self, index: usize) -> State {
        State { level: self.rising[index].value, count: self.around[index] }
    }

    fn state_indices(&self) -> Vec<usize> {
        let mut by_count: Vec<usize> = (0..self.rising.len()).collect();
        by_count.sort_by_key(|index| std::cmp::Reverse(self.around[*index]));
        let mut found: Vec<usize> = Vec::new();
        for index in by_count {
            let is_apart = |one: &usize| {
                let distance = (self.rising[*one].value - self.rising[index].value).abs();
                let valley = self.valley(*one, index) as f64;
                distance > 2.0 * self.window && valley <= VALLEY * self.around[index] as f64
            };
            if found.iter().all(is_apart) {
                found.push(index);
                if found.len() == MOST_STATES {
                    break;
                }
            }
        }
        found
    }

    /// The lowest count between two values.
    fn valley(&self, one: usize, other: usize) -> u64 {
        let (low, high) = (one.min(other), one.max(other));
        let has_gap = self.rising[low..=high]
            .windows(2)
            .any(|pair| pair[1].value - pair[0].value > 2.0 * self.window);
        match has_gap {
            true => 0,
            false => self.around[low..=high].iter().copied().min().unwrap_or(0),
        }
    }

    /// The low and the high state; `None` if there is only one value.
    pub fn low_and_high(&self) -> Option<(State, State)> {
        let (first, last) = (self.rising.first()?, self.rising.last()?);
        if first.value == last.value {
            return None;
        }
        let states = self.state_indices();
        let resting = self.resting(&states).or_else(|| self.returning(&states));
        let (low, high) = match resting.or_else(|| self.widest(&states)) {
            Some((one, other)) => (one.min(other), one.max(other)),
            None => return Some(self.extent(0, self.rising.len() - 1)),
        };
        // A waveform without rests, and a few values outside of it.
        let main = states[0];
        if self.around[low].min(self.around[high]) < FEWEST {
            let (from, to) = self.blob(main);
            let is_outside = |index: usize| index < from || index > to;
            let width = self.rising[to].value - self.rising[from].value;
            let count: u64 = self.rising[from..=to].iter().map(|one| one.count).sum();
            if (is_outside(low) || is_outside(high))
                && count >= 10 * FEWEST
                && width > WAVEFORM * self.window
                && self.window > 0.0
            {
                return Some(self.extent(from, to));
            }
        }
        Some((self.state(low), self.state(high)))
    }

    fn extent(&self, from: usize, to: usize) -> (State, State) {
        (self.state(from), self.state(to))
    }

    /// The contiguous values around one.
    fn blob(&self, around: usize) -> (usize, usize) {
        let is_near =
            |low: usize| self.rising[low + 1].value - self.rising[low].value <= 2.0 * self.window;
        let (mut from, mut to) = (around, around);
        while from > 0 && is_near(from - 1) {
            from -= 1;
        }
        while to + 1 < self.rising.len() && is_near(to) {
            to += 1;
        }
        (from, to)
    }

    /// Two states at which the signal rests, clearly separated.
    fn resting(&self, states: &[usize]) -> Option<(usize, usize)> {
        let least = (RESTING * self.all as f64).max(2.0);
        let resting = |index: &&usize| self.around[**index] as f64 >= least;
        let all: Vec<usize> = states.iter().filter(resting).copied().collect();
        let is_clean = |one: usize, other: usize| {
            let fewer = self.around[one].min(self.around[other]) as f64;
            self.valley(one, other) as f64 <= CLEAN * fewer
        };
        self.best_pair(&all, |count| count, is_clean)
    }

    /// Two states, of which a signal may visit one seldom, but repeatedly.
    fn returning(&self, states: &[usize]) -> Option<(usize, usize)> {
        let all: Vec<usize> =
            states.iter().copied().filter(|index| self.around[*index] >= FEWEST).collect();
        self.best_pair(&all, f64::sqrt, |_, _| true)
    }

    fn widest(&self, states: &[usize]) -> Option<(usize, usize)> {
        self.best_pair(states, f64::sqrt, |_, _| true)
    }

    /// The pair that is frequent and far apart.
    fn best_pair(
        &self,
        states: &[usize],
        weight: impl Fn(f64) -> f64,
        allowed: impl Fn(usize, usize) -> bool,
    ) -> Option<(usize, usize)> {
        let mut best: Option<(f64, (usize, usize))> = None;
        for (number, &one) in states.iter().enumerate() {
            for &other in &states[number + 1..] {
                let fewer = self.around[one].min(self.around[other]) as f64;
                let distance = (self.rising[one].value - self.rising[other].value).abs();
                let score = weight(fewer) * distance;
                if best.is_none_or(|(most, _)| score > most) && allowed(one, other) {
                    best = Some((score, (one, other)));
                }
            }
        }
        best.map(|(_, pair)| pair)
    }

    /// Mean and deviation of the values in a range.
    pub fn spread(&self, from: f64, to: f64) -> Option<(f64, f64)> {
        let within = || self.rising.iter().filter(|one| from <= one.value && one.value <= to);
        let all: f64 = within().map(|one| one.count as f64).sum();
        if all < 2.0 {
            return None;
        }
        let mean = within().map(|one| one.count as f64 / all * one.value).sum::<f64>();
        let square = within().map(|one| one.count as f64 / all * (one.value - mean).powi(2));
        Some((mean, square.sum::<f64>().sqrt()))
    }

    /// The usual range: without a few outliers, extended by as much on either side.
    pub fn usual(&self) -> (f64, f64) {
        let quantile = |share| ValueCounts::quantile(&self.rising, share).unwrap_or(0.0);
        let (low, high) = (quantile(UNUSUAL), quantile(1.0 - UNUSUAL));
        (low - (high - low), high + (high - low))
    }

    /// The means of the values below and above the widest gap between two levels; `None` if the gap
    /// is narrow.
    pub fn bands(&self, low: f64, high: f64) -> Option<(f64, f64)> {
        let between = |one: &&[ValueCount]| low <= one[0].value && one[1].value <= high;
        let gap = |pair: &[ValueCount]| pair[1].value - pair[0].value;
        let gaps = self.rising.windows(2).filter(between);
        let widest = gaps.max_by(|one, other| gap(one).total_cmp(&gap(other)))?;
        let (swing, middle) = (high - low, (widest[0].value + widest[1].value) / 2.0);
        let below = self.spread(low - swing, middle)?.0;
        let above = self.spread(middle, high + swing)?.0;
        (gap(widest) > GAP * swing).then_some((below, above))
    }

    /// The smallest distance of two values.
    pub fn least_gap(&self) -> f64 {
        let gaps = self.rising.windows(2).map(|pair| pair[1].value - pair[0].value);
        gaps.fold(f64::INFINITY, f64::min)
    }

    /// The step of the converter, if enough values show it.
    pub fn converter_step(&self) -> Option<f64> {
        let gaps = self.rising.windows(2).map(|pair| pair[1].value - pair[0].value);
        let least = self.least_gap();
        // Distant values say nothing about the steps between the others.
        let small = gaps.filter(|gap| *gap < 1.5 * least).count();
        (small >= 3).then_some(least)
    }
}

/// The deviation of a normal distribution, from the median and the 90 % quantile of its
/// differences.
fn fast_noise(differences: &[ValueCount]) -> f64 {
    let difference = |share| ValueCounts::quantile(differences, share).unwrap_or(0.0);
    (difference(0.5) / 0.954).max(difference(0.9) / 2.33)
}

/// How far values that differ only by noise lie apart: a few deviations of the noise that the
/// differences between adjacent values show, but never a large part of the usual range.
fn window(rising: &[ValueCount], noise: f64) -> f64 {
    let (Some(first), Some(last)) = (rising.first(), rising.last()) else { return 0.0 };
    let quantile = |share| ValueCounts::quantile(rising, share).unwrap_or(0.0);
    let usual = quantile(1.0 - UNUSUAL) - quantile(UNUSUAL);
    let whole = if usual > 0.0 { usual } else { last.value - first.value };
    let is_stepped = rising.len() >= 8;
    let step = rising.windows(2).map(|pair| pair[1].value - pair[0].value);
    let step = step.fold(f64::INFINITY, f64::min);
    let steps = if is_stepped && step < whole / 16.0 { 1.5 * step } else { 0.0 };
    let grain = if is_stepped { usual / 100.0 } else { 0.0 };
    (2.0 * noise).min(whole / 8.0).max(steps).max(grain)
}

/// For each value the number of values within the window around it.
fn counts_around(rising: &[ValueCount], window: f64) -> Vec<u64> {
    let mut around = Vec::with_capacity(rising.len());
    let (mut from, mut to, mut count) = (0, 0, 0);
    for one in rising {
        while to < rising.len() && rising[to].value <= one.value + window {
            count += rising[to].count;
            to += 1;
        }
        while rising[from].value < one.value - window {
            count -= rising[from].count;
            from += 1;
        }
        around.push(count);
    }
    around
}
