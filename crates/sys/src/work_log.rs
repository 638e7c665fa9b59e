//! When our non-measuring threads work: each logs the start and end of its work with the CPU, in a
//! log of fixed size that another thread drains.

use crate::clock::{Clock, thread_cpu_time};
use crate::release_times::ReleaseTimes;
use crate::sched;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Capacity of a log in stretches: about ten seconds of the busiest thread.
const ROOM: usize = 512;

/// Bytes per read; the kernel cannot be preempted while it copies them.
const PIECE: usize = 4096;

/// A stretch of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Start, on CLOCK_MONOTONIC.
    pub begin: i64,
    /// End, on CLOCK_MONOTONIC.
    pub end: i64,
    /// CPU time of the thread in it.
    pub ran: i64,
    /// CPU at the start.
    pub first_cpu: u32,
    /// CPU at the end.
    pub last_cpu: u32,
}

/// What was taken from a thread's log.
#[derive(Debug)]
pub struct TakenLog<T> {
    /// Whose log it is.
    pub owner: T,
    /// The CPUs that the thread may run on; if it has ended, those at its start.
    pub allowed: Vec<u32>,
    /// Stretches that were not kept.
    pub lost: u64,
    /// The kept stretches, in order.
    pub stretches: Vec<Stretch>,
}

/// The logs of several threads, each of which writes to its own.
#[derive(Clone, Debug)]
pub struct WorkLogs<T>(Arc<Mutex<Vec<OwnedLog<T>>>>);

#[derive(Debug)]
struct OwnedLog<T> {
    owner: T,
    log: Arc<Mutex<Log>>,
}

impl<T> Default for WorkLogs<T> {
    fn default() -> WorkLogs<T> {
        WorkLogs(Arc::default())
    }
}

/// The log of the thread that has begun it.
#[derive(Debug)]
pub struct WorkLog(Arc<Mutex<Log>>);

#[derive(Debug)]
struct Log {
    thread: i32,
    allowed: Vec<u32>,
    stretches: Vec<Stretch>,
    lost: u64,
}

impl<T: Copy> WorkLogs<T> {
    /// Begins the log of the calling thread.
    pub fn begin(&self, owner: T) -> WorkLog {
        let log = Log {
            thread: sched::thread_id(),
            allowed: sched::affinity().unwrap_or_default(),
            stretches: Vec::with_capacity(ROOM),
            lost: 0,
        };
        let log = Arc::new(Mutex::new(log));
        lock(&self.0).push(OwnedLog { owner, log: Arc::clone(&log) });
        WorkLog(log)
    }

    /// Takes what all threads have logged since the last call, and drops the logs of threads that
    /// have ended.
    pub fn take(&self) -> Vec<TakenLog<T>> {
        let mut logs = lock(&self.0);
        let taken = logs.iter().map(|one| lock(&one.log).take(one.owner)).collect();
        logs.retain(|one| Arc::strong_count(&one.log) > 1);
        taken
    }
}

impl WorkLog {
    /// Logs work from now on until the value is dropped.
    pub fn work(&self) -> Work {
        Work {
            log: Arc::clone(&self.0),
            begin: Clock::Monotonic.now(),
            ran: thread_cpu_time(),
            cpu: sched::current_cpu(),
        }
    }
}

/// Its thread works while this lives.
#[derive(Debug)]
pub struct Work {
    log: Arc<Mutex<Log>>,
    begin: i64,
    ran: i64,
    cpu: u32,
}

impl Drop for Work {
    fn drop(&mut self) {
        let stretch = Stretch {
            begin: self.begin,
            ran: thread_cpu_time() - self.ran,
            first_cpu: self.cpu,
            last_cpu: sched::current_cpu(),
            end: Clock::Monotonic.now(),
        };
        lock(&self.log).add(stretch);
    }
}

/// The log of a thread that works between the releases.
#[derive(Debug)]
pub struct TimedLog {
    log: WorkLog,
    releases: ReleaseTimes,
}

impl TimedLog {
    /// For the calling thread.
    pub fn new(log: WorkLog, releases: ReleaseTimes) -> TimedLog {
        TimedLog { log, releases }
    }

    /// Waits until no release is near, and logs work from then on until the value is dropped.
    pub fn work(&self) -> Work {
        self.releases.wait();
        self.log.work()
    }

    /// The same for work of this length that cannot be interrupted.
    pub fn long_work(&self, length: Duration) -> Work {
        self.releases.wait_for(length);
        self.log.work()
    }

    /// The same for work of many parts, which waits between two of them when a release is near.
    pub fn work_in_parts(&self) -> PartedWork<'_> {
        self.long_work_in_parts(Duration::ZERO)
    }

    /// The same with a first part of this length.
    pub fn long_work_in_parts(&self, first: Duration) -> PartedWork<'_> {
        PartedWork { log: self, part: Some(self.long_work(first)) }
    }
}

/// Work of many parts, none of which begins near a release.
#[derive(Debug)]
pub struct PartedWork<'a> {
    log: &'a TimedLog,
    part: Option<Work>,
}

impl PartedWork<'_> {
    /// Called between two parts.
    pub fn next_part(&mut self) {
        if !self.log.releases.is_free() {
            // Waiting does not count as work.
            self.part = None;
            self.part = Some(self.log.work());
        }
    }
}

/// A source whose reader works between the releases, except while it waits for more; without a log
/// it is only read.
#[derive(Debug)]
pub struct LoggedSource<R> {
    source: R,
    log: Option<TimedLog>,
    work: Option<Work>,
}

impl<R> LoggedSource<R> {
    /// A source that the thread with this log reads.
    pub fn new(source: R, log: Option<TimedLog>) -> LoggedSource<R> {
        LoggedSource { source, log, work: None }
    }
}

impl<R: Read> Read for LoggedSource<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.work = None;
        let Some(log) = &self.log else { return self.source.read(buffer) };
        let piece = buffer.len().min(PIECE);
        let read = self.source.read(&mut buffer[..piece]);
        self.work = Some(log.work());
        read
    }
}

impl Log {
    fn add(&mut self, stretch: Stretch) {
        match self.stretches.len() < ROOM {
            true => self.stretches.push(stretch),
            false => self.lost += 1,
        }
    }

    fn take<T>(&mut self, owner: T) -> TakenLog<T> {
        if let Ok(allowed) = sched::affinity_of(self.thread as u32) {
            self.allowed = allowed;
        }
        let stretches = self.stretches.drain(..).collect();
        let (lost, allowed) = (std::mem::take(&mut self.lost), self.allowed.clone());
        TakenLog { owner, allowed, lost, stretches }
    }
}

/// The contents of the lock are consistent after every statement, so a poisoned lock is usable.
fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_noted_with_its_cpu_and_sleep_is_not() {
        let logs = WorkLogs::default();
        let noted = logs.clone();
        let worker = std::thread::spawn(move || {
            let first = sched::affinity().unwrap()[0];
            sched::set_affinity([first]).unwrap();
            let log = noted.begin("telemetry");
            for _ in 0..2 {
                let work = log.work();
                let until = thread_cpu_time() + 2_000_000;
                while thread_cpu_time() < until {}
                drop(work);
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            first
        });
        let cpu = worker.join().unwrap();
        let taken = logs.take();
        let [log] = &taken[..] else { panic!("{taken:?}") };
        assert_eq!((log.owner, log.lost, &log.allowed), ("telemetry", 0, &vec![cpu]));
        let [one, two] = log.stretches[..] else { panic!("{log:?}") };
        for stretch in [one, two] {
            assert!(stretch.ran >= 2_000_000 && stretch.end - stretch.begin >= stretch.ran);
            assert_eq!((stretch.first_cpu, stretch.last_cpu), (cpu, cpu));
        }
        assert!(two.begin - one.end >= 20_000_000, "the sleep lies between them");
        assert!(logs.take().is_empty(), "the thread has ended");
    }

    /// Number of a reader's stretches that begin between the releases, and of all.
    fn free_stretches() -> (usize, usize) {
        const PERIOD: i64 = 20_000_000;
        const RELEASES: i64 = 7;
        let (logs, releases) = (WorkLogs::default(), ReleaseTimes::default());
        let first = Clock::Monotonic.now();
        let releases_of_each = |cpu| (cpu, first, PERIOD);
        let cpus = sched::affinity().unwrap();
        releases.publish(&cpus.into_iter().map(releases_of_each).collect::<Vec<_>>());
        let log = TimedLog::new(logs.begin(()), releases);
        let bytes = vec![0_u8; RELEASES as usize * PIECE];
        let mut source = LoggedSource::new(&bytes[..], Some(log));
        let mut buffer = vec![0; 2 * PIECE];
        let mut sizes = Vec::new();
        for release in 1..=RELEASES {
            crate::clock::sleep_until(Clock::Monotonic, first + release * PERIOD - 100_000)
                .unwrap();
            sizes.push(source.read(&mut buffer).unwrap());
        }
        drop(source);
        assert_eq!(sizes, [PIECE; RELEASES as usize]);
        let since = |stretch: &Stretch| (stretch.begin - first).rem_euclid(PERIOD);
        let begins: Vec<i64> = logs.take()[0].stretches.iter().map(since).collect();
        let free = begins.iter().filter(|since| (190_000..PERIOD - 300_000).contains(*since));
        (free.count(), begins.len())
    }

    #[test]
    fn who_reads_a_source_works_between_the_releases() {
        // A busy machine may delay the thread between reading the clock and logging, or so much
        // that it no longer waits.
        let mut tries = (0..10).map(|_| free_stretches());
        assert!(tries.any(|(free, all)| free > all / 2));
    }

    #[test]
    fn what_nobody_takes_is_counted() {
        let logs = WorkLogs::default();
        let log = logs.begin(());
        (0..ROOM + 3).for_each(|_| drop(log.work()));
        let taken = &logs.take()[0];
        assert_eq!((taken.stretches.len(), taken.lost), (ROOM, 3));
        drop(log.work());
        let taken = &logs.take()[0];
        assert_eq!((taken.stretches.len(), taken.lost), (1, 0), "there is room again");
    }
}
