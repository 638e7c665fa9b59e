//! A wire on one board: one thread makes edges, and the measuring thread answers them.

use crate::answer_breakdown::lost_breakdown;
use crate::helper_thread::HelperThread;
use crate::layout::SplitMix;
use crate::monitor::SettingList;
use crate::placement::Placement;
use crate::refusals::machine_refuses;
use crate::thread_job::{Start, ThreadJob, stop_others, thread_end};
use latlab_measure::gpio::{AnswerConfig, Answerer, EdgeCounts, EdgeMaker, EdgeSchedule, wire};
use latlab_measure::samples::SampleSink;
use latlab_model::Nanos;
use latlab_model::frame::Refusal;
use latlab_model::gpio::{GpioLine, GpioWire};
use latlab_model::plan::Policy;
use latlab_model::respond::Responses;
use latlab_model::run::{Setting, ThreadEnd};
use latlab_sys::gpio::{EdgeLine, OutputLine};
use latlab_sys::{clock, memory, sched};
use std::io;
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

/// Time within which an edge comes back if there is a wire.
const WIRE_TEST: Duration = Duration::from_millis(500);

/// The lines, and the thread that makes the edges.
pub struct WiredThread {
    answerer: Answerer,
    start: SyncSender<EdgeSchedule>,
    /// Returns the edge counts and its CPU time.
    maker: HelperThread<(EdgeCounts, i64)>,
}

/// Requests the lines, tests the wire, and starts the thread that makes the edges.
pub fn set_up(job: &ThreadJob, asked: &GpioWire) -> Result<(WiredThread, SettingList), Refusal> {
    let stimulus = output(&asked.stimulus)?;
    let loopback = EdgeLine::request(Path::new(&asked.loopback.path()), asked.loopback.offset);
    let loopback = loopback.map_err(|error| line_refused(&asked.loopback, &error))?;
    let answer = asked.answer.as_ref().map(output).transpose()?;
    try_wire(asked, &stimulus, &loopback)?;
    let (maker, answerer) = wire(stimulus, loopback, answer, asked.external);
    let (start, started) = sync_channel(1);
    let (maker, mut settings) = start_maker(job, asked, maker, started)?;
    for (what, line) in [
        ("stimulus line", Some(&asked.stimulus)),
        ("loopback line", Some(&asked.loopback)),
        ("answer line", asked.answer.as_ref()),
    ] {
        let line = line.map(GpioLine::to_string);
        settings.settings.extend(line.map(|line| Setting::new(what, line.clone(), line)));
    }
    Ok((WiredThread { answerer, start, maker }, settings))
}

/// Starts the thread that makes the edges: on another CPU if there is one, and always at a priority
/// below the answering thread's.
fn start_maker(
    job: &ThreadJob,
    asked: &GpioWire,
    maker: EdgeMaker,
    started: std::sync::mpsc::Receiver<EdgeSchedule>,
) -> Result<(HelperThread<(EdgeCounts, i64)>, SettingList), Refusal> {
    let other = job.usable.iter().copied().find(|cpu| Some(*cpu) != job.cpu);
    let (thread, cpu, usable) = (job.thread, other.or(job.cpu), job.usable.clone());
    let policy: Policy = job.measurement.policy_of(job.thread).lowered(1);
    let answering = sched::thread_id();
    let (from, span) = (asked.from_ns.0, (asked.to_ns - asked.from_ns).0 as u64 + 1);
    let mut random = SplitMix(job.measurement.seed);
    let set_up = move || {
        let usual = Placement::new(thread, policy, &usable);
        let place = Placement { whose: "stimulus ", cpu, ..usual };
        let make = move || {
            let distances = std::iter::from_fn(move || Some(from + (random.next() % span) as i64));
            let counts = match started.recv() {
                Ok(schedule) => maker.run(&schedule, distances, answering),
                Err(_) => EdgeCounts::default(),
            };
            (counts, clock::thread_cpu_time())
        };
        Ok((place.apply()?, make))
    };
    let (thread, placed) =
        HelperThread::start("thread that makes the edges", "latlab/edges".to_string(), set_up)?;
    Ok((thread, placed.settings))
}

fn output(line: &GpioLine) -> Result<OutputLine, Refusal> {
    OutputLine::request(Path::new(&line.path()), line.offset)
        .map_err(|error| line_refused(line, &error))
}

fn line_refused(line: &GpioLine, error: &io::Error) -> Refusal {
    machine_refuses(match error.kind() {
        io::ErrorKind::NotFound => format!("{line}: there is no {}", line.path()),
        io::ErrorKind::ResourceBusy => format!("{line} is in use: see gpioinfo"),
        _ => format!("cannot take {line}: {error}"),
    })
}

/// Raises the stimulus once; without a wire no edge comes back.
fn try_wire(asked: &GpioWire, stimulus: &OutputLine, loopback: &EdgeLine) -> Result<(), Refusal> {
    let tried = stimulus.set(true).and_then(|()| loopback.wait_for(WIRE_TEST));
    let lowered = stimulus.set(false);
    let GpioWire { stimulus, loopback, external, .. } = asked;
    match tried.and_then(|seen| lowered.map(|()| seen)) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => {
            let why = match external {
                true => "does the responder run, and are both wires in place?",
                false => "is there a wire between them?",
            };
            Err(machine_refuses(format!(
                "{stimulus} was raised, and {loopback} did not rise: {why}"
            )))
        }
        Err(error) => {
            Err(machine_refuses(format!("cannot use {stimulus} and {loopback}: {error}")))
        }
    }
}

/// Answers the edges and reports the result.
pub fn run(mut job: ThreadJob, start: Start, asked: &GpioWire, wired: WiredThread) -> ThreadEnd {
    match job.samples.take() {
        Some(samples) => run_recording(job, start, asked, wired, samples),
        None => run_recording(job, start, asked, wired, ()),
    }
}

fn run_recording<S: SampleSink>(
    job: ThreadJob,
    start: Start,
    asked: &GpioWire,
    wired: WiredThread,
    mut samples: S,
) -> ThreadEnd {
    let WiredThread { answerer, start: begin, maker } = wired;
    let ThreadJob { thread, measurement, mut recorder, mut breakdown, outbox, stop, .. } = job;
    let plan = &measurement.plan;
    let limit = |time: Option<Nanos>| time.map_or(i64::MAX, |time| time.0);
    let respond = plan.method.respond();
    let config = AnswerConfig {
        counted_from: start.from,
        window: limit(respond.and_then(|respond| respond.window_ns)),
        deadline: limit(plan.until.deadline_ns),
        stop_above: limit(plan.until.stop_above_ns),
    };
    recorder.start(start.from);
    samples.start();
    let before = memory::thread_usage();
    // Fails only if the thread has died; then no edge comes, and an interrupt ends the wait.
    let _ = begin.send(EdgeSchedule {
        first: start.warm_up_from,
        counted_from: start.from,
        until: limit(plan.until.duration_ns.map(|length| length + Nanos(start.from))),
        count: plan.until.cycles.unwrap_or(u64::MAX),
        least: asked.from_ns.0,
    });
    let ended = answerer.run(&config, &mut recorder, &mut samples, &mut breakdown, &stop);
    stop_others(&measurement, &stop, ended.code);
    drop(begin);
    let (counts, cpu) = maker.end().unwrap_or_default();
    let answered = recorder.cycles();
    let overruns = if plan.until.deadline_ns.is_some() { counts.missing } else { 0 };
    recorder.count_late(0, overruns as i64);
    let totals = recorder.finish(ended.last.max(start.from) + 1);
    if let Some(lost) = breakdown.map(|breakdown| breakdown.lost()).filter(|lost| *lost > 0) {
        outbox.send(&lost_breakdown(thread, lost));
    }
    let end = thread_end(thread, ended.code, answered, totals, before);
    ThreadEnd {
        samples_lost: samples.lost(),
        cpu_ns: end.cpu_ns + Nanos(cpu),
        responded: Some(Responses {
            format: "GPIO line".to_string(),
            stimuli: counts.stimuli,
            missing: counts.missing,
            late: ended.late,
            double: ended.double,
            spurious: ended.spurious,
            cut_off: counts.cut_off,
            resolution_ns: Some(1.0),
            is_timed: true,
            ..Responses::default()
        }),
        ..end
    }
}
