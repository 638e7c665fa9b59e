//! Run folders: journal, finishing, recovery, atomic publish.
//!
//! While a run goes on there is only `.<id>.partial/journal`, the stream as it came. Finishing
//! reads it from its start, writes the tables and `run.json` beside it, and publishes the folder
//! by one rename; so recovery after a kill or a power cut is the same reading, done later.

pub mod assemble;
mod clocks;
mod error;
mod findings;
mod finish;
mod folder;
mod id;
mod journal;
mod room;
mod table;
pub mod tables;
#[doc(hidden)]
pub mod testing;

pub use error::{Error, Result};
pub use finish::Finished;
pub use folder::{Entry, OpenRun, Outcome, Recovered, State, Store, calling_user, load};
pub use id::new_id;
pub use room::Room;
pub use tables::histograms;
