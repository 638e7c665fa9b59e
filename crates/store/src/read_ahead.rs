//! Decodes row groups of a large table in several threads, ahead of the reader.

use crate::error::Result;
use crate::table::TableReader;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

/// More threads need more memory than the time they save is worth.
const MOST_THREADS: usize = 4;
/// Pieces that a thread decodes ahead: about a row group.
const PIECES_AHEAD: usize = 80;

/// Decodes a row group piece by piece, each in memory from `spare`; `give` returns whether to
/// continue.
pub type Decode<T> = fn(
    &TableReader,
    usize,
    spare: &mut dyn FnMut() -> T,
    give: &mut dyn FnMut(T) -> bool,
) -> Result<()>;

/// The pieces of all groups of a table, in order. The threads decode the groups in turn, ahead of
/// the reader.
pub struct ReadAhead<T> {
    table: Arc<TableReader>,
    decode: Decode<T>,
    lanes: Vec<Option<Lane<T>>>,
    group: usize,
    /// Pieces decoded without a thread.
    decoded: VecDeque<T>,
}

/// A thread that decodes.
struct Lane<T> {
    decoded: Receiver<Decoded<T>>,
    spare: Sender<T>,
}

/// A piece of a row group; `None` at the end of the group.
type Decoded<T> = Result<Option<T>>;

impl<T: Default + Send + 'static> ReadAhead<T> {
    /// Starts decoding.
    pub fn new(table: TableReader, decode: Decode<T>) -> ReadAhead<T> {
        let groups = table.groups();
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        let threads = cpus.min(MOST_THREADS).min(groups).max(1);
        let table = Arc::new(table);
        let lanes = (0..threads).map(|first| match threads {
            // An extra thread would only cost time.
            1 => None,
            _ => lane(Arc::clone(&table), decode, (first..groups).step_by(threads)),
        });
        let lanes = lanes.collect();
        ReadAhead { table, decode, lanes, group: 0, decoded: VecDeque::new() }
    }

    /// Returns the memory of a piece to the thread that made it: new memory from the kernel takes
    /// longer than decoding.
    pub fn reuse(&mut self, piece: T) {
        if let Some(lane) = &self.lanes[self.group % self.lanes.len()] {
            // A thread that has ended needs none.
            let _ = lane.spare.send(piece);
        }
    }

    fn next_of_group(&mut self) -> Decoded<T> {
        match &self.lanes[self.group % self.lanes.len()] {
            Some(lane) => lane.decoded.recv().unwrap_or_else(|_| {
                Err(self.table.damaged(format!("row group {} cannot be read", self.group)))
            }),
            None => {
                let decoded = &mut self.decoded;
                (self.decode)(&self.table, self.group, &mut T::default, &mut |piece| {
                    decoded.push_back(piece);
                    true
                })?;
                Ok(None)
            }
        }
    }
}

impl<T: Default + Send + 'static> Iterator for ReadAhead<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(piece) = self.decoded.pop_front() {
                return Some(Ok(piece));
            }
            if self.group >= self.table.groups() {
                return None;
            }
            match self.next_of_group() {
                Ok(Some(piece)) => return Some(Ok(piece)),
                Ok(None) => self.group += 1,
                Err(error) => {
                    self.group = self.table.groups();
                    self.decoded.clear();
                    return Some(Err(error));
                }
            }
        }
    }
}

/// A thread that decodes these groups until its receiver is gone; `None` if it cannot be started.
fn lane<T: Default + Send + 'static>(
    table: Arc<TableReader>,
    decode: Decode<T>,
    groups: impl Iterator<Item = usize> + Send + 'static,
) -> Option<Lane<T>> {
    let (give, decoded) = sync_channel(PIECES_AHEAD);
    let (spare, spares) = channel();
    let work = move || {
        let mut spare = || spares.try_recv().unwrap_or_default();
        for group in groups {
            let mut give_piece = |piece| give.send(Ok(Some(piece))).is_ok();
            let done = decode(&table, group, &mut spare, &mut give_piece);
            if give.send(done.map(|()| None)).is_err() {
                break;
            }
        }
    };
    let started = thread::Builder::new().name("read-ahead".to_string()).spawn(work);
    started.ok().map(|_| Lane { decoded, spare })
}
