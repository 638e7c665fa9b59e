//! Finds the two levels of a signal of unknown range, and reasons to doubt them.

use crate::range_over_time::RangeOverTime;
use crate::states::{Distribution, State};
use crate::values::ValueCounts;

/// Oscilloscopes write 9.9E37 or 9.91E37 for a missing value.
const NO_VALUE: f64 = 9.8e37;
/// Levels fewer converter steps apart are noise.
const FEWEST_STEPS: f64 = 4.0;
/// The halves of noise are at most this many of their deviations apart; those of a triangle are 3.5
/// apart.
const NOISE_APART: f64 = 3.2;
/// Above this a value says little about the next: 2 for white noise, near 0 for a slow signal.
const WHITE: f64 = 0.5;
/// A few random values are noise if they are at most this many volts apart.
const SMALL_SIGNAL: f64 = 0.5;
/// A few values are converter steps if they are closer together than this share of the largest.
const SMALL_SHARE: f64 = 0.1;
/// Number of values of a channel whose levels are a few converter steps apart.
const FEW_VALUES: usize = 4;
/// A smaller swing in volts is pick-up, not a digital signal.
const PICK_UP: f64 = 0.05;
/// Fewer values do not show what is noise.
const FEWEST_VALUES: u64 = 16;
/// Deviations of the noise that a hysteresis covers.
const HYSTERESIS_DEVIATIONS: f64 = 6.0;
/// A spread this many times wider than the differences between adjacent values is drift, not noise.
const DRIFT: f64 = 10.0;
/// A smaller drift, as a share of the swing, does not matter.
const LEAST_DRIFT: f64 = 0.05;
/// Fewer large differences may be glitches.
const FEWEST_JUMPS: u64 = 8;
/// Smallest and largest hysteresis that is chosen, as a share of the swing.
const HYSTERESIS: (f64, f64) = (0.1, 0.6);
/// A third state counts if it has this share of the rarer level's values.
const THIRD: f64 = 0.2;
/// Distance of a third state from both levels, as a share of the swing.
const APART: f64 = 0.25;

/// The values of a channel, and how often it had each.
#[derive(Clone, PartialEq, Debug)]
pub struct Levels {
    min: f64,
    max: f64,
    values: ValueCounts,
    differences: ValueCounts,
    range_over_time: RangeOverTime,
    before: Option<f64>,
    mean: f64,
    /// Sum of the squared distances from the mean.
    spread: f64,
    /// Sum of the squared differences between adjacent values.
    successive: f64,
    /// Volts per unit of the values; `None` if they are another quantity.
    volts: Option<f64>,
}

/// The two levels of a signal.
#[derive(Clone, PartialEq, Debug)]
pub struct LevelPair {
    /// The usual low level.
    pub low: f64,
    /// The usual high level.
    pub high: f64,
    /// Deviation of the noise around the noisier one.
    pub noise: f64,
    /// Why this is noise rather than a signal, if it is.
    pub is_noise: Option<NoiseReason>,
    /// Other levels at which the channel rests, ascending.
    pub others: Vec<f64>,
    /// Whether both drift so far that one threshold does not always separate them.
    pub wanders: bool,
    /// How often the rarer one was seen, if so seldom that it may be a glitch.
    pub rare: Option<u64>,
}

/// Why the values of a channel are noise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NoiseReason {
    /// Its levels are a few converter steps apart.
    FewSteps {
        steps: u32,
        /// Size of a step.
        step: f64,
    },
    /// Its levels are too close together for a digital signal.
    PickUp,
    /// Its values do not show two levels.
    OneLevel,
}

impl Default for Levels {
    fn default() -> Levels {
        Levels {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            values: ValueCounts::default(),
            differences: ValueCounts::default(),
            range_over_time: RangeOverTime::default(),
            before: None,
            mean: 0.0,
            spread: 0.0,
            successive: 0.0,
            volts: Some(1.0),
        }
    }
}

/// Whether a value was measured, not out of range or unknown.
pub fn is_level(value: f64) -> bool {
    value.abs() < NO_VALUE
}

impl Levels {
    /// For a channel with this many volts per unit; `None` for another quantity.
    pub fn of_unit(volts: Option<f64>) -> Levels {
        Levels { volts, ..Levels::default() }
    }

    /// Counts a level; unknown ones are ignored.
    pub fn add(&mut self, level: f64) {
        if !is_level(level) {
            self.before = None;
            return;
        }
        self.min = self.min.min(level);
        self.max = self.max.max(level);
        self.values.add(level);
        self.range_over_time.add(level);
        let from_mean = level - self.mean;
        self.mean += from_mean / self.values.count() as f64;
        self.spread += from_mean * (level - self.mean);
        if let Some(before) = self.before.replace(level) {
            self.differences.add((level - before).abs());
            self.successive += (level - before).powi(2);
        }
    }

    /// The smallest and the largest level; `None` if there was none.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }

    /// The usual low and high levels; `None` if the channel does not change.
    pub fn pair(&self) -> Option<LevelPair> {
        let distribution = Distribution::new(&self.values, &self.differences);
        let (low, high) = distribution.low_and_high()?;
        let swing = high.level - low.level;
        let near = |level: f64| distribution.spread(level - swing / 4.0, level + swing / 4.0);
        let noise = [low.level, high.level].map(near).into_iter().flatten().map(|one| one.1);
        let spread = noise.fold(0.0, f64::max);
        // Each level drifts through a band. A hysteresis as wide as the bands would miss edges, and
        // so would a threshold between values at their ends.
        let fast = distribution.fast_noise();
        let drifts = DRIFT * fast < spread && LEAST_DRIFT * swing < spread;
        let bands = drifts.then(|| distribution.bands(low.level, high.level)).flatten();
        let (low_level, high_level) = bands.unwrap_or((low.level, high.level));
        let noise = if drifts { fast } else { spread };
        Some(LevelPair {
            low: low_level,
            high: high_level,
            noise,
            is_noise: self.noise_reason(&distribution, low, high),
            others: others(&distribution.states(), low, high),
            wanders: drifts
                && bands.is_none()
                && self.wanders(&distribution, low_level, high_level),
            rare: self.rare(low, high),
        })
    }

    /// Independence of adjacent values: 2 if they are independent.
    fn whiteness(&self) -> f64 {
        if self.spread > 0.0 { self.successive / self.spread } else { 0.0 }
    }

    fn noise_reason(&self, of: &Distribution, low: State, high: State) -> Option<NoiseReason> {
        if self.values.count() < FEWEST_VALUES {
            return None;
        }
        let swing = high.level - low.level;
        if let Some(step) = of.converter_step() {
            let steps = (swing / step).round();
            if steps < FEWEST_STEPS {
                return Some(NoiseReason::FewSteps { steps: steps as u32, step });
            }
        }
        let is_white = self.whiteness() > WHITE;
        let swing_in_volts = self.volts.map(|volts| swing * volts);
        let is_below = |limit: f64| swing_in_volts.is_some_and(|swing| swing < limit);
        if of.rising().len() <= FEW_VALUES {
            let largest = low.level.abs().max(high.level.abs());
            if is_white && is_below(SMALL_SIGNAL) || swing < SMALL_SHARE * largest {
                let step = of.least_gap();
                return Some(NoiseReason::FewSteps { steps: (swing / step).round() as u32, step });
            }
        }
        if is_below(PICK_UP) {
            return Some(NoiseReason::PickUp);
        }
        let middle = (low.level + high.level) / 2.0;
        let halves = of.spread(low.level - swing, middle);
        let halves = halves.zip(of.spread(middle, high.level + swing));
        let has_one_level = halves.is_some_and(|((low, one), (high, other))| {
            let deviation = ((one.powi(2) + other.powi(2)) / 2.0).sqrt();
            high - low < NOISE_APART * deviation
        });
        (is_white && has_one_level).then_some(NoiseReason::OneLevel)
    }

    /// Whether edges, which are jumps, stay on one side of the middle for some time.
    fn wanders(&self, of: &Distribution, low: f64, high: f64) -> bool {
        let (swing, middle) = (high - low, (low + high) / 2.0);
        let usual = of.usual();
        let differences = self.differences.rising();
        let most = ValueCounts::quantile(&differences, 0.9).unwrap_or(0.0);
        let least = (DRIFT * most.max(of.fast_noise())).max(LEAST_DRIFT * swing);
        let jumps = differences.iter().filter(|one| one.value > least);
        jumps.map(|one| one.count).sum::<u64>() >= FEWEST_JUMPS
            && self.range_over_time.leaves(middle, usual)
    }

    fn rare(&self, low: State, high: State) -> Option<u64> {
        let rarer = low.count.min(high.count);
        (rarer <= 2 && self.values.count() > 100).then_some(rarer)
    }
}

impl LevelPair {
    /// The difference between both.
    pub fn swing(&self) -> f64 {
        self.high - self.low
    }

    /// The reason in words.
    pub fn noise_in_words(&self, reason: NoiseReason) -> String {
        let swing = rounded(self.swing());
        match reason {
            NoiseReason::FewSteps { steps, step } => {
                let steps = if steps == 1 { "1 step".into() } else { format!("{steps} steps") };
                format!("its swing of {swing} is {steps} of its converter ({})", rounded(step))
            }
            NoiseReason::PickUp => {
                format!("its swing of {swing} is too small for a digital signal")
            }
            NoiseReason::OneLevel => "its values show no two levels".to_string(),
        }
    }

    /// The hysteresis that keeps this noise from causing edges.
    pub fn hysteresis(&self) -> f64 {
        let share = HYSTERESIS_DEVIATIONS * self.noise / self.swing();
        share.clamp(HYSTERESIS.0, HYSTERESIS.1) * self.swing()
    }

    /// All levels at which the channel rests, ascending.
    pub fn all(&self) -> Vec<f64> {
        let mut all = [&[self.low, self.high], &self.others[..]].concat();
        all.sort_by(f64::total_cmp);
        all
    }

    /// The thresholds between its levels, ascending.
    pub fn thresholds(&self) -> Vec<f64> {
        self.all().windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect()
    }
}

/// A level to three digits.
fn rounded(level: f64) -> f64 {
    let digits = 10f64.powi(2 - level.abs().max(1e-12).log10().floor() as i32);
    (level * digits).round() / digits
}

/// States that are frequent enough and distant from both levels.
fn others(states: &[State], low: State, high: State) -> Vec<f64> {
    let least = (THIRD * low.count.min(high.count) as f64).max(10.0);
    let swing = high.level - low.level;
    let is_apart = |state: &&State| {
        let distance = (state.level - low.level).abs().min((state.level - high.level).abs());
        state.count as f64 >= least && distance > APART * swing
    };
    let mut found: Vec<f64> = states.iter().filter(is_apart).map(|state| state.level).collect();
    found.sort_by(f64::total_cmp);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers below 1 from a fixed generator.
    struct Random(u64);

    impl Random {
        fn even(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 40) as f64 / (1_u64 << 24) as f64
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.even()).sum::<f64>() - 6.0
        }
    }

    fn pair_of(values: impl IntoIterator<Item = f64>) -> LevelPair {
        let mut levels = Levels::default();
        values.into_iter().for_each(|level| levels.add(level));
        levels.pair().unwrap()
    }

    fn assert_levels(pair: &LevelPair, low: f64, high: f64) {
        let near = |one: f64, other: f64| (one - other).abs() < 0.06 * (high - low);
        assert!(near(pair.low, low) && near(pair.high, high), "{pair:?}");
        assert_eq!(pair.is_noise, None, "{pair:?}");
    }

    /// A square wave with noise of a deviation of 30 mV.
    fn square(count: usize, period: usize, high: usize) -> impl Iterator<Item = f64> {
        let mut random = Random(7);
        (0..count).map(move |at| {
            let level = if at % period < high { 3.3 } else { 0.0 };
            level + 0.03 * random.normal()
        })
    }

    #[test]
    fn ringing_does_not_move_the_levels() {
        let ringing = [0.0, 0.01, 3.3, 3.31, 0.0, 3.3].repeat(100);
        let pair = pair_of(ringing.into_iter().chain([5.1, -1.2]));
        assert_levels(&pair, 0.0, 3.3);
        assert_eq!(pair.rare, None);
    }

    #[test]
    fn a_few_values_far_outside_do_not_move_the_levels() {
        for (count, outliers) in [(1_000, 4), (20_000, 1), (100_000, 40)] {
            for far in [-50.0, 6.9, 8.4, 12.0, 1e4] {
                let outside = (0..outliers).map(|_| far);
                assert_levels(&pair_of(outside.chain(square(count, 100, 50))), 0.0, 3.3);
                let scattered = square(count, 100, 50).enumerate();
                let every = count / outliers;
                let value = |(at, level)| if at % every == every / 2 { far } else { level };
                assert_levels(&pair_of(scattered.map(value)), 0.0, 3.3);
            }
        }
    }

    #[test]
    fn short_pulses_have_their_level() {
        assert_levels(&pair_of(square(1_000_000, 10_000, 5)), 0.0, 3.3);
        assert_levels(&pair_of(square(2_500, 2_500, 3)), 0.0, 3.3);
        // On a hum of 50 mV.
        let hum = |at: usize| 0.025 * (at as f64 / 300.0).sin();
        let pulses = square(500_000, 10_000, 10).enumerate();
        assert_levels(&pair_of(pulses.map(|(at, level)| level + hum(at))), 0.0, 3.3);
    }

    #[test]
    fn a_waveform_without_rests_has_its_ends() {
        let triangle = |at: usize| (at as f64 / 100.0 % 2.0 - 1.0).abs();
        assert_levels(&pair_of((0..20_000).map(triangle)), 0.0, 1.0);
        let with_spike = (0..20_000).map(triangle).chain([9.0]);
        assert_levels(&pair_of(with_spike), 0.0, 1.0);
        assert_levels(&pair_of((0..20_000).map(|at| (at as f64 / 50.0).sin())), -1.0, 1.0);
    }

    #[test]
    fn noise_is_no_signal() {
        let mut random = Random(3);
        let normal: Vec<f64> = (0..5_000).map(|_| random.normal()).collect();
        assert_eq!(pair_of(normal.iter().copied()).is_noise, Some(NoiseReason::OneLevel));
        // The same in converter steps, in few of them, and in two.
        for (step, scale) in [(0.04, 1.0), (0.04, 0.05), (0.04, 0.02), (0.04, 0.012)] {
            let stepped = normal.iter().map(|one| (one * scale / step).round() * step);
            let found = pair_of(stepped);
            assert!(found.is_noise.is_some(), "{scale}: {found:?}");
        }
    }

    #[test]
    fn three_levels_leave_a_doubt() {
        let steps = (0..3_000).map(|at| [0.0, 1.65, 3.3][at / 50 % 3]);
        let pair = pair_of(steps);
        assert_eq!(pair.others.len(), 1, "{pair:?}");
        assert_eq!(pair.thresholds().len(), 2);
    }

    #[test]
    fn one_value_aside_may_be_a_disturbance() {
        let pair = pair_of((0..1_000).map(|at| if at == 500 { 3.3 } else { 0.0 }));
        assert_eq!((pair.low, pair.rare), (0.0, Some(1)));
    }

    #[test]
    fn the_hysteresis_follows_the_noise() {
        let mut random = Random(5);
        let noisy = (0..10_000).map(|at| f64::from(at / 50 % 2) + 0.08 * random.normal());
        let wide = pair_of(noisy).hysteresis();
        assert!((0.4..=0.6).contains(&wide), "{wide}");
        let clean = pair_of((0..1_000).map(|at| f64::from(at / 50 % 2)));
        assert!((clean.hysteresis() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn drift_is_no_noise() {
        for drift in [0.8, 1.5, 2.5, -1.5, -2.5] {
            let drifting = square(20_000, 1_000, 500).enumerate();
            let pair = pair_of(drifting.map(|(at, level)| level + drift * at as f64 / 20_000.0));
            let middle = (pair.low + pair.high) / 2.0;
            let (below, above) =
                (middle - pair.hysteresis() / 2.0, middle + pair.hysteresis() / 2.0);
            let (lows, highs) = (drift.max(0.0) + 0.1, 3.3 + drift.min(0.0) - 0.1);
            assert!(lows < below && above < highs, "{drift}: {below} to {above}, {pair:?}");
        }
    }

    #[test]
    fn any_number_is_taken() {
        let mut levels = Levels::default();
        assert_eq!(levels.pair(), None);
        let all = [f64::NAN, f64::INFINITY, 1e37, -1e37, 9.9e37, 0.0, 5e-324];
        all.iter().for_each(|level| levels.add(*level));
        assert_eq!(levels.range(), Some((-1e37, 1e37)));
        assert!(levels.pair().is_some());
    }
}
