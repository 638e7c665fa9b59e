//! The latency axis: its range and scale.

use crate::pictures::area::Tick;
use crate::pictures::deadline::DeadlineMark;
use crate::terms::Terms;
use crate::units::{Scale, grouped, trimmed};
use latlab_model::{Bin, Nanos};

/// A larger ratio of maximum to p99.9 would squeeze the body of a linear axis into a corner.
const LINEAR_UP_TO: f64 = 5.0;
/// The same limit for p99, since p99.9 can be far out in the tail.
const LINEAR_UP_TO_P99: f64 = 8.0;
/// Shortest axis: ten bins of a nanosecond.
const SHORTEST: f64 = 10.0;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Spacing {
    /// Chosen by what shows these runs best.
    #[default]
    Auto,
    Linear,
    Log,
}

/// The requested latency axis.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Axis {
    /// The scale; `Auto` with an upper end is linear, since that compares best.
    pub spacing: Spacing,
    /// The lower end; `None` to fit the latencies.
    pub from: Option<Nanos>,
    /// The upper end; `None` to fit the latencies.
    pub to: Option<Nanos>,
}

impl Axis {
    /// Linear from zero to here, which makes charts comparable.
    pub fn linear_to(end: Nanos) -> Axis {
        Axis { spacing: Spacing::Linear, from: None, to: Some(end) }
    }

    /// Logarithmic, with the range that the latencies need.
    pub fn log() -> Axis {
        Axis { spacing: Spacing::Log, ..Axis::default() }
    }
}

/// A latency axis, horizontal or vertical.
pub struct LatencyAxis {
    pub log: bool,
    pub from: f64,
    pub to: f64,
}

impl LatencyAxis {
    /// Fits the requested axis to these latencies.
    pub fn choose(data: &PooledLatencies, asked: Axis) -> LatencyAxis {
        let log = match asked.spacing {
            Spacing::Linear => false,
            Spacing::Log => true,
            Spacing::Auto => asked.to.is_none() && !data.body_fills_a_linear_axis(),
        };
        match log {
            true => LatencyAxis::logarithmic(data, asked),
            false => LatencyAxis::linear(data, asked),
        }
    }

    /// A requested end is final, so latencies beyond it count as outside.
    fn linear(data: &PooledLatencies, asked: Axis) -> LatencyAxis {
        let from = asked.from.map_or(0.0, |from| from.0.max(0) as f64);
        let to = match asked.to {
            Some(to) => (to.0 as f64).max(from + SHORTEST),
            None => {
                let near = data.needed <= LINEAR_UP_TO * data.max;
                let end = if near { data.needed } else { data.max };
                let to = (end * 1.02).max(from + SHORTEST);
                let step = one_two_five((to - from) / 8.0);
                (to / step).ceil() * step
            }
        };
        LatencyAxis { log: false, from, to }
    }

    fn logarithmic(data: &PooledLatencies, asked: Axis) -> LatencyAxis {
        let to = asked.to.map(|to| (to.0 as f64).max(SHORTEST));
        let needed = one_two_five_below(data.lowest_positive);
        let from = match asked.from.filter(|from| from.0 > 0) {
            Some(from) => from.0 as f64,
            None => needed.min(to.unwrap_or(f64::INFINITY) / 10.0),
        };
        let to = to.unwrap_or_else(|| one_two_five((data.needed * 1.02).max(from * 10.0)));
        LatencyAxis { log: true, from, to }
    }

    /// Position of a latency, from 0 (lower end) to 1 (upper end).
    pub fn place(&self, latency: f64) -> f64 {
        let place = match self.log {
            true => (latency.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            false => (latency - self.from) / (self.to - self.from),
        };
        place.clamp(0.0, 1.0)
    }

    /// Labelled positions for an axis of this length; a label needs `room` pixels.
    pub fn ticks(&self, pixels: f64, room: f64) -> Vec<Tick> {
        let named = match self.log {
            true => self.log_ticks(pixels, room),
            false => self.linear_ticks(pixels, room),
        };
        named.into_iter().map(|(at, name)| Tick { place: self.place(at), name }).collect()
    }

    fn linear_steps(&self, pixels: f64, room: f64) -> (f64, Vec<f64>) {
        let wanted = (pixels / room).clamp(3.0, 10.0);
        let step = one_two_five((self.to - self.from) / wanted);
        let first = (self.from / step - 1e-6).ceil() as u64;
        let last = (self.to / step + 1e-6).floor() as u64;
        (step, (first..=last).map(|index| index as f64 * step).collect())
    }

    fn linear_ticks(&self, pixels: f64, room: f64) -> Vec<(f64, String)> {
        let (step, all) = self.linear_steps(pixels, room);
        let scale = Scale::of_axis(self.end(), Nanos(step as i64));
        all.into_iter().map(|at| (at, trimmed(scale.number_f64(at)))).collect()
    }

    fn log_ticks(&self, pixels: f64, room: f64) -> Vec<(f64, String)> {
        let decades = (self.to / self.from).log10();
        let all: &[f64] = match pixels / decades {
            each if each > 1.9 * room => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        // With few pixels for many decades, only every second or third label fits.
        let every = (0.58 * room * decades / pixels).ceil().max(1.0) as i32;
        let first = self.from.log10().floor() as i32;
        let last = self.to.log10().ceil() as i32;
        let ticks: Vec<(f64, String)> = (first..=last)
            .filter(|exponent| (exponent - first) % every == 0)
            .flat_map(|exponent| all.iter().map(move |digit| digit * 10f64.powi(exponent)))
            .filter(|at| *at >= self.from * 0.999 && *at <= self.to * 1.001)
            .map(|at| (at, decimal_time(at)))
            .collect();
        match ticks.len() {
            // A part of a decade may contain none of its round numbers.
            0 | 1 => {
                let all = self.linear_steps(pixels, room).1.into_iter();
                all.map(|at| (at, Nanos(at as i64).to_string())).collect()
            }
            _ => ticks,
        }
    }

    pub fn end(&self) -> Nanos {
        Nanos(self.to as i64)
    }

    pub fn title(&self, terms: &Terms) -> String {
        match self.log {
            true => format!("{}, logarithmic", terms.axis),
            false => {
                format!("{} in {}", terms.axis, Scale::of_axis(self.end(), self.end()).unit())
            }
        }
    }
}

/// What decides the axis, from all lines together.
pub struct PooledLatencies {
    max: f64,
    /// The largest latency, or a deadline beyond it.
    needed: f64,
    lowest_positive: f64,
    p99: f64,
    p99_9: f64,
}

impl PooledLatencies {
    /// From all bins, in any order, and the largest latency.
    pub fn from_bins<'a>(
        bins: impl Iterator<Item = &'a Bin>,
        max: Option<Nanos>,
    ) -> PooledLatencies {
        let mut bins: Vec<&Bin> = bins.collect();
        bins.sort_by_key(|bin| bin.high_ns);
        let positive = bins.iter().map(|bin| match bin.low_ns {
            Nanos(..=0) => bin.high_ns.0 as f64 / 2.0,
            low => low.0 as f64,
        });
        let lowest_positive = positive.filter(|edge| *edge > 0.0).fold(f64::INFINITY, f64::min);
        let max = (max.unwrap_or_default().0 as f64).max(1.0);
        let [p99, p99_9] = [0.99, 0.999].map(|share| quantile(&bins, share).min(max));
        PooledLatencies {
            max,
            needed: max,
            lowest_positive: lowest_positive.min(max).max(1.0),
            p99,
            p99_9,
        }
    }

    /// Adds a deadline, which must fit on the axis unless it is far away.
    pub fn with(self, deadline: Option<DeadlineMark>) -> PooledLatencies {
        let needed = DeadlineMark::needed(deadline, Nanos(self.max as i64));
        PooledLatencies { needed: (needed.0 as f64).max(self.max), ..self }
    }

    /// Ignores latencies below this one.
    pub fn from(self, lowest: f64) -> PooledLatencies {
        PooledLatencies { lowest_positive: lowest.min(self.max).max(1.0), ..self }
    }

    /// Whether the body of the data stays readable on a linear axis up to the maximum.
    fn body_fills_a_linear_axis(&self) -> bool {
        self.needed <= LINEAR_UP_TO * self.p99_9 && self.needed <= LINEAR_UP_TO_P99 * self.p99
    }
}

/// Upper edge of the bin that holds this quantile.
fn quantile(rising: &[&Bin], share: f64) -> f64 {
    let all: f64 = rising.iter().map(|bin| bin.count as f64).sum();
    let mut seen = 0.0;
    for bin in rising {
        seen += bin.count as f64;
        if seen >= share * all {
            return bin.high_ns.0 as f64;
        }
    }
    0.0
}

/// The smallest of 1, 2, 5 times a power of ten that is no smaller than this.
pub fn one_two_five(at_least: f64) -> f64 {
    let decade = 10f64.powf(at_least.max(1e-9).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade);
    steps.into_iter().find(|step| *step >= at_least * 0.999_999).unwrap_or(decade * 10.0)
}

fn one_two_five_below(at_most: f64) -> f64 {
    let decade = 10f64.powf(at_most.max(1.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|digit| digit * decade);
    steps.into_iter().find(|step| *step <= at_most * 1.000_001).unwrap_or(decade)
}

/// A time in decimal units for the labels of a logarithmic axis: `10 000 s`, not `2.778 h`.
fn decimal_time(nanos: f64) -> String {
    let (unit, scale) = match nanos {
        v if v < 999.0 => ("ns", 1.0),
        v if v < 999_000.0 => ("us", 1e3),
        v if v < 999_000_000.0 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{} {unit}", grouped((nanos / scale).round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::LATENCY;

    const ROOM: f64 = 90.0;

    fn axis_of(asked: Axis) -> LatencyAxis {
        LatencyAxis::choose(&PooledLatencies::from_bins([].iter(), None), asked)
    }

    fn linear(end: i64) -> LatencyAxis {
        axis_of(Axis::linear_to(Nanos(end)))
    }

    fn names(axis: &LatencyAxis, pixels: f64) -> Vec<String> {
        axis.ticks(pixels, ROOM).into_iter().map(|tick| tick.name).collect()
    }

    #[test]
    fn a_linear_axis_has_the_unit_that_keeps_its_numbers_short() {
        let axis = linear(25_000_000);
        assert_eq!(axis.title(&LATENCY), "Latency in ms");
        assert_eq!(names(&axis, 450.0), ["0", "5", "10", "15", "20", "25"]);
        for (end, unit) in [
            (50, "ns"),
            (8_000_000, "us"),
            (10_000_000, "ms"),
            (8_000_000_000, "ms"),
            (10_000_000_000, "s"),
            (10_800_000_000_000, "s"),
        ] {
            assert_eq!(linear(end).title(&LATENCY), format!("Latency in {unit}"), "{end}");
        }
    }

    #[test]
    fn the_axis_is_linear_where_the_body_stays_readable() {
        let bin = |low: i64, count| Bin { low_ns: Nanos(low), high_ns: Nanos(low + 100), count };
        let log = |p99: i64, p99_9: i64, max: i64| {
            let bins = [bin(p99 - 100, 99_000), bin(p99_9 - 100, 900), bin(max - 100, 100)];
            let data = PooledLatencies::from_bins(bins.iter(), Some(Nanos(max)));
            LatencyAxis::choose(&data, Axis::default()).log
        };
        assert!(!log(9_000, 14_000, 60_000));
        assert!(log(9_000, 11_000, 60_000));
        assert!(log(9_000, 80_000, 100_000), "p99 would lie in the first tenth");
    }

    #[test]
    fn an_end_that_was_asked_for_is_the_end() {
        let between = |spacing, from: i64, to: i64| {
            axis_of(Axis { spacing, from: Some(Nanos(from)), to: Some(Nanos(to)) })
        };
        let axis = between(Spacing::Auto, 12_300, 317_000);
        assert_eq!((axis.log, axis.from, axis.to), (false, 12_300.0, 317_000.0));
        assert_eq!(names(&axis, 450.0), ["100", "200", "300"]);
        let axis = between(Spacing::Log, 310_000, 380_000);
        assert_eq!((axis.log, axis.from, axis.to), (true, 310_000.0, 380_000.0));
        assert_eq!(names(&axis, 450.0), ["320 us", "340 us", "360 us", "380 us"]);
        let axis = between(Spacing::Log, 0, 400_000);
        assert!(axis.from > 0.0 && axis.to == 400_000.0);
    }

    #[test]
    fn names_of_ticks_are_exact() {
        for end in (0..44).map(|power| 1.9f64.powi(power) as i64).chain([1, 2_500, 12_500_000]) {
            let axis = linear(end);
            let title = axis.title(&LATENCY);
            let unit = title.strip_prefix("Latency in ").unwrap();
            for pixels in [100.0, 300.0, 848.0, 2000.0] {
                let ticks = axis.ticks(pixels, ROOM);
                assert!(ticks.len() >= 2, "{end} {pixels}");
                for Tick { place, name } in ticks {
                    let named: Nanos = format!("{name}{unit}").parse().unwrap();
                    let at = place * axis.to;
                    assert!((named.0 as f64 - at).abs() <= 1e-9 * at, "{end} {pixels}: {name}");
                }
            }
        }
    }
}
