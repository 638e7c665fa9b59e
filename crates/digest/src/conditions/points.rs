//! A series as stored in the table: points with linear interpolation between them.

use latlab_model::Nanos;

/// The points of one series, in order.
#[derive(Clone, Default, Debug)]
pub struct Points(Vec<Point>);

/// A value as it was read.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// The time of its reading, which all series share.
    at: Nanos,
    /// The time at which its file was read.
    read_at: Nanos,
    /// `None` if it was absent.
    value: Option<i64>,
}

/// A value that was present.
#[derive(Clone, Copy, Debug)]
pub struct ReadValue {
    /// The time of its reading.
    pub at: Nanos,
    /// The time at which its file was read.
    pub read_at: Nanos,
    pub value: i64,
}

impl Points {
    /// Adds the next one; one that is not later than the last is left out.
    pub fn push(&mut self, at: Nanos, read_at: Nanos, value: Option<i64>) {
        if self.0.last().is_none_or(|last| at > last.at && read_at > last.read_at) {
            self.0.push(Point { at, read_at, value });
        }
    }

    /// All points with a value.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = ReadValue> + '_ {
        let there =
            |&Point { at, read_at, value }: &Point| Some(ReadValue { at, read_at, value: value? });
        self.0.iter().filter_map(there)
    }

    /// The value at the time of a reading; `None` before the first, after the last and if it was
    /// absent.
    pub fn at(&self, time: Nanos) -> Option<f64> {
        self.between(time, |point| point.value.map(|value| value as f64))
    }

    /// How long after the reading's time the file was read.
    fn delay(&self, time: Nanos) -> Option<f64> {
        self.between(time, |point| Some((point.read_at - point.at).as_secs_f64()))
    }

    /// Linear interpolation between the points.
    fn between(&self, time: Nanos, number: impl Fn(&Point) -> Option<f64>) -> Option<f64> {
        let after = self.0.partition_point(|point| point.at < time);
        let next = self.0.get(after)?;
        if next.at == time {
            return number(next);
        }
        let before = self.0.get(after.checked_sub(1)?)?;
        let (first, last) = (number(before)?, number(next)?);
        let part = (time - before.at).0 as f64 / (next.at - before.at).0 as f64;
        Some(first + (last - first) * part)
    }

    /// Growth of a counter in this time; `None` if unknown or the counter was reset.
    pub fn growth(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let growth = self.at(to)? - self.at(from)?;
        (growth >= 0.0).then_some(growth)
    }

    /// Growth of a counter per second between two readings, over the time between the reads of its
    /// file.
    pub fn rate(&self, from: Nanos, to: Nanos) -> Option<f64> {
        let growth = self.growth(from, to)?;
        let seconds = (to - from).as_secs_f64() + self.delay(to)? - self.delay(from)?;
        (seconds > 0.0).then(|| growth / seconds)
    }
}

/// An interval of time, both ends inclusive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stretch {
    pub from: Nanos,
    pub to: Nanos,
}

/// The stretches in which a condition held, from steps that each last from one time to the next; a
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
        all.iter().for_each(|&(at, value)| points.push(Nanos(at), Nanos(at), value));
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

    /// Invariant (conditions): Each file of a reading has the time at which it was read.
    #[test]
    fn a_rate_is_over_the_time_between_the_readings_of_its_file() {
        let mut points = Points::default();
        let time = |tenths: i64| Nanos(tenths * 100_000_000);
        // 1000 per second; the file is read at the end of the first reading, then before it.
        for (at, delay, value) in [(10, 0, 0), (20, -4, 600), (30, -4, 1600)] {
            points.push(time(at), time(at + delay), Some(value));
        }
        let rate = |from, to| points.rate(time(from), time(to)).map(f64::round);
        assert_eq!((rate(10, 20), rate(20, 30)), (Some(1000.0), Some(1000.0)));
        assert_eq!(rate(10, 31), None);
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
