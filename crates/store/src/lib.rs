//! Run folders: journal, finishing, recovery, atomic publishing.
//!
//! While a run is measured there is only `.<id>.partial/journal`, the stream byte for byte.
//! Finishing reads it from its start, writes the tables and `run.json` next to it, and publishes
//! the folder by one rename. Recovery after a kill or a power cut is the same code, run later, once
//! the lock of the journal is free.
//!
//! A published folder never changes. Every table is compared with its checksum before it is used,
//! and later reads must match what was checked. The exception is `samples.parquet`: only the row
//! groups of the requested window are read, whose pages carry gzip's checksum.

mod call_sites;
mod campaign;
mod columns;
pub mod disk;
mod document;
mod error;
mod files;
mod finish;
mod follow;
mod id;
mod incoming;
mod journal;
mod open_run;
mod pieces;
mod read_ahead;
mod recovery;
mod rolling;
mod rows;
mod run_file;
mod runs;
mod samples;
mod space;
mod table;
pub mod tables;
mod trust;
mod verify;
mod window_reader;

pub use campaign::{
    Attempt, AttemptProblem, CampaignCounts, CampaignFolder, CampaignLock, CampaignProgress,
    CampaignSummary, CellState, CellWord, NextStep, cell_verdict,
};
pub use document::{CONSOLE, read_recording, read_run, read_run_with_text, read_snapshot};
pub use error::{Error, Result};
pub use finish::Finished;
pub use follow::{FollowState, JournalEvent, JournalFollower};
pub use id::{is_valid as is_id, new_id};
pub use incoming::Incoming;
pub use open_run::OpenRun;
pub use recovery::{Quarantined, Recovered, RecoveryOutcome};
pub use rolling::{KEEP_MARK, Removal, RollingRuns};
pub use rows::{for_each_interval, intervals, pages, spikes, telemetry, trace};
pub use runs::{RunEntry, RunState, Store, calling_user};
pub use samples::SampleReader;
pub use space::SpaceNeeded;
pub use tables::histograms;
pub use trust::is_own;
pub use verify::{Mismatch, Verification, expect_files, expect_tables, verify};
pub use window_reader::{WindowReader, wall_clock, window};
