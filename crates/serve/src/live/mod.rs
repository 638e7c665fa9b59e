//! Runs that go on: their page, and what happens in them as a stream of events.

mod conditions;
mod events;
mod page;
mod tape;
mod watch;

pub use events::events;
pub use page::page;
pub use watch::Hub;
