//! The axes of a picture: which part of the latencies is drawn to scale, and how.

use crate::units::{Scale, grouped, trimmed};
use latlab_model::{Bin, Nanos};

/// A maximum of more times p99.9 would squeeze the body of a linear axis into a corner.
const LINEAR_UP_TO: f64 = 5.0;
/// The same of p99, since p99.9 can be far out in a tail of its own.
const LINEAR_UP_TO_P99: f64 = 8.0;
/// The lower edge of the picture, as part of the lowest height, so that it is seen.
const BELOW_LOWEST: f64 = 0.8;
/// The lowest exponent that a vertical axis can begin above.
const LOWEST_EXPONENT: f64 = -15.0;

/// The axis of latencies.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Axis {
    /// Whatever shows this run best.
    #[default]
    Auto,
    /// Linear from zero to here, which makes pictures comparable.
    LinearTo(Nanos),
    /// Logarithmic.
    Log,
}

/// The latency axis: which part is drawn to scale, and how.
pub struct HorizontalAxis {
    pub log: bool,
    /// Latency at the left end.
    pub from: f64,
    /// Latency at the right end.
    pub to: f64,
}

impl HorizontalAxis {
    /// The axis that was asked for, as these latencies need it.
    pub fn choose(data: &Pooled, asked: Axis) -> HorizontalAxis {
        match asked {
            Axis::LinearTo(end) => HorizontalAxis::linear(end.0.max(1) as f64),
            Axis::Log => HorizontalAxis::logarithmic(data),
            Axis::Auto => HorizontalAxis::automatic(data),
        }
    }

    /// Linear where the body of the data stays readable beside the maximum, else logarithmic: so
    /// every latency of the run is drawn to scale.
    fn automatic(data: &Pooled) -> HorizontalAxis {
        match data.max <= LINEAR_UP_TO * data.p99_9 && data.max <= LINEAR_UP_TO_P99 * data.p99 {
            true => HorizontalAxis::linear(data.max * 1.02),
            false => HorizontalAxis::logarithmic(data),
        }
    }

    fn linear(end: f64) -> HorizontalAxis {
        let end = end.max(1000.0);
        let step = one_two_five(end / 8.0);
        HorizontalAxis { log: false, from: 0.0, to: (end / step).ceil() * step }
    }

    fn logarithmic(data: &Pooled) -> HorizontalAxis {
        let from = one_two_five_below(data.lowest_positive);
        let to = one_two_five((data.max * 1.02).max(from * 10.0));
        HorizontalAxis { log: true, from, to }
    }

    /// Where a latency lies, 0 at the left end of the axis and 1 at its right end.
    pub fn place(&self, latency: f64) -> f64 {
        let place = match self.log {
            true => (latency.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            false => (latency - self.from) / (self.to - self.from),
        };
        place.clamp(0.0, 1.0)
    }

    /// Latencies to be named on an axis of this length, and their names.
    pub fn ticks(&self, pixels: f64) -> Vec<(f64, String)> {
        match self.log {
            true => self.log_ticks(pixels),
            false => self.linear_ticks(pixels),
        }
    }

    fn linear_ticks(&self, pixels: f64) -> Vec<(f64, String)> {
        let wanted = (pixels / 90.0).clamp(3.0, 10.0);
        let step = one_two_five(self.to / wanted);
        let scale = Scale::of_axis(self.end(), Nanos(step as i64));
        let count = (self.to / step + 1e-6).floor() as usize;
        (0..=count)
            .map(|index| index as f64 * step)
            .map(|at| (at, trimmed(scale.number_f64(at))))
            .collect()
    }

    fn log_ticks(&self, pixels: f64) -> Vec<(f64, String)> {
        let decades = (self.to / self.from).log10();
        let all: &[f64] = match pixels / decades {
            room if room > 170.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        // Few pixels for many decades: every second or third label has room.
        let every = (52.0 * decades / pixels).ceil().max(1.0) as i32;
        let first = self.from.log10().floor() as i32;
        let last = self.to.log10().ceil() as i32;
        (first..=last)
            .filter(|exponent| (exponent - first) % every == 0)
            .flat_map(|exponent| all.iter().map(move |digit| digit * 10f64.powi(exponent)))
            .filter(|at| *at >= self.from * 0.999 && *at <= self.to * 1.001)
            .map(|at| (at, decimal_time(at)))
            .collect()
    }

    fn end(&self) -> Nanos {
        Nanos(self.to as i64)
    }

    /// What stands below the axis.
    pub fn title(&self) -> String {
        match self.log {
            true => "Latency, logarithmic".to_string(),
            false => format!("Latency in {}", Scale::of_axis(self.end(), self.end()).unit()),
        }
    }
}

/// What decides the axis, of all lines together.
pub struct Pooled {
    max: f64,
    lowest_positive: f64,
    p99: f64,
    p99_9: f64,
}

impl Pooled {
    /// Of all bins, in any order, and the largest latency.
    pub fn of<'a>(bins: impl Iterator<Item = &'a Bin>, max: Option<Nanos>) -> Pooled {
        let mut bins: Vec<&Bin> = bins.collect();
        bins.sort_by_key(|bin| bin.high_ns);
        let positive = bins.iter().map(|bin| match bin.low_ns {
            Nanos(..=0) => bin.high_ns.0 as f64 / 2.0,
            low => low.0 as f64,
        });
        let lowest_positive = positive.filter(|edge| *edge > 0.0).fold(f64::INFINITY, f64::min);
        let max = (max.unwrap_or_default().0 as f64).max(1.0);
        let [p99, p99_9] = [0.99, 0.999].map(|share| quantile(&bins, share).min(max));
        Pooled { max, lowest_positive: lowest_positive.min(max).max(1.0), p99, p99_9 }
    }
}

/// Upper edge of the bin that holds this share of all latencies.
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

/// The first of 1, 2, 5 and their decades that is no smaller.
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

/// A time in decimal units, as the labels of a logarithmic axis need: `10 000 s`, not `2.778 h`.
fn decimal_time(nanos: f64) -> String {
    let (unit, scale) = match nanos {
        v if v < 999.0 => ("ns", 1.0),
        v if v < 999_000.0 => ("us", 1e3),
        v if v < 999_000_000.0 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{} {unit}", grouped((nanos / scale).round() as u64))
}

/// The vertical axis: decades from below the lowest height up.
pub struct VerticalAxis {
    /// Logarithm of the lower edge.
    from: f64,
    /// The exponent of ten at the upper edge.
    to: i32,
}

impl VerticalAxis {
    /// An axis that holds these heights, and a height of one.
    pub fn holding(heights: impl Iterator<Item = f64>) -> VerticalAxis {
        let hold = |(low, high): (f64, f64), height: f64| (low.min(height), high.max(height));
        let (low, high) = heights.filter(|height| *height > 0.0).fold((1.0, 1.0), hold);
        let to = ((high * 1.1).log10().ceil() as i32).max(1);
        VerticalAxis { from: (low * BELOW_LOWEST).log10().max(LOWEST_EXPONENT), to }
    }

    /// Part of the axis below a height, 0 to 1.
    pub fn place(&self, height: f64) -> f64 {
        let place = (height.log10() - self.from) / (f64::from(self.to) - self.from);
        place.clamp(0.0, 1.0)
    }

    /// Heights to be named, and their names.
    pub fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        (self.from.ceil() as i32..=self.to).map(|exponent| {
            let text = match exponent {
                -3..=-1 => format!("{:.*}", exponent.unsigned_abs() as usize, 10f64.powi(exponent)),
                0..=4 => grouped(10u64.pow(exponent as u32)),
                _ => format!("10{}", superscript(exponent)),
            };
            (10f64.powi(exponent), text)
        })
    }
}

fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let sign = if number < 0 { "⁻" } else { "" };
    let digits = number.unsigned_abs().to_string();
    let digits = digits.chars().filter_map(|c| DIGITS.get(c.to_digit(10)? as usize));
    sign.chars().chain(digits.copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(end: i64) -> HorizontalAxis {
        HorizontalAxis::choose(&Pooled::of([].iter(), None), Axis::LinearTo(Nanos(end)))
    }

    fn names(axis: &HorizontalAxis, pixels: f64) -> Vec<String> {
        axis.ticks(pixels).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn a_linear_axis_has_the_unit_that_keeps_its_numbers_short() {
        let axis = linear(25_000_000);
        assert_eq!(axis.title(), "Latency in ms");
        assert_eq!(names(&axis, 450.0), ["0", "5", "10", "15", "20", "25"]);
        for (end, unit) in [
            (1, "us"),
            (8_000_000, "us"),
            (10_000_000, "ms"),
            (8_000_000_000, "ms"),
            (10_000_000_000, "s"),
            (10_800_000_000_000, "s"),
        ] {
            assert_eq!(linear(end).title(), format!("Latency in {unit}"), "{end}");
        }
    }

    #[test]
    fn the_axis_is_linear_where_the_body_stays_readable() {
        let bin = |low: i64, count| Bin { low_ns: Nanos(low), high_ns: Nanos(low + 100), count };
        let log = |p99: i64, p99_9: i64, max: i64| {
            let bins = [bin(p99 - 100, 99_000), bin(p99_9 - 100, 900), bin(max - 100, 100)];
            let data = Pooled::of(bins.iter(), Some(Nanos(max)));
            HorizontalAxis::choose(&data, Axis::Auto).log
        };
        assert!(!log(9_000, 14_000, 60_000));
        assert!(log(9_000, 11_000, 60_000));
        assert!(log(9_000, 80_000, 100_000), "p99 would lie in the first tenth");
    }

    #[test]
    fn heights_below_one_are_named() {
        let names: Vec<String> = VerticalAxis::holding([3e-5, 200.0].into_iter())
            .ticks()
            .map(|(_, name)| name)
            .collect();
        assert_eq!(names, ["10⁻⁴", "0.001", "0.01", "0.1", "1", "10", "100", "1 000"]);
    }

    #[test]
    fn names_of_ticks_are_exact() {
        for end in (0..44).map(|power| 1.9f64.powi(power) as i64).chain([1, 2_500, 12_500_000]) {
            let axis = linear(end);
            let title = axis.title();
            let unit = title.strip_prefix("Latency in ").unwrap();
            for pixels in [100.0, 300.0, 848.0, 2000.0] {
                let ticks = axis.ticks(pixels);
                assert!(ticks.len() >= 2, "{end} {pixels}");
                for (at, name) in ticks {
                    let named: Nanos = format!("{name}{unit}").parse().unwrap();
                    assert_eq!(named.0 as f64, at, "{end} {pixels}: {name}");
                }
            }
        }
    }
}
