//! One run on the target, from the plan to the last frame.

use crate::cpus;
use crate::drain::{Watch, clocks};
use crate::hold::hold;
use crate::hook::Hook;
use crate::layout::{Cpus, Layout, layout};
use crate::load::Loads;
use crate::outbox::Outbox;
use crate::prepare::prepare;
use crate::reasons::{INTERRUPTED, RAN_AWAY, STOP};
use crate::refusals::plan_is_wrong;
use crate::snapshot::{own_part, snapshot};
use crate::team::{Drained, Team, run_reason};
use crate::telemetry::Telemetry;
use crate::trace::TraceThread;
use latlab_model::frame::{FrameReader, Hello, Message, Next, Refusal, STREAM_VERSION};
use latlab_model::machine::Machine;
use latlab_model::plan::Measurement;
use latlab_model::run::{End, Prepared, Setting};
use latlab_model::{CpuSet, Nanos, Plan, Snapshot};
use latlab_sys::clock;
use latlab_sys::files::Root;
use latlab_sys::memory;
use latlab_sys::sched::{self, Scheduling};
use latlab_sys::signal::{self, Signal};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

/// Serves one plan: reads it from `input`, speaks the stream over `output`.
///
/// The error is for a person who started the agent by hand; what concerns the run is in the
/// stream, and its end is always a whole frame.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), String> {
    serve_watched(input, output, None)
}

/// As [`serve`], for a conductor in the same process, which may watch what is counted.
///
/// Whoever watches also waits: the threads are started before the machine is described.
pub fn serve_watched(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    watch: Option<Watch>,
) -> Result<(), String> {
    let mut frames = FrameReader::new(input);
    let hello = match next(&mut frames)? {
        Message::Hello(hello) if hello.stream == STREAM_VERSION => hello,
        Message::Hello(hello) => {
            return Err(format!("the other side speaks version {} of the stream", hello.stream));
        }
        _ => return Err("expected the first word of a stream".into()),
    };
    let plan = match next(&mut frames)? {
        Message::Plan(plan) => plan,
        Message::Examine(_) => return examine(output),
        _ => return Err("expected a plan".into()),
    };
    // Before any thread is started, since each begins where its parent is.
    let ground = Ground::prepare(&Root::default(), plan.clone());
    listen(frames, watch.is_some())?;
    let outbox = Outbox::default();
    let lifted = ground.as_ref().is_ok_and(Ground::lifts_drainer);
    let carrier = spawn({
        let outbox = outbox.clone();
        move || {
            if lifted {
                // As the drainer: what it hands on would wait here.
                let _ = sched::set_scheduling(Scheduling::Fifo(1));
            }
            outbox.carry(output)
        }
    })?;
    let hello = Hello { latlab: env!("CARGO_PKG_VERSION").into(), ..hello };
    let head = [Message::Hello(hello), Message::Plan(plan)];
    head.iter().for_each(|message| outbox.send(message));
    match ground.and_then(|ground| run(&Root::default(), ground, head, &outbox, watch)) {
        Ok(end) => outbox.send(&Message::End(end)),
        Err(refusal) => outbox.send(&Message::Refusal(refusal)),
    }
    outbox.close();
    carrier.join().map_err(|_| "the thread that writes the stream has died".to_string())
}

/// Sends what the machine is, and measures nothing.
fn examine(mut output: impl Write) -> Result<(), String> {
    let frame = Message::Snapshot(snapshot(&Root::default())).encode();
    let written = output.write_all(&frame).and_then(|()| output.flush());
    written.map_err(|error| format!("cannot send the snapshot: {error}"))
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
fn listen(mut frames: FrameReader<impl Read + Send + 'static>, alone: bool) -> Result<(), String> {
    // A closed terminal ends the conductor, or does not; this end follows.
    let hang_up = match alone {
        true => signal::store_on(Signal::HangUp, &STOP, INTERRUPTED),
        false => signal::ignore(Signal::HangUp),
    };
    let installed = signal::store_on(Signal::Interrupt, &STOP, INTERRUPTED)
        .and_then(|()| signal::store_on(Signal::Terminate, &STOP, INTERRUPTED))
        .and(hang_up)
        .and_then(|()| signal::store_on(Signal::CpuLimit, &STOP, RAN_AWAY))
        .and_then(|()| signal::accept_wake());
    installed.map_err(|error| format!("cannot listen to signals: {error}"))?;
    spawn(move || {
        // Whatever comes after the plan, or nothing more at all, asks to end.
        let _ = frames.next_frame();
        STOP.fetch_or(INTERRUPTED, Ordering::Relaxed);
    })
    .map(drop)
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, String> {
    let thread = std::thread::Builder::new().spawn(work);
    thread.map_err(|error| format!("cannot start a thread ({error}): raise `ulimit -u`"))
}

/// The plan laid over this machine, and everything of ours that does not measure put in its place.
struct Ground {
    measurement: Arc<Measurement>,
    cpus: Cpus,
    layout: Layout,
    helpers: Setting,
    /// What this process was allowed before it changed anything of it.
    own_part: Snapshot,
}

impl Ground {
    fn prepare(root: &Root, plan: Plan) -> Result<Ground, Refusal> {
        let measurement = Arc::new(Measurement::new(plan).map_err(plan_is_wrong)?);
        let own_part = own_part(root);
        let cpus = cpus::cpus(root);
        let layout = layout(&measurement, &cpus).map_err(plan_is_wrong)?;
        let helpers = place_helpers(&layout);
        Ok(Ground { measurement, cpus, layout, helpers, own_part })
    }

    /// Whether an ordinary drainer would hardly come to anything.
    fn lifts_drainer(&self) -> bool {
        self.layout.crowded && self.measurement.policy.is_realtime()
    }
}

fn run(
    root: &Root,
    ground: Ground,
    head: [Message; 2],
    outbox: &Outbox,
    watch: Option<Watch>,
) -> Result<End, Refusal> {
    let lifts_drainer = ground.lifts_drainer();
    let Ground { measurement, cpus, layout, helpers, own_part } = ground;
    let plan = &measurement.plan;
    let hold = hold(root, plan, &layout, &cpus)?;
    // Before anything is real-time, locked or limited that they would inherit.
    let mut loads = Loads::hire(root, plan, &layout, &cpus, outbox)?;
    let mut prepared = prepare(root, &measurement, &layout, &cpus)?;
    let describe = || {
        // After the settings are made, since it says under which the run is measured.
        let mut snapshot = snapshot(root);
        snapshot.files.extend(own_part.files.clone());
        let machine = Message::Machine(Machine::of(&snapshot, &cpus.online, &cpus.usable));
        outbox.send(&machine);
        outbox.send(&Message::Snapshot(snapshot));
        machine
    };
    let described = watch.is_none().then(describe);
    // From here on an ordinary thread hardly comes to anything on a machine of one CPU.
    let lifted = lifts_drainer.then(lift_drainer);
    // After the machine was read, which under load takes longer than anybody waits.
    loads.begin()?;
    let kernel = std::mem::take(&mut prepared.kernel);
    let kernel = kernel.into_iter().map(|timer| timer.told_to(outbox)).collect();
    let team = Team::assemble(root, &measurement, &layout, &cpus.usable, watch.is_some(), kernel)?;
    let trace = prepared.trace.take();
    let trace = trace
        .map(|trace| TraceThread::start(trace, plan, &team.setups(), &cpus.online, outbox))
        .transpose()?;
    let mut settings = vec![helpers];
    settings.extend(prepared.settings.iter().cloned().chain(team.settings()));
    settings.extend(lifted);
    let (threads, helpers_on) = (team.setups(), layout.helpers.to_string());
    let prepared_as = Message::Prepared(Prepared { settings, threads, helpers_on });
    outbox.send(&prepared_as);
    if let Some(finding) = &hold.finding {
        outbox.send(&Message::Finding(finding.clone()));
    }
    if watch.is_some() {
        team.start();
    }
    let machine = described.clone().unwrap_or_else(describe);
    // Without these the rest of a journal is worth nothing, so that they stand there twice.
    head.iter().chain([&machine, &prepared_as]).for_each(|message| outbox.send(message));
    outbox.send(&Message::Clocks(clocks()));
    let telemetry = plan.telemetry_ns.map(|every| Telemetry::start(root, every, outbox));
    if described.is_some() {
        team.start();
    }
    let Drained { ends, intervals_merged, hook } = team.drain(root, outbox, watch);
    drop(telemetry);
    if let Some(trace) = trace {
        trace.finish();
    }
    // Back to ordinary before waiting for anything, and the settings with it.
    let _ = sched::set_scheduling(Scheduling::Other);
    loads.end();
    prepared.undo().into_iter().for_each(|finding| outbox.send(&Message::Finding(finding)));
    drop(hold);
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

/// Puts the calling thread where nothing is measured; threads it starts follow.
fn place_helpers(layout: &Layout) -> Setting {
    let asked = format!("CPUs {}", layout.helpers);
    let placed = sched::set_affinity(layout.helpers.iter()).and_then(|()| sched::affinity());
    let applied = match placed {
        Ok(cpus) => format!("CPUs {}", cpus.into_iter().collect::<CpuSet>()),
        Err(error) => format!("refused: {error}"),
    };
    Setting::new("helpers", asked, applied)
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
    Setting::new("drainer's scheduling", asked, applied)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use latlab_model::plan::*;

    /// A short plan that needs no rights, for tests to change.
    pub fn plan() -> Plan {
        Plan {
            policy: Some(Policy::Other),
            cycles: Some(100),
            warm_up_ns: Some(Nanos::ZERO),
            idle_states: Some(IdleStates::System),
            seed: Some(1),
            ..Plan::default()
        }
    }
}
