//! What a keeper is told.

use super::event::Event;
use latlab_model::load::Load;
use serde::{Deserialize, Serialize};
use std::io::BufRead;
use std::sync::mpsc::SyncSender;

/// The first line that a keeper reads.
#[derive(Serialize, Deserialize)]
pub struct Order {
    /// Place of the load in the plan.
    pub number: u32,
    /// What to run.
    pub load: Load,
    /// Where the program of each of its processes lies.
    pub programs: Vec<String>,
    /// Where it may run.
    pub cpus: Vec<u32>,
}

/// The last line; without it, whoever started the keeper has died.
pub const STOP_WORD: &str = "stop\n";

/// Listens for the word to end, or for the end of whoever says it.
pub fn listen(
    mut input: impl BufRead + Send + 'static,
    events: SyncSender<Event>,
) -> std::io::Result<()> {
    let listen = move || {
        let mut line = String::new();
        let word = input.read_line(&mut line);
        let event = match word.is_ok() && line == STOP_WORD {
            true => Event::Stop,
            false => Event::Abandoned,
        };
        let _ = events.send(event);
    };
    std::thread::Builder::new().spawn(listen).map(drop)
}
