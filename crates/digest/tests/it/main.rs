//! Tests of the public interface: one program, a module per subject.

mod attach;
mod conditions;
mod findings;
mod hostile;
mod load_definitions;
mod load_evidence;
mod runs;
mod self_interference;
mod speed;
