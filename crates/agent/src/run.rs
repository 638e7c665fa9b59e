//! One run on the target, from resolving the plan to restoring the machine.
//!
//! Each step consumes the result of the previous one, so that none can be left out or come too
//! early: [`Arrangement`], [`ClaimedCpus`], [`PreparedRun`], [`AssembledRun`], [`StartedRun`],
//! [`DrainedRun`].

use crate::cpu_claim::{HeldCpus, claim_cpus};
use crate::cpus;
use crate::drain::{IntervalObserver, clocks};
use crate::flight::{FlightRecorder, SpikeTrigger};
use crate::hook::Hook;
use crate::layout::{Cpus, Layout, layout};
use crate::load::Loads;
use crate::measuring_threads::{MeasuringThreads, MeasuringThreadsResult, run_reason};
use crate::monitor::{MonitoredThread, Readback, SettingList, SettingMonitor, text_of};
use crate::outbox::Outbox;
use crate::prepare;
use crate::refusals::plan_is_wrong;
use crate::snapshot::{process_snapshot, snapshot};
use crate::ssh_server::MovedServer;
use crate::telemetry::{Extent, PreparedTelemetry, Telemetry};
use crate::trace::TraceThread;
use latlab_model::frame::{Message, Refusal};
use latlab_model::machine::Machine;
use latlab_model::plan::Measurement;
use latlab_model::run::{self, AgentEnd, Setting};
use latlab_model::self_interference::fixed_releases;
use latlab_model::{Nanos, Plan, Snapshot};
use latlab_sys::clock;
use latlab_sys::files::Root;
use latlab_sys::memory;
use latlab_sys::sched::{self, Scheduling};
use std::sync::Arc;

/// What every step of a run needs.
pub struct Session<'a> {
    pub root: &'a Root,
    pub outbox: &'a Outbox,
    /// The first two frames of the stream.
    pub head: [Message; 2],
    /// Whether the conductor runs in this process and waits for the threads to start.
    pub has_observer: bool,
}

/// Runs all steps; a refusal undoes everything done so far.
pub fn run(
    session: &Session<'_>,
    arrangement: Arrangement,
    observer: Option<IntervalObserver>,
) -> Result<AgentEnd, Refusal> {
    let held = arrangement.claim_cpus(session)?;
    let prepared = held.prepare(session)?;
    let assembled = prepared.assemble(session)?;
    let measuring = assembled.start(session);
    let drained = measuring.drain(session, observer);
    Ok(drained.restore(session))
}

/// The plan resolved on this machine, with everything of ours that does not measure in its place.
pub struct Arrangement {
    measurement: Arc<Measurement>,
    cpus: Cpus,
    layout: Layout,
    helpers: Setting,
    /// This process's CPUs before it was placed.
    own_cpus: Vec<u32>,
    /// On a board, the server that carries the stream.
    server: Option<MovedServer>,
    /// The process's limits and settings before any change.
    process_snapshot: Snapshot,
}

impl Arrangement {
    /// Resolves the plan and places this process, before any thread is started, since threads
    /// inherit its CPUs.
    pub fn arrange(root: &Root, plan: Plan) -> Result<Arrangement, Refusal> {
        let measurement = Arc::new(Measurement::new(plan).map_err(plan_is_wrong)?);
        let own_part = process_snapshot(root);
        let cpus = cpus::cpus(root);
        let layout = layout(&measurement, &cpus).map_err(plan_is_wrong)?;
        let own_cpus = sched::affinity().unwrap_or_default();
        let helpers = place_helpers(&layout);
        let on_board = measurement.plan.is_behind_a_link() && !layout.crowded;
        let server = on_board.then(|| MovedServer::place(root, &layout.helpers)).flatten();
        Ok(Arrangement {
            measurement,
            cpus,
            layout,
            helpers,
            own_cpus,
            server,
            process_snapshot: own_part,
        })
    }

    /// Whether SCHED_OTHER threads of ours would starve.
    pub fn raises_priority(&self) -> bool {
        self.layout.crowded && self.measurement.policy.is_realtime()
    }

    /// Opens the sources of telemetry; `None` if it is switched off.
    fn open_telemetry(&self, root: &Root, loads: &Loads) -> Option<PreparedTelemetry> {
        let plan = &self.measurement.plan;
        let telemetry = plan.keep.telemetry?;
        let (extent, supervisors) = match self.layout.crowded && !telemetry.is_full {
            true => (Extent::Gentle, loads.supervisors()),
            false => (Extent::Full, Vec::new()),
        };
        Some(PreparedTelemetry::new(root, telemetry.every_ns, extent, supervisors))
    }

    /// Locks the CPUs against every other latlab.
    fn claim_cpus(self, session: &Session<'_>) -> Result<ClaimedCpus, Refusal> {
        let claim = claim_cpus(session.root, &self.measurement.plan, &self.layout, &self.cpus)?;
        Ok(ClaimedCpus { claim, arrangement: self })
    }

    /// Sends the description of the machine; returns the first of its two frames.
    fn describe(&self, session: &Session<'_>) -> Message {
        let mut snapshot = snapshot(session.root);
        snapshot.files.extend(self.process_snapshot.files.clone());
        let Cpus { online, usable, .. } = &self.cpus;
        let machine = Message::Machine(Machine::from_snapshot(&snapshot, online, usable));
        session.outbox.send(&machine);
        session.outbox.send(&Message::Snapshot(snapshot));
        machine
    }
}

/// The CPUs are claimed.
struct ClaimedCpus {
    claim: HeldCpus,
    arrangement: Arrangement,
}

impl ClaimedCpus {
    /// Starts the supervisors, then makes the settings; in this order, or a load would inherit
    /// real-time scheduling, locked memory or limits.
    fn prepare(self, session: &Session<'_>) -> Result<PreparedRun, Refusal> {
        let Session { root, outbox, .. } = session;
        let Arrangement { measurement, layout, cpus, own_cpus, .. } = &self.arrangement;
        let loads = Loads::start_supervisors(root, &measurement.plan, layout, cpus, outbox)?;
        let settings = prepare::prepare(root, measurement, layout, cpus, own_cpus)?;
        Ok(PreparedRun { settings, loads, held: self })
    }
}

/// The settings are made, and the loads wait. Dropping this undoes everything, settings first.
struct PreparedRun {
    settings: prepare::AppliedSettings,
    loads: Loads,
    held: ClaimedCpus,
}

impl PreparedRun {
    /// Starts the loads and the measuring threads, which set themselves up and wait.
    fn assemble(mut self, session: &Session<'_>) -> Result<AssembledRun, Refusal> {
        let Session { root, outbox, has_observer: is_watched, .. } = session;
        let Arrangement { measurement, layout, cpus, .. } = &self.held.arrangement;
        // After the settings are made, so that they are included, and before the loads begin, which
        // would slow it down too much.
        let machine = (!is_watched).then(|| self.held.arrangement.describe(session));
        // From here on SCHED_OTHER threads starve on a single-CPU machine.
        let lifted = self.held.arrangement.raises_priority().then(raise_drainer_priority);
        self.loads.start()?;
        // An observer waits for the threads, so with one telemetry is opened later.
        let telemetry = (!is_watched)
            .then(|| self.held.arrangement.open_telemetry(root, &self.loads))
            .flatten();
        let kernel = std::mem::take(&mut self.settings.kernel);
        let kernel = kernel.into_iter().map(|timer| timer.with_breakdown(outbox)).collect();
        let mut measuring_threads = MeasuringThreads::assemble(
            (root, outbox),
            measurement,
            layout,
            &cpus.usable,
            *is_watched,
            kernel,
        )?;
        self.settings.lock_present_memory(root, measurement.policy.is_realtime())?;
        let trace = self.settings.trace.take();
        let trace = trace
            .map(|trace| {
                TraceThread::start(
                    trace,
                    &measurement.plan,
                    &measuring_threads.setups(),
                    &cpus.online,
                    outbox,
                )
            })
            .transpose()?;
        let recorder = self.settings.recorder.take().map(|recorder| {
            let (plan, online) = (&measurement.plan, &cpus.online);
            let (setups, wakers) = (measuring_threads.setups(), &layout.wakers);
            FlightRecorder::start(recorder, plan, &setups, wakers, online, outbox)
        });
        let recorder = recorder.transpose()?;
        if layout.crowded {
            outbox.releases.publish(&fixed_releases(measurement, &measuring_threads.setups()));
            self.loads.tell_releases(&outbox.releases);
        }
        let monitor = self.monitor(session, &mut measuring_threads, lifted.as_ref())?;
        let settings = self.announce(session, &measuring_threads, lifted);
        Ok(AssembledRun {
            trace,
            recorder,
            measuring_threads,
            monitor,
            machine,
            telemetry,
            settings,
            prepared: self,
        })
    }

    /// From now on, reads everything that was set again.
    fn monitor(
        &mut self,
        session: &Session<'_>,
        measuring_threads: &mut MeasuringThreads,
        raised: Option<&Setting>,
    ) -> Result<SettingMonitor, Refusal> {
        let helpers_on = self.held.arrangement.layout.helpers.clone();
        let drainer = Arc::new(MonitoredThread::new(sched::thread_id(), helpers_on));
        let mut list = SettingList::default();
        let affinity = Readback::Affinity(Arc::clone(&drainer));
        list.monitor(session.root, &self.held.arrangement.helpers, affinity);
        if let Some(raised) = raised {
            list.monitor(session.root, raised, Readback::Scheduling(drainer));
        }
        list.monitored.append(&mut self.settings.settings.monitored);
        list.monitored.extend(measuring_threads.take_monitored());
        SettingMonitor::start(session.root, list.monitored, session.outbox)
    }

    /// Sends what was asked and what was read back; returns the frame.
    fn announce(
        &self,
        session: &Session<'_>,
        measuring_threads: &MeasuringThreads,
        lifted: Option<Setting>,
    ) -> Message {
        let Arrangement { layout, helpers, server, .. } = &self.held.arrangement;
        let mut settings = vec![helpers.clone()];
        settings.extend(server.iter().map(|server| server.setting.clone()));
        settings.extend(
            self.settings.settings.settings.iter().cloned().chain(measuring_threads.settings()),
        );
        settings.extend(lifted);
        let (threads, helpers_on) = (measuring_threads.setups(), layout.helpers.to_string());
        let prepared = Message::Prepared(run::AppliedSetup { settings, threads, helpers_on });
        session.outbox.send(&prepared);
        if let Some(finding) = &self.held.claim.finding {
            session.outbox.send(finding);
        }
        prepared
    }
}

/// The threads are set up and wait.
struct AssembledRun {
    trace: Option<TraceThread>,
    recorder: Option<(FlightRecorder, SpikeTrigger)>,
    measuring_threads: MeasuringThreads,
    monitor: SettingMonitor,
    /// The frame that describes the machine; `None` until the threads run if there is an observer.
    machine: Option<Message>,
    /// The telemetry; `None` if it is off, or until the threads run if there is an observer.
    telemetry: Option<PreparedTelemetry>,
    /// The frame with what was asked and what was read back.
    settings: Message,
    prepared: PreparedRun,
}

impl AssembledRun {
    /// Releases the threads once the stream holds everything that a journal needs. With an observer
    /// they start first, since it is waiting for them.
    fn start(self, session: &Session<'_>) -> StartedRun {
        let AssembledRun {
            trace,
            recorder,
            measuring_threads,
            monitor,
            machine,
            telemetry,
            settings,
            prepared,
        } = self;
        if session.has_observer {
            measuring_threads.start();
        }
        let machine = machine.unwrap_or_else(|| prepared.held.arrangement.describe(session));
        // Without these frames the rest of a journal is worthless, so they are written twice.
        let twice = session.head.iter().chain([&machine, &settings]);
        twice.for_each(|message| session.outbox.send(message));
        session.outbox.send(&Message::Clocks(clocks()));
        let arrangement = &prepared.held.arrangement;
        let telemetry = match session.has_observer {
            true => arrangement.open_telemetry(session.root, &prepared.loads),
            false => telemetry,
        };
        let telemetry = telemetry
            .map(|telemetry| telemetry.start(session.outbox, arrangement.raises_priority()));
        if !session.has_observer {
            measuring_threads.start();
        }
        StartedRun { telemetry, trace, recorder, measuring_threads, monitor, prepared }
    }
}

/// The threads measure.
struct StartedRun {
    telemetry: Option<Telemetry>,
    trace: Option<TraceThread>,
    recorder: Option<(FlightRecorder, SpikeTrigger)>,
    measuring_threads: MeasuringThreads,
    monitor: SettingMonitor,
    prepared: PreparedRun,
}

impl StartedRun {
    /// Drains the threads until all have ended.
    fn drain(self, session: &Session<'_>, observer: Option<IntervalObserver>) -> DrainedRun {
        let (recorder, trigger) = self.recorder.unzip();
        let Session { root, outbox, .. } = session;
        let mut prepared = self.prepared;
        let counted = match prepared.settings.attach.take() {
            Some(attach) => {
                let Arrangement { measurement, cpus, .. } = &prepared.held.arrangement;
                attach.run(root, &measurement.plan, &cpus.online, outbox, trigger)
            }
            None => self.measuring_threads.drain(root, outbox, observer, trigger),
        };
        // Read the settings a last time before they are restored.
        drop(self.monitor);
        drop(self.telemetry);
        if let Some(trace) = self.trace {
            trace.finish();
        }
        if let Some(recorder) = recorder {
            recorder.finish();
        }
        session.outbox.send_self_interference();
        DrainedRun { counted, prepared }
    }
}

/// All threads have ended, and everything they counted is in the stream.
struct DrainedRun {
    counted: MeasuringThreadsResult,
    prepared: PreparedRun,
}

impl DrainedRun {
    /// Ends the loads, restores the settings, releases the CPUs, and reports how the run ended.
    fn restore(self, session: &Session<'_>) -> AgentEnd {
        let Session { root, outbox, .. } = session;
        let PreparedRun { settings, loads, held } = self.prepared;
        // Back to SCHED_OTHER before waiting for anything.
        let _ = sched::set_scheduling(Scheduling::Other);
        loads.end();
        settings.undo().into_iter().for_each(|finding| outbox.send(&Message::Finding(finding)));
        drop(held);
        let MeasuringThreadsResult { ends, intervals_merged, hook, reason } = self.counted;
        let measuring: i64 = ends.iter().map(|end| end.cpu_ns.0).sum();
        let helpers_cpu_ns = Nanos(clock::process_cpu_time() - measuring);
        ends.iter().for_each(|end| outbox.send(&Message::ThreadEnd(end.clone())));
        outbox.send(&Message::Clocks(clocks()));
        AgentEnd {
            reason: reason.unwrap_or_else(|| run_reason(&ends)),
            agent_peak_rss_bytes: memory::peak_resident_bytes(root).unwrap_or(0),
            helpers_cpu_ns,
            intervals_merged,
            spike_hook: hook.map(Hook::finish),
        }
    }
}

/// Places the calling thread on CPUs that are not measured; threads it starts inherit them.
fn place_helpers(layout: &Layout) -> Setting {
    let asked = text_of(&layout.helpers);
    let placed = sched::set_affinity(layout.helpers.iter()).and_then(|()| sched::affinity());
    let applied = match placed {
        Ok(cpus) => text_of(&cpus.into_iter().collect()),
        Err(error) => format!("refused: {error}"),
    };
    Setting::new("helpers", asked, applied)
}

/// If every CPU is measured, the drainer needs a priority above SCHED_OTHER, or a load would starve
/// it.
fn raise_drainer_priority() -> Setting {
    let asked = "fifo 1".to_string();
    let lifted = sched::set_scheduling(Scheduling::Fifo(1)).and_then(|()| sched::scheduling());
    let applied = match lifted {
        Ok(Scheduling::Fifo(1)) => asked.clone(),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("refused: {error}"),
    };
    Setting::new("drainer's scheduling", asked, applied)
}
