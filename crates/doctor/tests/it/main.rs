//! The tests of this crate that use it from outside: one program, a module for each subject.

mod any_text;
mod cases;
mod catalogue;
mod commands;
mod golden;
mod words;
