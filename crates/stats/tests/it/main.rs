//! Statements of the crate about data whose truth is known.

mod degenerate;
mod study;
