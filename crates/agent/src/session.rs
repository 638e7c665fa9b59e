//! One run on the target, from the plan to the last frame.

use crate::drain::{Drainer, clocks, offset_to_monotonic};
use crate::hook::Hook;
use crate::layout::{Layout, layout, phases};
use crate::machine;
use crate::outbox::Outbox;
use crate::prepare::{machine_refuses, prepare};
use crate::reasons::{CPU_OFFLINE, INTERRUPTED, RAN_AWAY, STOP};
use crate::worker::{self, Job, Ready, Start, Worker, clock_of};
use latlab_measure::cyclic::Stop;
use latlab_measure::recorder::recorder;
use latlab_model::frame::{FrameReader, Hello, Message, Next, Refusal, STREAM_VERSION};
use latlab_model::run::{
    End, EndReason, Finding, Prepared, Setting, Severity, ThreadEnd, ThreadSetup,
};
use latlab_model::{CpuSet, Nanos, Plan};
use latlab_sys::clock::{self, Clock};
use latlab_sys::files::Root;
use latlab_sys::sched::{self, Scheduling};
use latlab_sys::signal::{self, Signal};
use latlab_sys::{memory, process};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Distance of two passes of the drainer; at 20 kHz the spike ring holds four times as much.
const PASS: Duration = Duration::from_millis(50);
/// Distance of two readings of the clocks.
const CLOCKS_EVERY: Duration = Duration::from_secs(1);
/// All threads know their first release this long before it.
const START_MARGIN: Nanos = Nanos(20_000_000);

/// Serves one plan: reads it from `input`, speaks the stream over `output`.
///
/// The error is for a person who started the agent by hand; what concerns the run is in the
/// stream, and its end is always a whole frame.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), String> {
    let mut frames = FrameReader::new(input);
    let hello = match next(&mut frames)? {
        Message::Hello(hello) if hello.stream == STREAM_VERSION => hello,
        Message::Hello(hello) => {
            return Err(format!("the other side speaks version {} of the stream", hello.stream));
        }
        _ => return Err("expected the first word of a stream".into()),
    };
    let Message::Plan(plan) = next(&mut frames)? else {
        return Err("expected a plan".into());
    };
    listen(frames)?;
    let outbox = Outbox::default();
    let carrier = std::thread::spawn({
        let outbox = outbox.clone();
        move || outbox.carry(output)
    });
    outbox.send(&Message::Hello(Hello { latlab: env!("CARGO_PKG_VERSION").into(), ..hello }));
    outbox.send(&Message::Plan(plan.clone()));
    match run(&Root::default(), Arc::new(plan), &outbox) {
        Ok(end) => outbox.send(&Message::End(end)),
        Err(refusal) => outbox.send(&Message::Refusal(refusal)),
    }
    outbox.close();
    carrier.join().map_err(|_| "the thread that writes the stream has died".to_string())
}

fn next(frames: &mut FrameReader<impl Read>) -> Result<Message, String> {
    match frames.next_frame() {
        Ok(Next::Frame(frame)) => Ok(frame.message),
        Ok(Next::End) => Err("the input ends before a plan; `latlab run` starts the agent".into()),
        Ok(Next::Damaged(damage)) => Err(format!("the input is no stream: {damage}")),
        Err(error) => Err(format!("cannot read the plan: {error}")),
    }
}

/// Listens for the ways in which a run is asked to end: a word, the end of the input, a signal.
fn listen(mut frames: FrameReader<impl Read + Send + 'static>) -> Result<(), String> {
    let installed = signal::store_on(Signal::Interrupt, &STOP, INTERRUPTED)
        .and_then(|()| signal::store_on(Signal::Terminate, &STOP, INTERRUPTED))
        .and_then(|()| signal::store_on(Signal::HangUp, &STOP, INTERRUPTED))
        .and_then(|()| signal::store_on(Signal::CpuLimit, &STOP, RAN_AWAY))
        .and_then(|()| signal::accept_wake());
    installed.map_err(|error| format!("cannot listen to signals: {error}"))?;
    std::thread::spawn(move || {
        // Whatever comes after the plan, or nothing more at all, asks to end.
        let _ = frames.next_frame();
        STOP.fetch_or(INTERRUPTED, Ordering::Relaxed);
    });
    Ok(())
}

fn run(root: &Root, plan: Arc<Plan>, outbox: &Outbox) -> Result<End, Refusal> {
    let wrong = |text| Refusal { plan_is_wrong: true, text };
    plan.check().map_err(wrong)?;
    let cpus = machine::cpus(root);
    let layout = layout(&plan, &cpus).map_err(wrong)?;
    outbox.send(&Message::Machine(machine::read(root, process::uname(), &cpus)));
    let mut settings = vec![place_helpers(&layout)];
    let prepared = prepare(root, &plan)?;
    settings.extend(prepared.settings.iter().cloned());

    let mut team = Team::assemble(&plan, &layout, cpus.usable.iter().collect())?;
    let starts = starts(&plan, layout.threads.len());
    let to_monotonic = offset_to_monotonic(clock_of(&plan));
    let threads = (0..).zip(&layout.threads).zip(&starts).zip(&team.ready);
    let threads = threads
        .map(|(((thread, &cpu), start), ready)| {
            let (core_type, capacity) = cpu.map_or((None, None), |cpu| machine::core(root, cpu));
            ThreadSetup {
                thread,
                cpu,
                core_type,
                capacity,
                policy: ready.policy.clone(),
                period_ns: plan.period_of(thread),
                first_release_ns: Nanos(start.from) + to_monotonic,
            }
        })
        .collect();
    settings.extend(team.ready.iter().flat_map(|ready| ready.settings.iter().cloned()));
    if layout.crowded && plan.policy.is_realtime() {
        settings.push(lift_drainer());
    }
    let helpers_on = layout.helpers.to_string();
    outbox.send(&Message::Prepared(Prepared { settings, threads, helpers_on }));
    outbox.send(&Message::Clocks(clocks()));
    team.start(&starts);
    let (ends, intervals_merged, hook) = drain(root, &plan, &layout, team, outbox);
    // Back to ordinary before waiting for anything, and the settings with it.
    let _ = sched::set_scheduling(Scheduling::Other);
    drop(prepared);
    let measuring: i64 = ends.iter().map(|end| end.cpu_ns.0).sum();
    let helpers_cpu_ns = Nanos(clock::process_cpu_time() - measuring);
    for end in &ends {
        outbox.send(&Message::ThreadEnd(end.clone()));
    }
    outbox.send(&Message::Clocks(clocks()));
    Ok(End {
        reason: run_reason(&ends),
        agent_peak_rss_bytes: memory::peak_resident_bytes(root).unwrap_or(0),
        helpers_cpu_ns,
        intervals_merged,
        spike_hook: hook.map(Hook::finish),
    })
}

/// Puts everything that does not measure where it belongs; threads started later follow.
fn place_helpers(layout: &Layout) -> Setting {
    let asked = format!("CPUs {}", layout.helpers);
    let placed = sched::set_affinity(layout.helpers.iter()).and_then(|()| sched::affinity());
    let applied = match placed {
        Ok(cpus) => format!("CPUs {}", cpus.into_iter().collect::<CpuSet>()),
        Err(error) => format!("refused: {error}"),
    };
    let what = "helpers".into();
    Setting { what, thread: None, asked, applied, matters: false, remedy: None }
}

/// Where every CPU is measured, the drainer needs a priority above all that is ordinary, or a
/// load would starve it.
fn lift_drainer() -> Setting {
    let asked = "fifo 1".to_string();
    let lifted = sched::set_scheduling(Scheduling::Fifo(1)).and_then(|()| sched::scheduling());
    let applied = match lifted {
        Ok(Scheduling::Fifo(1)) => asked.clone(),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("refused: {error}"),
    };
    let what = "drainer's scheduling".into();
    Setting { what, thread: None, asked, applied, matters: false, remedy: None }
}

/// The measuring threads, set up and waiting.
struct Team {
    workers: Vec<Worker>,
    ready: Vec<Ready>,
    stops: Vec<Arc<AtomicU8>>,
    drainer_lines: Vec<(Option<u32>, latlab_measure::recorder::Drain)>,
}

impl Team {
    fn assemble(plan: &Arc<Plan>, layout: &Layout, usable: Vec<u32>) -> Result<Team, Refusal> {
        let mut team =
            Team { workers: vec![], ready: vec![], stops: vec![], drainer_lines: vec![] };
        for (thread, &cpu) in (0..).zip(&layout.threads) {
            let (recorder, drain) = recorder(plan.interval_ns.0);
            let own = Arc::new(AtomicU8::new(0));
            team.stops.push(Arc::clone(&own));
            team.drainer_lines.push((cpu, drain));
            let job = Job {
                thread,
                cpu,
                usable: usable.clone(),
                plan: Arc::clone(plan),
                recorder,
                stop: Stop { all: &STOP, own },
            };
            let worker = worker::spawn(job).map_err(|error| {
                machine_refuses(format!("cannot start thread {thread}: {error}"))
            })?;
            team.workers.push(worker);
        }
        for worker in &team.workers {
            let ready = worker.ready.recv();
            let gone = |_| machine_refuses("a measuring thread died while it was set up".into());
            team.ready.push(ready.map_err(gone)??);
        }
        Ok(team)
    }

    /// All threads begin together: each knows its first release before any of them has come.
    fn start(&mut self, starts: &[Start]) {
        for (worker, start) in self.workers.iter().zip(starts) {
            // Fails only when the thread has died, which its missing end will show.
            let _ = worker.start.send(*start);
        }
    }

    fn ended(&self) -> bool {
        self.workers.iter().all(|worker| worker.handle.is_finished())
    }

    /// Gets the threads out of long sleeps, so that they see that they are asked to end.
    fn wake(&self) {
        for (worker, ready) in self.workers.iter().zip(&self.ready) {
            if !worker.handle.is_finished() {
                sched::wake(ready.thread_id);
            }
        }
    }
}

fn starts(plan: &Plan, threads: usize) -> Vec<Start> {
    let base = clock_of(plan).now() + START_MARGIN.0;
    let phases = phases(plan, threads);
    (0..)
        .zip(phases)
        .map(|(thread, phase)| {
            let period = plan.period_of(thread).0;
            let warm_up_cycles = plan.warm_up_ns.0 / period;
            let warm_up_from = base + phase.0;
            Start { warm_up_from, from: warm_up_from + warm_up_cycles * period }
        })
        .collect()
}

/// Drains until all threads have ended.
fn drain(
    root: &Root,
    plan: &Plan,
    layout: &Layout,
    mut team: Team,
    outbox: &Outbox,
) -> (Vec<ThreadEnd>, u64, Option<Hook>) {
    let hook = plan.on_spike.clone().zip(plan.spike_above_ns);
    let hook = hook.map(|(command, above)| Hook::new(command, above));
    let lines = std::mem::take(&mut team.drainer_lines);
    let mut drainer = Drainer::new(lines, clock_of(plan), outbox.clone(), hook);
    let mut clocks_due = Instant::now() + CLOCKS_EVERY;
    loop {
        let ended = team.ended();
        drainer.pass();
        if ended {
            break;
        }
        if Instant::now() >= clocks_due {
            drainer.send_clocks();
            clocks_due += CLOCKS_EVERY;
        }
        if outbox.is_broken() {
            STOP.fetch_or(INTERRUPTED, Ordering::Relaxed);
        }
        stop_threads_of_offline_cpus(root, layout, &team, outbox);
        if STOP.load(Ordering::Relaxed) != 0 {
            team.wake();
        }
        std::thread::sleep(PASS);
    }
    let ends = team.workers.into_iter().filter_map(|worker| worker.handle.join().ok().flatten());
    let ends = ends.collect();
    // What the stream did not take at once it gets now, however slow it is.
    while !drainer.pass() && !outbox.is_broken() {
        std::thread::sleep(PASS);
    }
    let (merged, hook) = drainer.finish();
    (ends, merged, hook)
}

/// The kernel moves a thread off a CPU that goes away, where it would measure something else.
fn stop_threads_of_offline_cpus(root: &Root, layout: &Layout, team: &Team, outbox: &Outbox) {
    let Some(online) = root.read_as::<CpuSet>("sys/devices/system/cpu/online") else { return };
    for (thread, (&cpu, own)) in layout.threads.iter().zip(&team.stops).enumerate() {
        let Some(cpu) = cpu.filter(|&cpu| !online.contains(cpu)) else { continue };
        let known = own.fetch_or(CPU_OFFLINE, Ordering::Relaxed) != 0;
        if !team.workers[thread].handle.is_finished() {
            // The thread looks at its own flag when its sleep is cut short.
            sched::wake(team.ready[thread].thread_id);
        }
        if !known {
            let text = format!(
                "CPU {cpu} went offline: thread {thread} ends here, and up to {} ms of its last \
                 cycles ran on another CPU",
                PASS.as_millis()
            );
            let finding = Finding::new("cpu-offline", Severity::Error, text)
                .at(Nanos(Clock::Monotonic.now()))
                .of_thread(thread as u32);
            outbox.send(&Message::Finding(finding));
        }
    }
}

fn run_reason(ends: &[ThreadEnd]) -> EndReason {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use latlab_model::plan::*;

    /// A short plan that needs no rights, for tests to change.
    pub fn plan() -> Plan {
        Plan {
            policy: Policy::Other,
            cycles: Some(100),
            warm_up_ns: Nanos::ZERO,
            idle_states: IdleStates::System,
            seed: 1,
            ..Plan::default()
        }
    }
}
