//! What runs on the target: prepare, measure, drain, restore.
//!
//! The agent reads a plan from a byte stream, speaks frames over another, and does no analysis.
//! The same code serves the machine it is started on, a board behind ssh and a guest.

mod companion;
mod cpus;
mod drain;
mod fault;
mod guest;
mod hold;
mod hook;
mod job;
mod layout;
mod legs;
mod load;
mod outbox;
mod placing;
mod prepare;
mod reasons;
mod refusals;
mod samples;
mod session;
mod snapshot;
mod spin;
mod team;
mod telemetry;
mod timerlat;
mod tuning;
mod waker;
mod worker;

pub use drain::Watch;
pub use fault::plant;
pub use guest::{BOOT, WORKER, boot, work};
pub use latlab_measure::recorder::Sealed;
pub use load::{KEEPER, end_orphans, keep, missing_program};
pub use session::{serve, serve_watched};
pub use snapshot::snapshot as snapshot_of;
