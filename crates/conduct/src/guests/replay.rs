//! Replays a guest's run bit for bit, with a QEMU plugin that records what is executed.

use super::link::GuestLink;
use crate::link::{Link, Start, StreamOutcome, greeting};
use crate::{Failure, StopFlag, agents};
use latlab_lab::{Cache, GuestConfig, KernelMap};
use latlab_model::frame::Message;
use latlab_model::guest::{Guest, GuestMeasurement};
use latlab_model::plan::Instrument;
use latlab_model::{Nanos, Plan, Run, Target, VERSION};
use latlab_sys::files::large_pipe;
use std::io::{self, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Polling interval for the end of the guest.
const POLL: Duration = Duration::from_millis(20);

pub struct ReplayRequest<'a> {
    pub plan: &'a Plan,
    /// The run's id inside the guest.
    pub id: &'a str,
    /// The releases whose wake-ups are recorded; `None` for all.
    pub wanted: Option<&'a [Nanos]>,
    /// Kernels and programs of guests.
    pub cache: &'a Cache,
    /// Aborts the replay when set.
    pub stop: &'a StopFlag,
}

/// The result of a recorded guest.
pub struct Replay<R> {
    /// The reader's result from the records.
    pub read: R,
    /// What the guest measured; `None` if it was stopped.
    pub stream: Option<GuestMeasurement>,
    pub took: Duration,
}

/// Why a run cannot be replayed; `None` if it can.
pub fn why_no_replay(run: &Run) -> Option<String> {
    let guest = match (&run.asked.on.target, &run.asked.on.guest) {
        (Target::Lab(_), Some(guest)) if guest.accelerator.is_none() => guest,
        _ => {
            return Some(format!(
                "run {} was not measured in virtual time: only such a run can be run again; use a \
                 target such as lab:x86-64/stock",
                run.id
            ));
        }
    };
    let instrument = run.asked.method.instrument();
    if !matches!(instrument, Instrument::Cyclic | Instrument::Handoff) {
        return Some(format!(
            "run {} is of the instrument {instrument}: a replay finds the wake-ups of cyclic and handoff",
            run.id
        ));
    }
    if run.latlab != VERSION {
        return Some(format!(
            "run {} was made by latlab {}, this is {VERSION}: the agent of another version makes another \
             guest; repeat it with --seed {}",
            run.id, run.latlab, guest.seed
        ));
    }
    let whole = run.guest_measurement.is_some();
    (!whole).then(|| {
        format!(
            "run {} has no checksum of what its guest measured, because it was stopped: repeat \
             it with --seed {}",
            run.id, guest.seed
        )
    })
}

/// The first component in which two guests differ, with both values.
fn difference(run: &Guest, now: &Guest) -> Option<String> {
    let parts = [
        ("QEMU", &run.emulator, &now.emulator),
        ("kernel", &run.kernel, &now.kernel),
        ("image of the kernel", &run.kernel_sha256, &now.kernel_sha256),
        ("agent or loads (SHA-256 of the guest's files)", &run.files_sha256, &now.files_sha256),
    ];
    let (what, run, now) = parts.into_iter().find(|(_, run, now)| run != now)?;
    Some(format!("{what}: it was '{run}' and is '{now}'"))
}

/// Replays the guest of a stored run; it must measure exactly the same.
pub fn replay<R>(
    run: &Run,
    request: ReplayRequest<'_>,
    read: impl FnOnce(&KernelMap, &mut (dyn Read + Send)) -> R + Send,
) -> Result<Replay<R>, Failure>
where
    R: Send,
{
    let refused = |text: String| Failure::wrong_plan(text);
    if let Some(text) = why_no_replay(run) {
        return Err(refused(text));
    }
    let stored = run.guest_measurement.clone();
    let replay = record(request, run.asked.on.guest.as_deref(), read)?;
    match (&replay.stream, stored) {
        (None, _) => Err(Failure::Nothing),
        (Some(now), Some(then)) if *now != then => Err(refused(format!(
            "the replay is not run {}: its guest measured {} bytes with SHA-256 {}, and then {} bytes \
             with {}; QEMU's threads can race on a busy machine: try again on a quiet one, and see whether \
             the run has the finding host-crowded",
            run.id,
            now.bytes,
            &now.sha256[..16],
            then.bytes,
            &then.sha256[..16],
        ))),
        _ => Ok(replay),
    }
}

/// Runs a guest with the plugin; the reader gets its output in a separate thread.
pub fn record<R>(
    request: ReplayRequest<'_>,
    same_as: Option<&Guest>,
    read: impl FnOnce(&KernelMap, &mut (dyn Read + Send)) -> R + Send,
) -> Result<Replay<R>, Failure>
where
    R: Send,
{
    let ReplayRequest { plan, id, wanted, cache, stop } = request;
    let Target::Lab(target) = &plan.on.target else {
        return Err(Failure::wrong_plan("only guests can be recorded".to_string()));
    };
    let config = GuestConfig::resolve(target).map_err(Failure::wrong_plan)?;
    let mut plan = plan.clone();
    plan.on.guest = None;
    let (mut link, guest) = GuestLink::new(&config, cache, &plan)?;
    if let Some(text) = same_as.and_then(|then| difference(then, &guest)) {
        return Err(Failure::wrong_plan(format!("run {id} cannot be run again: {text}")));
    }
    plan.on.guest = Some(Box::new(guest));
    let machine = config.machine.architecture;
    let agent = agents::agent_program(machine).transpose()?.unwrap_or_default();
    let (mut records, to) = large_pipe()?;
    let wanted = wanted.map(wanted_file).transpose()?;
    let map = link.record(cache, agent, &to, wanted.as_ref().map(tempfile::NamedTempFile::path))?;
    let greeting = greeting(id, &Message::Plan(plan));
    let begun = Instant::now();
    let console = Path::new("/dev/null");
    let mut stream = link.start(&Start { id, greeting: &greeting, console, stop })?;
    // The emulator has its own copy; the reader sees its end when the emulator is gone.
    drop(to);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let made = read(&map, &mut records);
            // A reader that ends early must not block the guest.
            let _ = io::copy(&mut records, &mut io::sink());
            made
        });
        let drained = scope.spawn(move || io::copy(&mut stream, &mut io::sink()));
        while !(reader.is_finished() && drained.is_finished()) {
            if stop.is_set() {
                link.stop();
            }
            link.poll(POLL, &|| Nanos::ZERO);
            thread::sleep(POLL);
        }
        let read = reader.join().map_err(|_| crate::thread_died())?;
        let messages = link.wait(&StreamOutcome::Whole)?;
        let took = begun.elapsed();
        let mut stream = None;
        for message in messages {
            match message {
                Message::GuestMeasurement(sum) => stream = Some(sum),
                Message::Finding(finding) if finding.invalidates() => {
                    return Err(Failure::Invalid(Box::new(finding)));
                }
                _ => {}
            }
        }
        Ok(Replay { read, stream, took })
    })
}

/// A file of these releases for the plugin.
fn wanted_file(wanted: &[Nanos]) -> io::Result<tempfile::NamedTempFile> {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let bytes: Vec<u8> = wanted.iter().flat_map(|release| release.0.to_le_bytes()).collect();
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), bytes)?;
    Ok(file)
}
