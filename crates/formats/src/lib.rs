//! Files of other latency tools: read as runs, and written from runs.
//!
//! `read/` and `write/` have one file per format.

#![forbid(unsafe_code)]

pub mod read;
pub mod write;
