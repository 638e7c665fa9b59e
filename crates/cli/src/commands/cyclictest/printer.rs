//! Output during the run: the header, the live block, and every latency with `-v`.

use super::histogram::Buckets;
use super::lines::{LineUnit, back, block, forth};
use super::options::{Affinity, Options};
use super::plan::{CpuLimits, histogram_of_samples};
use super::snapshot::Snapshots;
use super::state::Thread;
use super::verbose::Lines;
use super::{SharedState, lock};
use crate::output::warn;
use latlab_conduct::{Failure, InProcessResult, move_to_cpus};
use latlab_model::plan::{ClockName, IdleStates, Policy};
use latlab_model::run::AppliedSetup;
use latlab_model::{CpuSet, Plan};
use latlab_sys::clock::Clock;
use std::io::{Error, ErrorKind, Write, stderr, stdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Interval between updates.
const REFRESH: Duration = Duration::from_millis(50);

pub struct Printer<'a> {
    options: &'a Options,
    plan: &'a Plan,
    machine: &'a CpuLimits,
    snapshots: Snapshots,
    lines: Lines,
    /// Buckets that every latency is counted in, if the run's bins are too wide.
    exact: Option<Vec<Buckets>>,
    started: bool,
    /// Whether the cursor is above a block that was drawn.
    above: bool,
    /// The largest latency that was drawn.
    drawn_max: Option<i64>,
}

impl<'a> Printer<'a> {
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        machine: &'a CpuLimits,
        snapshots: Snapshots,
    ) -> Printer<'a> {
        let threads = plan.who.threads.unwrap_or(1) as usize;
        let exact = options.histogram.filter(|_| histogram_of_samples(options));
        let show = Printer {
            options,
            plan,
            machine,
            snapshots,
            lines: Lines::new(threads, options.oscope, unit(options)),
            exact: exact.map(|buckets| vec![Buckets::new(buckets); threads]),
            started: false,
            above: false,
            drawn_max: None,
        };
        show.before();
        show
    }

    /// Prints what precedes the setup.
    fn before(&self) {
        if !self.options.verbose {
            return;
        }
        let using = match (&self.options.affinity, &self.plan.who.cpus) {
            (Some(Affinity::Set(_)), Some(cpus)) => format!("Using {} cpus.\n", cpus.len()),
            _ => String::new(),
        };
        let count = |file: &str| {
            let cpus =
                self.machine.root.read_as::<CpuSet>(format!("sys/devices/system/cpu/{file}"));
            cpus.map_or(self.machine.usable.len(), |cpus| cpus.len())
        };
        let first = if self.options.verbose_first { using.as_str() } else { "" };
        let (max, online) = (count("present"), count("online"));
        let online = match self.options.dialect.needs_n {
            true => String::new(),
            false => format!("Online CPUs = {online}\n"),
        };
        self.write(&format!("{first}Max CPUs = {max}\n{online}{using}"));
    }

    /// Prints the run until it ends.
    pub fn until(
        &mut self,
        shared: &SharedState,
        done: &Receiver<Result<InProcessResult, Failure>>,
    ) -> Result<InProcessResult, Failure> {
        loop {
            let finished = done.recv_timeout(REFRESH);
            self.refresh(shared, finished.is_ok());
            match finished {
                Ok(finished) => return finished,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::from(ErrorKind::BrokenPipe).into());
                }
            }
        }
    }

    fn refresh(&mut self, shared: &SharedState, last: bool) {
        let (prepared, threads, samples) = {
            let mut state = lock(shared);
            (state.prepared.clone(), state.threads.clone(), state.take_samples())
        };
        let Some(prepared) = prepared else { return };
        if !self.started {
            self.started = true;
            move_to_cpus(&prepared.helpers_on);
            self.header(&prepared, &threads);
        }
        for samples in &samples {
            let exact = self.exact.as_mut().and_then(|all| all.get_mut(samples.thread as usize));
            let text = self.lines.add_samples(samples, exact);
            if self.options.verbose {
                self.write(&text);
            }
        }
        self.snapshots.answer(&threads, unit(self.options));
        if !self.options.quiet && !self.options.verbose {
            self.draw(&threads, last);
        }
    }

    fn header(&self, prepared: &AppliedSetup, threads: &[Thread]) {
        let held = prepared.settings.iter().any(|one| one.what == "idle states" && one.holds());
        if let (Some(IdleStates::ExitWithin(limit)), true) = (self.plan.on.idle_states, held) {
            self.write(&format!("# /dev/cpu_dma_latency set to {}us\n", limit.0 / 1000));
        }
        if !self.options.verbose {
            return;
        }
        for (number, thread) in (0..).zip(threads) {
            if let (Some(Affinity::Set(_)), Some(cpu)) = (&self.options.affinity, thread.cpu) {
                self.write(&format!("Thread {number} using cpu {cpu}.\n"));
            }
            // cyclictest prints the next thread's interval here.
            let next = self.plan.method.period_of(number + 1).unwrap_or_default();
            let interval = next.0 / 1000;
            self.write(&format!("Thread {number} Interval: {interval}\n"));
        }
    }

    fn draw(&mut self, threads: &[Thread], last: bool) {
        let max = threads.iter().filter(|one| one.total.count > 0);
        let max = max.map(|one| unit(self.options).convert(one.total.max_ns)).max();
        let waits = self.options.refresh_on_max && self.above && max <= self.drawn_max;
        if !waits {
            let up = if self.above { back(threads.len()) } else { String::new() };
            let load = self.machine.root.read("proc/loadavg").unwrap_or_default();
            let text = block(self.policy(), &load, threads, unit(self.options));
            self.write(&(up + &text));
            (self.above, self.drawn_max) = (true, max);
        }
        if last && self.options.refresh_on_max {
            self.write(&(back(threads.len()) + &forth(threads.len())));
        }
    }

    fn policy(&self) -> &'static str {
        match self.plan.who.policy {
            Some(Policy::Fifo { .. }) => "fifo",
            Some(Policy::Rr { .. }) => "rr",
            Some(Policy::Batch) => "batch",
            Some(Policy::Idle) => "idle",
            // cyclictest's text for threads without a priority.
            _ => "other/other",
        }
    }

    /// Reports samples that were not printed.
    pub fn finish(&mut self, shared: &SharedState) {
        lock(shared).unprinted += self.lines.unreadable;
    }

    /// The histogram, if every latency was counted in it.
    pub fn buckets(&self) -> Option<&[Buckets]> {
        self.exact.as_deref()
    }

    /// Prints; a closed pipe does not end the run.
    fn write(&self, text: &str) {
        let mut out = stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

pub fn unit(options: &Options) -> LineUnit {
    if options.nsecs { LineUnit::Nanoseconds } else { LineUnit::Microseconds }
}

/// Prints the clock's resolution: as the kernel reports it, and the smallest step observed.
pub fn resolution(plan: &Plan) {
    let clock = match plan.method.clock() {
        Some(ClockName::Realtime) => Clock::Realtime,
        _ => Clock::Monotonic,
    };
    let readings: Vec<i64> = (0..10_000).map(|_| clock.now()).collect();
    let steps = readings.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0);
    let said = clock.resolution();
    let mut err = stderr();
    let _ = writeln!(err, "WARN: reported clock resolution: {said} nsec");
    match steps.min() {
        Some(step) => {
            let _ = writeln!(err, "WARN: measured clock resolution approximately: {step} nsec");
        }
        None => warn("the clock did not advance in 10 000 readings"),
    }
}
