//! The measuring loops, their timers and their recorder.
//!
//! [`cyclic::measure`] sleeps until a release, reads the clock and records the latency.
//! [`spin::spin`] never sleeps: it reads a counter and records each gap as a latency. [`timer`] has
//! the ways to sleep, [`handoff`] the way to be woken by another thread, [`gpio`] a wire whose
//! edges are answered.
//!
//! [`recorder`] is what lies between a loop and the drainer, which sends the counts: interval
//! buffers that travel as boxes through two rings, and a ring of the largest latencies. If no empty
//! buffer has come back at the end of an interval, the interval grows and a counter records that.
//! With samples, each latency also goes into a ring of ten seconds, eight bytes each; an extra word
//! precedes a release that is not one period after the last.

pub mod counter;
pub mod cyclic;
pub mod gpio;
pub mod handoff;
pub mod recorder;
pub mod samples;
pub mod spin;
pub mod timer;
