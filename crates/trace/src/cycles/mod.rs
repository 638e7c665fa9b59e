//! The cycles of a program's own threads, from the kernel's events: where each thread waits for its
//! next work, when that was due, and what its time went to.
//!
//! Events become steps of one thread each ([`ProgramTracker`]). A thread is watched until it can be
//! told which of its waits ends a cycle (`activation`), and what was seen by then is gone through
//! again, so that no cycle is left out. From then on a `follower` gives a cycle at each of those
//! waits, whose times add up to the nanosecond.

mod activation;
mod calls;
mod events;
mod follower;
mod program;
mod rhythm;
mod steps;
#[cfg(test)]
mod tests;

pub use activation::{Activation, AskedActivation};
pub use calls::{Call, CallTable};
pub use events::{
    NEEDED_EVENTS, PAGE_FAULTS, ProgramEvent, ProgramEventKind, ProgramEventReader, Seat, TimerUse,
};
pub use follower::{CycleFault, FaultObject, FollowedCycle};
pub use program::{Followed, FollowedState, FoundThread, ProgramTracker};
pub use rhythm::Rhythm;
pub use steps::{ClockOffsets, WaitKey, Waker};
