//! The tests of this crate that use it from outside: one program, a module for each subject.

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
