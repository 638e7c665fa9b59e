//! Row groups of a large table, decoded by several threads ahead of who reads them.

use crate::error::Result;
use crate::table::TableReader;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// More threads than these need more memory than they save time.
const MOST_THREADS: usize = 4;

/// What decodes a row group.
pub type Decode<T> = fn(&TableReader, usize) -> Result<T>;

/// The groups of a table in their order; each thread decodes one ahead and waits until it is taken.
pub fn groups_in_order<T: Send + 'static>(
    table: TableReader,
    decode: Decode<T>,
) -> impl Iterator<Item = Result<T>> {
    let groups = table.groups();
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let threads = cpus.min(MOST_THREADS).min(groups).max(1);
    let table = Arc::new(table);
    let lanes: Vec<Option<Receiver<Result<T>>>> = (0..threads)
        .map(|first| match threads {
            // A thread of its own would only cost time.
            1 => None,
            _ => lane(Arc::clone(&table), decode, (first..groups).step_by(threads)),
        })
        .collect();
    (0..groups).map(move |group| match &lanes[group % threads] {
        Some(lane) => lane
            .recv()
            .unwrap_or_else(|_| Err(table.damaged(format!("row group {group} cannot be read")))),
        None => decode(&table, group),
    })
}

/// A thread that decodes these groups, until nobody takes them; none where none can be started.
fn lane<T: Send + 'static>(
    table: Arc<TableReader>,
    decode: Decode<T>,
    groups: impl Iterator<Item = usize> + Send + 'static,
) -> Option<Receiver<Result<T>>> {
    let (give, take) = sync_channel(0);
    let work = move || {
        for group in groups {
            if give.send(decode(&table, group)).is_err() {
                break;
            }
        }
    };
    thread::Builder::new().name("read-ahead".to_string()).spawn(work).ok().map(|_| take)
}
