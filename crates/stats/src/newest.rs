//! Whether the newest values of a series lie above those before them.
//!
//! A step of one to three values is too short for a search of the whole series, and tested one by
//! one each value hides the others. So they are tested together, by Student's t, against all before
//! them. The variance of both means allows for values that depend on their neighbours (AR(1);
//! Bayley and Hammersley 1946), and outliers are winsorised.

use crate::special::{student_above, student_beyond};

/// At most this many of the newest values are tested together.
pub const MOST_NEWEST: usize = 3;
/// Probability of a false alarm per look at a series without a step: one in a thousand looks.
pub const FALSE_ALARMS: f64 = 0.001;
/// Power at which the smallest visible step is stated.
const POWER: f64 = 0.8;
/// Values further from the median than this many deviations are moved there.
const FAR: f64 = 3.0;
/// Each of the newest values has at least this share of the total height.
const LEAST_SHARE: f64 = 0.25;
/// Standard deviation of a normal distribution in units of the median absolute deviation.
const MEDIAN_DEVIATION: f64 = 1.4826;

/// How values scatter around their levels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scatter {
    /// Standard deviation of one value.
    pub deviation: f64,
    /// Correlation between neighbouring values.
    pub correlation: f64,
    /// Degrees of freedom of the deviation.
    freedom: f64,
    /// Standard error of the correlation.
    doubt: f64,
}

/// The newest values compared with those before.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NewestStep {
    /// Number of values tested.
    pub values: usize,
    /// How far they lie above the others.
    pub height: f64,
    /// 95 % confidence interval of the height.
    pub interval: (f64, f64),
    /// Probability of values this high without a step.
    pub p: f64,
    /// Whether values this high occurred before, often enough that these are nothing new.
    pub is_usual: bool,
}

impl Scatter {
    /// Scatter of levels, each around its median; `None` with too few values.
    pub fn of(levels: &[&[f64]]) -> Option<Scatter> {
        let around = |level: &&[f64]| -> Vec<f64> {
            let middle = median(level);
            level.iter().map(|value| value - middle).collect()
        };
        let rests: Vec<f64> = levels.iter().flat_map(around).collect();
        let count = rests.len() as f64;
        if count < levels.len() as f64 + 3.0 {
            return None;
        }
        let sizes: Vec<f64> = rests.iter().map(|rest| rest.abs()).collect();
        let far = match median(&sizes) {
            usual if usual > 0.0 => FAR * MEDIAN_DEVIATION * usual,
            _ => f64::INFINITY,
        };
        let rests: Vec<f64> = rests.iter().map(|rest| rest.clamp(-far, far)).collect();
        let squares: f64 = rests.iter().map(|rest| rest * rest).sum();
        let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let seen = if squares > 0.0 { products / squares } else { 0.0 };
        // Correlation around a sample mean is biased low (Kendall 1954).
        let correlation = ((seen * count + 1.0) / (count - 3.0)).clamp(0.0, 0.99);
        let longest = levels.iter().map(|level| level.len()).max().unwrap_or(1) as f64;
        let freedom = (count - levels.len() as f64) * (1.0 - correlation) / (1.0 + correlation);
        let freedom = freedom.max(1.0);
        // So is the deviation of a level that is short compared with its correlation.
        let lost = variance_of_mean(longest, correlation).min(0.9);
        let variance =
            squares / (count - levels.len() as f64) / (1.0 - lost) * (1.0 - 1.0 / longest);
        let doubt = 1.0 / count.sqrt();
        Some(Scatter { deviation: variance.sqrt(), correlation, freedom, doubt })
    }

    /// Effective number of neighbours per independent value, for the largest plausible correlation.
    pub fn alike(&self) -> usize {
        let correlation = self.correlation_at_most();
        ((1.0 + correlation) / (1.0 - correlation)).max(1.0) as usize
    }

    /// The correlation plus its standard error, at most twice the correlation: uncorrelated values
    /// are not penalised.
    pub fn correlation_at_most(&self) -> f64 {
        (self.correlation + self.doubt).min(2.0 * self.correlation).min(0.9)
    }

    /// Standard error of the difference between the newest values and those before.
    fn error(&self, before: usize, newest: usize) -> f64 {
        let of = |count: usize| variance_of_mean(count as f64, self.correlation);
        self.deviation * (of(before) + of(newest)).sqrt()
    }

    /// The newest values against those before; `None` without any, or if one of them does not lie
    /// above.
    pub fn newest(&self, before: &[f64], newest: &[f64]) -> Option<NewestStep> {
        if before.is_empty() || newest.is_empty() {
            return None;
        }
        let middle = median(before);
        let height = newest.iter().sum::<f64>() / newest.len() as f64 - middle;
        // One high value must not lift the others.
        let lowest = newest.iter().copied().fold(f64::INFINITY, f64::min);
        if lowest - middle < height * LEAST_SHARE {
            return None;
        }
        let error = self.error(before.len(), newest.len());
        let reach = student_above(self.freedom, 0.025) * error;
        let p = match (error > 0.0, height > 0.0) {
            (true, true) => student_beyond(self.freedom, height / error) / 2.0,
            (false, true) => 0.0,
            _ => 1.0,
        };
        let interval = (height - reach, height + reach);
        // Single high values in the past also occur in a row by chance, which the deviation does
        // not show.
        let as_high = before.iter().filter(|value| **value >= lowest).count() as f64;
        let share = (as_high + 1.0) / (before.len() as f64 + 1.0);
        let is_usual = as_high > 0.0 && share.powi(newest.len() as i32) > alarm();
        Some(NewestStep { values: newest.len(), height, interval, p, is_usual })
    }

    /// The smallest step of the newest [`MOST_NEWEST`] values that is seen in four of five cases.
    pub fn smallest_step(&self, before: usize) -> f64 {
        let alarm = student_above(self.freedom, alarm());
        let power = student_above(self.freedom, 1.0 - POWER);
        (alarm + power) * self.error(before.max(1), MOST_NEWEST)
    }
}

/// Significance level of each test: the tested numbers of newest values share the false alarms.
pub fn alarm() -> f64 {
    FALSE_ALARMS / MOST_NEWEST as f64
}

/// Variance of the mean of `count` values of variance 1 with this correlation of neighbours.
fn variance_of_mean(count: f64, correlation: f64) -> f64 {
    let rest = 1.0 - correlation;
    let whole = (1.0 + correlation) / rest;
    let ends = 2.0 * correlation * (1.0 - correlation.powf(count)) / (count * rest * rest);
    (whole - ends) / count
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    crate::rank::median(&sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0
    }

    #[test]
    fn the_variance_of_a_mean_grows_with_dependence() {
        assert!((variance_of_mean(4.0, 0.0) - 0.25).abs() < 1e-12);
        // For two values: (1 + r) / 2.
        assert!((variance_of_mean(2.0, 0.5) - 0.75).abs() < 1e-12);
        assert!((variance_of_mean(1.0, 0.7) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_came_before_is_usual() {
        let mut before: Vec<f64> = (0..28).map(|at| 0.01 * f64::from(at % 5)).collect();
        let scatter = Scatter::of(&[&before]).unwrap();
        assert!(!scatter.newest(&before, &[1.0, 1.1]).unwrap().is_usual);
        before[3] = 1.1;
        assert!(scatter.newest(&before, &[1.0, 1.1]).unwrap().is_usual);
        assert!(!scatter.newest(&before, &[1.2, 1.3]).unwrap().is_usual, "higher than all before");
    }

    #[test]
    fn few_high_values_are_seen_and_a_walk_is_none() {
        let mut alarms = 0;
        for seed in 0..300 {
            let random = &mut Random::new(seed);
            let mut still: Vec<f64> = (0..30).map(|_| 0.02 * normal(random)).collect();
            let scatter = Scatter::of(&[&still[..28]]).unwrap();
            let found = scatter.newest(&still[..28], &still[28..]);
            alarms += usize::from(found.is_some_and(|found| found.p < alarm()));
            for value in &mut still[28..] {
                *value += 1.5_f64.ln();
            }
            let high = scatter.newest(&still[..28], &still[28..]).unwrap();
            assert!(high.p < alarm() && (high.height - 1.5_f64.ln()).abs() < 0.1, "{high:?}");
        }
        assert!(alarms <= 2, "{alarms} of 300");
        let mut seen = 0;
        for seed in 0..100 {
            let random = &mut Random::new(seed);
            let mut at = 0.0;
            let walk: Vec<f64> = (0..30)
                .map(|_| {
                    at += 0.1 * normal(random);
                    at
                })
                .collect();
            let scatter = Scatter::of(&[&walk[..27]]).unwrap();
            let found = scatter.newest(&walk[..27], &walk[27..]);
            seen += usize::from(found.is_some_and(|found| found.p < alarm()));
        }
        assert!(seen <= 2, "{seen} of 100 walks");
        assert_eq!(Scatter::of(&[&[1.0, 2.0, 3.0]]), None);
    }
}
