//! The instrument attach: measures the threads of a program from the kernel's events. No code of
//! ours runs in the program, and no thread of ours has to be on time.

mod ledger;
mod stacks;
mod target;
mod trace;

use crate::drain::clocks;
use crate::flight::SpikeTrigger;
use crate::measuring_threads::MeasuringThreadsResult;
use crate::outbox::Outbox;
use crate::reasons::{INTERRUPTED, STOP};
use crate::refusals::machine_refuses;
use latlab_model::attach::AttachReport;
use latlab_model::finding::{AttachFinding, Finding};
use latlab_model::frame::{Message, Refusal};
use latlab_model::plan::Attach;
use latlab_model::run::{ClockReading, EndReason};
use latlab_model::self_interference::OwnThread;
use latlab_model::{CpuSet, Nanos, Plan};
use latlab_sys::clock::{self, Clock};
use latlab_sys::files::Root;
use latlab_sys::undo::Changes;
use latlab_trace::cycles::{
    AskedActivation, Call, ClockOffsets, Followed, FoundThread, ProgramEvent, ProgramEventKind,
    ProgramTracker,
};
use ledger::{Finder, ThreadLedger, is_realtime};
use stacks::CallStacks;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::time::Duration;
use target::Program;
use trace::ProgramTrace;

/// Time between two reads of the trace.
const PASS: Duration = Duration::from_millis(20);
/// Younger events may not have reached the ring buffer of their CPU yet.
const SETTLED: i64 = 2_000_000;
/// The recorder of `--explain` still has the events of a cycle that ended less long ago.
const RECENT: i64 = 200_000_000;
/// How often cycles are sent; a kill loses what is unsent.
const FLUSH_EVERY: i64 = 400_000_000;
/// How often the clocks are read and the threads reported.
const REPORT_EVERY: i64 = 2_000_000_000;
/// Largest number of non-periodic threads that are listed by name.
const NAMED: usize = 20;

/// A program that is ready to be followed.
pub struct PreparedAttach {
    attach: Attach,
    program: Program,
    trace: ProgramTrace,
    asked: Vec<AskedActivation>,
}

/// Finds the program, or starts and holds it, and sets up the trace; a refusal says what is
/// missing.
pub fn prepare(
    root: &Root,
    attach: &Attach,
    own_cpus: &[u32],
    changes: &mut Changes,
) -> Result<PreparedAttach, Refusal> {
    let refusal = |text: String| machine_refuses(format!("attach: {text}"));
    let asked = attach.activation.iter().map(|text| activation(text)).collect::<Result<_, _>>();
    let asked = asked.map_err(crate::refusals::plan_is_wrong)?;
    // Check the machine first, so that no program is started in vain.
    let trace = ProgramTrace::prepare(root, changes).map_err(refusal)?;
    let program = Program::prepare(root, &attach.target, own_cpus).map_err(refusal)?;
    Ok(PreparedAttach { attach: attach.clone(), program, trace, asked })
}

/// Parses `read:7` or `epoll_wait`.
fn activation(text: &str) -> Result<AskedActivation, String> {
    let (name, descriptor) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number.parse().ok())),
        None => (text, None),
    };
    let call = Call::named(name).filter(|call| call.waits());
    match (call, descriptor) {
        (Some(call), None) => Ok(AskedActivation { call, descriptor: None }),
        (Some(call), Some(Some(descriptor))) => {
            Ok(AskedActivation { call, descriptor: Some(descriptor) })
        }
        _ => Err(format!(
            "--activation {text}: expected a system call that waits, with a file descriptor if it \
             has one, such as clock_nanosleep, epoll_wait or read:7"
        )),
    }
}

impl PreparedAttach {
    /// Follows the program until it or the run ends.
    pub fn run(
        mut self,
        root: &Root,
        plan: &Plan,
        online: &CpuSet,
        outbox: &Outbox,
        trigger: Option<SpikeTrigger>,
    ) -> MeasuringThreadsResult {
        let mut session = AttachSession {
            root,
            plan,
            attach: &self.attach,
            tracker: ProgramTracker::new(std::mem::take(&mut self.asked)),
            waiting_threads: BTreeMap::new(),
            ledgers: BTreeMap::new(),
            judged: 0,
            has_realtime: false,
            report: AttachReport { program: self.program.words.clone(), ..Default::default() },
            waiting: VecDeque::new(),
            trigger,
            outbox,
        };
        session.read_clocks();
        let reason = match session.follow(&mut self.trace, &mut self.program, online) {
            Ok(reason) => reason,
            Err(error) => {
                let finding = AttachFinding::AttachFailed { error };
                outbox.send(&Message::Finding(Finding::new(finding)));
                EndReason::Failed
            }
        };
        self.trace.stop();
        std::thread::sleep(Duration::from_nanos(SETTLED as u64));
        session.read(&mut self.trace, i64::MAX);
        session.report.exit_status = self.program.end(root);
        session.finish(&mut self.trace.stacks);
        let ends = session.ledgers.values().filter_map(|ledger| ledger.end(reason)).collect();
        MeasuringThreadsResult { ends, intervals_merged: 0, hook: None, reason: Some(reason) }
    }
}

struct AttachSession<'a> {
    root: &'a Root,
    plan: &'a Plan,
    attach: &'a Attach,
    tracker: ProgramTracker,
    /// Threads that have no cycle yet.
    waiting_threads: BTreeMap<u32, FoundThread>,
    ledgers: BTreeMap<u32, ThreadLedger>,
    /// Number of judged threads.
    judged: u32,
    /// Whether any thread of the program has a real-time policy.
    has_realtime: bool,
    report: AttachReport,
    /// Frames that the stream has not taken.
    waiting: VecDeque<Message>,
    /// What begins to record a cycle, with `--explain`.
    trigger: Option<SpikeTrigger>,
    outbox: &'a Outbox,
}

impl AttachSession<'_> {
    /// Releases the program, and reads the events of its threads.
    fn follow(
        &mut self,
        trace: &mut ProgramTrace,
        program: &mut Program,
        online: &CpuSet,
    ) -> Result<EndReason, String> {
        for (id, priority) in program.threads(self.root) {
            self.tracker.add_thread(id, priority);
            self.has_realtime |= is_realtime(priority);
        }
        let listed = trace.follow(online, || {
            program.threads(self.root).into_iter().map(|(id, _)| id).collect()
        })?;
        listed.iter().for_each(|id| self.tracker.add_thread(*id, 120));
        program.begin()?;
        let log = self.outbox.begin_log(OwnThread::Trace);
        let begun = Clock::Monotonic.now();
        let end =
            self.plan.until.duration_ns.map_or(i64::MAX, |length| begun.saturating_add(length.0));
        let (mut flush_due, mut report_due) = (begun + FLUSH_EVERY, begun + REPORT_EVERY);
        loop {
            let now = Clock::Monotonic.now();
            let work = log.work();
            // Check before the pass, so that the pass reads the program's last events.
            let has_ended = program.has_ended(self.root);
            self.read(trace, now - SETTLED);
            if now >= flush_due {
                flush_due = now + FLUSH_EVERY;
                self.find_activations(&mut trace.stacks);
                self.flush(false);
            }
            if now >= report_due {
                report_due = now + REPORT_EVERY;
                self.read_clocks();
                self.look_for_realtime(program);
                self.send_report();
                self.outbox.send_self_interference();
            }
            drop(work);
            match () {
                () if self.outbox.is_broken() => return Ok(EndReason::Interrupted),
                () if STOP.load(Ordering::Relaxed) & INTERRUPTED != 0 => {
                    return Ok(EndReason::Interrupted);
                }
                () if has_ended || now >= end => return Ok(EndReason::Finished),
                () => std::thread::sleep(PASS.min(Duration::from_nanos((end - now) as u64))),
            }
        }
    }

    /// Handles the events up to this time.
    fn read(&mut self, trace: &mut ProgramTrace, until: i64) {
        let before = clock::thread_cpu_time();
        trace.stacks.read(self.root);
        let AttachSession { tracker, report, has_realtime, .. } = self;
        trace.read(until, |event: &ProgramEvent, stacks| {
            report.events += 1;
            while let Some((at, thread, site)) = stacks.next_until(event.at) {
                tracker.push_site(at, thread, site);
            }
            match event.kind {
                ProgramEventKind::Lost(count) => report.events_lost += count,
                // A program sets its threads' priorities before they work.
                ProgramEventKind::Enter { .. } => {
                    *has_realtime |= tracker.priority(event.thread).is_some_and(is_realtime);
                }
                _ => {}
            }
            tracker.push(event);
        });
        self.take_followed(&mut trace.stacks);
        self.report.reader_cpu_ns += Nanos(clock::thread_cpu_time() - before);
    }

    fn take_followed(&mut self, stacks: &mut CallStacks) {
        let recent = Nanos(Clock::Monotonic.now() - RECENT);
        for followed in self.tracker.take() {
            match followed {
                Followed::Thread(found) => {
                    self.waiting_threads.insert(found.thread, found);
                }
                Followed::Cycle { thread, cycle, unseen } => {
                    if let Some(found) = self.waiting_threads.remove(&thread) {
                        self.begin_ledger(&found, cycle.cycle.release_ns, stacks);
                    }
                    if let Some(ledger) = self.ledgers.get_mut(&thread) {
                        // What was replayed once the thread was understood is too old.
                        let trigger = self.trigger.as_mut();
                        let trigger = trigger.filter(|_| cycle.cycle.end_ns() > recent);
                        if ledger.push(self.root, *cycle, unseen, trigger) {
                            stacks.watch_activation(thread);
                        }
                    }
                }
                Followed::End { thread } => {
                    if let Some(ledger) = self.ledgers.get_mut(&thread) {
                        ledger.report.has_ended = true;
                    }
                }
            }
        }
    }

    fn begin_ledger(&mut self, found: &FoundThread, first: Nanos, stacks: &mut CallStacks) {
        self.has_realtime |= is_realtime(found.priority);
        let AttachSession { root, plan, attach, has_realtime, judged, .. } = self;
        let finder =
            Finder { root, plan, attach, has_realtime: *has_realtime, next_judged: *judged };
        let ledger = finder.ledger(found, first);
        if ledger.found.setup.is_some() {
            stacks.watch(found.thread, found.thread_id, found.activation.key.call);
        }
        self.judged += u32::from(ledger.found.setup.is_some());
        self.waiting.push_back(Message::AttachedThread(ledger.found.clone()));
        self.ledgers.insert(found.thread, ledger);
    }

    /// Checks whether a thread has become real-time since the threads were listed.
    fn look_for_realtime(&mut self, program: &Program) {
        let threads = program.threads(self.root);
        self.has_realtime |= threads.iter().any(|(_, priority)| is_realtime(*priority));
    }

    /// Looks where in the program its threads wait, and takes the stacks to send.
    fn find_activations(&mut self, stacks: &mut CallStacks) {
        for (thread, ledger) in &mut self.ledgers {
            ledger.activation_site = stacks.activation_site(self.root, *thread);
        }
        self.waiting.extend(stacks.found.drain(..));
    }

    fn flush(&mut self, is_over: bool) {
        for ledger in self.ledgers.values_mut() {
            self.waiting.extend(ledger.flush(is_over));
        }
        self.send();
    }

    /// Sends what waits; returns whether the stream took all of it.
    fn send(&mut self) -> bool {
        while let Some(frame) = self.waiting.front() {
            if !self.outbox.offer(frame) {
                return false;
            }
            self.waiting.pop_front();
        }
        true
    }

    fn read_clocks(&mut self) {
        let reading = clocks();
        let ClockReading { monotonic_ns, boottime_ns, realtime_ns, tai_ns } = reading;
        self.tracker.set_offsets(ClockOffsets {
            realtime: monotonic_ns - realtime_ns,
            tai: monotonic_ns - tai_ns,
            boottime: monotonic_ns - boottime_ns,
        });
        self.outbox.send(&Message::Clocks(reading));
    }

    fn send_report(&mut self) {
        for state in self.tracker.states() {
            if let Some(ledger) = self.ledgers.get_mut(&state.thread) {
                ledger.report.untold_switches = state.untold_switches;
                ledger.report.activation_lost = state.activation_lost;
                ledger.report.rhythm_change = state.rhythm_change;
            }
        }
        let threads = self.ledgers.values().map(|ledger| ledger.report(self.root)).collect();
        let name = |id: i32| self.tracker.name(id).unwrap_or_else(|| format!("thread {id}"));
        let without = self.tracker.without_activation();
        let mut without_rhythm: Vec<(String, u64)> =
            without.into_iter().map(|(id, waits)| (name(id), waits)).collect();
        without_rhythm.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        without_rhythm.truncate(NAMED);
        let program = self.report.program.clone();
        let AttachReport { events_lost, events, reader_cpu_ns, exit_status, .. } = self.report;
        self.waiting.push_back(Message::AttachReport(AttachReport {
            program,
            threads,
            without_rhythm,
            events_lost,
            events,
            reader_cpu_ns,
            exit_status,
        }));
    }

    /// Sends everything that is still known when following ends.
    fn finish(&mut self, stacks: &mut CallStacks) {
        self.tracker.finish();
        self.take_followed(stacks);
        self.waiting.extend(stacks.found.drain(..));
        self.flush(true);
        self.send_report();
        while !self.send() && !self.outbox.is_broken() {
            std::thread::sleep(PASS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_activation_is_a_call_that_waits() {
        let read = AskedActivation { call: Call::Read, descriptor: Some(7) };
        assert_eq!(activation("read:7"), Ok(read));
        assert!(activation("epoll_wait").is_ok());
        for wrong in ["munmap", "read:x", "sleep", ""] {
            assert!(activation(wrong).unwrap_err().contains("--activation"), "{wrong}");
        }
    }
}
