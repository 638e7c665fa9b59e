//! The supervisor of a load: starts it, watches it, and ends it with everything it has started.

use super::coverage::Coverage;
use super::processes::Processes;
use super::request::{LoadRequest, SupervisorEvent, listen};
use super::{counters, tree};
use crate::self_interference::self_interference;
use latlab_model::frame::Message;
use latlab_model::load::{EndSignal, ExitStatus, LoadBegin, LoadEnd, LoadLine, LoadSample};
use latlab_model::self_interference::OwnThread;
use latlab_model::{CpuSet, Nanos};
use latlab_sys::child::{adopt_orphans, any_ended, lower_niceness};
use latlab_sys::clock::{Clock, thread_cpu_time};
use latlab_sys::files::Root;
use latlab_sys::process::KillSignal;
use latlab_sys::release_times::ReleaseTimes;
use latlab_sys::sched::affinity_of;
use latlab_sys::undo::Changes;
use latlab_sys::work_log::{TimedLog, WorkLogs};
use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Time between two samples of the load.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
/// Sampling takes at most one part in this many of a CPU.
const COST: u32 = 200;
/// Time between two checks until the load shows.
const SHOW_EVERY: Duration = Duration::from_millis(100);
/// A load that does not show within this time has started late.
const SHOW_WITHIN: Duration = Duration::from_secs(5);
/// How long to wait for a helper process; after that its load starts anyway.
const READY_WITHIN: Duration = Duration::from_secs(3);
/// Time between two checks for ended processes; a blocking wait could return near a release.
const COLLECT_EVERY: Duration = Duration::from_millis(10);
/// A check that would be near a release is skipped, at most this many times in a row.
const MOST_SKIPPED: u32 = 20;
/// Forking this process and preparing the child cannot be split up; measured in a guest.
const START: Duration = Duration::from_micros(400);
/// A load that is restarted and ends within this time …
const SHORT: Nanos = Nanos(20_000_000);
/// … this often in a row does no work.
const MOST_SHORT: u32 = 50;
/// Time for remaining processes to end by themselves …
const STRAYS: Duration = Duration::from_millis(500);
/// … and to die once killed.
const DYING: Duration = Duration::from_secs(5);

/// Runs as a supervisor, from the first line of input to the end.
pub fn supervise() -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot supervise the load: {error}");
    let mut input = BufReader::new(stdin());
    let mut line = String::new();
    if input.read_line(&mut line).map_err(failed)? == 0 {
        // The run was refused before its loads began.
        return Ok(());
    }
    let request: LoadRequest = serde_json::from_str(&line)
        .map_err(|_| "only `latlab run --load` starts this command".to_string())?;
    adopt_orphans().map_err(failed)?;
    let root = Root::default();
    let mut changes = Changes::begin_load(&root).map_err(failed)?;
    let scratch = changes.create_scratch().map_err(failed)?;
    // Without a cgroup, the lock of the scratch folder has to do.
    let cgroup = changes.create_cgroup().ok();
    let version = request.version();
    let (events, waiting) = sync_channel(4096);
    // With thousands of processes, sampling and ending them takes seconds unless this runs before
    // them.
    let nice = lower_niceness();
    let (logs, releases) = (WorkLogs::default(), ReleaseTimes::default());
    let own = (&logs, &releases);
    let processes =
        Processes::new(request, (scratch, cgroup), &events, own, nice).map_err(failed)?;
    listen(input, events.clone(), releases.clone()).map_err(failed)?;
    let supervisor = Supervisor {
        root,
        log: TimedLog::new(logs.begin(OwnThread::Loads), releases.clone()),
        logs,
        releases,
        processes,
        events,
        waiting,
        changes,
        started: Nanos::ZERO,
        placement: CpuSet::default(),
        coverage: Coverage::default(),
        shown: None,
        sampled: (Nanos::ZERO, Nanos::ZERO),
        last_start: Nanos::ZERO,
        short: 0,
        restarts: 0,
        gap: Nanos::ZERO,
    };
    supervisor.run(version);
    Ok(())
}

struct Supervisor {
    root: Root,
    /// When this process worked.
    logs: WorkLogs<OwnThread>,
    log: TimedLog,
    releases: ReleaseTimes,
    processes: Processes,
    events: SyncSender<SupervisorEvent>,
    waiting: Receiver<SupervisorEvent>,
    changes: Changes,
    started: Nanos,
    placement: CpuSet,
    coverage: Coverage,
    shown: Option<Nanos>,
    /// Time and CPU time of the last sample.
    sampled: (Nanos, Nanos),
    last_start: Nanos,
    short: u32,
    restarts: u64,
    gap: Nanos,
}

/// Why a load ends.
enum EndCause {
    /// It was asked to end.
    Stopped,
    /// The agent has died.
    Abandoned,
    /// It has ended by itself.
    ByItself(ExitStatus),
}

impl Supervisor {
    fn run(mut self, version: String) {
        let over = self.start_all().map_or_else(|over| over, |()| self.wait_until_loading());
        let number = self.processes.request().number;
        let begin = LoadBegin {
            load: number,
            program: self.processes.request().programs.last().cloned().unwrap_or_default(),
            version,
            placement: self.placement.to_string(),
            started_ns: self.started,
            shown_ns: self.shown,
        };
        send(&Message::LoadBegin(begin));
        self.coverage.begin();
        let over = over.unwrap_or_else(|| self.watch());
        self.end(over);
    }

    /// Starts all processes, each when the previous one is ready.
    fn start_all(&mut self) -> Result<(), Option<EndCause>> {
        self.started = now();
        for place in 0..=self.processes.last() {
            let started = self.processes.start(place);
            let pid = started.map_err(|_| Some(EndCause::ByItself(ExitStatus::default())))?;
            // Read it before the process is reaped.
            self.placement = affinity_of(pid).unwrap_or_default().into_iter().collect();
            if place == 0 {
                self.collect_ended();
            }
            self.last_start = now();
            let until = Instant::now() + READY_WITHIN;
            let wanted = self.processes.request().load.processes[place].ready.is_some();
            while wanted && Instant::now() < until {
                match self.next(until) {
                    Some(SupervisorEvent::Ready(ready)) if ready == place => break,
                    Some(event) => self.handle_event(event).map_err(Some)?,
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Starts to reap everything that ends below this process.
    fn collect_ended(&self) {
        let (events, logs, releases) =
            (self.events.clone(), self.logs.clone(), self.releases.clone());
        let collect = move || {
            let log = logs.begin(OwnThread::Loads);
            let (mut looked, mut skipped) = (now(), 0);
            loop {
                releases.sleep(COLLECT_EVERY);
                // On a crowded CPU this thread wakes late.
                if !releases.is_free() && skipped < MOST_SKIPPED {
                    skipped += 1;
                    continue;
                }
                skipped = 0;
                let _work = log.work();
                let before = std::mem::replace(&mut looked, now());
                while let Some(ended) = any_ended() {
                    if events.send(SupervisorEvent::Ended(ended, before)).is_err() {
                        return;
                    }
                }
            }
        };
        let _ = std::thread::Builder::new().spawn(collect);
    }

    /// Waits until the load takes the CPU time that it should.
    fn wait_until_loading(&mut self) -> Option<EndCause> {
        let until = Instant::now() + SHOW_WITHIN;
        let least = self.processes.request().load.least.cpu_share;
        self.sample();
        while Instant::now() < until {
            let (at, cpu) = self.sampled;
            if let Err(over) = self.handle_events_until(Instant::now() + SHOW_EVERY) {
                return Some(over);
            }
            self.sample();
            let share = (self.sampled.1 - cpu).as_secs_f64() / (self.sampled.0 - at).as_secs_f64();
            if share >= least {
                self.shown = Some(self.sampled.0);
                break;
            }
        }
        None
    }

    /// Samples the load until it ends.
    fn watch(&mut self) -> EndCause {
        loop {
            let (before, used) = (Instant::now(), thread_cpu_time());
            self.sample();
            self.send_self_interference();
            let used = Duration::from_nanos((thread_cpu_time() - used).max(0) as u64);
            let pause = SAMPLE_EVERY.max(used * COST);
            if let Err(over) = self.handle_events_until(before + pause) {
                return over;
            }
        }
    }

    fn handle_events_until(&mut self, until: Instant) -> Result<(), EndCause> {
        while Instant::now() < until {
            if let Some(event) = self.next(until) {
                self.handle_event(event)?;
            }
        }
        Ok(())
    }

    /// The next event; `None` at the first moment from `until` on with no release near.
    fn next(&self, until: Instant) -> Option<SupervisorEvent> {
        let left = until.saturating_duration_since(Instant::now());
        self.waiting.recv_timeout(self.releases.free_after(left)).ok()
    }

    fn handle_event(&mut self, event: SupervisorEvent) -> Result<(), EndCause> {
        let work = self.log.work();
        match event {
            SupervisorEvent::Stop => return Err(EndCause::Stopped),
            SupervisorEvent::Abandoned => return Err(EndCause::Abandoned),
            SupervisorEvent::Line(at_ns, text) => {
                send_line(self.processes.request().number, at_ns, false, text);
            }
            SupervisorEvent::Ended(ended, running_at) => {
                let status = ExitStatus { code: ended.code, signal: ended.signal };
                let place = self.processes.find_ended(ended.pid);
                drop(work);
                if let Some(place) = place {
                    self.restart(place, status, running_at)?;
                }
            }
            SupervisorEvent::Ready(_) | SupervisorEvent::OutputEnded => {}
        }
        Ok(())
    }

    /// Handles the end of a process of ours that still ran at this time: restarts it if its
    /// definition says so.
    fn restart(
        &mut self,
        place: usize,
        status: ExitStatus,
        running_at: Nanos,
    ) -> Result<(), EndCause> {
        let again = self.processes.request().load.restart && place == self.processes.last();
        self.short = if running_at - self.last_start < SHORT { self.short + 1 } else { 0 };
        if !again || status.code != Some(0) || self.short >= MOST_SHORT {
            return Err(EndCause::ByItself(status));
        }
        let _work = self.log.long_work(START);
        let started = std::mem::replace(&mut self.last_start, now());
        self.processes.start(place).map_err(|_| EndCause::ByItself(status))?;
        self.restarts += 1;
        self.gap += now() - running_at.max(started);
        Ok(())
    }

    fn sample(&mut self) {
        let mut work = self.log.work_in_parts();
        let before = now();
        let (all, cpu_ns) = tree::cpu_time(&self.root, || work.next_part());
        // Reading thousands of processes takes a while; on average each is read at the middle of
        // it.
        let at_ns = Nanos((before.0 + now().0) / 2);
        self.coverage.look(&self.root, at_ns, &all, || work.next_part());
        let processes = all.len() as u32;
        let cpu_ns = cpu_ns.max(self.sampled.1);
        let request = self.processes.request();
        work.next_part();
        let evidence =
            request.load.evidence.and_then(|counter| counters::read(&self.root, counter));
        let load = request.number;
        work.next_part();
        send(&Message::LoadSample(LoadSample { load, at_ns, processes, cpu_ns, evidence }));
        self.sampled = (at_ns, cpu_ns);
    }

    fn send_self_interference(&self) {
        let mut work = self.log.work_in_parts();
        for taken in self.logs.take().into_iter().filter_map(self_interference) {
            work.next_part();
            send(&Message::SelfInterference(taken));
        }
    }

    /// Ends what still runs, and reports the result.
    fn end(mut self, over: EndCause) {
        let ended_ns = now();
        self.sample();
        self.send_self_interference();
        let (mut status, mut by_itself) = (ExitStatus::default(), false);
        match over {
            EndCause::ByItself(how) => (status, by_itself) = (how, true),
            EndCause::Stopped => status = self.request_end(ended_ns),
            EndCause::Abandoned => {}
        }
        if !matches!(over, EndCause::Abandoned) {
            self.processes.signal(0..=self.processes.last(), KillSignal::TERM);
            tree::ask_all(&self.root);
            tree::wait_for_none(&self.root, Instant::now() + STRAYS);
        }
        let (killed, left) = tree::kill_all(&self.root, Instant::now() + DYING);
        let Supervisor { processes, waiting, events, changes, restarts, gap, coverage, .. } = self;
        drop(events);
        let (request, outputs) = processes.close();
        changes.undo();
        let load = request.number;
        let (mut open, until) = (outputs.len(), Instant::now() + STRAYS);
        while open > 0 && Instant::now() < until {
            match waiting.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(SupervisorEvent::OutputEnded) => open -= 1,
                Ok(SupervisorEvent::Line(at_ns, text)) => {
                    send_line(load, at_ns, !by_itself && at_ns > ended_ns, text);
                }
                _ => {}
            }
        }
        let printed: Vec<_> = outputs.iter().map(|output| output.printed()).collect();
        send(&Message::LoadEnd(LoadEnd {
            load,
            ended_ns,
            by_itself,
            status,
            restarts,
            gap_ns: gap,
            killed,
            left,
            placement: coverage.seen.into_iter().collect::<CpuSet>().to_string(),
            lost_cpus: coverage.lost,
            lost_priority: coverage.priorities.lost,
            output_bytes: printed.iter().map(|one| one.bytes).sum(),
            lines_dropped: printed.iter().map(|one| one.dropped).sum(),
            last_lines: printed.into_iter().next_back().map(|t| t.lines.into()).unwrap_or_default(),
        }));
    }

    /// Asks the load itself to end, which some do slowly; returns its exit status.
    fn request_end(&mut self, asked: Nanos) -> ExitStatus {
        let last = self.processes.last();
        let rule = self.processes.request().load.end;
        let signal = match rule.signal {
            EndSignal::Term => KillSignal::TERM,
            EndSignal::Int => KillSignal::INT,
        };
        self.processes.signal(last..=last, signal);
        let until = Instant::now() + rule.grace_ns.duration();
        while self.processes.is_running(last) && Instant::now() < until {
            match self.next(until) {
                Some(SupervisorEvent::Abandoned) => break,
                Some(SupervisorEvent::Ended(ended, _))
                    if self.processes.find_ended(ended.pid) == Some(last) =>
                {
                    return ExitStatus { code: ended.code, signal: ended.signal };
                }
                Some(SupervisorEvent::Line(at_ns, text)) => {
                    send_line(self.processes.request().number, at_ns, at_ns > asked, text);
                }
                _ => {}
            }
        }
        ExitStatus::default()
    }
}

fn now() -> Nanos {
    Nanos(Clock::Monotonic.now())
}

fn send_line(load: u32, at_ns: Nanos, after_end: bool, text: String) {
    send(&Message::LoadLine(LoadLine { load, at_ns, after_end, text }));
}

/// Sends to the agent. If that has died, everything is ended all the same.
fn send(message: &Message) {
    let mut out = stdout().lock();
    let _ = out.write_all(&message.encode()).and_then(|()| out.flush());
}
