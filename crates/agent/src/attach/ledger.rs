//! What is known of the threads of a program, until it is sent.

use super::target::status;
use crate::cpus;
use crate::flight::SpikeTrigger;
use latlab_model::attach::{
    ActivationCall, AttachedThread, AttachedThreadReport, Cycle, CyclePart, FaultKind, LONGEST,
    LongCycle, PackedCycles, RhythmKind, ThreadFault, ThreadWaker,
};
use latlab_model::call_site::CallSite;
use latlab_model::deadline::is_miss;
use latlab_model::explanation::condensed;
use latlab_model::frame::{Interval, KEPT_SPIKES, Message, Spike, Spikes};
use latlab_model::plan::{Attach, JudgedTime, fits};
use latlab_model::run::{EndReason, ThreadEnd, ThreadSetup};
use latlab_model::{CpuSet, Histogram, Nanos, Plan};
use latlab_sys::files::Root;
use latlab_sys::process::Stat;
use latlab_trace::cycles::{
    Call, CycleFault, FaultObject, FollowedCycle, FoundThread, Seat, WaitKey, Waker,
};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Approximate number of parts that are sent of a long cycle.
const PARTS: usize = 48;
/// Number of different faults that are kept per thread.
const MOST_FAULTS: usize = 256;

/// The kind of a fault, its call, and the number of its file or thread.
type FaultKey = (FaultKind, Option<Call>, i64);

/// How often a fault occurred.
#[derive(Default)]
struct FaultCount {
    count: u64,
    slept: u64,
    cycles: u64,
    longest: Nanos,
    object: Option<String>,
    /// How often it was at which call site.
    sites: Vec<CallSite>,
    /// A fault only if the thread slept in the call.
    is_harmless: bool,
}

/// What is known of one thread of the program.
pub struct ThreadLedger {
    /// The thread as it was detected.
    pub found: AttachedThread,
    /// Everything else that is reported of it.
    pub report: AttachedThreadReport,
    /// The call site at which it waits for its releases.
    pub activation_site: Option<u32>,
    judged: JudgedTime,
    /// Cycles not yet sent.
    cycles: Vec<Cycle>,
    /// Start of the part of the interval that is being counted.
    part_from: Nanos,
    part_length: Nanos,
    last_release: Nanos,
    latencies: Vec<Nanos>,
    misses: u64,
    overruns: u64,
    spikes: Vec<Spike>,
    largest: BinaryHeap<Reverse<Nanos>>,
    /// The longest responses so far, the shortest of them on top.
    longest: BinaryHeap<Reverse<Nanos>>,
    /// Long cycles not yet sent.
    long_cycles: Vec<LongCycle>,
    faults: Vec<(FaultKey, FaultCount)>,
    wakers: HashMap<i32, (String, u64)>,
    /// Late cycles by their largest part.
    late_by: [u64; CyclePart::ALL.len()],
    last_cpu: Option<u32>,
}

/// What a ledger needs to know of the run when a thread is found.
pub struct Finder<'a> {
    pub root: &'a Root,
    /// The run's plan.
    pub plan: &'a Plan,
    /// The part of the plan that concerns the program.
    pub attach: &'a Attach,
    /// Whether any thread of the program has a real-time policy.
    pub has_realtime: bool,
    /// Number of the next judged thread.
    pub next_judged: u32,
}

impl Finder<'_> {
    /// Creates the ledger of a thread whose first cycle has this release.
    pub fn ledger(&self, found: &FoundThread, first_release: Nanos) -> ThreadLedger {
        let Finder { root, plan, attach, .. } = self;
        let id = found.thread_id as u32;
        let name = root.read(format!("proc/{id}/comm")).map(|name| name.trim_end().to_string());
        let name = name.or_else(|| found.name.clone()).unwrap_or_else(|| id.to_string());
        let policy = policy(root, id).unwrap_or_else(|| policy_of_priority(found.priority));
        let cpus = status(root, id, "Cpus_allowed_list:").unwrap_or_else(|| "unknown".into());
        let period_ns = found.rhythm.period.map(Nanos);
        let is_realtime = is_realtime(found.priority);
        let is_judged = match &attach.thread {
            Some(pattern) => fits(pattern, &name),
            None => is_realtime || !self.has_realtime,
        };
        let deadline_ns = plan.until.deadline_ns.or(period_ns).filter(|_| is_judged);
        let pinned = cpus.parse::<CpuSet>().ok().filter(|cpus| cpus.len() == 1);
        let cpu = pinned.and_then(|cpus| cpus.iter().next());
        let (core_type, capacity) = cpu.map_or((None, None), |cpu| cpus::core(root, cpu));
        let setup = is_judged.then(|| ThreadSetup {
            thread: self.next_judged,
            cpu,
            core_type,
            capacity,
            thread_id: Some(found.thread_id),
            policy: policy.clone(),
            period_ns,
            first_release_ns: first_release,
        });
        let mut ledger = ThreadLedger {
            found: AttachedThread {
                thread: found.thread,
                thread_id: found.thread_id,
                name,
                policy,
                cpus,
                activation: activation_call(root, id, &found.activation.key),
                ambiguous_with: found
                    .activation
                    .ambiguous_with
                    .map(|key| activation_call(root, id, &key)),
                rhythm: found.rhythm.kind,
                period_ns,
                deadline_ns,
                deadline_is_assumed: plan.until.deadline_ns.is_none(),
                setup,
            },
            report: AttachedThreadReport { thread: found.thread, ..Default::default() },
            activation_site: None,
            judged: attach.judged,
            cycles: Vec::new(),
            part_from: first_release,
            part_length: plan.frame_interval(),
            last_release: first_release,
            latencies: Vec::new(),
            misses: 0,
            overruns: 0,
            spikes: Vec::new(),
            largest: BinaryHeap::new(),
            longest: BinaryHeap::new(),
            long_cycles: Vec::new(),
            faults: Vec::new(),
            wakers: HashMap::new(),
            late_by: [0; CyclePart::ALL.len()],
            last_cpu: None,
        };
        ledger.note_standing_faults(root, id, is_realtime);
        ledger
    }
}

impl ThreadLedger {
    /// Notes faults that belong to the thread, not to a cycle: how it waits and how it is set up.
    fn note_standing_faults(&mut self, root: &Root, id: u32, is_realtime: bool) {
        if self.found.setup.is_none() {
            return;
        }
        let mut note = |kind, call: Option<Call>, object: Option<String>| {
            let known = FaultCount { count: 1, object, ..FaultCount::default() };
            self.faults.push(((kind, call, 0), known));
        };
        let call = Call::named(&self.found.activation.call);
        match self.found.activation.sleep {
            Some((_, false)) => note(FaultKind::RelativeSleep, call, None),
            // A sleep until an absolute time that is computed at the call, as the sleep of a
            // language's standard library does.
            Some((_, true)) if self.found.rhythm == RhythmKind::Drifting => {
                note(FaultKind::RelativeSleep, call, None);
            }
            Some((0, true)) => note(FaultKind::SettableClock, call, None),
            _ => {}
        }
        let kib = |name: &str| {
            let text = status(root, id, name)?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        };
        if let (Some(locked), Some(resident)) = (kib("VmLck:"), kib("VmRSS:")) {
            // Some mappings cannot be locked but count as resident.
            if locked < resident / 2 {
                let object = format!("{locked} of {resident} KiB are locked");
                note(FaultKind::Unlocked, None, Some(object));
            }
        }
        if !is_realtime {
            note(FaultKind::Ordinary, None, Some(self.found.policy.clone()));
        }
    }

    /// Counts a cycle; `trigger` begins to record it if it is a spike. Returns whether the call that
    /// ends a cycle was made within this one, at an unknown place.
    pub fn push(
        &mut self,
        root: &Root,
        followed: FollowedCycle,
        unseen: u64,
        trigger: Option<&mut SpikeTrigger>,
    ) -> bool {
        let cycle = followed.cycle;
        self.report.cycles += 1;
        self.report.unseen += unseen;
        self.report.overruns += u64::from(cycle.overruns);
        let is_waiting = cycle.released_by == latlab_model::attach::ReleasedBy::Waiting;
        self.report.waiting += u64::from(is_waiting);
        if self.last_cpu.replace(followed.cpu).is_some_and(|before| before != followed.cpu) {
            self.report.migrations += 1;
        }
        if let Some(Waker::Thread(id, seat)) = followed.waker {
            let name = || seat_name(root, id, seat);
            self.wakers.entry(id).or_insert_with(|| (name(), 0)).1 += 1;
        }
        self.count_faults(root, &followed.faults);
        let judged = match self.judged {
            JudgedTime::Response => cycle.response_ns(),
            JudgedTime::WakeUp => cycle.wake_up_ns,
        };
        let deadline = self.found.deadline_ns;
        let is_late = deadline.is_some_and(|deadline| is_miss(judged.0, deadline.0));
        if is_late {
            self.late_by[cycle.largest_part() as usize] += 1;
        }
        self.keep_longest(root, &followed);
        if let (Some(setup), Some(trigger)) = (&self.found.setup, trigger) {
            let spike = Spike { latency_ns: judged, release_ns: cycle.release_ns };
            let cycle = || Some(self.long_cycle(root, &followed));
            trigger.push_cycle(setup.thread, spike, cycle);
            trigger.count(1);
        }
        self.cycles.push(cycle);
        if self.found.setup.is_some() {
            self.count(cycle, judged, is_late);
        }
        let activation = Call::named(&self.found.activation.call);
        followed.faults.iter().any(|fault| fault.call == activation && fault.site.is_none())
    }

    /// Counts a judged time in the part of the interval that holds its release.
    fn count(&mut self, cycle: Cycle, judged: Nanos, is_late: bool) {
        let release_ns = cycle.release_ns;
        self.latencies.push(judged);
        self.overruns += u64::from(cycle.overruns);
        // A release that no cycle served has no response time.
        let overruns = if self.found.deadline_ns.is_some() { u64::from(cycle.overruns) } else { 0 };
        self.misses += u64::from(is_late) + overruns;
        if is_among_largest(&mut self.largest, KEPT_SPIKES, judged) {
            self.spikes.push(Spike { latency_ns: judged, release_ns });
        }
    }

    fn count_faults(&mut self, root: &Root, faults: &[CycleFault]) {
        let mut before: Vec<FaultKey> = Vec::new();
        for fault in faults {
            let number = match fault.object {
                None => 0,
                Some(FaultObject::Descriptor(descriptor)) => descriptor,
                Some(FaultObject::Thread(seat)) => seat.id.into(),
            };
            let key = (fault.kind, fault.call, number);
            // A CPU may be shared with many threads.
            let most =
                if fault.kind == FaultKind::SharedCpu { MOST_FAULTS / 2 } else { MOST_FAULTS };
            let known = self.faults.iter().position(|(known, _)| *known == key);
            if known.is_none() && self.faults.len() >= most {
                continue;
            }
            let at = known.unwrap_or_else(|| {
                self.faults.push((key, self.first_fault(root, fault.object)));
                self.faults.len() - 1
            });
            let known = &mut self.faults[at].1;
            known.count += 1;
            known.slept += u64::from(fault.slept);
            // A fault that is none has no place.
            if let Some(site) = fault.site.filter(|_| fault.slept || !known.is_harmless) {
                match known.sites.iter_mut().find(|one| one.site == site) {
                    Some(one) => one.count += 1,
                    None => known.sites.push(call_site(site, 1)),
                }
            }
            known.longest = known.longest.max(fault.length);
            if !before.contains(&key) {
                known.cycles += 1;
                before.push(key);
            }
        }
    }

    fn first_fault(&self, root: &Root, object: Option<FaultObject>) -> FaultCount {
        let (object, is_harmless) = match object {
            None => (None, false),
            Some(FaultObject::Thread(seat)) => (Some(seat_name(root, seat.id, Some(seat))), false),
            Some(FaultObject::Descriptor(descriptor)) => {
                let file = file(root, self.found.thread_id as u32, descriptor);
                let is_harmless = file.as_deref().is_none_or(|file| !file.starts_with('/'));
                (file, is_harmless)
            }
        };
        FaultCount { object, is_harmless, ..FaultCount::default() }
    }

    /// Keeps a cycle that is among the longest so far.
    fn keep_longest(&mut self, root: &Root, followed: &FollowedCycle) {
        if is_among_largest(&mut self.longest, LONGEST, followed.cycle.response_ns()) {
            self.long_cycles.push(self.long_cycle(root, followed));
        }
    }

    /// A cycle with what kept it.
    fn long_cycle(&self, root: &Root, followed: &FollowedCycle) -> LongCycle {
        let FollowedCycle { cycle, pieces, priority, cpu, .. } = followed;
        let (release, end) = (cycle.release_ns.0, cycle.end_ns().0);
        let name = |id, seat| seat_name(root, id, seat);
        LongCycle {
            thread: self.found.thread,
            thread_id: self.found.thread_id,
            cpu: *cpu,
            release_ns: cycle.release_ns,
            wake_up_ns: cycle.wake_up_ns,
            response_ns: cycle.response_ns(),
            parts: condensed(&pieces.parts(release, end, *priority, &name), PARTS),
        }
    }

    /// Returns the messages to send: cycles, and the finished parts of intervals.
    pub fn flush(&mut self, is_over: bool) -> Vec<Message> {
        let mut messages = Vec::new();
        if !self.cycles.is_empty() {
            let packed = PackedCycles::pack(self.found.thread, &self.cycles);
            messages.push(Message::Cycles(packed));
        }
        // Longer ones may have come since.
        let least = self.longest.peek().map_or(Nanos::ZERO, |least| least.0);
        let long_cycles = std::mem::take(&mut self.long_cycles).into_iter();
        let longest = long_cycles.filter(|long| long.response_ns >= least);
        messages.extend(longest.map(Message::LongCycle));
        let cycles = std::mem::take(&mut self.cycles);
        let Some(setup) = &self.found.setup else { return messages };
        let thread = setup.thread;
        let last = cycles.iter().map(|cycle| cycle.release_ns).max();
        self.last_release = self.last_release.max(last.unwrap_or(Nanos(i64::MIN)));
        let end_ns = (self.last_release + Nanos(1)).max(self.part_from);
        // Send cycles at once, intervals when they end.
        let is_due = is_over || end_ns - self.part_from >= self.part_length;
        if self.latencies.is_empty() || !is_due {
            return messages;
        }
        let counts: Histogram = std::mem::take(&mut self.latencies).into_iter().collect();
        let counts = Histogram {
            overruns: std::mem::take(&mut self.overruns),
            misses: std::mem::take(&mut self.misses),
            ..counts
        };
        let start_ns = std::mem::replace(&mut self.part_from, end_ns);
        messages.push(Message::Interval(Interval { thread, start_ns, end_ns, counts }));
        if !self.spikes.is_empty() {
            let spikes = std::mem::take(&mut self.spikes);
            messages.push(Message::Spikes(Spikes { thread, spikes }));
        }
        messages
    }

    /// Reports what is known so far.
    pub fn report(&self, root: &Root) -> AttachedThreadReport {
        let waker = |(id, (name, count)): (&i32, &(String, u64))| ThreadWaker {
            thread_id: *id,
            name: name.clone(),
            count: *count,
        };
        let mut wakers: Vec<ThreadWaker> = self.wakers.iter().map(waker).collect();
        wakers.sort_unstable_by_key(|waker| (Reverse(waker.count), waker.thread_id));
        let late_by = CyclePart::ALL.iter().copied().zip(self.late_by);
        let faults = self.faults.iter().filter_map(|((kind, call, _), known)| {
            let count = if known.is_harmless { known.slept } else { known.count };
            (count > 0).then(|| ThreadFault {
                kind: *kind,
                call: call.map(Call::words),
                object: known.object.clone(),
                count,
                cycles: known.cycles,
                longest_ns: known.longest,
                sites: known.sites.clone(),
            })
        });
        let now = policy(root, self.found.thread_id as u32);
        let known = &self.report;
        AttachedThreadReport {
            thread: known.thread,
            cycles: known.cycles,
            unseen: known.unseen,
            waiting: known.waiting,
            overruns: known.overruns,
            activation_site: self.activation_site.map(|site| call_site(site, 0)),
            wakers,
            faults: faults.collect(),
            migrations: known.migrations,
            untold_switches: known.untold_switches,
            late_by: late_by.filter(|(_, count)| *count > 0).collect(),
            policy_at_end: now.filter(|now| *now != self.found.policy),
            has_ended: known.has_ended,
            activation_lost: known.activation_lost,
            rhythm_change: known.rhythm_change,
        }
    }

    /// The end of this thread, as the run reports it.
    pub fn end(&self, reason: EndReason) -> Option<ThreadEnd> {
        let setup = self.found.setup.as_ref()?;
        let end = ThreadEnd::new(setup.thread, reason, self.report.cycles);
        Some(ThreadEnd { overruns: self.report.overruns, ..end })
    }
}

fn call_site(site: u32, count: u64) -> CallSite {
    CallSite { site, count, frames: Vec::new() }
}

/// Whether a time is among the `most` largest so far, which it then joins.
fn is_among_largest(largest: &mut BinaryHeap<Reverse<Nanos>>, most: usize, time: Nanos) -> bool {
    let is_large = largest.len() < most || largest.peek().is_some_and(|smallest| time > smallest.0);
    if is_large {
        largest.push(Reverse(time));
        if largest.len() > most {
            largest.pop();
        }
    }
    is_large
}

fn seat_name(root: &Root, id: i32, seat: Option<Seat>) -> String {
    let known = seat.map(|seat| seat.name()).filter(|name| !name.is_empty());
    let read = || root.read(format!("proc/{id}/comm")).map(|name| name.trim_end().to_string());
    known.or_else(read).unwrap_or_else(|| format!("thread {id}"))
}

/// The scheduling of a thread, such as `fifo 80`.
fn policy(root: &Root, id: u32) -> Option<String> {
    let stat = Stat::read_thread(root, id)?;
    Some(match stat.priority {
        0 => stat.policy_word().to_string(),
        priority => format!("{} {priority}", stat.policy_word()),
    })
}

/// As [`policy`], for a thread that has ended.
fn policy_of_priority(priority: i32) -> String {
    match priority {
        ..0 => "deadline".to_string(),
        0..100 => format!("real-time {}", 99 - priority),
        _ => "other".to_string(),
    }
}

/// Whether a kernel priority is above all SCHED_OTHER threads.
pub fn is_realtime(priority: i32) -> bool {
    priority < 100
}

fn activation_call(root: &Root, id: u32, key: &WaitKey) -> ActivationCall {
    let descriptor = key.descriptor();
    ActivationCall {
        call: key.call.words(),
        descriptor,
        file: descriptor.and_then(|descriptor| file(root, id, descriptor)),
        sleep: key.sleep(),
    }
}

/// What a file descriptor of a thread is: a path, or `timerfd`, `pipe`, `socket`.
fn file(root: &Root, id: u32, descriptor: i64) -> Option<String> {
    let link = std::fs::read_link(root.path(format!("proc/{id}/fd/{descriptor}"))).ok()?;
    let link = link.to_string_lossy().into_owned();
    let inner = link.strip_prefix("anon_inode:").map(|name| name.trim_matches(['[', ']']));
    let kind = || link.split_once(':').map(|(kind, _)| kind).filter(|_| !link.starts_with('/'));
    Some(inner.or_else(kind).unwrap_or(&link).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::attach::{ReleasedBy, RhythmKind};
    use latlab_model::nanos::{MICROSECOND, MILLISECOND};
    use latlab_trace::cycles::{Activation, Pieces, Rhythm};

    fn found(period: Nanos) -> FoundThread {
        let cycle = |n: i64| Cycle {
            release_ns: period * n,
            released_by: ReleasedBy::Timer,
            wake_up_ns: MICROSECOND,
            execution_ns: MICROSECOND,
            preempted_ns: Nanos::ZERO,
            blocked_ns: Nanos::ZERO,
            overruns: 0,
        };
        let cycles: Vec<Cycle> = (0..20).map(cycle).collect();
        let key = WaitKey { call: Call::ClockNanosleep, what: 3, generation: 0 };
        FoundThread {
            thread: 0,
            thread_id: 50,
            name: Some("control".to_string()),
            priority: 19,
            activation: Activation { key, ambiguous_with: None },
            rhythm: Rhythm::learn(Call::ClockNanosleep, &cycles),
        }
    }

    fn followed(release: Nanos, execution: Nanos, faults: Vec<CycleFault>) -> FollowedCycle {
        FollowedCycle {
            cycle: Cycle {
                release_ns: release,
                released_by: ReleasedBy::Timer,
                wake_up_ns: MICROSECOND * 5,
                execution_ns: execution,
                preempted_ns: Nanos::ZERO,
                blocked_ns: Nanos::ZERO,
                overruns: 0,
            },
            after_loss: false,
            faults,
            waker: None,
            pieces: Pieces::default(),
            priority: 19,
            cpu: 0,
        }
    }

    fn ledger(root: &Root) -> ThreadLedger {
        let plan = Plan::default();
        let attach = Attach::default();
        let finder =
            Finder { root, plan: &plan, attach: &attach, has_realtime: true, next_judged: 0 };
        finder.ledger(&found(MILLISECOND), Nanos::ZERO)
    }

    #[test]
    fn what_is_counted_is_sent_once_and_adds_up() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let mut ledger = ledger(&root);
        assert_eq!(ledger.found.rhythm, RhythmKind::Exact);
        assert_eq!(ledger.found.deadline_ns, Some(MILLISECOND), "its period");
        let mut sent = Vec::new();
        for n in 0..2_000 {
            let execution = if n % 100 == 7 { MILLISECOND * 2 } else { MICROSECOND * 200 };
            ledger.push(&root, followed(MILLISECOND * n, execution, Vec::new()), 0, None);
            if n % 37 == 0 {
                sent.extend(ledger.flush(false));
            }
        }
        sent.extend(ledger.flush(true));
        let (mut cycles, mut counted, mut misses, mut end) = (0, 0, 0, Nanos::ZERO);
        for message in sent {
            match message {
                Message::Cycles(packed) => cycles += packed.count,
                Message::Interval(interval) => {
                    assert_eq!(interval.start_ns, end, "intervals follow each other");
                    end = interval.end_ns;
                    counted += interval.counts.count;
                    misses += interval.counts.misses;
                }
                _ => {}
            }
        }
        assert_eq!((cycles, counted, misses), (2_000, 2_000, 20));
        assert_eq!(ledger.report(&root).late_by, [(CyclePart::Execution, 20)]);
    }

    #[test]
    fn a_write_to_a_pipe_is_a_fault_only_if_it_blocked() {
        let folder = tempfile::tempdir().unwrap();
        let files = folder.path().join("proc/50/fd");
        std::fs::create_dir_all(&files).unwrap();
        std::os::unix::fs::symlink("/dev/pts/3", files.join("1")).unwrap();
        std::os::unix::fs::symlink("pipe:[77]", files.join("4")).unwrap();
        let root = Root::new(folder.path());
        let mut ledger = ledger(&root);
        let write = |file, slept| CycleFault {
            kind: FaultKind::Write,
            call: Some(Call::Write),
            object: Some(FaultObject::Descriptor(file)),
            length: MICROSECOND * 9,
            slept,
            site: None,
        };
        let faults = vec![write(1, false), write(4, false), write(4, true)];
        ledger.push(&root, followed(Nanos::ZERO, MICROSECOND, faults), 0, None);
        let faults = ledger.report(&root).faults;
        let writes = faults.iter().filter(|fault| fault.kind == FaultKind::Write);
        let counts: Vec<(Option<&str>, u64)> =
            writes.map(|fault| (fault.object.as_deref(), fault.count)).collect();
        assert_eq!(counts, [(Some("/dev/pts/3"), 1), (Some("pipe"), 1)]);
    }
}
