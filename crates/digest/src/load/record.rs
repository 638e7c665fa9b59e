//! Observations of a load, gathered from the stream.

use super::judge;
use super::measured_time::{MeasuredTime, Step};
use super::rates::{RateMatch, RateReader, find_group};
use latlab_model::Nanos;
use latlab_model::load::{
    EvidenceRun, Load, LoadBegin, LoadEnd, LoadLine, LoadRun, LoadSample, Spread,
};
use latlab_model::run::Finding;

/// Observations of one load.
#[derive(Debug)]
pub struct LoadRecord {
    load: Load,
    reader: RateReader,
    begin: Option<LoadBegin>,
    samples: Vec<LoadSample>,
    end: Option<LoadEnd>,
}

impl LoadRecord {
    pub fn new(load: &Load) -> LoadRecord {
        let reader = RateReader::new(&load.rates);
        LoadRecord { load: load.clone(), reader, begin: None, samples: Vec::new(), end: None }
    }

    pub fn load(&self) -> &Load {
        &self.load
    }

    pub fn begin(&mut self, begin: LoadBegin) {
        self.begin.get_or_insert(begin);
    }

    /// Adds what it has used so far.
    pub fn sample(&mut self, sample: LoadSample) {
        if self.samples.last().is_none_or(|last| last.at_ns < sample.at_ns) {
            self.samples.push(sample);
        }
    }

    /// Adds a line of output; returns its figures.
    pub fn line(&mut self, line: &LoadLine) -> Vec<RateMatch> {
        self.reader.read(&line.text, line.after_end)
    }

    pub fn end(&mut self, end: LoadEnd) {
        self.end.get_or_insert(end);
    }

    /// The evidence that it ran, and its findings.
    pub fn finish(self, window: &MeasuredTime) -> (LoadRun, Vec<Finding>) {
        let steps = self.steps(window);
        let cpu = |step: &Step| Some(step.cpu_share);
        let growth = |step: &Step| step.evidence;
        let begin = self.begin.as_ref();
        let end = self.end.clone();
        let version = self.load.version.as_ref().zip(begin);
        let run = LoadRun {
            name: self.load.name.clone(),
            words: self.load.words.clone(),
            program: begin.map(|begin| begin.program.clone()),
            version: version
                .and_then(|(rule, begin)| find_group(&rule.pattern, "version", &begin.version)),
            argv: self.load.processes.iter().map(|process| process.argv.clone()).collect(),
            placement: end
                .as_ref()
                .map(|end| end.placement.clone())
                .filter(|seen| !seen.is_empty())
                .or_else(|| begin.map(|begin| begin.placement.clone()))
                .unwrap_or_default(),
            started_ns: begin.map(|begin| begin.started_ns),
            shown_ns: begin.and_then(|begin| begin.shown_ns),
            ended_ns: end.as_ref().map(|end| end.ended_ns),
            restarts: end.as_ref().map_or(0, |end| end.restarts),
            gap_ns: end.as_ref().map_or(Nanos::ZERO, |end| end.gap_ns),
            cpu_share: spread(&steps, cpu),
            evidence: self.load.evidence.and_then(|counter| {
                let unit = format!("{}/s", counter.unit());
                Some(EvidenceRun { counter, unit, per_second: spread(&steps, growth)? })
            }),
            rates: self.reader.rates(),
            status: end.as_ref().map(|end| end.status),
            killed: end.as_ref().map_or(0, |end| end.killed),
            output_bytes: end.as_ref().map_or(0, |end| end.output_bytes),
            lines_dropped: end.as_ref().map_or(0, |end| end.lines_dropped),
            last_lines: end.as_ref().map(|end| end.last_lines.clone()).unwrap_or_default(),
        };
        let findings = judge::findings(&self.load, &run, end.as_ref(), &steps, window);
        let elsewhere = begin.and_then(|begin| judge::wrong_cpus(&begin.placement, &run));
        let lost = end.as_ref().and_then(|end| judge::lost_cpus(&self.load, end, window));
        let lowered = end.as_ref().and_then(|end| judge::lost_priority(&self.load, end, window));
        (run, findings.into_iter().chain(elsewhere).chain(lost).chain(lowered).collect())
    }

    /// From reading to reading, within the window; the time after the end of a load is a step
    /// without activity.
    fn steps(&self, window: &MeasuredTime) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for pair in self.samples.windows(2) {
            let (from, to) = (pair[0].at_ns.max(window.from), pair[1].at_ns.min(window.to));
            if from < to {
                let seconds = (pair[1].at_ns - pair[0].at_ns).as_secs_f64();
                let evidence = pair[0].evidence.zip(pair[1].evidence);
                steps.push(Step {
                    seconds: (to - from).as_secs_f64(),
                    cpu_share: (pair[1].cpu_ns - pair[0].cpu_ns).as_secs_f64() / seconds,
                    evidence: evidence
                        .map(|(before, after)| after.saturating_sub(before) as f64 / seconds),
                });
            }
        }
        let seen_to = self.samples.last().map(|last| last.at_ns.max(window.from));
        let behind = self.end.as_ref().filter(|end| end.by_itself).and(seen_to);
        if let Some(left) = behind.map(|seen_to| (window.to - seen_to).as_secs_f64())
            && left > 0.0
        {
            steps.push(Step { seconds: left, cpu_share: 0.0, evidence: None });
        }
        steps
    }
}

fn spread(steps: &[Step], of: impl Fn(&Step) -> Option<f64>) -> Option<Spread> {
    let known: Vec<(f64, f64)> =
        steps.iter().filter_map(|step| Some((step.seconds, of(step)?))).collect();
    let seconds: f64 = known.iter().map(|(seconds, _)| seconds).sum();
    let values = || known.iter().map(|(_, value)| *value);
    (seconds > 0.0).then(|| Spread {
        min: values().fold(f64::INFINITY, f64::min),
        mean: known.iter().map(|(seconds, value)| seconds * value).sum::<f64>() / seconds,
        max: values().fold(f64::NEG_INFINITY, f64::max),
    })
}
