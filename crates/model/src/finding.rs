//! What the reader of a run must know.

use crate::Nanos;
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;

words! {
    /// How much a finding weighs.
    Severity {
        /// Good to know.
        Info = "info",
        /// May have changed the figures.
        Warning = "warning",
        /// Makes figures worthless or incomplete.
        Error = "error",
    }
}

/// Something the reader of a run must know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Stable name for scripts: `setting-refused`, `suspended`, `clock-stepped`.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// When it happened, on CLOCK_MONOTONIC.
    pub at_ns: Option<Nanos>,
    /// The measuring thread it belongs to.
    pub thread: Option<u32>,
    /// What happened, in one sentence.
    pub text: String,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Whether it makes the verdict `invalid`.
    pub invalidates: bool,
}

impl Finding {
    /// A finding without time, thread or remedy.
    pub fn new(code: &str, severity: Severity, text: impl Into<String>) -> Finding {
        Finding {
            code: code.to_string(),
            severity,
            at_ns: None,
            thread: None,
            text: text.into(),
            remedy: None,
            invalidates: false,
        }
    }

    /// At this time of CLOCK_MONOTONIC.
    pub fn at(self, time: Nanos) -> Finding {
        Finding { at_ns: Some(time), ..self }
    }

    /// Of this measuring thread.
    pub fn of_thread(self, thread: u32) -> Finding {
        Finding { thread: Some(thread), ..self }
    }

    /// With what to do about it.
    pub fn remedy(self, remedy: impl Into<String>) -> Finding {
        Finding { remedy: Some(remedy.into()), ..self }
    }

    /// Makes the verdict `invalid`.
    pub fn invalidates(self) -> Finding {
        Finding { invalidates: true, ..self }
    }
}
