//! The latency axis of charts over time.

use super::LatencyScale;
use crate::pictures::axis::one_two_five;
use crate::pictures::deadline::DeadlineMark;
use latlab_model::Nanos;
use latlab_stats::Span;

/// A larger ratio of the maximum to the typical p99.9 would squeeze the latter into a corner.
const LINEAR_UP_TO: f64 = 6.0;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LatencyHeights {
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Latency at the lower end, ns.
    pub from: f64,
    /// Latency at the upper end, ns.
    pub to: f64,
}

impl LatencyHeights {
    /// An axis for all latencies of these columns, and for a deadline that is not far away.
    pub fn holding(
        spans: &[Span],
        asked: LatencyScale,
        deadline: Option<DeadlineMark>,
    ) -> LatencyHeights {
        let max = spans.iter().filter_map(|span| span.max).max().unwrap_or_default();
        let max = DeadlineMark::needed(deadline, max).0.max(1_000);
        let min = spans.iter().filter_map(|span| span.min).min().unwrap_or_default().0;
        let mut usual: Vec<i64> =
            spans.iter().filter_map(|span| Some(span.p99_9.or(span.max)?.0)).collect();
        usual.sort_unstable();
        let usual = usual.get(usual.len() / 2).copied().unwrap_or(max);
        let log = match asked {
            LatencyScale::Auto => max as f64 > LINEAR_UP_TO * usual as f64,
            LatencyScale::Linear => false,
            LatencyScale::Log => true,
        };
        match log {
            true => LatencyHeights::logarithmic(spans, max as f64),
            false => LatencyHeights::linear((min as f64).min(0.0), max as f64),
        }
    }

    fn linear(min: f64, max: f64) -> LatencyHeights {
        let step = one_two_five((max - min) / 5.0);
        let from = (min / step).floor() * step;
        LatencyHeights { log: false, from, to: (max * 1.02 / step).ceil() * step }
    }

    fn logarithmic(spans: &[Span], max: f64) -> LatencyHeights {
        let positive = spans.iter().filter_map(|span| span.min).filter(|min| *min > Nanos::ZERO);
        let min = positive.min().map_or(max / 100.0, |min| min.0 as f64).max(10.0);
        LatencyHeights::decades(min, max)
    }

    /// A logarithmic axis from below one latency to above another.
    pub fn decades(min: f64, max: f64) -> LatencyHeights {
        let least = one_two_five(min.max(1.0));
        let steps = [least, least / 2.0, least / 2.5];
        let from = steps.into_iter().find(|step| *step <= min).unwrap_or(least / 2.5);
        let to = one_two_five(max * 1.05).max(from * 10.0);
        LatencyHeights { log: true, from, to }
    }

    /// Position of a latency on the axis, from 0 to 1.
    pub fn place(&self, latency: f64) -> f64 {
        let place = match self.log {
            true => (latency.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
            false => (latency - self.from) / (self.to - self.from),
        };
        place.clamp(0.0, 1.0)
    }

    /// Labelled latencies for this height, with their labels.
    pub fn ticks(&self, height: f64) -> Vec<(f64, String)> {
        let named = |latency: f64| (latency, Nanos(latency.round() as i64).to_string());
        match self.log {
            true => self.log_ticks(height).into_iter().map(named).collect(),
            false => {
                let step = one_two_five((self.to - self.from) / (height / 34.0).clamp(1.0, 8.0));
                let first = (self.from / step).ceil() as i64;
                let last = (self.to / step + 1e-6).floor() as i64;
                (first..=last).map(|index| named(index as f64 * step)).collect()
            }
        }
    }

    fn log_ticks(&self, height: f64) -> Vec<f64> {
        let room = height / (self.to / self.from).log10();
        let digits: &[f64] = match room {
            room if room > 90.0 => &[1.0, 2.0, 5.0],
            room if room > 50.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let every = (18.0 / room).ceil().max(1.0) as i32;
        let first = self.from.log10().floor() as i32;
        (first..=self.to.log10().ceil() as i32)
            .filter(|exponent| (exponent - first) % every == 0)
            .flat_map(|exponent| digits.iter().map(move |digit| digit * 10f64.powi(exponent)))
            .filter(|at| *at >= self.from * 0.999 && *at <= self.to * 1.001)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(min: i64, p99_9: i64, max: i64) -> Span {
        let some = |value| Some(Nanos(value));
        Span { count: 1, min: some(min), p99_9: some(p99_9), max: some(max), ..Span::default() }
    }

    #[test]
    fn one_late_second_makes_the_axis_logarithmic() {
        let calm = [span(1_500, 20_000, 60_000); 9];
        let linear = LatencyHeights::holding(&calm, LatencyScale::Auto, None);
        assert_eq!(linear, LatencyHeights { log: false, from: 0.0, to: 80_000.0 });
        let late = [&calm[..], &[span(1_500, 30_000, 4_000_000)]].concat();
        let log = LatencyHeights::holding(&late, LatencyScale::Auto, None);
        assert_eq!(log, LatencyHeights { log: true, from: 1_000.0, to: 5_000_000.0 });
        let names: Vec<String> = log.ticks(140.0).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["1 us", "10 us", "100 us", "1 ms"]);
    }

    #[test]
    fn odd_latencies_have_an_axis() {
        for (min, max) in [(0, 0), (-5_000, 10), (i64::MIN / 2, i64::MAX / 2), (1, 1)] {
            for asked in [LatencyScale::Auto, LatencyScale::Linear, LatencyScale::Log] {
                let axis = LatencyHeights::holding(&[span(min, max, max)], asked, None);
                assert!(axis.from < axis.to, "{min} {max}");
                assert!(axis.place(max as f64) <= 1.0 && !axis.ticks(120.0).is_empty());
            }
        }
        LatencyHeights::holding(&[], LatencyScale::Auto, None);
    }
}
