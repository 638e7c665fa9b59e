//! The measuring threads as a group: set up, started together, drained, and joined.

use crate::answer_breakdown::BreakdownDrainer;
use crate::cpus;
use crate::drain::{Drainer, IntervalObserver, ThreadSource, offset_to_monotonic};
use crate::flight::SpikeTrigger;
use crate::helper_thread::STARVED;
use crate::hook::Hook;
use crate::layout::{Layout, phases};
use crate::monitor::MonitoredSetting;
use crate::outbox::Outbox;
use crate::placement::PlacedThread;
use crate::reasons::{CPU_OFFLINE, FIRST_ENDED, INTERRUPTED, OVERDUE, STOP};
use crate::refusals::machine_refuses;
use crate::samples::SampleDrainer;
use crate::thread_job::{Start, ThreadJob, clock_of};
use crate::timerlat::KernelTimer;
use crate::worker::{self, Worker};
use latlab_measure::cyclic::Stop;
use latlab_measure::gpio::breakdown;
use latlab_measure::recorder::recorder;
use latlab_measure::samples::samples;
use latlab_model::finding::{EndFinding, Finding, MachineFinding};
use latlab_model::frame::{Message, Refusal};
use latlab_model::nanos::SECOND;
use latlab_model::plan::Measurement;
use latlab_model::run::{EndReason, Setting, ThreadEnd, ThreadSetup};
use latlab_model::self_interference::OwnThread;
use latlab_model::{CpuSet, Nanos};
use latlab_sys::clock::Clock;
use latlab_sys::files::Root;
use latlab_sys::process::Stat;
use latlab_sys::sched::{self, Scheduling};
use latlab_sys::work_log::TimedLog;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Time between two passes of the drainer; the spike ring holds four times as much at 20 kHz.
const PASS: Duration = Duration::from_millis(50);
/// Time between two readings of the clocks.
const CLOCKS_EVERY: Duration = Duration::from_secs(1);
/// Draining the samples of half a second cannot be split up; measured in a guest.
const LONGEST_PASS: Duration = Duration::from_micros(400);
/// All threads know their first release this long before it, so that their start is not measured …
const START_MARGIN: Nanos = Nanos(50_000_000);
/// … plus this for each of them, since they are told one after the other.
const START_MARGIN_EACH: Nanos = Nanos(50_000);
/// An observer in this process waits no longer than this for the first release …
const SHORT_START_MARGIN: Nanos = Nanos(2_000_000);
/// … and for the counts.
const WATCHED_PART: Nanos = Nanos(50_000_000);

/// The measuring threads, set up and waiting.
pub struct MeasuringThreads {
    measurement: Arc<Measurement>,
    members: Vec<MeasuringThread>,
    sources: Vec<ThreadSource>,
    /// CPUs on which a starved thread may end: those that no thread measures, else all.
    free: CpuSet,
}

struct MeasuringThread {
    cpu: Option<u32>,
    /// Type and capacity of its core.
    core: (Option<String>, Option<u32>),
    worker: Worker,
    ready: PlacedThread,
    start: Start,
    stop: Arc<AtomicU8>,
    /// When it should have ended.
    over: Option<Instant>,
    /// Whether it got another CPU to end on.
    is_moved: bool,
}

/// The result of the threads.
pub struct MeasuringThreadsResult {
    pub ends: Vec<ThreadEnd>,
    /// Intervals merged because the stream stalled.
    pub intervals_merged: u64,
    /// The spike command with its cost.
    pub hook: Option<Hook>,
    /// Why the run ended, if the threads do not say it.
    pub reason: Option<EndReason>,
}

impl MeasuringThreads {
    /// Starts the threads; each sets itself up and waits. If one fails, all stop.
    pub fn assemble(
        (root, outbox): (&Root, &Outbox),
        measurement: &Arc<Measurement>,
        layout: &Layout,
        usable: &CpuSet,
        has_observer: bool,
        kernel: Vec<KernelTimer>,
    ) -> Result<MeasuringThreads, Refusal> {
        let plan = &measurement.plan;
        let (mut waiting, mut sources) = (Vec::new(), Vec::new());
        let mut kernel = kernel.into_iter();
        let (part, margin) = match has_observer {
            true => (plan.frame_interval().min(WATCHED_PART), SHORT_START_MARGIN),
            false => (plan.frame_interval(), START_MARGIN),
        };
        for (thread, (&cpu, &waker_cpu)) in (0..).zip(layout.threads.iter().zip(&layout.wakers)) {
            let (recorder, drain) = recorder(part.0);
            let period = plan.method.sample_period_of(thread);
            let (ring, line) =
                match period.filter(|_| plan.keep.samples || plan.method.has_breakdown()) {
                    Some(period) => {
                        let (ring, drain) = samples(period.0);
                        (Some(ring), Some(SampleDrainer::new(thread, drain, period)))
                    }
                    None => (None, None),
                };
            let is_own = plan.method.gpio().is_some_and(|wire| !wire.external);
            let (breakdown_ring, breakdown_drain) = is_own.then(breakdown).unzip();
            let stop = Arc::new(AtomicU8::new(0));
            let job = ThreadJob {
                thread,
                cpu,
                waker_cpu,
                usable: usable.iter().collect(),
                measurement: Arc::clone(measurement),
                kernel: kernel.next(),
                recorder,
                samples: ring,
                breakdown: breakdown_ring,
                outbox: outbox.clone(),
                crowded: layout.crowded,
                stop: Stop { all: &STOP, own: Arc::clone(&stop) },
            };
            let worker = worker::spawn(job).map_err(|error| {
                machine_refuses(format!("cannot start thread {thread}: {error}"))
            })?;
            waiting.push((cpu, worker, stop));
            let breakdown = breakdown_drain.map(|drain| BreakdownDrainer::new(thread, drain));
            sources.push(ThreadSource { cpu, drain, samples: line, breakdown });
        }
        let died = |_| machine_refuses("a measuring thread ended during its set-up".into());
        let ready = |(_, worker, _): &(_, Worker, _)| worker.ready.recv().map_err(died)?;
        let set_up: Result<Vec<PlacedThread>, Refusal> = waiting.iter().map(ready).collect();
        let set_up = match set_up {
            Ok(set_up) => set_up,
            Err(refusal) => {
                waiting.into_iter().for_each(|(_, worker, _)| worker.abandon());
                return Err(refusal);
            }
        };
        // Only now that all are ready can the common start be chosen.
        let starts = thread_starts(measurement, waiting.len(), margin);
        let members = waiting.into_iter().zip(set_up).zip(starts);
        let members = members.map(|(((cpu, worker, stop), ready), start)| MeasuringThread {
            cpu,
            core: cpu.map_or((None, None), |cpu| cpus::core(root, cpu)),
            worker,
            ready,
            start,
            stop,
            over: None,
            is_moved: false,
        });
        let free = if layout.crowded { usable.clone() } else { layout.helpers.clone() };
        Ok(MeasuringThreads {
            measurement: Arc::clone(measurement),
            free,
            members: members.collect(),
            sources,
        })
    }

    /// How the threads are set up.
    pub fn setups(&self) -> Vec<ThreadSetup> {
        let to_monotonic = offset_to_monotonic(clock_of(&self.measurement));
        let setup = |(thread, member): (u32, &MeasuringThread)| {
            let (core_type, capacity) = member.core.clone();
            ThreadSetup {
                thread,
                cpu: member.cpu,
                core_type,
                capacity,
                thread_id: Some(member.ready.thread.id),
                policy: member.ready.policy.clone(),
                period_ns: self.measurement.plan.method.period_of(thread),
                first_release_ns: Nanos(member.start.from) + to_monotonic,
            }
        };
        (0..).zip(&self.members).map(setup).collect()
    }

    /// What was asked for each thread, and what was read back.
    pub fn settings(&self) -> impl Iterator<Item = Setting> + '_ {
        self.members.iter().flat_map(|member| member.ready.settings.settings.iter().cloned())
    }

    /// The settings to read again while the threads measure.
    pub fn take_monitored(&mut self) -> Vec<MonitoredSetting> {
        let lists = self.members.iter_mut().map(|member| &mut member.ready.settings.monitored);
        lists.flat_map(std::mem::take).collect()
    }

    /// Releases all threads, each with its first release.
    pub fn start(&self) {
        for member in &self.members {
            // Fails only if the thread has died, which its missing end will show.
            let _ = member.worker.start.send(member.start);
        }
    }

    /// Drains the threads until all of them have ended.
    pub fn drain(
        mut self,
        root: &Root,
        outbox: &Outbox,
        observer: Option<IntervalObserver>,
        trigger: Option<SpikeTrigger>,
    ) -> MeasuringThreadsResult {
        let measurement = Arc::clone(&self.measurement);
        let plan = &measurement.plan;
        let hook = plan.keep.on_spike.clone().zip(plan.keep.spike_above_ns);
        let hook = hook.map(|(command, above)| Hook::new(command, above));
        let sources = std::mem::take(&mut self.sources);
        let mut drainer = Drainer::new(sources, clock_of(&measurement), outbox.clone(), hook);
        if let Some(watch) = observer {
            drainer = drainer.with_observer(watch, plan.frame_interval());
        }
        drainer = drainer.with_trigger(trigger);
        let ends_with_first = measurement.cyclictest().is_some_and(|asked| asked.ends_with_first);
        let log = TimedLog::new(outbox.begin_log(OwnThread::Drainer), outbox.releases.clone());
        let mut clocks_due = Instant::now() + CLOCKS_EVERY;
        let mut is_bounded = false;
        loop {
            let mut work = log.long_work_in_parts(LONGEST_PASS);
            // Check before the pass, so that the pass takes what the threads left last.
            let ended = self.members.iter().all(MeasuringThread::has_ended);
            drainer.pass(ended);
            if ended {
                break;
            }
            work.next_part();
            if Instant::now() >= clocks_due {
                drainer.send_clocks();
                outbox.send_self_interference();
                clocks_due += CLOCKS_EVERY;
            }
            if outbox.is_broken() {
                STOP.fetch_or(INTERRUPTED, Ordering::Relaxed);
            }
            if let Some(most_bytes) = outbox.reached_bound().filter(|_| !is_bounded) {
                is_bounded = true;
                outbox.send(&Message::Finding(Finding::new(EndFinding::DetachedBound {
                    most_bytes,
                })));
                STOP.fetch_or(INTERRUPTED, Ordering::Relaxed);
            }
            self.stop_those_of_offline_cpus(root, outbox);
            if ends_with_first && self.members.iter().any(MeasuringThread::has_ended) {
                STOP.fetch_or(FIRST_ENDED, Ordering::Relaxed);
            }
            if STOP.load(Ordering::Relaxed) != 0 {
                self.members.iter().for_each(MeasuringThread::wake);
            }
            self.move_starved(root, outbox);
            drop(work);
            outbox.releases.sleep(PASS);
        }
        let members = self.members.into_iter();
        let ends = members.filter_map(|member| member.worker.handle.join().ok().flatten());
        let ends = ends.collect();
        // Whatever the stream has refused is sent now, however slow it is.
        while !drainer.pass(true) && !outbox.is_broken() {
            std::thread::sleep(PASS);
        }
        let (intervals_merged, hook) = drainer.finish();
        MeasuringThreadsResult { ends, intervals_merged, hook, reason: None }
    }

    /// A thread that cannot end because a higher priority keeps its CPU busy would keep the run
    /// from ending: moves it to other CPUs and makes it SCHED_OTHER.
    fn move_starved(&mut self, root: &Root, outbox: &Outbox) {
        let now = clock_of(&self.measurement).now();
        let is_stopped = STOP.load(Ordering::Relaxed) != 0;
        let length = self.measurement.plan.until.duration_ns;
        for (thread, member) in (0..).zip(&mut self.members) {
            let is_over =
                is_stopped || length.is_some_and(|length| now >= member.start.from + length.0);
            if !is_over || member.is_moved || member.has_ended() {
                continue;
            }
            let id = member.ready.thread.id;
            let since = *member.over.get_or_insert_with(Instant::now);
            if since.elapsed() < STARVED {
                continue;
            }
            if Stat::read_thread(root, id as u32).is_none_or(|it| it.state != 'R') {
                // The thread that should wake it may be starved as well.
                member.stop.fetch_or(OVERDUE, Ordering::Relaxed);
                member.wake();
                continue;
            }
            // Record the settings it measured with before they change.
            member.ready.thread.record_end();
            let cpu = member.cpu;
            // A floating thread was allowed everywhere already.
            let other_cpus = |cpu: u32| self.free.without(&[cpu].into_iter().collect());
            let moved_to = cpu.map(other_cpus).unwrap_or_default();
            let is_moved =
                !moved_to.is_empty() && sched::set_affinity_of(id as u32, moved_to.iter()).is_ok();
            // On every CPU some time is left for SCHED_OTHER, but not for its priority.
            let is_ordinary = sched::set_scheduling_of(id as u32, Scheduling::Other).is_ok();
            if is_moved || is_ordinary {
                let finding = Finding::new(EndFinding::ThreadStarved { cpu, moved_to })
                    .at(Nanos(Clock::Monotonic.now()))
                    .of_thread(thread);
                outbox.send(&Message::Finding(finding));
                member.is_moved = true;
            }
        }
    }

    /// Stops threads whose CPU goes offline: the kernel moves them, and they would measure another
    /// CPU.
    fn stop_those_of_offline_cpus(&self, root: &Root, outbox: &Outbox) {
        let Some(online) = root.read_as::<CpuSet>("sys/devices/system/cpu/online") else { return };
        for (thread, member) in (0..).zip(&self.members) {
            let Some(cpu) = member.cpu.filter(|&cpu| !online.contains(cpu)) else { continue };
            let known = member.stop.fetch_or(CPU_OFFLINE, Ordering::Relaxed) != 0;
            // The thread checks its own flag when its sleep is interrupted.
            member.wake();
            if !known {
                let noticed_within_ns = Nanos(PASS.as_nanos() as i64);
                let finding = Finding::new(MachineFinding::CpuOffline { cpu, noticed_within_ns })
                    .at(Nanos(Clock::Monotonic.now()))
                    .of_thread(thread);
                outbox.send(&Message::Finding(finding));
            }
        }
    }
}

impl MeasuringThread {
    fn has_ended(&self) -> bool {
        self.worker.handle.is_finished()
    }

    /// Interrupts a long sleep, so that the thread sees that it is to end.
    fn wake(&self) {
        if !self.has_ended() {
            sched::wake(self.ready.thread.id);
        }
    }
}

fn thread_starts(measurement: &Measurement, threads: usize, margin: Nanos) -> Vec<Start> {
    let margin = margin + START_MARGIN_EACH * threads as i64;
    let earliest = clock_of(measurement).now() + margin.0;
    let second_offset = measurement.cyclictest().and_then(|asked| asked.second_offset_ns);
    let base = second_offset.map_or(earliest, |offset| {
        (earliest - offset.0).div_euclid(SECOND.0) * SECOND.0 + SECOND.0 + offset.0
    });
    (0..)
        .zip(phases(measurement, threads))
        .map(|(thread, phase)| {
            let whole = measurement.warm_up_ns.0;
            let period = measurement.plan.method.period_of(thread);
            let warm_up = period.map_or(whole, |Nanos(period)| whole / period * period);
            let warm_up_from = base + phase.0;
            Start { warm_up_from, from: warm_up_from + warm_up }
        })
        .collect()
}

/// Why the run as a whole ended: the gravest reason of its threads.
pub fn run_reason(ends: &[ThreadEnd]) -> EndReason {
    let any = |wanted: EndReason| ends.iter().any(|end| end.reason == wanted);
    let all_offline =
        !ends.is_empty() && ends.iter().all(|end| end.reason == EndReason::CpuOffline);
    match STOP.load(Ordering::Relaxed) {
        _ if any(EndReason::StopAbove) => EndReason::StopAbove,
        _ if any(EndReason::RanAway) => EndReason::RanAway,
        _ if any(EndReason::Failed) || ends.is_empty() => EndReason::Failed,
        _ if any(EndReason::RecorderFull) => EndReason::RecorderFull,
        _ if all_offline => EndReason::CpuOffline,
        0 => EndReason::Finished,
        _ if any(EndReason::Interrupted) => EndReason::Interrupted,
        _ => EndReason::Finished,
    }
}
