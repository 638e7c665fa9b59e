//! The largest latencies of a run, with the telemetry and loads at their times.

use crate::rows::SpikeRow;
use crate::telemetry::TelemetryRow;
use latlab_model::outlier::{InterruptRate, LISTED_OUTLIERS, Outlier, OutlierThread, Surroundings};
use latlab_model::self_interference::OwnThread;
use latlab_model::telemetry::metric;
use latlab_model::{Nanos, Run};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Readings further apart tell nothing about a moment between them.
const APART: Nanos = Nanos(10_000_000_000);
/// Interrupt sources that are named.
const SOURCES: usize = 2;
/// Threads that are named …
const THREADS: usize = 3;
/// … if they used this share of a CPU.
const BUSY: f64 = 0.01;
/// CPU time fields that count as work; the last two are interrupts.
const WORK: [&str; 5] = ["user", "nice", "system", "irq", "softirq"];
const INTERRUPTS: [&str; 2] = ["irq", "softirq"];
const STOLEN: &str = "steal";

/// The outliers of a run, which take the rows of its telemetry, by time for each series.
pub struct OutlierDigest<'a> {
    run: &'a Run,
    moments: Vec<Moment>,
}

/// A large latency, and the series of its CPU.
struct Moment {
    spike: SpikeRow,
    series: BTreeMap<(String, String), Readings>,
}

/// The readings of a series before and after a moment.
#[derive(Clone, Copy, Default)]
struct Readings {
    before: Option<(Nanos, i64)>,
    after: Option<(Nanos, i64)>,
}

impl<'a> OutlierDigest<'a> {
    /// Selects the largest of the latencies with known releases.
    pub fn new(run: &'a Run, mut spikes: Vec<SpikeRow>) -> OutlierDigest<'a> {
        spikes.sort_by_key(|row| (Reverse(row.spike.latency_ns), row.spike.release_ns, row.thread));
        spikes.truncate(LISTED_OUTLIERS);
        let moment = |spike| Moment { spike, series: BTreeMap::new() };
        OutlierDigest { run, moments: spikes.into_iter().map(moment).collect() }
    }

    /// Adds a row of the telemetry.
    pub fn push(&mut self, row: &TelemetryRow) {
        let (metric, subject) = (row.series.metric.as_str(), row.series.subject.as_str());
        let of_cpu = match metric {
            metric::CPU_TIME | metric::FREQUENCY | metric::INTERRUPTS => cpu_of(subject),
            metric::THREAD_CPU | metric::THREAD_PLACE => None,
            _ => return,
        };
        // An unchanged gauge has no row for a long time.
        let is_gauge = matches!(metric, metric::FREQUENCY | metric::THREAD_PLACE);
        for moment in &mut self.moments {
            let is_near =
                is_gauge || (row.time_ns - moment.spike.spike.release_ns).0.abs() <= APART.0;
            let concerns = of_cpu.is_none_or(|cpu| moment.spike.cpu == Some(cpu));
            if is_near && concerns {
                moment.push(metric, subject, row);
            }
        }
    }

    /// The outliers, largest first.
    pub fn finish(self) -> Vec<Outlier> {
        let OutlierDigest { run, moments } = self;
        let first = run.first_release().unwrap_or_default();
        moments.into_iter().map(|moment| moment.outlier(run, first)).collect()
    }
}

/// Four decimals exceed the precision of such readings.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn cpu_of(subject: &str) -> Option<u32> {
    subject.strip_prefix("cpu")?.split(' ').next()?.parse().ok()
}

impl Moment {
    fn push(&mut self, metric: &str, subject: &str, row: &TelemetryRow) {
        let key = (metric.to_string(), subject.to_string());
        let readings = self.series.entry(key).or_default();
        let reading = row.value.map(|value| (row.time_ns, value));
        if row.time_ns <= self.spike.spike.release_ns {
            readings.before = reading;
        } else if readings.after.is_none() {
            readings.after = reading;
        }
    }

    fn outlier(self, run: &Run, first: Nanos) -> Outlier {
        let SpikeRow { thread, cpu, spike, breakdown } = self.spike;
        let woken = spike.release_ns + spike.latency_ns;
        let ran = |load: &&latlab_model::load::LoadRun| {
            load.started_ns.is_some_and(|at| at <= woken)
                && load.ended_ns.is_none_or(|at| at >= spike.release_ns)
        };
        Outlier {
            thread,
            cpu,
            latency_ns: spike.latency_ns,
            release_ns: spike.release_ns,
            since_start_ns: spike.release_ns - first,
            breakdown,
            own_threads: own_threads(run, thread, spike.release_ns),
            loads: run.loads.iter().filter(ran).map(|load| load.words.clone()).collect(),
            surroundings: cpu.and_then(|cpu| self.surroundings(cpu)),
        }
    }

    fn surroundings(&self, cpu: u32) -> Option<Surroundings> {
        let rate = |kind: &str| self.rate(metric::CPU_TIME, &format!("cpu{cpu} {kind}"));
        let all: f64 = self.rates(metric::CPU_TIME).map(|(_, rate)| rate).sum();
        let share = |kinds: &[&str]| {
            let part: f64 = kinds.iter().filter_map(|kind| rate(kind)).sum();
            (all > 0.0).then(|| rounded(part / all))
        };
        let frequency = self.readings(metric::FREQUENCY, &format!("cpu{cpu}"));
        let found = Surroundings {
            busy_share: share(&WORK),
            stolen_share: share(&[STOLEN]),
            interrupts_share: share(&INTERRUPTS),
            frequency_khz: frequency.and_then(|one| Some(one.before.or(one.after)?.1)),
            interrupts: self.interrupts(),
            threads: self.threads(cpu),
        };
        (found != Surroundings::default()).then_some(found)
    }

    fn interrupts(&self) -> Vec<InterruptRate> {
        let source = |(subject, per_second): (&str, f64)| InterruptRate {
            source: subject.split_once(' ').map_or(subject, |(_, name)| name).to_string(),
            per_second: rounded(per_second),
        };
        let mut all: Vec<InterruptRate> =
            self.rates(metric::INTERRUPTS).filter(|(_, rate)| *rate > 0.0).map(source).collect();
        all.sort_by(|a, b| b.per_second.total_cmp(&a.per_second).then(a.source.cmp(&b.source)));
        all.truncate(SOURCES);
        all
    }

    fn threads(&self, cpu: u32) -> Vec<OutlierThread> {
        let is_elsewhere = |subject: &str| {
            let place = self.readings(metric::THREAD_PLACE, subject);
            let places = place.iter().flat_map(|one| [one.before, one.after]).flatten();
            let places: Vec<i64> = places.map(|(_, cpu)| cpu).collect();
            !places.is_empty() && !places.contains(&i64::from(cpu))
        };
        let thread = |(subject, rate): (&str, f64)| {
            let (name, id) = subject.rsplit_once('/')?;
            let share = rate / 1e9;
            (share >= BUSY && !is_elsewhere(subject)).then(|| OutlierThread {
                name: name.to_string(),
                id: id.parse().unwrap_or(0),
                share: rounded(share.min(1.0)),
            })
        };
        let mut all: Vec<OutlierThread> =
            self.rates(metric::THREAD_CPU).filter_map(thread).collect();
        all.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.id.cmp(&b.id)));
        all.truncate(THREADS);
        all
    }

    fn readings(&self, metric: &str, subject: &str) -> Option<Readings> {
        self.series.get(&(metric.to_string(), subject.to_string())).copied()
    }

    fn rate(&self, metric: &str, subject: &str) -> Option<f64> {
        self.readings(metric, subject)?.rate()
    }

    /// Growth per second of each counter of a metric.
    fn rates<'s>(&'s self, metric: &'s str) -> impl Iterator<Item = (&'s str, f64)> {
        let known = self.series.iter().filter(move |((name, _), _)| name == metric);
        known.filter_map(|((_, subject), one)| Some((subject.as_str(), one.rate()?)))
    }
}

impl Readings {
    fn rate(self) -> Option<f64> {
        let ((from, low), (to, high)) = self.before.zip(self.after)?;
        (to > from && high >= low).then(|| (high - low) as f64 / (to - from).as_secs_f64())
    }
}

/// latlab's own threads that worked meanwhile.
fn own_threads(run: &Run, thread: u32, release: Nanos) -> Vec<OwnThread> {
    let known = run.self_interference.iter().flat_map(|work| &work.largest);
    let mut same = known.filter(|one| (one.thread, one.release_ns) == (thread, release));
    same.next().map(|one| one.own_threads.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamEnd;
    use crate::testing::{FIRST_RELEASE, SyntheticRun};
    use jiff::Timestamp;
    use latlab_model::frame::Spike;
    use latlab_model::telemetry::Series;
    use std::sync::Arc;

    const SECOND: i64 = 1_000_000_000;

    fn spike(seconds: i64, latency: i64) -> SpikeRow {
        let release_ns = FIRST_RELEASE + Nanos(seconds * SECOND + SECOND / 2);
        let spike = Spike { latency_ns: Nanos(latency), release_ns };
        SpikeRow { thread: 1, cpu: Some(1), spike, breakdown: None }
    }

    fn run() -> Run {
        let mut builder = crate::RunBuilder::default();
        SyntheticRun::default().messages().into_iter().for_each(|one| {
            builder.push(one);
        });
        builder.finish("one", Timestamp::UNIX_EPOCH, StreamEnd::default()).unwrap().run
    }

    fn row(metric: &str, subject: &str, seconds: i64, value: i64) -> TelemetryRow {
        let series = Series {
            number: 0,
            metric: metric.to_string(),
            subject: subject.to_string(),
            unit: String::new(),
            counter: true,
            steady: true,
        };
        let time_ns = FIRST_RELEASE + Nanos(seconds * SECOND);
        TelemetryRow { time_ns, series: Arc::new(series), value: Some(value) }
    }

    #[test]
    fn the_ten_largest_come_first_to_last() {
        let run = run();
        let spikes = (0..30).map(|number| spike(number, 1_000 * (number % 15))).collect();
        let found = OutlierDigest::new(&run, spikes).finish();
        let sizes: Vec<i64> = found.iter().map(|one| one.latency_ns.0 / 1_000).collect();
        assert_eq!(sizes, [14, 14, 13, 13, 12, 12, 11, 11, 10, 10]);
        assert_eq!(found[0].since_start_ns, Nanos(14 * SECOND + SECOND / 2));
        assert_eq!(found[0].surroundings, None, "no telemetry was read");
    }

    #[test]
    fn a_moment_has_what_was_read_around_it() {
        let run = run();
        let mut digest = OutlierDigest::new(&run, vec![spike(5, 700_000)]);
        for second in 0..10 {
            let late = i64::from(second > 5);
            for row in [
                // In the second of the latency half of the time is stolen.
                row("cpu_time", "cpu1 idle", second, 100 * second - 100 * late),
                row("cpu_time", "cpu1 user", second, 50 * late),
                row("cpu_time", "cpu1 steal", second, 50 * late),
                row("cpu_time", "cpu0 user", second, 100 * second),
                row("cpu_frequency", "cpu1", second, 1_000_000 + second),
                row("interrupts", "cpu1 LOC", second, 250 * second),
                row("interrupts", "cpu1 24 eth0", second, 900 * second),
                row("interrupts", "cpu1 RES", second, second),
                row("thread_cpu_time", "kworker/1:2/77", second, 300_000_000 * second),
                row("thread_last_cpu", "kworker/1:2/77", second, 1),
                row("thread_cpu_time", "elsewhere/78", second, 900_000_000 * second),
                row("thread_last_cpu", "elsewhere/78", second, 0),
            ] {
                digest.push(&row);
            }
        }
        let found = digest.finish().remove(0).surroundings.unwrap();
        assert_eq!((found.busy_share, found.stolen_share), (Some(0.5), Some(0.5)));
        assert_eq!(found.frequency_khz, Some(1_000_005));
        let sources: Vec<(&str, f64)> =
            found.interrupts.iter().map(|one| (one.source.as_str(), one.per_second)).collect();
        assert_eq!(sources, [("24 eth0", 900.0), ("LOC", 250.0)]);
        let threads: Vec<(&str, u32)> =
            found.threads.iter().map(|one| (one.name.as_str(), one.id)).collect();
        assert_eq!(threads, [("kworker/1:2", 77)], "the other one ran on CPU 0");
    }
}
