//! The kernel's trace as it lies in the ring buffer, with nanoseconds, which its text does not
//! have: pages to events, and the fields of an event by the kernel's own description. Pure.
//!
//! Little endian, as every machine that latlab is built for.

mod format;
mod page;

pub use format::{Field, Format, ParseFormatError};
pub use page::{Event, Events, Layout};
