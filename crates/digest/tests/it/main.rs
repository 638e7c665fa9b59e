//! The tests of this crate that use it from outside: one program, a module for each subject.

mod attach;
mod conditions;
mod findings;
mod hostile;
mod load_definitions;
mod load_evidence;
mod own_work;
mod runs;
mod speed;
