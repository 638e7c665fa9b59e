//! Tests of the crate's statements on data whose truth is known.

mod degenerate;
mod study;
