//! The tests of this crate that use it from outside: one program, a module for each subject.

mod campaign;
mod conditions;
mod faults;
mod finish;
mod follow;
mod older;
mod recover;
mod rolling;
mod rows;
mod runs;
mod simulated_disk;
mod trace;
mod verify;
mod window;
