//! How many of the largest latencies of a run a finding may explain.

use latlab_model::finding::{ConditionFinding, FindingKind, OwnThreadFinding, When};
use latlab_model::outlier::{Outlier, Surroundings};
use latlab_model::{CpuSet, Nanos, Run};
use std::collections::BTreeMap;

/// A larger share of a CPU stolen, or taken by interrupts, counts as much.
pub(crate) const MUCH: f64 = 0.05;
/// A period longer than this share of the run holds most latencies anyway, so it explains none.
const MOST_OF_THE_RUN: f64 = 0.5;

/// The largest latencies of a run that coincide with findings of one code.
#[derive(Clone, Copy)]
pub(crate) struct ExplainedLargest {
    pub count: usize,
    /// Whether the largest of all is among them.
    pub has_first: bool,
}

/// The explained latencies by code, for findings with a time or a thread. Visits each finding once:
/// a run may have many thousands.
pub(crate) fn explained_largest(run: &Run) -> BTreeMap<&str, ExplainedLargest> {
    let Some(first) = run.largest.first() else { return BTreeMap::new() };
    let mut scopes: BTreeMap<&str, Vec<FindingScope>> = BTreeMap::new();
    for finding in &run.findings {
        if let Some(scope) = scope_of(run, &finding.kind) {
            scopes.entry(finding.code()).or_default().push(scope);
        }
    }
    let explained = scopes.into_iter().map(|(code, scopes)| {
        let is_explained = |one: &Outlier| scopes.iter().any(|scope| scope.holds(one));
        let count = run.largest.iter().filter(|one| is_explained(one)).count();
        (code, ExplainedLargest { count, has_first: is_explained(first) })
    });
    explained.collect()
}

/// Which latencies a finding may explain.
enum FindingScope {
    /// In this period, on one of these CPUs if they are named.
    Time(When, Option<CpuSet>),
    /// While much time was stolen from this CPU.
    StolenFrom(u32),
    /// While one of these threads used CPU time.
    BesideThreads(Vec<u32>),
    /// While latlab's own threads worked.
    SelfInterference,
}

fn scope_of(run: &Run, finding: &FindingKind) -> Option<FindingScope> {
    use ConditionFinding::*;
    let condition = match finding {
        FindingKind::Condition(condition) => condition,
        FindingKind::OwnThread(OwnThreadFinding::InLargest { .. }) => {
            return Some(FindingScope::SelfInterference);
        }
        _ => return None,
    };
    let in_time = |when: When, cpus: Option<CpuSet>| {
        let length = (when.to_ns - when.from_ns).as_secs_f64();
        let is_short = length <= MOST_OF_THE_RUN * run.measured_ns.as_secs_f64();
        is_short.then_some(FindingScope::Time(when, cpus))
    };
    match condition {
        Steal { cpu, .. } => Some(FindingScope::StolenFrom(*cpu)),
        CompetingThread { threads, .. } => {
            Some(FindingScope::BesideThreads(threads.iter().map(|thread| thread.id).collect()))
        }
        LoadChanged { cpu, when, .. } => in_time(*when, Some([*cpu].into_iter().collect())),
        FrequencyChanged { cpus, when, .. } => in_time(*when, Some(cpus.clone())),
        Throttled { when, .. }
        | Swapped { when, .. }
        | Smi { when, .. }
        | KernelEvent { when, .. }
        | MemoryTaken { when: Some(when), .. } => in_time(*when, None),
        MemoryTaken { when: None, .. }
        | TemperatureDrift { .. }
        | OtherWork { .. }
        | ClocksourceChanged { .. }
        | TelemetryLost { .. }
        | TelemetryGap { .. }
        | TelemetryCost { .. } => None,
    }
}

impl FindingScope {
    fn holds(&self, one: &Outlier) -> bool {
        let around = |is: &dyn Fn(&Surroundings) -> bool| one.surroundings.as_ref().is_some_and(is);
        match self {
            FindingScope::Time(When { from_ns, to_ns }, cpus) => {
                let woken: Nanos = one.since_start_ns + one.latency_ns;
                let is_there = |cpus: &CpuSet| one.cpu.is_none_or(|cpu| cpus.contains(cpu));
                one.since_start_ns <= *to_ns
                    && woken >= *from_ns
                    && cpus.as_ref().is_none_or(is_there)
            }
            FindingScope::StolenFrom(cpu) => {
                one.cpu == Some(*cpu)
                    && around(&|near| near.stolen_share.is_some_and(|share| share > MUCH))
            }
            FindingScope::BesideThreads(ids) => {
                around(&|near| near.threads.iter().any(|thread| ids.contains(&thread.id)))
            }
            FindingScope::SelfInterference => !one.own_threads.is_empty(),
        }
    }
}
