//! The figures of responses, exact as far as they fit into memory.

/// Of more responses only the figures that need no order are exact.
const MOST_KEPT: usize = 1 << 20;

/// Gathers delays.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DelayFigures {
    count: u64,
    mean: f64,
    /// Sum of the squares of the distances from the mean.
    spread: f64,
    sum: i128,
    min: Option<i64>,
    max: Option<i64>,
    kept: Vec<i64>,
}

impl DelayFigures {
    /// Takes in a delay.
    pub fn add(&mut self, delay_ps: i64) {
        self.count += 1;
        let before = self.mean;
        self.mean += (delay_ps as f64 - before) / self.count as f64;
        self.spread += (delay_ps as f64 - before) * (delay_ps as f64 - self.mean);
        self.sum += i128::from(delay_ps);
        self.min = Some(self.min.map_or(delay_ps, |min| min.min(delay_ps)));
        self.max = self.max.max(Some(delay_ps));
        if self.kept.len() < MOST_KEPT {
            self.kept.push(delay_ps);
        }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest.
    pub fn min_ps(&self) -> Option<i64> {
        self.min
    }

    /// The largest.
    pub fn max_ps(&self) -> Option<i64> {
        self.max
    }

    /// Mean.
    pub fn mean_ps(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation, of two or more.
    pub fn deviation_ps(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.spread / (self.count - 1) as f64).sqrt())
    }

    /// All delays in rising order; none where there were too many to keep.
    pub fn sorted(mut self) -> Option<Vec<i64>> {
        let is_whole = self.kept.len() as u64 == self.count;
        self.kept.sort_unstable();
        is_whole.then_some(self.kept)
    }
}

/// The median of numbers in rising order: of an even count the middle of the two in the middle.
pub fn median_of(rising: &[i64]) -> Option<f64> {
    let middle = rising.len() / 2;
    let upper = *rising.get(middle)? as f64;
    match rising.len().is_multiple_of(2) {
        true => Some((rising[middle - 1] as f64 + upper) / 2.0),
        false => Some(upper),
    }
}
