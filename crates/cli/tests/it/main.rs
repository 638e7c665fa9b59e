//! Integration tests of the program, in one binary with a module for each subject.

mod architecture;
// The documentation is that of the program with all its parts.
#[cfg(all(feature = "guests", feature = "pins"))]
mod docs;
mod doctor;
mod end_to_end;
mod golden;
mod import;
#[cfg(feature = "guests")]
mod lab;
mod paths;
mod plot;
mod window;
mod words;
