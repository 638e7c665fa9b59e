//! `--explain`: a flight recorder for kernel events. The kernel overwrites private ring buffers
//! continuously; when a thread was late, the pages around that moment are copied to the stream
//! while recording goes on. Pages are not interpreted here.
//!
//! If it cannot record, the run is refused before it begins.

mod bound;
mod buffer;
mod functions;
mod schedule;
mod threads;

use crate::outbox::Outbox;
use crate::refusals::machine_refuses;
use crate::trace::expect_kernels_process_numbers;
use bound::SpikeBound;
use buffer::FlightBuffer;
use functions::Addresses;
use latlab_model::attach::LongCycle;
use latlab_model::flight::{
    PageRange, RecordedSpike, RecorderReport, RecorderWindow, SpikeTally, StolenTime, TracePages,
};
use latlab_model::frame::{Message, Refusal, Spike};
use latlab_model::nanos::{MICROSECOND, MILLISECOND, SECOND};
use latlab_model::run::ThreadSetup;
use latlab_model::self_interference::OwnThread;
use latlab_model::{CpuSet, Nanos, Plan};
use latlab_sys::clock::{Clock, cpu_time_of_thread};
use latlab_sys::files::Root;
use latlab_sys::undo::Changes;
use schedule::RecorderSchedule;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use threads::ThreadNames;

/// Time between two readings of the stolen time.
const PASS: i64 = 100_000_000;
/// Recorded before the release: one period, in which the timer was started, but at most this.
const LEAD: Nanos = Nanos(2 * MILLISECOND.0);
/// Recorded after the thread has read the clock.
const TAIL: Nanos = Nanos(200 * MICROSECOND.0);
/// By then the kernel has finished writing an event that it has begun.
const SETTLED: i64 = 1_000_000;
/// Largest number of spikes that wait for their pages.
const WAITING: usize = 4096;
/// Bytes of pages sent per second on average …
const BYTES_A_SECOND: i64 = 4 << 20;
/// … in a burst …
const BYTES_AT_ONCE: i64 = 8 << 20;
/// … and in a run.
const BYTES_OF_A_RUN: i64 = 256 << 20;
/// On a machine with at most this many CPUs, all CPUs are recorded at a spike.
const FEW_CPUS: usize = 8;
/// Pages per frame; few enough that the next frame is found behind damage.
const PAGES_OF_A_FRAME: u32 = 64;

/// The recorder, set up and switched off.
pub struct PreparedRecorder {
    buffer: FlightBuffer,
    root: Root,
}

/// Sets up the recorder; a refusal says what is missing.
pub fn prepare(root: &Root, changes: &mut Changes) -> Result<PreparedRecorder, Refusal> {
    expect_kernels_process_numbers(root).map_err(refusal)?;
    let buffer = FlightBuffer::prepare(root, changes).map_err(refusal)?;
    Ok(PreparedRecorder { buffer, root: root.clone() })
}

fn refusal(text: String) -> Refusal {
    machine_refuses(format!("--explain: {text}"))
}

/// A spike, on its way to the recorder.
struct Notice {
    thread: u32,
    spike: Spike,
    /// For an attached thread: its cycle.
    cycle: Option<LongCycle>,
}

/// The drainer's end, which decides what is a spike.
pub struct SpikeTrigger {
    bound: SpikeBound,
    notices: SyncSender<Notice>,
    refused: Arc<AtomicU64>,
}

impl SpikeTrigger {
    /// Checks a large latency.
    pub fn push(&mut self, thread: u32, spike: Spike) {
        self.push_cycle(thread, spike, || None);
    }

    /// As [`SpikeTrigger::push`], with the cycle of an attached thread.
    pub fn push_cycle(
        &mut self,
        thread: u32,
        spike: Spike,
        cycle: impl FnOnce() -> Option<LongCycle>,
    ) {
        if self.bound.is_spike(spike.latency_ns) {
            let taken = self.notices.try_send(Notice { thread, spike, cycle: cycle() });
            self.refused.fetch_add(u64::from(taken.is_err()), Ordering::Relaxed);
        }
    }

    /// Counts further cycles.
    pub fn count(&mut self, cycles: u64) {
        self.bound.count(cycles);
    }

    /// Threads must report latencies from here on.
    pub fn floor(&self) -> Nanos {
        self.bound.floor()
    }
}

/// The thread that copies pages; [`FlightRecorder::finish`] ends it once its trigger is dropped.
pub struct FlightRecorder(JoinHandle<()>);

impl FlightRecorder {
    /// Starts recording; returns the drainer's end.
    pub fn start(
        PreparedRecorder { mut buffer, root }: PreparedRecorder,
        plan: &Plan,
        threads: &[ThreadSetup],
        wakers: &[Option<u32>],
        online: &CpuSet,
        outbox: &Outbox,
    ) -> Result<(FlightRecorder, SpikeTrigger), Refusal> {
        let all: Vec<u32> = online.iter().collect();
        buffer.open(&root, &all).map_err(refusal)?;
        outbox.send(&Message::TraceFormats(buffer.formats.clone()));
        // Threads of a program are found later.
        let first = threads.iter().map(|thread| thread.first_release_ns.0).min();
        let first = first.unwrap_or_else(|| Clock::Monotonic.now());
        // The kernel moves timers of a nohz_full CPU to others.
        let tickless = root.read("sys/devices/system/cpu/nohz_full").unwrap_or_default();
        let tickless: CpuSet = tickless.trim().parse().unwrap_or_default();
        let cpus = threads.iter().zip(wakers).map(|(setup, &waker)| match setup.cpu {
            None => all.clone(),
            Some(cpu) if all.len() <= FEW_CPUS || tickless.contains(cpu) => {
                std::iter::once(cpu).chain(all.iter().copied().filter(|one| *one != cpu)).collect()
            }
            Some(cpu) => {
                let waker = waker.filter(|waker| *waker != cpu);
                std::iter::once(cpu).chain(waker).collect()
            }
        });
        let refused = Arc::new(AtomicU64::new(0));
        let mut copier = PageCopier {
            cpus: cpus.collect(),
            online: all.clone(),
            periods: threads.iter().filter_map(|thread| thread.period_ns).collect(),
            ids: threads.iter().filter_map(|one| one.thread_id?.try_into().ok()).collect(),
            used: 0,
            schedule: RecorderSchedule::new(first, plan),
            stolen: StolenTimes::default(),
            addresses: Addresses::default(),
            names: ThreadNames::default(),
            allowance: BYTES_AT_ONCE,
            left: BYTES_OF_A_RUN,
            number: 0,
            report: RecorderReport::default(),
            reported: 0,
            refused: refused.clone(),
            window: None,
            buffer,
            root,
            outbox: outbox.clone(),
        };
        // The copying thread may be kept off its CPU and start late.
        copier.switch(Clock::Monotonic.now());
        let (notices, seen) = sync_channel(WAITING);
        let started = std::thread::Builder::new().spawn(move || copier.run(&seen));
        let thread = started.map_err(|error| refusal(format!("cannot start a thread: {error}")))?;
        let bound = SpikeBound::new(plan.keep.spike_above_ns);
        Ok((FlightRecorder(thread), SpikeTrigger { bound, notices, refused }))
    }

    /// Waits until all seen spikes are sent.
    pub fn finish(self) {
        // If it has panicked, what it sent before still counts.
        let _ = self.0.join();
    }
}

struct PageCopier {
    buffer: FlightBuffer,
    root: Root,
    /// The CPUs to record for each thread, its own first.
    cpus: Vec<Vec<u32>>,
    /// All CPUs.
    online: Vec<u32>,
    periods: Vec<Nanos>,
    /// Kernel numbers of the measuring threads.
    ids: Vec<u32>,
    /// Their CPU time at the last query.
    used: i64,
    schedule: RecorderSchedule,
    stolen: StolenTimes,
    addresses: Addresses,
    names: ThreadNames,
    /// Bytes that may be sent now …
    allowance: i64,
    /// … and until the end of the run.
    left: i64,
    number: u32,
    report: RecorderReport,
    /// When the status was last sent.
    reported: i64,
    /// Spikes dropped because too many waited.
    refused: Arc<AtomicU64>,
    /// Time and state of the last switch, and the threads' CPU time then.
    window: Option<(i64, bool, i64)>,
    outbox: Outbox,
}

impl PageCopier {
    fn run(mut self, seen: &Receiver<Notice>) {
        let log = self.outbox.begin_log(OwnThread::Trace);
        let mut last = Clock::Monotonic.now();
        loop {
            self.outbox.releases.wait();
            let work = log.work();
            let now = Clock::Monotonic.now();
            self.allowance += (now - last) / 1000 * BYTES_A_SECOND / 1_000_000;
            self.allowance = self.allowance.min(BYTES_AT_ONCE);
            last = now;
            self.switch(now);
            self.cpu_time();
            if now - self.reported >= SECOND.0 && self.report.spikes.seen > 0 {
                self.send_report();
            }
            self.stolen.read(&self.root, now);
            drop(work);
            let first = match seen.recv_timeout(Duration::from_nanos(PASS as u64)) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            std::thread::sleep(Duration::from_nanos(SETTLED as u64));
            let _work = log.work();
            let mut all: Vec<Notice> = std::iter::once(first).chain(seen.try_iter()).collect();
            all.sort_by_key(|one| one.spike.release_ns);
            self.stolen.read(&self.root, Clock::Monotonic.now());
            all.into_iter().for_each(|one| self.copy(one));
        }
        let _work = log.work();
        self.end_window(Clock::Monotonic.now());
        self.buffer.switch(false);
        self.report.functions = self.addresses.functions(&self.root);
        self.send_report();
    }

    /// Switches the recorder by its schedule, and notes the CPU time that the threads used
    /// meanwhile.
    fn switch(&mut self, now: i64) {
        let on = self.schedule.is_on(now);
        if self.window.is_some_and(|(_, was_on, _)| was_on == on) {
            return;
        }
        self.end_window(now);
        self.buffer.switch(on);
        let used = self.cpu_time();
        self.window = Some((Clock::Monotonic.now(), on, used));
        self.send_report();
    }

    fn end_window(&mut self, now: i64) {
        let Some((from, on, before)) = self.window.take() else { return };
        let cpu_ns = Nanos((self.cpu_time() - before).max(0));
        self.report.windows.push(RecorderWindow {
            from_ns: Nanos(from),
            to_ns: Nanos(now),
            on,
            cpu_ns,
        });
    }

    /// CPU time of the threads so far; after their end, the last value.
    fn cpu_time(&mut self) -> i64 {
        let used = self.ids.iter().filter_map(|&id| cpu_time_of_thread(id)).sum();
        self.used = self.used.max(used);
        self.used
    }

    fn send_report(&mut self) {
        self.reported = Clock::Monotonic.now();
        let refused = self.refused.swap(0, Ordering::Relaxed);
        self.report.spikes.seen += refused;
        self.report.spikes.rate_limited += refused;
        let message = Message::RecorderReport(std::mem::take(&mut self.report));
        self.outbox.send(&message);
    }

    /// Sends the unsent pages of a spike, then the spike.
    fn copy(&mut self, Notice { thread, spike, cycle }: Notice) {
        self.report.spikes.seen += 1;
        let (release, woken) = (spike.release_ns, spike.release_ns + spike.latency_ns);
        let tally = |report: &mut RecorderReport, of: fn(&mut SpikeTally) -> &mut u64| {
            *of(&mut report.spikes) += 1;
        };
        if self.window.is_none_or(|(since, on, _)| !on || since > release.0) {
            return tally(&mut self.report, |spikes| &mut spikes.while_off);
        }
        let period = self.periods.get(thread as usize).copied().unwrap_or(LEAD);
        let from = release - (period + TAIL).min(LEAD);
        let to = woken + TAIL;
        let cpus = match &cycle {
            None => self.cpus.get(thread as usize).cloned().unwrap_or_default(),
            Some(cycle) => {
                let others = self.online.iter().filter(|_| self.online.len() <= FEW_CPUS);
                let others = others.copied().filter(|cpu| *cpu != cycle.cpu);
                std::iter::once(cycle.cpu).chain(others).collect()
            }
        };
        for &cpu in &cpus {
            self.buffer.read(cpu, to.0, || self.outbox.releases.wait());
        }
        let ranges: Vec<PageRange> =
            cpus.iter().filter_map(|&cpu| self.buffer.range(cpu, from.0, to.0)).collect();
        let new = ranges.iter().flat_map(|range| self.buffer.unsent(range));
        let bytes: i64 = new.map(|(_, page)| page.len() as i64).sum();
        if bytes > self.allowance || bytes > self.left {
            return tally(&mut self.report, |spikes| &mut spikes.rate_limited);
        }
        if !ranges.iter().all(|range| self.send_pages(range)) {
            return tally(&mut self.report, |spikes| &mut spikes.stream_full);
        }
        let own = ranges.first();
        let ran = own.map(|range| self.buffer.threads(range, from.0, woken.0)).unwrap_or_default();
        let described = self.names.describe(ran, &self.root);
        if !described.is_empty() {
            // If it is lost, a thread is shown only by its name.
            let _ = self.outbox.offer(&Message::KnownThreads(described));
        }
        self.allowance -= bytes;
        self.left -= bytes;
        let stolen = cpus.first().and_then(|&cpu| self.stolen.around(cpu, release.0, woken.0));
        let recorded = RecordedSpike {
            spike: self.number + 1,
            thread,
            release_ns: release,
            latency_ns: spike.latency_ns,
            pages: ranges,
            stolen,
            cycle,
        };
        match self.outbox.offer(&Message::RecordedSpike(recorded)) {
            true => {
                self.number += 1;
                tally(&mut self.report, |spikes| &mut spikes.stored);
            }
            false => tally(&mut self.report, |spikes| &mut spikes.stream_full),
        }
    }

    /// Sends the unsent pages of a range; returns whether the stream took all of them.
    fn send_pages(&mut self, range: &PageRange) -> bool {
        let cpu = range.cpu;
        loop {
            let mut unsent = self.buffer.unsent(range);
            let Some((first, page)) = unsent.next() else { return true };
            let mut pages = vec![page.to_vec()];
            // Spikes may be reported out of order, so unsent pages need not be contiguous.
            let following = (first + 1..first + PAGES_OF_A_FRAME).zip(unsent);
            let following = following.take_while(|(number, (at, _))| number == at);
            pages.extend(following.map(|(_, (_, page))| page.to_vec()));
            pages.iter().for_each(|page| self.addresses.add(page));
            let end = first + pages.len() as u32;
            if !self.outbox.offer(&Message::TracePages(TracePages { cpu, first, pages })) {
                return false;
            }
            self.buffer.mark_sent(cpu, first..end);
        }
    }
}

/// The last readings of each CPU's stolen time. Several are kept, as a spike may be reported late.
#[derive(Default)]
struct StolenTimes {
    readings: VecDeque<(i64, HashMap<u32, i64>)>,
}

/// Number of readings kept.
const READINGS: usize = 200;

impl StolenTimes {
    fn read(&mut self, root: &Root, now: i64) {
        let text = root.read("proc/stat").unwrap_or_default();
        let cpu = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
            // The eighth value is the time stolen by the hypervisor, in hundredths of a second.
            let ticks: i64 = words.nth(7)?.parse().ok()?;
            Some((cpu, ticks * 10_000_000))
        };
        let read = text.lines().take_while(|line| line.starts_with("cpu")).filter_map(cpu);
        if self.readings.len() == READINGS {
            self.readings.pop_front();
        }
        self.readings.push_back((now, read.collect()));
    }

    /// The increase around a spike; `None` if no two readings enclose it.
    fn around(&self, cpu: u32, release: i64, woken: i64) -> Option<StolenTime> {
        let (from, before) = self.readings.iter().rfind(|(at, _)| *at <= release)?;
        let (to, after) = self.readings.iter().find(|(at, _)| *at >= woken)?;
        let rose = after.get(&cpu)? - before.get(&cpu)?;
        Some(StolenTime { from_ns: Nanos(*from), to_ns: Nanos(*to), rose_ns: Nanos(rose.max(0)) })
    }
}
