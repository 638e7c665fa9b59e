//! Conditions on the live page: temperatures, frequencies, and the load of CPUs.

use latlab_model::telemetry::{Reading, Series, metric};
use std::collections::BTreeMap;
use std::sync::Arc;

/// CPU time fields that count as work; user time includes that of guests.
const WORK: [&str; 5] = ["user", "nice", "system", "irq", "softirq"];
const REST: [&str; 3] = ["idle", "iowait", "steal"];

/// The value of a condition at one time, by a name such as `temperature cpu-thermal`.
pub type Value = (Arc<str>, f64);

/// All displayed series, as far as they were read.
#[derive(Default)]
pub struct LiveConditions {
    series: BTreeMap<u32, SeriesKind>,
    now: BTreeMap<u32, i64>,
    /// Ticks of work and of everything at the last reading, by CPU.
    ticks: BTreeMap<Arc<str>, (i64, i64)>,
    next: u64,
}

enum SeriesKind {
    Gauge { name: Arc<str>, divisor: f64 },
    Ticks { cpu: Arc<str>, work: bool },
}

impl LiveConditions {
    /// Registers a series; most are not displayed.
    pub fn announce(&mut self, series: &Series) {
        let gauge = |divisor| {
            let name = format!("{} {}", series.metric, series.subject);
            Some(SeriesKind::Gauge { name: name.into(), divisor })
        };
        let what = match series.metric.as_str() {
            metric::TEMPERATURE => gauge(1e3),
            metric::FREQUENCY => gauge(1e3),
            metric::CPU_TIME => series.subject.split_once(' ').and_then(|(cpu, kind)| {
                let work = WORK.contains(&kind);
                let cpu = format!("load {cpu}").into();
                (work || REST.contains(&kind)).then_some(SeriesKind::Ticks { cpu, work })
            }),
            _ => None,
        };
        if let Some(what) = what {
            self.series.insert(series.number, what);
        }
    }

    /// The values to display after a reading, which contains only changes.
    pub fn read(&mut self, reading: &Reading) -> Vec<Value> {
        if reading.sequence != self.next || reading.whole {
            // The values of a missing reading are unknown.
            self.now.clear();
        }
        self.next = reading.sequence.saturating_add(1);
        for (number, value) in &reading.values {
            match value {
                Some(value) if self.series.contains_key(number) => self.now.insert(*number, *value),
                _ => self.now.remove(number),
            };
        }
        let mut values = self.gauges();
        values.extend(self.loads());
        values
    }

    fn gauges(&self) -> Vec<Value> {
        let gauge = |(number, value): (&u32, &i64)| match self.series.get(number)? {
            SeriesKind::Gauge { name, divisor } => {
                Some((Arc::clone(name), *value as f64 / divisor))
            }
            SeriesKind::Ticks { .. } => None,
        };
        self.now.iter().filter_map(gauge).collect()
    }

    /// Percent of its time that each CPU worked since the last reading.
    fn loads(&mut self) -> Vec<Value> {
        let mut ticks: BTreeMap<Arc<str>, (i64, i64)> = BTreeMap::new();
        for (number, value) in &self.now {
            if let Some(SeriesKind::Ticks { cpu, work }) = self.series.get(number) {
                let (busy, all) = ticks.entry(Arc::clone(cpu)).or_default();
                *busy += if *work { *value } else { 0 };
                *all += value;
            }
        }
        let before = std::mem::replace(&mut self.ticks, ticks);
        let load = |(cpu, (busy, all)): (&Arc<str>, &(i64, i64))| {
            let (busy_then, all_then) = before.get(cpu)?;
            let (busy, all) = (busy - busy_then, all - all_then);
            let known = all > 0 && (0..=all).contains(&busy);
            known.then(|| (Arc::clone(cpu), 100.0 * busy as f64 / all as f64))
        };
        self.ticks.iter().filter_map(load).collect()
    }
}
