//! Tests of the public interface: one program, a module per subject.

mod broken;
mod cases;
mod common;
#[path = "../../../capture/tests/it/damage.rs"]
mod damage;
mod false_pass;
mod field;
mod formats;
mod fuzz;
mod mutation;
mod outputs;
mod parquet;
mod recordings;
mod tools;
mod verdict;
