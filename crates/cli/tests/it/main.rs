//! Integration tests of the program, in one binary with a module for each subject.

mod architecture;
mod docs;
mod doctor;
mod end_to_end;
mod golden;
mod import;
mod lab;
mod paths;
mod plot;
mod window;
mod words;
