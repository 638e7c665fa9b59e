//! A condition over time: mean, minimum and maximum of each column.

use latlab_model::Nanos;
use latlab_model::telemetry::bounded_share;
use latlab_stats::span::Grid;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    pub low: f64,
    /// Time-weighted mean.
    pub mean: f64,
    pub high: f64,
    /// Time with data, ns.
    weight: f64,
}

impl Step {
    /// Combines simultaneous values; `None` if there are none.
    pub fn of_many(all: &[Step]) -> Option<Step> {
        let low = all.iter().map(|step| step.low).reduce(f64::min)?;
        let high = all.iter().map(|step| step.high).reduce(f64::max)?;
        let mean = all.iter().map(|step| step.mean).sum::<f64>() / all.len() as f64;
        Some(Step { low, mean, high, weight: all[0].weight })
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Track {
    grid: Grid,
    steps: Vec<Option<Step>>,
}

impl Track {
    pub fn new(grid: Grid) -> Track {
        Track { grid, steps: vec![None; grid.parts()] }
    }

    /// Adds a straight line from one value to another.
    pub fn line(&mut self, from: (Nanos, f64), to: (Nanos, f64)) {
        let whole = self.grid.range_of(0).start..self.grid.range_of(self.grid.parts() - 1).end;
        let length = (to.0 - from.0).0 as f64;
        if length <= 0.0 || to.0 <= whole.start || from.0 >= whole.end {
            return;
        }
        let at = |time: Nanos| from.1 + (to.1 - from.1) * (time - from.0).0 as f64 / length;
        for part in self.grid.part(from.0)..=self.grid.part(to.0) {
            let stretch = self.grid.range_of(part);
            let (start, end) = (stretch.start.max(from.0), stretch.end.min(to.0));
            if start < end {
                self.add(part, (at(start), at(end)), (end - start).0 as f64);
            }
        }
    }

    fn add(&mut self, part: usize, (one, two): (f64, f64), weight: f64) {
        let new = Step { low: one.min(two), mean: (one + two) / 2.0, high: one.max(two), weight };
        let step = &mut self.steps[part];
        *step = Some(match *step {
            None => new,
            Some(old) => {
                let weight = old.weight + new.weight;
                Step {
                    low: old.low.min(new.low),
                    mean: old.mean + (new.mean - old.mean) * new.weight / weight,
                    high: old.high.max(new.high),
                    weight,
                }
            }
        });
    }

    pub fn is_empty(&self) -> bool {
        self.steps.iter().all(Option::is_none)
    }

    /// The data by column.
    pub fn steps(&self) -> &[Option<Step>] {
        &self.steps
    }

    /// Overall minimum and maximum.
    pub fn range(&self) -> Option<(f64, f64)> {
        let known = self.steps.iter().flatten();
        known.map(|step| (step.low, step.high)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

/// A gauge, in thousandths of the drawn unit.
#[derive(Clone, PartialEq, Debug)]
pub struct Gauge {
    last: Option<(Nanos, f64)>,
    track: Track,
}

impl Gauge {
    pub fn new(grid: Grid) -> Gauge {
        Gauge { last: None, track: Track::new(grid) }
    }

    /// Adds a row; values between two rows are interpolated.
    pub fn push(&mut self, at: Nanos, value: Option<i64>) {
        let next = value.map(|value| (at, value as f64 / 1e3));
        if let (Some(last), Some(next)) = (self.last, next) {
            self.track.line(last, next);
        }
        self.last = next;
    }

    pub fn track(&self) -> &Track {
        &self.track
    }
}

/// A counter of CPU time in nanoseconds; drawn as percent of a CPU.
#[derive(Clone, PartialEq, Debug)]
pub struct Counter {
    last: Option<(Nanos, i64)>,
    track: Track,
}

impl Counter {
    pub fn new(grid: Grid) -> Counter {
        Counter { last: None, track: Track::new(grid) }
    }

    /// Adds a row; a smaller value means that the counter restarted.
    pub fn push(&mut self, at: Nanos, value: Option<i64>) {
        let next = value.map(|value| (at, value));
        if let (Some((then, before)), Some((now, after))) = (self.last, next)
            && after >= before
            && now > then
        {
            let share = bounded_share((after - before) as f64 / (now - then).0 as f64);
            if let Some(percent) = share.map(|share| 100.0 * share) {
                self.track.line((then, percent), (now, percent));
            }
        }
        self.last = next;
    }

    pub fn track(&self) -> &Track {
        &self.track
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid::new(&(Nanos(0)..Nanos(100)), 10, Nanos(1))
    }

    #[test]
    fn a_line_over_several_columns_is_in_each_of_them() {
        let mut gauge = Gauge::new(grid());
        gauge.push(Nanos(5), Some(0));
        gauge.push(Nanos(25), Some(20_000));
        gauge.push(Nanos(40), None);
        gauge.push(Nanos(50), Some(7_000));
        let known: Vec<_> = gauge
            .track()
            .steps()
            .iter()
            .map(|step| step.map(|s| (s.low, s.mean, s.high)))
            .collect();
        assert_eq!(
            known[..3],
            [Some((0.0, 2.5, 5.0)), Some((5.0, 10.0, 15.0)), Some((15.0, 17.5, 20.0)),]
        );
        assert!(known[3..].iter().all(Option::is_none));
    }

    #[test]
    fn a_short_peak_is_not_lost_in_its_column() {
        let mut counter = Counter::new(grid());
        for (at, value) in [(20, 0), (26, 0), (27, 1), (29, 1), (35, 0)] {
            counter.push(Nanos(at), Some(value));
        }
        let steps = counter.track().steps();
        let peak = steps[2].unwrap();
        assert_eq!((peak.low, peak.high), (0.0, 100.0));
        assert!((peak.mean - 100.0 / 9.0).abs() < 1e-9);
        assert_eq!(steps[3], None, "it began anew");
    }
}
