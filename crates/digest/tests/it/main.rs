//! The tests of this crate that use it from outside: one program, a module for each subject.

mod attach;
mod findings;
mod hostile;
mod own_work;
mod runs;
mod speed;
