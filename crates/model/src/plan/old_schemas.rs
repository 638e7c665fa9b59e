//! Plans as versions 1 to 4 stored them: flat, with the parameters of all methods in each.

use super::{
    Cell, ClockName, CpuSet, Cyclic, Cyclictest, Guest, Handoff, IdleStates, Instrument,
    KernelFile, Load, LoadCpus, Mechanism, Method, MissedPolicy, Nanos, Phase, Plan, Policy,
    Releases, Spin, Timerlat, Tuning, WakeBy, Workload,
};
use crate::respond::{Respond, Wires};
use crate::target::Target;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Reads plans of every version: those before 5 had their instrument beside everything else.
impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plan, D::Error> {
        let plan = Value::deserialize(deserializer)?;
        match plan.get("instrument").is_some() {
            true => FlatPlan::deserialize(plan).map(Plan::from),
            false => Plan::deserialize(plan),
        }
        .map_err(D::Error::custom)
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Plan::serialize(self, serializer)
    }
}

#[derive(Deserialize)]
struct FlatPlan {
    name: String,
    note: Option<String>,
    instrument: Instrument,
    mechanism: Mechanism,
    clock: ClockName,
    policy: Policy,
    cpus: Option<CpuSet>,
    threads: Option<u32>,
    helpers_on: Option<CpuSet>,
    period_ns: Nanos,
    period_step_ns: Nanos,
    phase: Phase,
    missed: MissedPolicy,
    duration_ns: Option<Nanos>,
    cycles: Option<u64>,
    warm_up_ns: Nanos,
    deadline_ns: Option<Nanos>,
    stop_above_ns: Option<Nanos>,
    spike_above_ns: Option<Nanos>,
    on_spike: Option<String>,
    idle_states: IdleStates,
    interval_ns: Nanos,
    #[serde(default)]
    samples: bool,
    #[serde(default)]
    legs: bool,
    #[serde(default)]
    share_cpus: bool,
    #[serde(default)]
    kernel_files: Vec<KernelFile>,
    #[serde(default)]
    tunings: Vec<Tuning>,
    #[serde(default)]
    telemetry_ns: Option<Nanos>,
    #[serde(default)]
    floating: bool,
    #[serde(default)]
    priority_step: u8,
    #[serde(default)]
    phase_step_ns: Nanos,
    #[serde(default)]
    second_offset_ns: Option<Nanos>,
    #[serde(default)]
    ends_with_first: bool,
    #[serde(default)]
    mark_trace: bool,
    #[serde(default)]
    wake: Option<WakeBy>,
    #[serde(default)]
    wakers_on: Option<CpuSet>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    spin: Option<FlatSpin>,
    #[serde(default)]
    respond: Option<FlatRespond>,
    #[serde(default)]
    loads: Vec<Load>,
    #[serde(default)]
    load_on: LoadCpus,
    #[serde(default)]
    cell: Option<Cell>,
    #[serde(default)]
    guest: Option<FlatGuest>,
    seed: u64,
}

/// The record of a guest also said what was measured.
#[derive(Deserialize)]
struct FlatGuest {
    target: Target,
    #[serde(flatten)]
    guest: Guest,
}

#[derive(Deserialize)]
struct FlatSpin {
    gap_above_ns: Nanos,
    workload: String,
    workload_bytes: u32,
}

/// The edges of a list of readings, which has no wires, were empty.
#[derive(Default, Deserialize)]
struct FlatRespond {
    files: Vec<String>,
    simulated: Option<String>,
    stimulus: Option<String>,
    response: Option<String>,
    marker: Option<String>,
    threshold: String,
    hysteresis: String,
    edge: String,
    response_edge: String,
    #[serde(default)]
    quiet_ns: Option<Nanos>,
    window_ns: Option<Nanos>,
}

impl From<FlatPlan> for Plan {
    fn from(flat: FlatPlan) -> Plan {
        // A capture had the defaults of a measuring thread, which meant nothing.
        let measured = flat.instrument != Instrument::Respond;
        let has_seed = measured || flat.respond.as_ref().is_some_and(|one| one.simulated.is_some());
        let method = method(&flat);
        let (target, guest) = match flat.guest {
            Some(FlatGuest { target, guest }) => (target, Some(Box::new(guest))),
            None => (Target::Local, None),
        };
        Plan {
            method,
            name: flat.name,
            note: flat.note,
            command: flat.command,
            cell: flat.cell,
            target,
            guest,
            place: None,
            policy: measured.then_some(flat.policy),
            cpus: flat.cpus,
            threads: flat.threads,
            helpers_on: flat.helpers_on,
            share_cpus: flat.share_cpus,
            duration_ns: flat.duration_ns,
            cycles: flat.cycles,
            warm_up_ns: measured.then_some(flat.warm_up_ns),
            deadline_ns: flat.deadline_ns,
            limit_per_hour: None,
            until_decided: false,
            detached: None,
            stop_above_ns: flat.stop_above_ns,
            spike_above_ns: flat.spike_above_ns,
            on_spike: flat.on_spike,
            explain: false,
            idle_states: measured.then_some(flat.idle_states),
            kernel_files: flat.kernel_files,
            tunings: flat.tunings,
            loads: flat.loads,
            load_on: flat.load_on,
            telemetry_ns: flat.telemetry_ns,
            telemetry_is_full: false,
            interval_ns: flat.interval_ns,
            samples: flat.samples,
            seed: has_seed.then_some(flat.seed),
        }
    }
}

fn method(flat: &FlatPlan) -> Method {
    let releases = Releases {
        clock: flat.clock,
        period_ns: flat.period_ns,
        period_step_ns: flat.period_step_ns,
        phase: flat.phase,
    };
    match flat.instrument {
        Instrument::Cyclic => Method::Cyclic(Cyclic {
            mechanism: flat.mechanism,
            releases,
            missed: flat.missed,
            legs: flat.legs,
            cyclictest: cyclictest(flat),
        }),
        Instrument::Handoff => Method::Handoff(Handoff {
            wake: flat.wake.unwrap_or(WakeBy::Futex),
            wakers_on: flat.wakers_on.clone(),
            releases,
        }),
        Instrument::Spin => Method::Spin(flat.spin.as_ref().map(spin).unwrap_or_default()),
        // No plan of that time attached to anything.
        Instrument::Attach => Method::Attach(Box::default()),
        Instrument::Timerlat => Method::Timerlat(Timerlat { period_ns: flat.period_ns }),
        Instrument::Respond => Method::Respond(Box::new(respond(flat.respond.as_ref()))),
        Instrument::Import => Method::Import(Box::default()),
    }
}

/// All six had their defaults in a run of another command.
fn cyclictest(flat: &FlatPlan) -> Option<Cyclictest> {
    let asked = Cyclictest {
        floating: flat.floating,
        priority_step: flat.priority_step,
        phase_step_ns: flat.phase_step_ns,
        second_offset_ns: flat.second_offset_ns,
        ends_with_first: flat.ends_with_first,
        mark_trace: flat.mark_trace,
    };
    (asked != Cyclictest::default()).then_some(asked)
}

fn spin(flat: &FlatSpin) -> Spin {
    let workload = match flat.workload.as_str() {
        "memmove" => Workload::Memmove { bytes: flat.workload_bytes },
        _ => Workload::None,
    };
    Spin { gap_above_ns: flat.gap_above_ns, workload }
}

fn respond(flat: Option<&FlatRespond>) -> Respond {
    let Some(flat) = flat else { return Respond::default() };
    let wires = flat.stimulus.as_ref().zip(flat.response.as_ref());
    let wires = wires.map(|(stimulus, response)| Wires {
        stimulus: stimulus.clone(),
        response: response.clone(),
        marker: flat.marker.clone(),
        threshold: flat.threshold.clone(),
        response_threshold: None,
        hysteresis: flat.hysteresis.clone(),
        edge: flat.edge.clone(),
        response_edge: flat.response_edge.clone(),
    });
    Respond {
        files: flat.files.clone(),
        simulated: flat.simulated.clone(),
        wires,
        quiet_ns: flat.quiet_ns,
        window_ns: flat.window_ns,
        ..Respond::default()
    }
}
