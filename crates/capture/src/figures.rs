//! Statistics of responses, exact as far as they fit into memory.

/// With more responses only order-free statistics are exact.
const MOST_KEPT: usize = 1 << 20;

/// Collects delays.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DelayFigures {
    count: u64,
    mean: f64,
    /// Sum of the squared distances from the mean.
    spread: f64,
    sum: i128,
    min: Option<i64>,
    max: Option<i64>,
    kept: Vec<i64>,
}

impl DelayFigures {
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

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn min_ps(&self) -> Option<i64> {
        self.min
    }

    pub fn max_ps(&self) -> Option<i64> {
        self.max
    }

    pub fn mean_ps(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation, for two or more delays.
    pub fn deviation_ps(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.spread / (self.count - 1) as f64).sqrt())
    }

    /// All delays in ascending order; `None` if there were too many to keep.
    pub fn sorted(mut self) -> Option<Vec<i64>> {
        let is_whole = self.kept.len() as u64 == self.count;
        self.kept.sort_unstable();
        is_whole.then_some(self.kept)
    }
}

/// The median of ascending numbers: for an even count the mean of the middle two.
pub fn median_of(rising: &[i64]) -> Option<f64> {
    let middle = rising.len() / 2;
    let upper = *rising.get(middle)? as f64;
    match rising.len().is_multiple_of(2) {
        true => Some((rising[middle - 1] as f64 + upper) / 2.0),
        false => Some(upper),
    }
}
