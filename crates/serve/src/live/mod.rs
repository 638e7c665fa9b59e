//! Runs that go on: their page, and what happens in them as a stream of events.

mod conditions;
mod event_log;
mod events;
mod page;
mod watchers;

pub use events::events;
pub use page::page;
pub use watchers::Watchers;
