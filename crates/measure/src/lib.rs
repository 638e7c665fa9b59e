//! The measuring loop, its timers and its recorder.
//!
//! [`cyclic::measure`] is the loop; [`spin::spin`] is another, which never sleeps; [`timer`] holds the ways it can sleep; [`recorder`] is what
//! lies between it and the drainer, who takes the counts to the stream.

pub mod counter;
pub mod cyclic;
pub mod handoff;
pub mod recorder;
pub mod samples;
pub mod spin;
pub mod timer;
