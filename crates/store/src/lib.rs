//! Run folders: journal, finishing, recovery, atomic publish.
//!
//! While a run is measured there is only `.<id>.partial/journal`, the stream byte for byte. Finishing
//! reads it from its start, writes the tables and `run.json` beside it, and publishes the folder by
//! one rename. Recovery after a kill or a power cut is the same code, run later, when the lock of the
//! journal is free.
//!
//! A published folder never changes. A table is compared with its checksum before it is used, except
//! for `samples.parquet`: of that only the row groups of the wanted window are read, whose pages carry
//! the checksum of gzip.

mod campaign;
mod columns;
mod document;
mod error;
mod files;
mod finish;
mod folder;
mod follow;
mod id;
mod journal;
mod room;
mod rows;
mod samples;
mod stretch;
mod table;
pub mod tables;
mod verify;

pub use campaign::{CampaignFolder, CampaignLock, CellState, Next, Tried};
pub use document::{CONSOLE, load, load_snapshot};
pub use error::{Error, Result};
pub use finish::Finished;
pub use folder::{Entry, OpenRun, Outcome, Recovered, State, Store, calling_user};
pub use follow::{Follow, Seen, Standing};
pub use id::new_id;
pub use room::Room;
pub use rows::{intervals, spikes, telemetry, trace};
pub use samples::SampleReader;
pub use stretch::{Stretch, window};
pub use tables::histograms;
pub use verify::{expect_files, verify};
