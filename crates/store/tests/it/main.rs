//! The tests of this crate that use it from outside: one program, a module for each subject.

mod campaign;
mod conditions;
mod finish;
mod follow;
mod older;
mod recover;
mod rows;
mod runs;
mod trace;
mod verify;
mod window;
