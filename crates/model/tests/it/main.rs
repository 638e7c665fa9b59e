//! Tests of the public interface.

mod cpu;
mod deadline;
mod edges;
mod explanation;
mod fault;
mod finding;
mod frame;
mod gpio;
mod histogram;
mod histogram_layout;
mod machine;
mod nanos;
mod plan_tuning;
mod samples;
mod sanitize;
mod self_interference;
mod shell;
mod snapshot;
mod target;
mod trace;
mod units;
