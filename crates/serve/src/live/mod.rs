//! Runs in progress: their page, and their stream of events.

mod conditions;
mod event_log;
mod events;
mod page;
mod watchers;

pub use events::events;
pub use page::page;
pub use watchers::Watchers;
