//! The commands, one module each.

pub mod agent;
pub mod attach;
pub mod campaign;
pub mod collect;
pub mod compare;
pub mod completions;
pub mod cyclictest;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod fleet;
pub mod import;
#[cfg_attr(not(feature = "guests"), path = "lab/absent.rs")]
pub mod lab;
pub mod loads;
pub mod plan;
pub mod plot;
#[cfg(test)]
mod repeat;
pub mod report;
#[cfg_attr(not(feature = "pins"), path = "respond/absent.rs")]
pub mod respond;
pub mod result_output;
pub mod run;
pub mod runs;
pub mod scenarios;
pub mod serve;
pub mod target;
pub mod trend;
pub mod tune;
pub mod tuned;
pub mod verify;
pub mod watch;
