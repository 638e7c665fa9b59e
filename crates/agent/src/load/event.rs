//! What a keeper waits for.

use latlab_model::Nanos;
use latlab_sys::child::Ended;

/// Something has happened.
pub enum Event {
    /// A process has printed that it is ready, by its place in the load.
    Ready(usize),
    /// A line with a figure was printed.
    Line(Nanos, String),
    /// Nothing more will be printed by one of the processes.
    OutputEnded,
    /// A child has ended, or an orphan below it.
    Ended(Ended),
    /// The load is to end.
    Stop,
    /// Whoever started the keeper has died.
    Abandoned,
}
