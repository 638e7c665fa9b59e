//! The figures of the conditions of a run.

use super::points::Points;
use super::{Sight, rivals};
use latlab_model::telemetry::{Conditions, Figure, metric};

/// What a CPU does when it works for somebody here.
pub const BUSY: &[&str] = &["user", "nice", "system", "irq", "softirq"];

/// All figures of the run.
pub fn conditions(at: &Sight<'_>) -> Conditions {
    let mut figures = Vec::new();
    for (subject, points) in at.watch.all(metric::TEMPERATURE) {
        figures.extend(gauge(at, "temperature", subject, "C", points, 1000.0));
    }
    for (subject, points) in at.watch.all(metric::FREQUENCY) {
        figures.extend(gauge(at, "cpu_frequency", subject, "MHz", points, 1000.0));
    }
    for cpu in at.cpus().iter() {
        let subject = format!("cpu{cpu}");
        let percent = |shares: Vec<Option<f64>>| shares.into_iter().map(|one| Some(one? * 100.0));
        let busy = percent(at.cpu_shares(cpu, BUSY)).collect();
        figures.extend(figure(at, "cpu_busy", &subject, "%", busy));
        let steal = percent(at.cpu_shares(cpu, &["steal"])).collect();
        figures.extend(figure(at, "cpu_steal", &subject, "%", steal));
    }
    for (subject, points) in at.watch.all(metric::CONTEXT_SWITCHES) {
        figures.extend(rate(at, "context_switches", subject, "1/s", points, 1.0));
    }
    for (subject, points) in at.watch.all(metric::PRESSURE) {
        // Microseconds in a second, as a percentage.
        figures.extend(rate(at, "pressure", subject, "%", points, 1e4));
    }
    if let Some(points) = at.watch.one(metric::MEMORY, "MemAvailable") {
        figures.extend(gauge(at, "memory_available", "", "MiB", points, 1024.0));
    }
    let cost = at.watch.one(metric::OWN_COST, "").and_then(|points| {
        let (from, to) = (*at.times.first()?, *at.times.last()?);
        let growth = points.growth(from, to)?;
        (to > from).then(|| growth / (to - from).0 as f64)
    });
    Conditions {
        readings: at.watch.times.len() as u64,
        lost: at.watch.lost,
        cost_share: cost,
        figures,
        threads: rivals::busy_threads(at),
    }
}

fn gauge(
    at: &Sight<'_>,
    name: &str,
    subject: &str,
    unit: &str,
    points: &Points,
    scale: f64,
) -> Option<Figure> {
    let values = at.times.iter().map(|time| Some(points.at(*time)? / scale)).collect();
    figure(at, name, subject, unit, values)
}

fn rate(
    at: &Sight<'_>,
    name: &str,
    subject: &str,
    unit: &str,
    points: &Points,
    scale: f64,
) -> Option<Figure> {
    let growths = at.growths(points).into_iter().zip(at.seconds());
    let rates = growths.map(|(growth, seconds)| Some(growth? / seconds / scale)).collect();
    figure(at, name, subject, unit, rates)
}

/// From the values of all readings, or of all steps between them.
fn figure(
    at: &Sight<'_>,
    name: &str,
    subject: &str,
    unit: &str,
    values: Vec<Option<f64>>,
) -> Option<Figure> {
    let tenth = (values.len() / 10).max(1);
    let mean = |values: &[Option<f64>]| {
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let all_mean = mean(&values)?;
    let known = || values.iter().flatten().copied();
    // A run of three readings has no tenths.
    let has_tenths = at.times.len() >= 10;
    let part = |part: &[Option<f64>]| mean(part).filter(|_| has_tenths).unwrap_or(all_mean);
    Some(Figure {
        metric: name.to_string(),
        subject: subject.to_string(),
        unit: unit.to_string(),
        min: known().fold(f64::INFINITY, f64::min),
        mean: all_mean,
        max: known().fold(f64::NEG_INFINITY, f64::max),
        first_tenth: part(&values[..tenth]),
        last_tenth: part(&values[values.len() - tenth..]),
    })
}
