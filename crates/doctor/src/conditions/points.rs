//! A series as it comes out of the table: points between which it is a straight line.

use latlab_model::Nanos;

/// The points of one series, in their order; none where it was not there.
#[derive(Clone, Default, Debug)]
pub struct Points(Vec<(Nanos, Option<i64>)>);

impl Points {
    /// Adds the next one; one that is not later than the last is left out.
    pub fn push(&mut self, at: Nanos, value: Option<i64>) {
        if self.0.last().is_none_or(|(last, _)| at > *last) {
            self.0.push((at, value));
        }
    }

    /// All points that are there.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = (Nanos, i64)> + '_ {
        self.0.iter().filter_map(|&(at, value)| Some((at, value?)))
    }

    /// The value at a time; none before the first, after the last and where it was not there.
    pub fn at(&self, time: Nanos) -> Option<f64> {
        let after = self.0.partition_point(|(at, _)| *at < time);
        let &(next_at, next) = self.0.get(after)?;
        if next_at == time {
            return next.map(|value| value as f64);
        }
        let &(before_at, before) = self.0.get(after.checked_sub(1)?)?;
        let (before, next) = (before? as f64, next? as f64);
        let part = (time - before_at).0 as f64 / (next_at - before_at).0 as f64;
        Some(before + (next - before) * part)
    }

    /// What a counter grew by in this time; none where that is unknown or it began anew.
    pub fn growth(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let growth = self.at(to)? - self.at(from)?;
        (growth >= 0.0).then_some(growth)
    }
}

/// A stretch of time, both ends in it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stretch {
    /// From when on.
    pub from: Nanos,
    /// Until when.
    pub to: Nanos,
}

/// The stretches in which something held, of steps that each last from one time to the next; a
/// pause of up to two steps does not end one.
pub fn stretches(times: &[Nanos], holds: impl Fn(usize) -> bool) -> Vec<Stretch> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for step in (0..times.len().saturating_sub(1)).filter(|&step| holds(step)) {
        match found.last_mut() {
            Some((_, end)) if step <= *end + 2 => *end = step + 1,
            _ => found.push((step, step + 1)),
        }
    }
    found.into_iter().map(|(from, to)| Stretch { from: times[from], to: times[to] }).collect()
}

/// The middle of some numbers.
pub fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = sorted.get(middle)?;
    Some(match sorted.len() % 2 {
        0 => (sorted[middle - 1] + upper) / 2.0,
        _ => *upper,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(all: &[(i64, Option<i64>)]) -> Points {
        let mut points = Points::default();
        all.iter().for_each(|&(at, value)| points.push(Nanos(at), value));
        points
    }

    #[test]
    fn between_two_points_is_a_straight_line() {
        let points = points(&[(10, Some(0)), (20, Some(100)), (30, None), (40, Some(7))]);
        let at = |time| points.at(Nanos(time));
        assert_eq!((at(9), at(10), at(15), at(20)), (None, Some(0.0), Some(50.0), Some(100.0)));
        assert_eq!((at(25), at(30), at(35), at(40), at(41)), (None, None, None, Some(7.0), None));
        assert_eq!(points.growth(Nanos(10), Nanos(20)), Some(100.0));
        assert_eq!(points.growth(Nanos(20), Nanos(40)), None, "it began anew");
    }

    #[test]
    fn stretches_bridge_short_pauses() {
        let times: Vec<Nanos> = (0..=10).map(Nanos).collect();
        let found = stretches(&times, |step| [1, 3, 8].contains(&step));
        let stretch = |from, to| Stretch { from: Nanos(from), to: Nanos(to) };
        assert_eq!(found, [stretch(1, 4), stretch(8, 9)]);
        assert_eq!(stretches(&[], |_| true), []);
    }

    #[test]
    fn the_median_of_nothing_is_none() {
        assert_eq!(median([3.0, 1.0, f64::NAN].into_iter()), Some(2.0));
        assert_eq!(median([5.0, 1.0, 3.0].into_iter()), Some(3.0));
        assert_eq!(median(std::iter::empty()), None);
    }
}
