//! What the threads of an attached program did, and what could not be followed.

use super::kinds::{FindingWords, Said, Worded, words};
use crate::units::four_digits;
use latlab_model::attach::ThreadFault;
use latlab_model::call_site::CallSite;
use latlab_model::finding::AttachFinding;
use latlab_model::shell::Line;
use latlab_model::units::counted;

words! { AttachFinding {
    /// The kernel's events of the program could not be recorded, or it could not be started.
    AttachFailed { error } =>
        says "The program could not be followed: {error}.";

    /// No thread of the program has a rhythm: none waited ten times in the same call.
    NoCycles
    { waited } if waited.is_empty() =>
        says "No thread of the program waited ten times in the same call.";
        remedy NAME_THE_CALL;
    { waited } =>
        says "No thread of the program has a rhythm that could be found; waits in the same call: {waited}.",
            waited = waits(waited);
        remedy NAME_THE_CALL;

    /// Some cycles of a thread could not be followed, because the kernel overwrote events before they were
    /// read. They may have missed the deadline.
    CyclesUnseen { name, count, followed } =>
        says "At least {cycles} of {name} could not be followed, because the kernel overwrote events; \
              {followed} were.",
            cycles = counted(*count, "cycle", "cycles");
        remedy "Leave latlab CPU time, and stop other programs that trace.";

    /// Two calls of a thread may each be the one that ends its cycle, or one call ends two phases of a cycle.
    ActivationAmbiguous
    { name, call, other } if call == other =>
        says "{name} sleeps twice in each cycle, for two times that take turns in the same call ({call}): each \
              sleep is shown as a cycle.";
        remedy "Name the call with --activation, such as --activation read:7.";
    { name, call, other } =>
        says "{name} waits in two calls for as long: its cycles may end in {call}, as shown, or in {other}.";
        remedy "Name the call with --activation, such as --activation read:7.";

    /// A thread stopped waiting in the call that ended its cycles, and waits elsewhere.
    ActivationLost { name, call } =>
        says "{name} does not wait in {call} any more, which ended its cycles.";
        remedy "Measure the two modes of the program in separate runs.";

    /// Some cycles had their work waiting when the thread came for it, so that their release is earlier and
    /// their response longer than is known.
    CyclesWaiting { name, count, of } =>
        says "In {count} of {of} cycles the work of {name} was there before it came for it: their responses \
              are longer than is known.";
        remedy "Their work came faster than the thread did it: look at the thread that gives it.";

    /// The releases of a thread took another period during the run.
    RhythmChanged
    { name, before_ns, after_ns, was_deadline } if *was_deadline =>
        says "The period of {name} changed from {before} to {after}, and it was judged by the first.",
            before = four_digits(*before_ns), after = four_digits(*after_ns);
        remedy "Give the deadline: --deadline TIME.";
    { name, before_ns, after_ns, .. } =>
        says "The period of {name} changed from {before} to {after}.",
            before = four_digits(*before_ns), after = four_digits(*after_ns);
        remedy "If it should not change, look at what the thread sleeps until.";

    /// The scheduling of a thread changed during the run.
    PolicyChanged { name, before, after } =>
        says "The scheduling of {name} changed from {before} to {after}.";
        remedy "Find out what changed it: the program itself, rtkit, chrt.";

    /// A thread sleeps for a time instead of until one.
    RelativeSleep { name, fault, period_ns } =>
        says "{name} sleeps for a time, not until one ({call}{at}): unless it takes the time of its work off, that \
              is added to each period{period}.",
            call = call(fault),
            at = at(fault),
            period = period_ns.map(|period| format!(" of {period}")).unwrap_or_default();
        remedy "Use clock_nanosleep with TIMER_ABSTIME and add the period to the last wake-up time.";

    /// A thread sleeps until a time of CLOCK_REALTIME, which can be set: then it sleeps too long or not at all.
    SettableClock { name, fault } =>
        says "{name} sleeps until a time of CLOCK_REALTIME ({call}{at}), which can be set.",
            call = call(fault), at = at(fault);
        remedy "Use CLOCK_MONOTONIC for releases.";

    /// A thread sleeps in the middle of a cycle.
    SleepInCycle { name, fault } =>
        says "{name} slept {often}.", often = often(fault);
        remedy "Do what waits in another thread, or in the next cycle.";

    /// A page was missing in a cycle.
    PageFaultInCycle { name, fault } =>
        says "{name} had {faults} in {cycles}{at}.",
            at = at(fault),
            faults = counted(fault.count, "page fault", "page faults"),
            cycles = counted(fault.cycles, "cycle", "cycles");
        remedy "Lock the memory with mlockall (MCL_CURRENT and MCL_FUTURE), and write to all of stack and heap \
                before the first cycle.";

    /// The heap grew or shrank in a cycle, or memory was mapped.
    HeapInCycle { name, fault } =>
        says "{name} changed its memory {often}.", often = often(fault);
        remedy "Allocate before the first cycle, or keep the heap: mallopt(M_TRIM_THRESHOLD, -1) and \
                mallopt(M_MMAP_MAX, 0).";

    /// A thread writes to a file or a terminal in a cycle, or a write blocked.
    WriteInCycle { name, fault } =>
        says "{name} wrote to {file} {often}.",
            file = fault.object.as_deref().unwrap_or("a file"), often = often(fault);
        remedy "Hand what is to be written to an ordinary thread, through a queue that does not block.";

    /// A thread waits for a disk in a cycle.
    SyncInCycle { name, fault } =>
        says "{name} waited for a disk {often}.", often = often(fault);
        remedy "Leave fsync to an ordinary thread.";

    /// A thread opens a file in a cycle.
    OpenInCycle { name, fault } =>
        says "{name} opened a file {often}.", often = often(fault);
        remedy "Open files before the first cycle.";

    /// A thread gives its CPU away in a cycle.
    YieldInCycle { name, fault } =>
        says "{name} gave its CPU away {often}.", often = often(fault);
        remedy "Wait for what is expected instead of calling sched_yield, which with a real-time policy only \
                lets threads of the same priority run.";

    /// A thread waited for a lock in a cycle, or for what another thread does.
    LockInCycle { name, fault } =>
        says "{name} waited for {what} {often}.",
            what = fault.object.as_deref().unwrap_or("a lock"), often = often(fault);
        remedy "Hold the lock for a shorter time, or share the data without one.";

    /// A thread of lower priority ended a wait in a cycle: as long as others keep that one from its CPU, this
    /// one waits for them too.
    PriorityInversion { name, fault } =>
        says "{name} waited for {thread}, which has a lower priority, {often}.",
            thread = fault.object.as_deref().unwrap_or("a thread"), often = often(fault);
        remedy "Give the mutex priority inheritance: pthread_mutexattr_setprotocol with PTHREAD_PRIO_INHERIT.";

    /// A receive or send ended with the time limit of its socket, SO_RCVTIMEO or SO_SNDTIMEO, which the kernel
    /// rounds up to its ticks of 1 to 10 ms.
    TickTimeoutInCycle { name, fault } =>
        says "{name} reached the time limit of a socket {often}: the kernel rounds it up to its ticks.",
            often = often(fault);
        remedy "Wait with ppoll, epoll_pwait2 or a timerfd, whose times are exact, instead of SO_RCVTIMEO or \
                SO_SNDTIMEO.";

    /// A thread was ready in a cycle, and a less urgent thread or nothing had its CPU: its CPU time is limited,
    /// by the kernel's limit for real-time threads, a cgroup, or its own SCHED_DEADLINE runtime.
    ThrottledInCycle { name, fault } =>
        says "{name} was throttled {count} in {cycles}, at most {longest}.",
            count = counted(fault.count, "time", "times"),
            cycles = counted(fault.cycles, "cycle", "cycles"),
            longest = fault.longest_ns;
        remedy "Let it use less CPU time, or raise its limit: kernel.sched_rt_runtime_us and the fair server for \
                SCHED_FIFO and SCHED_RR, the runtime for SCHED_DEADLINE, cpu.max of its cgroup otherwise.";

    /// A thread that may only run on one CPU waited there in many cycles for a thread that is as urgent or more.
    CpuShared { name, fault } =>
        says "{name} may only run on one CPU, where {thread} kept it from running in {cycles}, for at most \
              {longest}.",
            thread = fault.object.as_deref().unwrap_or("another thread"),
            cycles = counted(fault.cycles, "cycle", "cycles"),
            longest = fault.longest_ns;
        remedy "Give it another CPU, or the other thread; or give it a higher priority than the other.";

    /// A thread of lower priority released a cycle, such as an interrupt thread: what is more urgent than that
    /// thread delays this one too.
    ReleasedByLowerPriority { name, fault } =>
        says "{name} was released in {cycles} by {thread}, which has a lower priority: threads between the two \
              delay it.",
            thread = fault.object.as_deref().unwrap_or("a thread"),
            cycles = counted(fault.cycles, "cycle", "cycles");
        remedy "Give the thread that releases it a higher priority than its own; for an interrupt thread, \
                chrt -f -p PRIORITY ID.";

    /// The memory of a program with a judged thread is not locked, so that the kernel may take pages of it
    /// away.
    MemoryUnlocked { name, fault } =>
        says "The memory of {name} is not locked: {how_much}.",
            how_much = fault.object.as_deref().unwrap_or("none of it");
        remedy "Call mlockall (MCL_CURRENT and MCL_FUTURE) at its start.";

    /// A judged thread does not have a real-time policy.
    OrdinaryPolicy { name, fault } =>
        says "{name} has the policy {policy}: every other thread may delay it.",
            policy = fault.object.as_deref().unwrap_or("other");
        remedy "Give it SCHED_FIFO: chrt -f 80 PROGRAM, or pthread_setschedparam.";
}}

const NAME_THE_CALL: &str =
    "Measure longer, or name the call that a cycle ends in with --activation.";

/// `server 9, reader 4`.
fn waits(waited: &[(String, u64)]) -> String {
    let each: Vec<String> = waited.iter().map(|(name, count)| format!("{name} {count}")).collect();
    each.join(", ")
}

fn call(fault: &ThreadFault) -> &str {
    fault.call.as_deref().unwrap_or("a system call")
}

/// `12 times in 12 cycles (clock_nanosleep, at most 3 ms) at control.c:23 (step)`.
fn often(fault: &ThreadFault) -> String {
    format!(
        "{} in {} ({}, at most {}){}",
        counted(fault.count, "time", "times"),
        counted(fault.cycles, "cycle", "cycles"),
        call(fault),
        fault.longest_ns,
        at(fault)
    )
}

/// ` at control.c:23 (step), control.c:40 (log) and 2 other places`; empty if no place is known.
fn at(fault: &ThreadFault) -> String {
    let mut places: Vec<String> = Vec::new();
    for words in fault.sites.iter().filter_map(CallSite::place) {
        if !places.contains(&words) {
            places.push(words);
        }
    }
    let more = places.split_off(places.len().min(PLACES)).len() as u64;
    let named = places.join(", ");
    match (named.is_empty(), more) {
        (true, _) => String::new(),
        (_, 0) => format!(" at {named}"),
        (_, more) => {
            format!(" at {named} and {}", counted(more, "other place", "other places"))
        }
    }
}

/// Most places that are named of a fault.
const PLACES: usize = 3;
