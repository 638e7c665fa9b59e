//! What the tables of many runs hold about each run, and the answer to a query over them.

use latlab_model::finding::Finding;
use latlab_model::plan::{OnMachine, Plan, Until};
use latlab_model::run::{EndReason, Run, VerdictWord};
use latlab_model::{Nanos, Target};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run folder as input for the tables of many runs: a line of `latlab fleet-rows`.
#[derive(Debug, Serialize)]
pub struct FleetEntry<'a> {
    /// Path of the folder as requested.
    pub path: &'a str,
    /// Why the run cannot be used; `None` if it is intact.
    pub damaged: Option<String>,
    /// Row of the run.
    pub run: Option<FleetRun>,
    /// Findings of the run, with their texts.
    pub findings: Vec<Finding>,
    /// Tables in its folder.
    pub tables: Vec<String>,
}

/// The row of a run: its identity, what was measured, and its main figures.
#[derive(Clone, Debug, Serialize)]
pub struct FleetRun {
    run: String,
    checksum: String,
    started: String,
    start_ns: Option<Nanos>,
    measured_ns: Nanos,
    ended: EndReason,
    name: String,
    note: Option<String>,
    scenario: String,
    campaign: Option<String>,
    target: String,
    hostname: Option<String>,
    model: Option<String>,
    cpu_model: Option<String>,
    architecture: String,
    distribution: Option<String>,
    virtualisation: Option<String>,
    kernel: String,
    kernel_version: String,
    preemption: Option<String>,
    boot_id: Option<String>,
    instrument: &'static str,
    period_ns: Option<Nanos>,
    policy: Option<String>,
    threads: usize,
    load: String,
    settings: String,
    deadline_ns: Option<Nanos>,
    verdict: Option<VerdictWord>,
    at_most_share: Option<f64>,
    cycles: u64,
    releases: u64,
    overruns: Option<u64>,
    misses: Option<u64>,
    underflow: u64,
    min_ns: Option<Nanos>,
    mean_ns: Option<f64>,
    p50_ns: Option<Nanos>,
    p90_ns: Option<Nanos>,
    p99_ns: Option<Nanos>,
    p99_9_ns: Option<Nanos>,
    p99_99_ns: Option<Nanos>,
    p99_999_ns: Option<Nanos>,
    max_ns: Option<Nanos>,
    lost: u64,
    latlab: String,
    run_schema: u32,
}

impl FleetRun {
    /// Builds the row of a stored run.
    pub fn new(run: &Run) -> FleetRun {
        let (asked, machine, total) = (&run.asked, &run.machine, &run.total);
        let quantiles = total.quantiles.as_ref();
        FleetRun {
            run: run.id.clone(),
            checksum: run.checksum.clone().unwrap_or_default(),
            started: run.started.clone(),
            start_ns: run.first_release(),
            measured_ns: run.measured_ns,
            ended: run.ended,
            name: asked.name.clone(),
            note: asked.note.clone(),
            scenario: asked.cell.as_ref().map_or(&asked.name, |cell| &cell.row).clone(),
            campaign: asked.cell.as_ref().map(|cell| cell.campaign.clone()),
            target: asked.on.target.to_string(),
            hostname: machine.hostname.clone(),
            model: machine.board.clone(),
            cpu_model: machine.cpu_model.clone(),
            architecture: machine.architecture.clone(),
            distribution: machine.distribution.clone(),
            virtualisation: machine.virtualisation.clone(),
            kernel: machine.kernel.clone(),
            kernel_version: machine.kernel_version.clone(),
            preemption: machine.preemption.clone(),
            boot_id: machine.boot_id.clone(),
            instrument: asked.method.instrument().as_str(),
            period_ns: asked.method.period(),
            policy: run.threads.first().map(|thread| thread.setup.policy.clone()),
            threads: run.threads.len(),
            load: run.load_or(""),
            settings: settings(asked),
            deadline_ns: asked.until.deadline_ns,
            verdict: run.verdict.as_ref().map(|verdict| verdict.word),
            at_most_share: run.verdict.as_ref().and_then(|verdict| verdict.at_most_share),
            cycles: total.cycles,
            releases: total.releases,
            overruns: total.overruns,
            misses: total.misses,
            underflow: total.underflow,
            min_ns: total.min_ns,
            mean_ns: total.mean_ns,
            p50_ns: quantiles.and_then(|all| all.p50_ns),
            p90_ns: quantiles.and_then(|all| all.p90_ns),
            p99_ns: quantiles.and_then(|all| all.p99_ns),
            p99_9_ns: quantiles.and_then(|all| all.p99_9_ns),
            p99_99_ns: quantiles.and_then(|all| all.p99_99_ns),
            p99_999_ns: quantiles.and_then(|all| all.p99_999_ns),
            max_ns: total.max_ns,
            lost: run.losses.cycles + run.losses.samples + run.losses.spikes,
            latlab: run.latlab.clone(),
            run_schema: run.schema,
        }
    }
}

/// The plan without what differs between runs of the same settings: names, target, length, deadline
/// and seed.
fn settings(asked: &Plan) -> String {
    let alike = Plan {
        name: String::new(),
        note: None,
        command: None,
        cell: None,
        seed: None,
        on: OnMachine { target: Target::Local, guest: None, place: None, ..asked.on.clone() },
        until: Until {
            duration_ns: None,
            cycles: None,
            deadline_ns: None,
            limit_per_hour: None,
            decided: false,
            ..asked.until.clone()
        },
        ..asked.clone()
    };
    serde_json::to_string(&alike).unwrap_or_default()
}

/// Result of `latlab fleet query --format json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetAnswer {
    /// Name of the query or of its file.
    pub query: String,
    /// Column names; columns that end in `_ns` hold times in nanoseconds.
    pub columns: Vec<String>,
    /// Rows, with a value for each column.
    pub rows: Vec<Vec<Value>>,
}
