//! Tests of the public interface: one program, a module per subject.

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
