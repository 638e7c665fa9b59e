//! The figures of the conditions of a run.

use super::points::Points;
use super::{ConditionsView, NETWORK, busy_threads};
use latlab_model::Nanos;
use latlab_model::nanos::SECOND;
use latlab_model::telemetry::{Conditions, Figure, bounded_share, metric};

/// CPU time fields that count as work.
pub const BUSY: &[&str] = &["user", "nice", "system", "irq", "softirq"];

/// Name and unit of a figure, and how many raw units make one of it.
#[derive(Clone, Copy)]
struct Kind {
    metric: &'static str,
    unit: &'static str,
    scale: f64,
}

impl Kind {
    const fn new(metric: &'static str, unit: &'static str, scale: f64) -> Kind {
        Kind { metric, unit, scale }
    }
}

/// Gauges, by the metric that was read.
const GAUGES: &[(&str, Kind)] = &[
    (metric::TEMPERATURE, Kind::new("temperature", "C", 1000.0)),
    (metric::FREQUENCY, Kind::new("cpu_frequency", "MHz", 1000.0)),
];
/// Counters, as a rate per second; microseconds per second become a percentage.
const RATES: &[(&str, Kind)] = &[
    (metric::CONTEXT_SWITCHES, Kind::new("context_switches", "1/s", 1.0)),
    (metric::PRESSURE, Kind::new("pressure", "%", 1e4)),
];
const BUSY_SHARE: Kind = Kind::new("cpu_busy", "%", 0.01);
const STOLEN_SHARE: Kind = Kind::new("cpu_steal", "%", 0.01);
const NETWORK_SOFTIRQS: Kind = Kind::new(metric::NETWORK_SOFTIRQS, "1/s", 1.0);
const MEMORY: Kind = Kind::new("memory_available", "MiB", 1024.0);

pub fn conditions(at: &ConditionsView<'_>) -> Conditions {
    let mut figures = Vec::new();
    for (read, kind) in GAUGES {
        for (subject, points) in at.data.all(read) {
            figures.extend(figure(at, *kind, subject, values(at, points)));
        }
    }
    for cpu in at.cpus().iter() {
        let subject = format!("cpu{cpu}");
        figures.extend(figure(at, BUSY_SHARE, &subject, at.cpu_shares(cpu, BUSY)));
        figures.extend(figure(at, STOLEN_SHARE, &subject, at.cpu_shares(cpu, &["steal"])));
    }
    for cpu in at.cpus().iter().filter(|_| at.input.has_link) {
        let subject = format!("cpu{cpu}");
        figures.extend(figure(at, NETWORK_SOFTIRQS, &subject, network_rates(at, &subject)));
    }
    for (read, kind) in RATES {
        for (subject, points) in at.data.all(read) {
            let rates = at.rates(points).into_iter();
            let rates = rates.map(|rate| match *read == metric::PRESSURE {
                true => Some(bounded_share(rate? / MICROSECONDS)? * MICROSECONDS),
                false => rate,
            });
            figures.extend(figure(at, *kind, subject, rates.collect()));
        }
    }
    if let Some(points) = at.data.one(metric::MEMORY, "MemAvailable") {
        figures.extend(figure(at, MEMORY, "", values(at, points)));
    }
    Conditions {
        readings: at.data.times.len() as u64,
        lost: at.data.lost,
        cost_share: cost(at),
        at_ends_only: at.data.at_ends_only.iter().map(|name| name.to_string()).collect(),
        shares_refused: refused_shares(at),
        figures,
        threads: busy_threads::busy_threads(at),
    }
}

/// Rate of network softirqs on a CPU, in each step.
fn network_rates(at: &ConditionsView<'_>, cpu: &str) -> Vec<Option<f64>> {
    let all =
        NETWORK.iter().filter_map(|name| at.data.one(metric::SOFTIRQS, &format!("{cpu}{name}")));
    all.map(|points| at.rates(points))
        .reduce(|sums, rates| {
            // A softirq that never occurred has no series.
            let pairs = sums.into_iter().zip(rates);
            pairs.map(|(sum, rate)| Some(sum.unwrap_or(0.0) + rate?).or(sum)).collect()
        })
        .unwrap_or_default()
}

/// Microseconds in a second, the upper limit of a rate that is a share.
const MICROSECONDS: f64 = 1e6;

/// How many shares are too far above 100 % to be true; the figures omit them.
fn refused_shares(at: &ConditionsView<'_>) -> u64 {
    let pressure = at.data.all(metric::PRESSURE).flat_map(|(_, points)| at.rates(points));
    let refused = |rate: &f64| bounded_share(rate / MICROSECONDS).is_none();
    pressure.flatten().filter(refused).count() as u64 + busy_threads::refused_shares(at)
}

/// A shorter watch mostly sees its own start.
const WATCHED: Nanos = SECOND;

fn cost(at: &ConditionsView<'_>) -> Option<f64> {
    let points = at.data.one(metric::OWN_COST, "")?;
    let (from, to) = (*at.times.first()?, *at.times.last()?);
    let growth = points.growth(from, to)?;
    (to - from >= WATCHED).then(|| growth / (to - from).0 as f64)
}

/// The value of a series at each reading.
fn values(at: &ConditionsView<'_>, points: &Points) -> Vec<Option<f64>> {
    at.times.iter().map(|time| points.at(*time)).collect()
}

/// From the values of all readings, or of all steps between them.
fn figure(
    at: &ConditionsView<'_>,
    kind: Kind,
    subject: &str,
    values: Vec<Option<f64>>,
) -> Option<Figure> {
    let values: Vec<Option<f64>> = values.into_iter().map(|one| Some(one? / kind.scale)).collect();
    let tenth = (values.len() / 10).max(1);
    let mean = |values: &[Option<f64>]| {
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let all_mean = mean(&values)?;
    let known = || values.iter().flatten().copied();
    // A run of three readings has no deciles.
    let has_tenths = at.times.len() >= 10;
    let part = |part: &[Option<f64>]| mean(part).filter(|_| has_tenths);
    Some(Figure {
        metric: kind.metric.to_string(),
        subject: subject.to_string(),
        unit: kind.unit.to_string(),
        min: known().fold(f64::INFINITY, f64::min),
        mean: all_mean,
        max: known().fold(f64::NEG_INFINITY, f64::max),
        first_tenth: part(&values[..tenth]),
        last_tenth: part(&values[values.len() - tenth..]),
    })
}
