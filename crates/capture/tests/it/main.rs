//! This crate's tests from outside: one program, with a module per subject.

mod common;
mod damage;
mod field;
mod formats;
mod fuzz;
mod levels;
mod losses;
mod mutations;
mod recordings;
mod tables;
