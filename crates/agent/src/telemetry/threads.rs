//! Finds the threads that take the CPUs, at far less cost than reading all of them each second.
//!
//! Reading one thread costs about 15 us. So all threads are read in turn, a tenth each second; new
//! ones are found by their numbers, which the kernel assigns in order; real-time threads and new
//! ones are read each second.
//!
//! If every CPU is measured, SCHED_OTHER threads of loads are not read: their supervisors report
//! their CPU time. The kernel keeps each opened thread file until the thread ends. When dozens end
//! together it frees all of that in one piece, for which kernel 6.12 disabled interrupts for 0.7
//! ms.

use super::pace::Pace;
use super::register::{Metric, Register};
use super::sources::middle;
use latlab_model::Nanos;
use latlab_model::telemetry::metric;
use latlab_sys::child::process_group;
use latlab_sys::clock::Clock;
use latlab_sys::files::Root;
use latlab_sys::process::Stat;
use latlab_sys::sched;
use std::collections::BTreeMap;

const CPU: Metric = Metric::counter(metric::THREAD_CPU, "ns");
const PLACE: Metric = Metric::gauge(metric::THREAD_PLACE, "1");
const POLICY: Metric = Metric::gauge(metric::THREAD_POLICY, "1");
const PRIORITY: Metric = Metric::gauge(metric::THREAD_PRIORITY, "1");

/// All SCHED_OTHER threads are read once in this many readings …
const TURNS: u64 = 10;
/// … unless that makes more than this per reading: then it takes more readings.
const MOST_IN_A_TURN: u64 = 150;
/// A thread counts as new for this many readings.
const NEW_FOR: u64 = TURNS;
/// Largest number of new threads read each time; the others wait for their turn.
const MOST_NEW: usize = 100;
/// Largest number of new thread numbers tried.
const MOST_TRIED: u32 = 20_000;
/// How late a reading may be against its nominal time, in ns.
const SLACK: i64 = 100_000_000;
/// Threads above this CPU share are reported, in parts per thousand.
const TOLD_ABOVE: i64 = 10;

struct ThreadRecord {
    /// Number of the reading that found it.
    since: u64,
    realtime: bool,
    /// Whether it is read only while it is real-time.
    of_load: bool,
    /// Time and CPU time at the last reading.
    last: Option<(Nanos, i64)>,
    state: State,
}

enum State {
    /// Not reported.
    Quiet,
    /// In the register under this name since this time.
    Told { subject: String, put_at: Nanos },
    /// A thread of latlab, which is reported elsewhere.
    Ours,
}

/// The threads of the machine.
pub struct Threads {
    root: Root,
    known: BTreeMap<u32, ThreadRecord>,
    /// The last number that the kernel has assigned.
    newest: u32,
    readings: u64,
    /// Time of the last reading.
    read_at: Option<Nanos>,
    /// Processes that start groups whose SCHED_OTHER threads are not read.
    supervisors: Vec<u32>,
}

impl Threads {
    /// Finds all present threads. SCHED_OTHER threads of the process groups that the supervisors
    /// have started are never read.
    pub fn find(root: &Root, supervisors: Vec<u32>) -> Threads {
        let newest = newest(root).unwrap_or(0);
        let mut threads = Threads {
            root: root.clone(),
            known: BTreeMap::new(),
            // Find threads of loads by their numbers: the kernel would keep a directory listing as
            // well.
            newest: supervisors.iter().min().map_or(newest, |first| newest.min(first - 1)),
            readings: 0,
            read_at: None,
            supervisors,
        };
        threads.find_new(|| ());
        let numbers = |names: Vec<String>| names.into_iter().filter_map(|name| name.parse().ok());
        let processes = root.names("proc").into_iter().flat_map(numbers);
        let mut of_loads = BTreeMap::new();
        for process in processes {
            let process: u32 = process;
            if threads.is_of_load(process, &mut of_loads) {
                continue;
            }
            let tasks = root.names(format!("proc/{process}/task")).into_iter().flat_map(numbers);
            tasks.for_each(|thread| threads.add(thread, false));
        }
        // Present threads wait for their turn; only later ones are new.
        threads.readings = NEW_FOR;
        let now = Nanos(Clock::Monotonic.now());
        for (&thread, known) in threads.known.iter_mut().filter(|(_, known)| known.is_read()) {
            // If a short run ends before their turn, the end is compared with this.
            known.last = cpu_time(root, thread).map(|time| (now, time));
        }
        threads
    }

    /// Whether a load has started a thread. Results per group are kept only briefly, since numbers
    /// are reused.
    fn is_of_load(&self, thread: u32, known: &mut BTreeMap<u32, bool>) -> bool {
        if self.supervisors.is_empty() {
            return false;
        }
        process_group(thread).is_some_and(|group| {
            *known.entry(group).or_insert_with(|| {
                let first = Stat::read(&self.root, group);
                first.is_some_and(|first| self.supervisors.contains(&first.parent))
            })
        })
    }

    fn add(&mut self, thread: u32, of_load: bool) {
        if let Ok(scheduling) = sched::scheduling_of(thread) {
            let (since, realtime) = (self.readings, scheduling.is_realtime());
            // A thread that did not exist at the last reading has used all its time since.
            let last = self.read_at.map(|time| (time, 0));
            let state = State::Quiet;
            self.known.insert(thread, ThreadRecord { since, realtime, of_load, last, state });
        }
    }

    /// Reads the threads whose turn it is; at the end of a run, all.
    pub fn read(&mut self, end: bool, register: &mut Register, pace: &mut Pace<'_>) {
        self.readings += 1;
        self.find_new(|| pace.rest());
        self.known.retain(|&thread, known| {
            pace.rest();
            match sched::scheduling_of(thread) {
                Ok(scheduling) => {
                    known.realtime = scheduling.is_realtime();
                    true
                }
                Err(_) => {
                    known.end(register);
                    false
                }
            }
        });
        self.read_at = Some(Nanos(Clock::Monotonic.now()));
        let readings = self.readings;
        let turns = TURNS.max(self.known.len() as u64 / MOST_IN_A_TURN);
        let mut new_left = MOST_NEW;
        for (&thread, known) in self.known.iter_mut().filter(|(_, known)| known.is_read()) {
            let its_turn = u64::from(thread) % turns == readings % turns;
            let mut due = end || known.realtime || its_turn;
            if !due && new_left > 0 && readings < known.since + NEW_FOR {
                new_left -= 1;
                due = true;
            }
            if due {
                known.read(&self.root, thread, register, pace);
                pace.rest();
            }
        }
    }

    /// Tries the numbers assigned since the last time.
    fn find_new(&mut self, mut rest: impl FnMut()) {
        let Some(newest) = newest(&self.root) else { return };
        let given = if newest >= self.newest {
            self.newest + 1..newest + 1
        } else {
            // Numbers wrap around to just above the reserved ones.
            1..newest + 1
        };
        let mut of_loads = BTreeMap::new();
        given.take(MOST_TRIED as usize).for_each(|thread| {
            if !self.known.contains_key(&thread) {
                let of_load = self.is_of_load(thread, &mut of_loads);
                self.add(thread, of_load);
                rest();
            }
        });
        self.newest = newest;
    }
}

/// The number assigned last: the fifth word of `/proc/loadavg`.
fn newest(root: &Root) -> Option<u32> {
    root.read("proc/loadavg")?.split_whitespace().nth(4)?.parse().ok()
}

impl ThreadRecord {
    fn is_read(&self) -> bool {
        self.realtime || !self.of_load
    }

    /// Reads a thread. Rest after each file, each of which holds the CPU for some tens of
    /// microseconds.
    fn read(&mut self, root: &Root, thread: u32, register: &mut Register, pace: &mut Pace<'_>) {
        if matches!(self.state, State::Ours) {
            return;
        }
        let begun = Clock::Monotonic.now();
        let Some(now) = cpu_time(root, thread) else { return };
        let at = middle(begun, Clock::Monotonic.now());
        register.set_instant(at);
        let last = self.last.replace((at, now));
        let (before, was) = last.unwrap_or((at, now));
        if now - was > (at - before).0 + SLACK {
            // More CPU time than time passed: the thread existed before it was found.
            return;
        }
        let is_new = matches!(self.state, State::Quiet);
        if is_new {
            let takes_much = (now - was) * 1000 > (at - before).0 * TOLD_ABOVE;
            if !self.realtime && !takes_much {
                return;
            }
            pace.rest();
            // A path with this process's number would hold the CPU for long.
            if root.has(format!("proc/self/task/{thread}")) {
                self.state = State::Ours;
                return;
            }
        } else if was == now && self.realtime {
            // An idle thread is not reported each second.
            return;
        }
        pace.rest();
        let stat = Stat::read_thread(root, thread);
        match &stat {
            Some(stat) if is_new => {
                let subject = thread_name(&stat.name, thread);
                self.state = State::Told { subject, put_at: before - Nanos(1) };
            }
            _ => self.rename(thread, stat.as_ref(), before, register),
        }
        let State::Told { subject, put_at } = &mut self.state else { return };
        if *put_at < before && before < at {
            register.put_earlier(CPU, subject, before, was);
        }
        *put_at = at;
        register.put_now(CPU, subject, now);
        if let Some(stat) = stat {
            register.put_now(PLACE, subject, stat.cpu.into());
            register.put_now(POLICY, subject, stat.policy.into());
            register.put_now(PRIORITY, subject, stat.priority.into());
        }
    }

    /// Renames a forked thread that has executed another program since.
    fn rename(&mut self, thread: u32, stat: Option<&Stat>, before: Nanos, register: &mut Register) {
        let State::Told { subject, .. } = &self.state else { return };
        let now = stat.map(|stat| thread_name(&stat.name, thread));
        if let Some(now) = now.filter(|now| now != subject) {
            self.end(register);
            self.state = State::Told { subject: now, put_at: before - Nanos(1) };
        }
    }

    fn end(&self, register: &mut Register) {
        if let State::Told { subject, .. } = &self.state {
            for metric in [CPU, PLACE, POLICY, PRIORITY] {
                register.end(metric, subject);
            }
        }
    }
}

/// CPU time of a thread in ns, with tick resolution if the kernel keeps nothing better.
fn cpu_time(root: &Root, thread: u32) -> Option<i64> {
    let exact = root.read(format!("proc/{thread}/schedstat"));
    exact.as_deref().and_then(|text| text.split(' ').next()?.parse().ok()).or_else(|| {
        let ticks = Stat::read_thread(root, thread)?.cpu_ticks;
        Some(i64::try_from(ticks).ok()?.saturating_mul(10_000_000))
    })
}

/// A thread's name may contain anything.
fn thread_name(name: &str, thread: u32) -> String {
    format!("{}/{thread}", name.replace(char::is_control, "\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::tests::read_without_rest;
    use latlab_model::telemetry::{Reading, Series};
    use std::collections::BTreeSet;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn now() -> Nanos {
        Nanos(Clock::Monotonic.now())
    }

    /// The thread's first value in the register, and the announced series.
    fn read_once(threads: &mut Threads, register: &mut Register) -> (Vec<Series>, Reading) {
        let at = now();
        read_without_rest(|pace| threads.read(false, register, pace));
        register.reading(at)
    }

    #[test]
    fn a_hog_that_starts_is_told_of_at_the_next_reading() {
        let (mut threads, mut register) =
            (Threads::find(&Root::default(), Vec::new()), Register::default());
        read_once(&mut threads, &mut register);
        let hog = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let hog = Killed(hog);
        let name = format!("sh/{}", hog.0.id());
        let until = Instant::now() + Duration::from_secs(20);
        let series = loop {
            // The machine decides how soon it gets a CPU.
            std::thread::sleep(Duration::from_millis(300));
            let (series, reading) = read_once(&mut threads, &mut register);
            if let Some(found) = series.into_iter().find(|one| one.subject == name) {
                let at = |number| reading.values.iter().find(|(one, _)| *one == number);
                assert!(at(found.number).is_some_and(|(_, value)| value.is_some()));
                let earlier = reading.earlier.iter().any(|(_, one, _)| *one == found.number);
                assert!(earlier, "its share needs two points");
                break found;
            }
            assert!(Instant::now() < until, "{name} was never told of");
        };
        assert!(series.counter && !series.steady);
        drop(hog);
        let (_, reading) = read_once(&mut threads, &mut register);
        assert!(reading.values.contains(&(series.number, None)), "its end is reported");
    }

    /// Invariant (conditions): Where every CPU is measured, no file of a load's ordinary threads is read.
    #[test]
    fn what_a_load_has_started_is_not_told_of_and_whatever_else_takes_the_cpu_is() {
        let hog = |of_load: bool| {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]);
            // As a supervisor starts its processes.
            if of_load {
                command.process_group(0);
            }
            Killed(command.spawn().unwrap())
        };
        let before = hog(true);
        let mut threads = Threads::find(&Root::default(), vec![std::process::id()]);
        let mut register = Register::default();
        read_once(&mut threads, &mut register);
        let (after, other) = (hog(true), hog(false));
        let is_of = |hog: &Killed, subject: &str| subject == format!("sh/{}", hog.0.id());
        let until = Instant::now() + Duration::from_secs(20);
        let (mut told, mut left) = (BTreeSet::new(), None);
        // Some more readings show that the others do not follow.
        while left != Some(0) {
            assert!(left.is_some() || Instant::now() < until, "{told:?}");
            std::thread::sleep(Duration::from_millis(300));
            let (series, _) = read_once(&mut threads, &mut register);
            told.extend(series.into_iter().map(|one| one.subject));
            let is_told = told.iter().any(|subject| is_of(&other, subject));
            left = left.map(|left| left - 1).or(is_told.then_some(10));
        }
        let of_load = told.iter().find(|one| is_of(&before, one) || is_of(&after, one));
        assert_eq!(of_load, None, "{told:?}");
    }

    #[test]
    fn our_own_threads_and_the_idle_ones_are_not_told_of() {
        let (mut threads, mut register) =
            (Threads::find(&Root::default(), Vec::new()), Register::default());
        let idle = Killed(Command::new("sleep").arg("60").spawn().unwrap());
        let own = std::process::id();
        for _ in 0..3 {
            let until = Instant::now() + Duration::from_millis(50);
            while Instant::now() < until {}
            let (series, _) = read_once(&mut threads, &mut register);
            for subject in series.iter().map(|one| &one.subject) {
                assert!(!subject.ends_with(&format!("/{own}")), "{subject}");
                assert!(!subject.ends_with(&format!("/{}", idle.0.id())), "{subject}");
            }
        }
    }
}
