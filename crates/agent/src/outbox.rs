//! Frames that wait for the stream: bounded, so that a stalled link cannot use up the memory.

use crate::self_interference::self_interference;
use latlab_model::frame::Message;
use latlab_model::self_interference::OwnThread;
use latlab_sys::release_times::ReleaseTimes;
use latlab_sys::work_log::{WorkLog, WorkLogs};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Bytes per write; the kernel cannot be preempted while it copies them.
const PIECE: usize = 4096;
/// Bytes of frames that may wait for the link; beyond that intervals are merged.
const SPOOL_BYTES: usize = 4 << 20;

#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    closed: bool,
    broken: bool,
}

/// The drainer's end; it never blocks.
#[derive(Clone, Default)]
pub struct Outbox {
    queue: Arc<(Mutex<Queue>, Condvar)>,
    logs: WorkLogs<OwnThread>,
    /// Bytes taken so far, and the limit at which the run is to end; `None` for no limit.
    taken: Arc<AtomicU64>,
    most_bytes: Option<u64>,
    /// When our own threads leave the CPU to the measuring ones.
    pub releases: ReleaseTimes,
}

impl Outbox {
    /// An outbox whose run ends soon after this many bytes.
    pub fn bounded(most_bytes: u64) -> Outbox {
        Outbox { most_bytes: Some(most_bytes), ..Outbox::default() }
    }

    /// The limit, once it is reached.
    pub fn reached_bound(&self) -> Option<u64> {
        self.most_bytes.filter(|most| self.taken.load(Ordering::Relaxed) >= *most)
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        // The queue is consistent after every statement, so it stays usable if a thread panics with
        // the lock.
        self.queue.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the log in which the calling thread notes its work.
    pub fn begin_log(&self, thread: OwnThread) -> WorkLog {
        self.logs.begin(thread)
    }

    /// Sends what the threads have logged since the last call; without room it stays in their logs.
    pub fn send_self_interference(&self) {
        if self.queue().bytes < SPOOL_BYTES {
            let taken = self.logs.take().into_iter().filter_map(self_interference);
            taken.for_each(|work| self.send(&Message::SelfInterference(work)));
        }
    }

    /// Takes a frame if there is room.
    pub fn offer(&self, message: &Message) -> bool {
        self.push(message, SPOOL_BYTES)
    }

    /// Takes a frame even without room: for the few that must arrive.
    pub fn send(&self, message: &Message) {
        self.push(message, usize::MAX);
    }

    fn push(&self, message: &Message, room: usize) -> bool {
        let mut queue = self.queue();
        if queue.broken {
            // The reader is gone, so a discarded frame is not a loss to report.
            return true;
        }
        if queue.bytes >= room {
            return false;
        }
        let frame = message.encode();
        queue.bytes += frame.len();
        self.taken.fetch_add(frame.len() as u64, Ordering::Relaxed);
        queue.frames.push_back(frame);
        self.queue.1.notify_one();
        true
    }

    /// Whether the other end of the link is gone.
    pub fn is_broken(&self) -> bool {
        self.queue().broken
    }

    /// Marks the end of the frames.
    pub fn close(&self) {
        self.queue().closed = true;
        self.queue.1.notify_one();
    }

    /// Writes frames to the link until the outbox is closed and empty, or the link breaks.
    pub fn carry(&self, mut link: impl Write) {
        let log = self.begin_log(OwnThread::Stream);
        let mut work = Some(log.work());
        loop {
            let mut queue = self.queue();
            while queue.frames.is_empty() && !queue.closed {
                work = None;
                queue = self.queue.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let Some(frame) = queue.frames.pop_front() else { return };
            drop(queue);
            let pieces = frame.chunks(PIECE).try_for_each(|piece| {
                if !self.releases.is_free() {
                    work = None;
                    self.releases.wait();
                }
                work.get_or_insert_with(|| log.work());
                link.write_all(piece)
            });
            let written = pieces.and_then(|()| link.flush());
            let mut queue = self.queue();
            queue.bytes -= frame.len();
            if written.is_err() {
                queue.broken = true;
                queue.frames.clear();
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_outbox_refuses_offers_and_takes_what_must_arrive() {
        let outbox = Outbox::default();
        let mut taken = 0;
        while outbox.offer(&Message::Stop) {
            taken += 1;
        }
        outbox.send(&Message::Stop);
        outbox.close();
        let mut link = Vec::new();
        outbox.carry(&mut link);
        assert_eq!(link.len(), (taken + 1) * Message::Stop.encode().len());
        assert!(link.len() >= SPOOL_BYTES && link.len() < SPOOL_BYTES + 100);
    }

    #[test]
    fn a_bound_is_reached_by_what_was_taken() {
        let length = Message::Stop.encode().len() as u64;
        let outbox = Outbox::bounded(2 * length);
        outbox.send(&Message::Stop);
        assert_eq!(outbox.reached_bound(), None);
        outbox.send(&Message::Stop);
        assert_eq!(outbox.reached_bound(), Some(2 * length));
        assert!(outbox.offer(&Message::Stop), "what comes until the end is taken");
    }

    #[test]
    fn a_broken_link_ends_the_carrying() {
        struct Broken;
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let outbox = Outbox::default();
        outbox.send(&Message::Stop);
        outbox.carry(Broken);
        assert!(outbox.is_broken());
        assert!(outbox.offer(&Message::Stop), "the drainer is not held up by it");
    }
}
