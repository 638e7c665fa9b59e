//! Finds what costs latency on a machine, from a snapshot of its kernel files, and how to change
//! it.
//!
//! Everything here is a pure function of a [`Snapshot`], so this machine, a stored run, a mounted
//! card and a test fixture are examined alike, and a newer catalogue finds more in an older run.
//!
//! `checks` is the catalogue: each check has a code, severity, topic, reason, cost, remedy, undo,
//! and a function from the facts of a snapshot to an observation. `compare.rs` lists the
//! differences of two snapshots: facts, findings, settings, and kernel options by topic
//! (`config.rs`).

mod boot;
mod check;
mod checks;
mod commands;
mod compare;
pub mod comparison;
mod config;
mod effect;
mod facts;
mod settings;

pub use check::{Check, Observation};
pub use compare::{compare, compare_machines};
use facts::Facts;
use latlab_model::doctor::{Diagnosis, Examination};
use latlab_model::machine::Machine;
use latlab_model::{CpuSet, Snapshot};
pub use settings::candidates;
use std::cmp::Reverse;

/// All checks, by topic.
pub fn catalogue() -> impl Iterator<Item = &'static Check> {
    checks::ALL.iter().copied().flatten()
}

/// What a host does to its guests, unless their time is virtual.
const OF_A_HOST: [&str; 4] = ["guest", "guest-clock", "no-idle-driver", "stolen-time"];

/// The diagnoses of this machine, most severe first.
pub fn examine(snapshot: &Snapshot) -> Vec<Diagnosis> {
    let facts = Facts::new(snapshot);
    let without_host = facts.is_in_virtual_time();
    let mut found: Vec<Diagnosis> = catalogue()
        .filter(|check| !(without_host && OF_A_HOST.contains(&check.code)))
        .flat_map(|check| (check.observe)(&facts).map(|seen| check.diagnosis(seen)))
        .collect();
    // The sort is stable, so that the order of the catalogue remains within a severity.
    found.sort_by_key(|diagnosis| Reverse(diagnosis.severity));
    found
}

/// The machine, its diagnoses, and what could not be read.
pub fn examination(snapshot: &Snapshot) -> Examination {
    let unreadable = snapshot.unreadable();
    Examination {
        machine: machine(snapshot),
        findings: examine(snapshot),
        unreadable: unreadable.map(|(path, why)| (path.to_string(), why.to_string())).collect(),
    }
}

/// The fingerprint of a machine, by its files alone.
pub fn machine(snapshot: &Snapshot) -> Machine {
    let online: CpuSet = snapshot.value("sys/devices/system/cpu/online").unwrap_or_default();
    let status = snapshot.text("proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let allowed = allowed.and_then(|cpus| cpus.trim().parse().ok()).unwrap_or_default();
    Machine::from_snapshot(snapshot, &online, &allowed)
}
