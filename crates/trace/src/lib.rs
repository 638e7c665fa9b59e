//! The kernel's trace, and what it says about latencies. Pure.
//!
//! For reading: pages and formats as they lie in the ring buffer, with nanoseconds, which the text
//! form does not have; and the [`EventRecorder`], which keeps what concerns the measuring threads.
//! For analysis, immediately or years later: the [`Matcher`], which finds the events of each
//! latency by its release, and [`BreakdownCounts`], which counts the parts.
//!
//! Little endian, like every machine that latlab is built for.

mod blame;
mod causes;
mod counts;
pub mod cycles;
mod format;
mod kernel_events;
mod matching;
mod names;
mod page;
mod part_context;
mod points;
mod recorder;
mod starts;
mod timeline;
mod windows;

pub use blame::{Blamed, Subject, blame, tell_cycle};
pub use causes::CauseTable;
pub use counts::{BreakdownCounts, PartialBreakdown};
pub use format::{Field, Format, ParseFormatError};
pub use kernel_events::{CpuTrace, EventReader};
pub use matching::Matcher;
pub use names::complete_names;
pub use page::{Event, Events, Layout};
pub use recorder::{EventRecorder, KernelEvent};
pub use windows::TraceWindows;
