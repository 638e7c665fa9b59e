//! The loads of a run: the rows of their evidence, and their findings at the end.

use super::{LoadRecord, MeasuredTime};
use crate::telemetry::TelemetryRow;
use latlab_model::load::{Evidence, LoadBegin, LoadEnd, LoadLine, LoadRun, LoadSample, metric};
use latlab_model::run::Finding;
use latlab_model::telemetry::Series;
use latlab_model::{Nanos, Plan};
use std::collections::BTreeMap;
use std::sync::Arc;

/// First number for the digest's own series; the agent counts from 0.
const FIRST_NUMBER: u32 = 1 << 30;

/// All loads of one stream, by their place in the plan.
#[derive(Default)]
pub struct LoadDigest {
    loads: BTreeMap<u32, LoadRecord>,
    series: BTreeMap<(&'static str, String), Arc<Series>>,
}

impl LoadDigest {
    /// Registers the loads of a plan.
    pub fn expect(&mut self, plan: &Plan) {
        for (number, load) in (0..).zip(&plan.on.loads) {
            self.loads.entry(number).or_insert_with(|| LoadRecord::new(load));
        }
    }

    pub fn begin(&mut self, begin: LoadBegin) {
        if let Some(load) = self.loads.get_mut(&begin.load) {
            load.begin(begin);
        }
    }

    /// Adds a sample of a load; returns its rows.
    pub fn sample(&mut self, sample: LoadSample) -> Vec<TelemetryRow> {
        let Some(load) = self.loads.get_mut(&sample.load) else { return Vec::new() };
        load.sample(sample);
        let counter = load.load().evidence;
        let name = self.name(sample.load);
        let mut rows = vec![
            self.row(metric::LOAD_CPU, &name, "ns", true, sample.at_ns, sample.cpu_ns.0),
            self.row(
                metric::LOAD_PROCESSES,
                &name,
                "1",
                false,
                sample.at_ns,
                sample.processes.into(),
            ),
        ];
        if let Some((counter, value)) = counter.zip(sample.evidence) {
            let subject = format!("{name} {counter}");
            let (unit, value) = (Evidence::unit(counter), value.min(i64::MAX as u64) as i64);
            rows.push(self.row(metric::LOAD_EVIDENCE, &subject, unit, true, sample.at_ns, value));
        }
        rows
    }

    /// Adds a line of a load's output; returns the rows of its figures.
    pub fn line(&mut self, line: &LoadLine) -> Vec<TelemetryRow> {
        let Some(load) = self.loads.get_mut(&line.load) else { return Vec::new() };
        let figures = load.line(line);
        let name = self.name(line.load);
        let rows = figures.into_iter().map(|figure| {
            let of = figure.of.map(|of| format!(" {of}")).unwrap_or_default();
            let subject = format!("{name} {}{of}", figure.name);
            let unit = format!("0.001 {}", figure.unit);
            let value = (figure.value * 1000.0).round() as i64;
            self.row(metric::LOAD_RATE, &subject, &unit, false, line.at_ns, value)
        });
        rows.collect()
    }

    pub fn end(&mut self, end: LoadEnd) {
        if let Some(load) = self.loads.get_mut(&end.load) {
            load.end(end);
        }
    }

    /// All loads and their findings.
    pub fn finish(self, window: &MeasuredTime) -> (Vec<LoadRun>, Vec<Finding>) {
        let loads = self.loads.into_values().map(|load| load.finish(window));
        let (runs, findings): (Vec<LoadRun>, Vec<Vec<Finding>>) = loads.unzip();
        (runs, findings.concat())
    }

    /// The name of a load, with its place if two share the name.
    fn name(&self, number: u32) -> String {
        let name = |load: &LoadRecord| load.load().name.clone();
        let own = self.loads.get(&number).map(name).unwrap_or_default();
        let same = self.loads.values().filter(|load| load.load().name == own).count();
        if same > 1 { format!("{own}#{number}") } else { own }
    }

    fn row(
        &mut self,
        metric: &'static str,
        subject: &str,
        unit: &str,
        counter: bool,
        time_ns: Nanos,
        value: i64,
    ) -> TelemetryRow {
        let number = FIRST_NUMBER + self.series.len() as u32;
        let series = self.series.entry((metric, subject.to_string())).or_insert_with(|| {
            Arc::new(Series {
                number,
                metric: metric.to_string(),
                subject: subject.to_string(),
                unit: unit.to_string(),
                counter,
                steady: false,
            })
        });
        TelemetryRow { time_ns, series: Arc::clone(series), value: Some(value) }
    }
}
