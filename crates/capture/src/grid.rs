//! Finds the step of a capture's times from the times themselves.

use std::collections::BTreeSet;

/// Number of shortest distances kept.
const MOST_DISTANCES: usize = 256;
/// Number of different distances required, as few may share a step by chance.
const FEWEST_DISTANCES: usize = 3;
/// A rounded step is found only if it is at least this many times the rounding unit.
const COARSER: i64 = 8;
/// A length confirms a step if it can be off by at most this share of it.
const TELLING: f64 = 0.2;
/// Number of lengths that must confirm a rounded step.
const CONFIRMING: usize = 6;

/// Collects times, in any order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TimeGrid {
    before: Option<i64>,
    /// The greatest common step of all times.
    exact: i64,
    distances: BTreeSet<i64>,
}

impl TimeGrid {
    pub fn add(&mut self, at_ps: i64) {
        if let Some(before) = self.before.replace(at_ps)
            && before != at_ps
        {
            self.add_distance(at_ps.saturating_sub(before).saturating_abs());
        }
    }

    pub fn add_distance(&mut self, distance_ps: i64) {
        if distance_ps <= 0 {
            return;
        }
        self.exact = common_step(self.exact, distance_ps);
        let is_full = self.distances.len() >= MOST_DISTANCES;
        if is_full && self.distances.last().is_some_and(|largest| *largest <= distance_ps) {
            return;
        }
        if self.distances.insert(distance_ps) && is_full {
            self.distances.pop_last();
        }
    }

    /// The step of times that were rounded to `unit_ps`; `None` if they show no longer one.
    pub fn step_ps(&self, unit_ps: i64) -> Option<i64> {
        if self.distances.len() < FEWEST_DISTANCES {
            return None;
        }
        // Times that are not multiples of their own unit come from binary fractions.
        let exact = (self.exact > unit_ps).then_some(self.exact);
        exact.or_else(|| self.rounded_step(unit_ps))
    }

    /// A step that is not a whole number of units: rounding moves each time by at most half a unit.
    fn rounded_step(&self, unit_ps: i64) -> Option<i64> {
        let shortest = *self.distances.first()?;
        // Differences of distances are steps as well, and may be smaller.
        let differences = self.distances.iter().map(|distance| distance - shortest);
        let mut lengths: Vec<i64> = self.distances.iter().copied().chain(differences).collect();
        lengths.retain(|length| *length > 2 * unit_ps);
        lengths.sort_unstable();
        let off = 2.0 * unit_ps as f64;
        let (mut step, mut error) = (*lengths.first()? as f64, off);
        for &length in lengths.iter().take_while(|length| **length < COARSER * shortest) {
            let steps = (length as f64 / step).floor();
            let rest = distance_to_multiple(length as f64, step);
            if rest > off + steps * error {
                (step, error) = (rest, off + steps * error);
            }
        }
        // Each length known to be a number of steps improves the estimate.
        let mut confirmed = 0;
        for &length in &lengths {
            let steps = (length as f64 / step).round().max(1.0);
            if steps * error > 0.3 * step {
                break;
            }
            if (length as f64 - steps * step).abs() > off + steps * error {
                return None;
            }
            confirmed += usize::from(off + steps * error < TELLING * step);
            if off / steps < error {
                (step, error) = (length as f64 / steps, off / steps);
            }
        }
        let is_coarse = step >= (COARSER * unit_ps) as f64;
        (is_coarse && confirmed >= CONFIRMING).then(|| step.round() as i64)
    }
}

fn distance_to_multiple(distance: f64, step: f64) -> f64 {
    let rest = distance % step;
    rest.min(step - rest)
}

/// The greatest step of which both lengths are multiples; the other one if one is zero.
pub fn common_step(mut one: i64, mut other: i64) -> i64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times at these numbers of a clock's period in femtoseconds, rounded to a unit.
    fn step(numbers: impl IntoIterator<Item = i64>, period_fs: i64, unit_ps: i64) -> Option<i64> {
        let mut grid = TimeGrid::default();
        for number in numbers {
            let unit_fs = unit_ps * 1_000;
            let at = (number * period_fs + unit_fs / 2).div_euclid(unit_fs) * unit_ps;
            grid.add(at);
        }
        grid.step_ps(unit_ps)
    }

    #[test]
    fn times_on_a_coarser_grid_show_it() {
        let numbers = [0, 12, 500, 1_000, 1_017, 1_500, 2_003];
        assert_eq!(step(numbers, 1_000_000_000, 1), Some(1_000_000));
        assert_eq!(step(numbers, 62_500_000, 100), Some(62_500));
        assert_eq!(step([0, 1, 2], 1_000_000_000, 1), None, "one distance shows nothing");
        assert_eq!(step(numbers, 1_000_000, 1_000), None);
    }

    #[test]
    fn a_grid_that_was_rounded_shows_as_well() {
        let numbers = [0, 1, 3, 4, 9, 20, 22, 57, 83, 200, 1_000, 1_003];
        let of_nanoseconds = step(numbers, 41_666_667, 1_000).unwrap();
        assert!((of_nanoseconds - 41_667).abs() < 3, "{of_nanoseconds}");
        assert_eq!(step(numbers, 41_666_667, 1), Some(41_667));
        // No step is invented where there is none.
        let anyhow = [0, 1_013, 3_001, 7_919, 12_553, 20_011, 31_337];
        assert_eq!(step(anyhow, 1_000_000, 1_000), None);
    }
}
