//! The cycles of a program's threads, from the kernel's events: where each thread waits for its
//! next work, when that was due, and where its time went.
//!
//! Events become steps of single threads ([`ProgramTracker`]). A thread is watched until it is
//! clear which of its waits ends a cycle (`activation`); then the steps seen so far are replayed,
//! so that no cycle is left out. From then on a `follower` yields a cycle at each of those waits,
//! whose times add up to the nanosecond.

mod activation;
mod calls;
mod events;
mod follower;
mod pieces;
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
pub use pieces::{Piece, Pieces, State};
pub use program::{Followed, FollowedState, FoundThread, ProgramTracker};
pub use rhythm::Rhythm;
pub use steps::{ClockOffsets, Lock, WaitKey, Waker};
