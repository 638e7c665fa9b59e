//! The time axis: since the first release, in a unit that fits the range.

use crate::pictures::svg::n;
use crate::units::trimmed;
use latlab_model::Nanos;
use std::ops::Range;

/// A unit, and the customary tick distances in it.
struct Unit {
    name: &'static str,
    nanos: f64,
    steps: &'static [f64],
}

const UNITS: [Unit; 5] = [
    Unit { name: "us", nanos: 1e3, steps: &[] },
    Unit { name: "ms", nanos: 1e6, steps: &[] },
    Unit { name: "s", nanos: 1e9, steps: &[1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0] },
    Unit { name: "min", nanos: 6e10, steps: &[1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0] },
    Unit { name: "h", nanos: 3.6e12, steps: &[1.0, 2.0, 3.0, 4.0, 6.0, 12.0, 24.0, 48.0, 72.0] },
];

#[derive(Clone, Debug)]
pub struct TimeAxis {
    pub left: f64,
    pub right: f64,
    start: Nanos,
    whole: Range<Nanos>,
}

impl TimeAxis {
    /// From one end of a range to the other; labels count from the start of the run.
    pub fn new(left: f64, right: f64, start: Nanos, whole: Range<Nanos>) -> TimeAxis {
        TimeAxis { left, right, start, whole }
    }

    /// Horizontal coordinate of a time; times outside of the range are clamped to its ends.
    pub fn x(&self, at: Nanos) -> f64 {
        let length = (self.whole.end - self.whole.start).0 as f64;
        let share = (at - self.whole.start).0 as f64 / length;
        self.left + share.clamp(0.0, 1.0) * (self.right - self.left)
    }

    pub fn holds(&self, at: Nanos) -> bool {
        self.whole.start <= at && at <= self.whole.end
    }

    fn unit(&self) -> &'static Unit {
        let length = (self.whole.end - self.whole.start).0 as f64;
        // Far from the start small units would need many digits.
        let length = length.max(((self.whole.start - self.start).0 as f64).min(2e9));
        &UNITS[match length {
            l if l < 2e6 => 0,
            l if l < 2e9 => 1,
            l if l < 181e9 => 2,
            l if l < 3.0 * 3.6e12 => 3,
            _ => 4,
        }]
    }

    pub fn title(&self) -> String {
        format!("Time since the first release in {}", self.unit().name)
    }

    /// Positions and labels of the ticks.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let unit = self.unit();
        let length = (self.whole.end - self.whole.start).0 as f64 / unit.nanos;
        let wanted = ((self.right - self.left) / 80.0).clamp(2.0, 12.0);
        let known = unit.steps.iter().copied().find(|step| *step >= length / wanted * 0.999);
        let step = match unit.steps.first() {
            Some(least) if length / wanted >= *least * 0.5 => known,
            _ => None,
        };
        let step = step.unwrap_or_else(|| crate::pictures::axis::one_two_five(length / wanted));
        let from = (self.whole.start - self.start).0 as f64 / unit.nanos;
        let first = (from / step - 1e-9).ceil();
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let at = |index: usize| (first + index as f64) * step;
        (0..40)
            .map(at)
            .take_while(|value| *value <= from + length * (1.0 + 1e-9))
            .map(|value| {
                let time = self.start + Nanos((value * unit.nanos).round() as i64);
                (self.x(time), trimmed(format!("{value:.decimals$}")))
            })
            .collect()
    }

    /// The coordinates of a time span, formatted for a path.
    pub fn pair(&self, from: Nanos, to: Nanos) -> (String, String) {
        (n(self.x(from)), n(self.x(to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(seconds: f64, width: f64) -> (String, Vec<String>) {
        let start = Nanos(7_000);
        let end = start + Nanos((seconds * 1e9) as i64);
        let axis = TimeAxis::new(0.0, width, start, start..end);
        (axis.unit().name.to_string(), axis.ticks().into_iter().map(|(_, name)| name).collect())
    }

    #[test]
    fn ticks_have_numbers_that_people_know() {
        let plain = |(unit, names): (String, Vec<String>)| format!("{} {unit}", names.join(" "));
        assert_eq!(plain(names(60.003, 880.0)), "0 10 20 30 40 50 60 s");
        assert_eq!(plain(names(60.0, 320.0)), "0 15 30 45 60 s");
        assert_eq!(plain(names(3_600.0, 880.0)), "0 10 20 30 40 50 60 min");
        assert_eq!(plain(names(86_400.0, 880.0)), "0 3 6 9 12 15 18 21 24 h");
        assert_eq!(plain(names(18_000.0, 400.0)), "0 1 2 3 4 5 h");
        assert_eq!(plain(names(0.01, 320.0)), "0 5 10 ms");
        assert_eq!(plain(names(3.0, 880.0)), "0 0.5 1 1.5 2 2.5 3 s");
        assert_eq!(plain(names(86_400.0 * 300.0, 880.0)).split(' ').count(), 9);
    }

    #[test]
    fn a_window_counts_from_the_first_release_of_the_run() {
        let start = Nanos(1_000_000_000_000);
        let from = start + Nanos(3_600_500_000_000);
        let axis = TimeAxis::new(100.0, 500.0, start, from..from + Nanos(4_000_000_000));
        let ticks = axis.ticks();
        assert_eq!(ticks[0], (150.0, "3601".to_string()));
        assert_eq!((axis.x(Nanos(0)), axis.x(Nanos::MAX)), (100.0, 500.0));
    }
}
