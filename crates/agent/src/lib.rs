//! The program on the target: prepares it, measures, sends frames, restores it.
//!
//! The agent reads a plan from one byte stream, writes frames to another, and analyses nothing. The
//! same code serves the local machine, a guest and a board.
//!
//! `session.rs` serves the stream; `run.rs` is a run in order, enforced by types: claim the CPUs,
//! apply and read back settings and tunings, start loads and threads, drain, restore. `layout.rs`
//! resolves CPUs and phases without touching the machine. `outbox.rs` holds what the stream has not
//! taken yet: intervals merge there when the stream stalls, and nothing else waits for it.

mod answer_breakdown;
mod attach;
mod cpu_claim;
mod cpus;
mod drain;
mod fault;
mod flight;
mod gpio;
mod guest;
mod helper_thread;
mod hook;
mod layout;
mod load;
mod measuring_threads;
mod monitor;
mod outbox;
mod output;
mod placement;
mod prepare;
mod program;
mod reasons;
mod refusals;
mod responder;
mod run;
mod samples;
mod self_interference;
mod session;
mod snapshot;
mod spin;
mod ssh_server;
mod telemetry;
mod thread_job;
mod timerlat;
mod trace;
mod tuning;
mod waker;
mod worker;

pub use drain::IntervalObserver;
pub use latlab_measure::recorder::Sealed;
pub use load::{LOAD_SUPERVISOR, missing_program, supervise};
pub use output::Output;
pub use program::{agent, is_agent};
pub use session::{serve, serve_with_observer};
pub use snapshot::snapshot as snapshot_of;
