//! The two levels of a signal, found without knowing its range before.

/// Bins of the levels; the range grows by doubling.
const BINS: usize = 512;

/// How often which level was seen.
#[derive(Clone, PartialEq, Debug)]
pub struct Levels {
    min: f64,
    max: f64,
    /// Lower edge of the first bin, and the width of each.
    from: f64,
    width: f64,
    bins: Vec<u64>,
}

impl Default for Levels {
    fn default() -> Levels {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Levels { min, max, from: 0.0, width: 0.0, bins: Vec::new() }
    }
}

impl Levels {
    /// Takes in a level; unknown ones are none.
    pub fn add(&mut self, level: f64) {
        if !level.is_finite() {
            return;
        }
        self.min = self.min.min(level);
        self.max = self.max.max(level);
        if self.bins.is_empty() {
            self.width = (level.abs() * 1e-6).max(1e-12);
            self.from = level - self.width * (BINS / 2) as f64;
            self.bins = vec![0; BINS];
        }
        while !self.holds(level) {
            self.grow(level < self.from);
            if !self.width.is_finite() {
                return;
            }
        }
        let bin = ((level - self.from) / self.width) as usize;
        self.bins[bin.min(BINS - 1)] += 1;
    }

    fn holds(&self, level: f64) -> bool {
        level >= self.from && level < self.from + self.width * BINS as f64
    }

    /// Twice the range, downwards or upwards.
    fn grow(&mut self, down: bool) {
        let old = std::mem::replace(&mut self.bins, vec![0; BINS]);
        if down {
            self.from -= self.width * BINS as f64;
        }
        let first = if down { BINS / 2 } else { 0 };
        for (index, count) in old.into_iter().enumerate() {
            self.bins[first + index / 2] += count;
        }
        self.width *= 2.0;
    }

    /// The smallest and the largest level; none where nothing was seen.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.min <= self.max).then_some((self.min, self.max))
    }

    /// The usual low and the usual high level: what was seen most often in either half of the
    /// range, so that ringing at the edges does not count.
    pub fn low_and_high(&self) -> Option<(f64, f64)> {
        let (min, max) = self.range()?;
        if min == max {
            return Some((min, max));
        }
        let middle = (min + max) / 2.0;
        let level = |bin: usize| self.from + (bin as f64 + 0.5) * self.width;
        let usual = |is_high: bool| {
            let half = (0..BINS).filter(|bin| (level(*bin) > middle) == is_high);
            half.max_by_key(|bin| self.bins[*bin]).map(level)
        };
        let (low, high) = (usual(false)?, usual(true)?);
        Some((low.clamp(min, middle), high.clamp(middle, max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ringing_does_not_move_the_levels() {
        let mut levels = Levels::default();
        for _ in 0..100 {
            [0.0, 0.01, 3.3, 3.31, 0.0, 3.3].iter().for_each(|level| levels.add(*level));
        }
        levels.add(5.1);
        levels.add(-1.2);
        let (low, high) = levels.low_and_high().unwrap();
        assert!(low.abs() < 0.05 && (high - 3.3).abs() < 0.05, "{low} {high}");
        assert_eq!(levels.range(), Some((-1.2, 5.1)));
    }

    #[test]
    fn any_number_is_taken() {
        let mut levels = Levels::default();
        assert_eq!(levels.low_and_high(), None);
        let all = [f64::NAN, f64::INFINITY, 1e308, -1e308, 0.0, 5e-324];
        all.iter().for_each(|level| levels.add(*level));
        assert_eq!(levels.range(), Some((-1e308, 1e308)));
    }
}
