//! The integration tests of this crate: one program, a module for each subject.

mod attach;
mod blocks;
mod bounds;
mod campaign;
mod cause_words;
mod causes;
mod common;
mod comparison;
mod deadline;
mod doctor;
mod explanation;
mod finding;
mod first_advice;
mod fleet;
mod golden;
mod markdown;
mod narrow;
mod pasted;
mod picture;
mod plots;
mod png;
mod self_interference;
mod stored;
mod summary;
mod time;
