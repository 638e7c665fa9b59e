//! Measuring on a board without the link to it.

use serde::{Deserialize, Serialize};

/// How a board measures without the link: its stream goes to a file there, which is collected later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detached {
    /// The folder there in which the run has one of its own; none means that of the user's cache.
    pub folder: Option<String>,
    /// Bytes of the stream at which the run ends, so that it never fills the board.
    pub most_bytes: u64,
}
