//! Exports a stored run to the file formats of other tools, the opposite of `read`.
//!
//! Each format has a file in `formats/`. What a format cannot carry becomes a note, which is a
//! comment in the file if the format has comments; no count is lost silently.

mod buckets;
pub mod cyclictest;
mod explained;
mod formats;
pub mod metrics;
mod perfetto;
mod protobuf;
mod source;

pub use explained::write_explained;
pub use formats::{FORMATS, Format, format_of_id};
pub use source::{ExportQuery, OutputUnit, Rows, Source, Table, Tables};

use std::io;

/// Why a run is not exported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The output failed.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// A table of the run cannot be read.
    #[error(transparent)]
    Read(Box<dyn std::error::Error + Send + Sync>),
    /// The run has nothing that the format could carry.
    #[error("{0}")]
    Refused(String),
}

pub type Result<T> = std::result::Result<T, Error>;

/// What a format could not carry, one line each.
pub type Notes = Vec<String>;
