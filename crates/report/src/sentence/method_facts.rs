//! How a run measured, as labelled facts: from its plan alone.

use crate::sections::respond;
use crate::units::bytes;
use latlab_model::Nanos;
use latlab_model::guest::Guest;
use latlab_model::import::Import;
use latlab_model::plan::{IdleStates, Instrument, JudgedTime, Method, Plan, Releases, Workload};

/// How the run measured, as labelled facts.
pub fn method_facts(plan: &Plan) -> Vec<(&'static str, String)> {
    let mut facts = plan.guest.as_deref().map(|made| guest(plan, made)).unwrap_or_default();
    facts.extend(measuring(plan));
    facts
}

/// What makes a guest the same again.
fn guest(plan: &Plan, guest: &Guest) -> Vec<(&'static str, String)> {
    let time = match &guest.accelerator {
        None => "virtual: one instruction takes one nanosecond".to_string(),
        Some(by) => format!("that of the host, with {by}: noisy, not repeatable"),
    };
    vec![
        ("Target", format!("{}, seed {}", plan.target, guest.seed)),
        ("Time", time),
        ("Emulator", guest.emulator.clone()),
        ("Kernel from", guest.kernel.clone()),
        ("SHA-256 of the kernel", guest.kernel_sha256.clone()),
        ("SHA-256 of the files", guest.files_sha256.clone()),
    ]
}

fn measuring(plan: &Plan) -> Vec<(&'static str, String)> {
    let instrument = ("Instrument", plan.method.instrument().to_string());
    match &plan.method {
        Method::Respond(asked) => respond::method(asked),
        Method::Spin(spin) => {
            let own = [
                instrument,
                ("Gaps", format!("above {}", spin.gap_above_ns)),
                ("Workload", workload(spin.workload)),
            ];
            own.into_iter().chain(scheduling(plan)).chain(limits(plan)).collect()
        }
        Method::Cyclic(cyclic) => {
            let own = [instrument, ("Mechanism", cyclic.mechanism.to_string())];
            own.into_iter().chain(rhythm(plan)).collect()
        }
        Method::Handoff(handoff) => {
            let by = match &handoff.wakers_on {
                None => format!("woken by {} from the same CPU", handoff.wake),
                Some(on) => format!("woken by {} from CPUs {on}", handoff.wake),
            };
            let instrument = ("Instrument", format!("{}, {by}", Instrument::Handoff));
            std::iter::once(instrument).chain(rhythm(plan)).collect()
        }
        Method::Timerlat(_) => std::iter::once(instrument).chain(rhythm(plan)).collect(),
        Method::Attach(attach) => {
            let judged = match attach.judged {
                JudgedTime::Response => "response time, from release to end",
                JudgedTime::WakeUp => "wake-up latency, from release to start",
            };
            vec![
                instrument,
                ("Program", attach.target.to_string()),
                ("Judged", judged.to_string()),
                ("Interval of the stream", plan.interval_ns.to_string()),
            ]
        }
        Method::Import(import) => imported(import),
    }
}

/// Where the figures of another tool come from.
fn imported(import: &Import) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("Imported from", import.file.clone()),
        ("Format", import.format.clone()),
        ("Measured", import.quantity.clone()),
    ];
    facts.extend(import.tool.clone().map(|tool| ("Tool", tool)));
    facts.extend(import.command.clone().map(|command| ("Command", command)));
    facts.extend(import.recorded.clone().map(|time| ("Recorded", time)));
    facts.extend(import.resolution_ns.map(|unit| ("Resolution", unit.to_string())));
    facts.extend(import.original.clone().map(|name| ("Original file", name)));
    let stated = import.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.text));
    facts.extend(stated.map(|fact| ("The file states", fact)));
    facts
}

/// What a method with a period has in common with the others that have one.
fn rhythm(plan: &Plan) -> Vec<(&'static str, String)> {
    let method = &plan.method;
    let step = method.releases().map_or(Nanos::ZERO, |releases| releases.period_step_ns);
    let step = match step {
        Nanos::ZERO => String::new(),
        step => format!(", each further thread {step} longer"),
    };
    let phase = |releases: &Releases| match plan.seed {
        Some(seed) => format!("{}, seed {seed}", releases.phase),
        None => releases.phase.to_string(),
    };
    let mut facts = Vec::new();
    facts.extend(method.clock().map(|clock| ("Clock", clock.to_string())));
    facts.extend(scheduling(plan));
    facts.extend(method.period().map(|period| ("Period", format!("{period}{step}"))));
    facts.extend(method.releases().map(|releases| ("Phase", phase(releases))));
    facts.extend(method.missed_policy().map(|missed| ("Missed releases", missed.to_string())));
    facts.extend(limits(plan));
    facts
}

fn scheduling(plan: &Plan) -> Option<(&'static str, String)> {
    plan.policy.map(|policy| ("Requested scheduling", policy.to_string()))
}

fn limits(plan: &Plan) -> impl Iterator<Item = (&'static str, String)> {
    let idle = plan.idle_states.map(|states| match states {
        IdleStates::ExitWithin(Nanos::ZERO) => "none with an exit latency".to_string(),
        IdleStates::ExitWithin(limit) => format!("exit latency up to {limit}"),
        IdleStates::System => "system default".to_string(),
    });
    let warm_up = plan.warm_up_ns.map(|warm_up| ("Warm-up", warm_up.to_string()));
    let interval = ("Interval of the stream", plan.interval_ns.to_string());
    let idle = idle.map(|idle| ("Idle states", idle));
    warm_up.into_iter().chain([interval]).chain(idle)
}

fn workload(workload: Workload) -> String {
    match workload {
        Workload::None => "none".to_string(),
        Workload::Memmove { bytes: size } => format!("{workload} of {}", bytes(size.into())),
    }
}
