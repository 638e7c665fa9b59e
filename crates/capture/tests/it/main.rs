//! The tests of this crate that use it from outside: one program, a module for each subject.

mod common;
mod damage;
mod formats;
mod fuzz;
mod levels;
mod recordings;
mod tables;
