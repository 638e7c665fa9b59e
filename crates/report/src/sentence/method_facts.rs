//! How a run measured, as labelled facts derived from its plan alone.

use crate::sections::respond;
use latlab_model::guest::Guest;
use latlab_model::import::Import;
use latlab_model::plan::{Instrument, JudgedTime, Method, Plan};

pub fn method_facts(plan: &Plan) -> Vec<(&'static str, String)> {
    let mut facts = plan.on.guest.as_deref().map(|made| guest(plan, made)).unwrap_or_default();
    facts.extend(measuring(plan));
    facts
}

/// What is needed to reproduce a guest.
fn guest(plan: &Plan, guest: &Guest) -> Vec<(&'static str, String)> {
    let time = match &guest.accelerator {
        None => "virtual: one instruction takes one nanosecond".to_string(),
        Some(by) => format!("that of the host, with {by}: noisy, not repeatable"),
    };
    vec![
        ("Target", format!("{}, seed {}", plan.on.target, guest.seed)),
        ("Time", time),
        ("Emulator", guest.emulator.clone()),
        ("Kernel from", guest.kernel.clone()),
        ("SHA-256 of the kernel", guest.kernel_sha256.clone()),
        ("SHA-256 of the files", guest.files_sha256.clone()),
    ]
}

fn measuring(plan: &Plan) -> Vec<(&'static str, String)> {
    match &plan.method {
        Method::Respond(asked) => respond::method(asked),
        Method::Import(import) => imported(import),
        Method::Attach(attach) => {
            let judged = match attach.judged {
                JudgedTime::Response => "response time, from release to end",
                JudgedTime::WakeUp => "wake-up latency, from release to start",
            };
            let own = [
                ("Instrument", Instrument::Attach.to_string()),
                ("Program", attach.target.to_string()),
                ("Judged", judged.to_string()),
            ];
            own.into_iter().chain(plan.facts()).collect()
        }
        _ => plan.facts().collect(),
    }
}

/// The origin of another tool's figures.
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
