//! The tests of this crate that use it from outside: one program, a module for each subject.

mod architecture;
mod docs;
mod doctor;
mod end_to_end;
mod import;
mod lab;
mod paths;
mod plot;
mod window;
mod words;
