//! The doctor: from the snapshot of a machine to what will cost latency, and what mends it.
//!
//! Everything here is a pure function of a [`Snapshot`], so a stored run, a planted machine and
//! the one under our hands are examined alike.

mod boot;
mod check;
mod checks;
mod commands;
pub mod conditions;
mod facts;

pub use check::{Check, Seen};
use facts::Facts;
use latlab_model::Snapshot;
use latlab_model::doctor::Diagnosis;
use std::cmp::Reverse;

/// All that the doctor knows, in the order of its topics.
pub fn catalogue() -> impl Iterator<Item = &'static Check> {
    checks::ALL.iter().copied().flatten()
}

/// What is to be said of this machine, heaviest first.
pub fn examine(snapshot: &Snapshot) -> Vec<Diagnosis> {
    let facts = Facts::new(snapshot);
    let mut found: Vec<Diagnosis> = catalogue()
        .flat_map(|check| (check.look)(&facts).map(|seen| check.diagnosis(seen)))
        .collect();
    // The sort is stable, so that the order of the catalogue remains within a severity.
    found.sort_by_key(|diagnosis| Reverse(diagnosis.severity));
    found
}
