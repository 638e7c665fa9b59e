//! Whether a load ran as it should, all the time that was measured.

use crate::window::{Step, Window};
use latlab_model::CpuSet;
use latlab_model::fault::FAULT;
use latlab_model::load::{Load, LoadEnd, LoadRun};
use latlab_model::run::{Finding, Severity};

/// A load may be weak for this share of the time, since it shares the machine with others.
const WEAK_FOR: f64 = 0.1;
/// A share of one CPU that is next to nothing, …
const IDLE: f64 = 0.001;
/// … and one that is work.
const ACTIVE: f64 = 0.02;
/// A load that stood still for more than this share of the time is told.
const IDLE_FOR: f64 = 0.25;

/// What speaks against the load.
pub fn findings(
    load: &Load,
    run: &LoadRun,
    end: Option<&LoadEnd>,
    steps: &[Step],
    window: &Window,
) -> Vec<Finding> {
    if run.started_ns.is_none() {
        let text = format!("The load {} was never started.", load.name);
        return vec![Finding::new("load-died", Severity::Error, text).invalidates().remedy(TRY_IT)];
    }
    let ended = match end {
        None => unwatched(load, window),
        Some(end) => ended_early(load, end, window),
    };
    // One that ended before it showed has only its end to be told.
    let begun = match ended.is_some() && run.shown_ns.is_none() {
        true => None,
        false => began_late(load, run, window),
    };
    let by_itself = end.is_some_and(|end| end.by_itself);
    let weak = if by_itself { None } else { weakness(load, run, steps, window) };
    let weak = weak.map(|text| {
        Finding::new("load-too-weak", Severity::Error, text).invalidates().remedy(TOO_WEAK)
    });
    let left = end.and_then(|end| not_ended(load, end));
    // What is too weak is told once, and a fault is there for a moment only.
    let told = by_itself || weak.is_some() || load.name == FAULT;
    let idle = if told { None } else { idleness(load, steps) };
    [begun, ended, weak, idle, left].into_iter().flatten().collect()
}

/// It must take its CPU before the first release that counts.
fn began_late(load: &Load, run: &LoadRun, window: &Window) -> Option<Finding> {
    let name = &load.name;
    let (text, remedy) = match run.shown_ns {
        Some(shown) if shown <= window.from => return None,
        Some(shown) => {
            let late = shown - window.from;
            let text = format!("The load {name} began {late} after the first counted release.");
            (text, "Give it a longer --warm-up.")
        }
        None => {
            let share = match load.least.cpu_share {
                0.0 => "any CPU time".to_string(),
                least => format!("{} of a CPU", percent(least)),
            };
            (format!("The load {name} had not taken {share} when the measuring began."), TRY_IT)
        }
    };
    let late = Finding::new("load-started-late", Severity::Error, text);
    Some(late.invalidates().remedy(remedy))
}

/// A run that was cut off has no last word of any load; in a whole one it was killed.
fn unwatched(load: &Load, window: &Window) -> Option<Finding> {
    let text = format!(
        "Who watched the load {} was killed, so that nobody knows whether it ran.",
        load.name
    );
    let unknown = Finding::new("load-died", Severity::Error, text).invalidates();
    window.whole.then(|| unknown.remedy("Measure again, and end nothing of it by hand."))
}

/// It must run until the measuring is over.
fn ended_early(load: &Load, end: &LoadEnd, window: &Window) -> Option<Finding> {
    if !end.by_itself || end.ended_ns >= window.to {
        return None;
    }
    let said = end.last_lines.iter().rev().find(|line| !line.trim().is_empty());
    let said = said.map(|line| format!(" It said: '{}'.", line.trim())).unwrap_or_default();
    let status = match end.status.code {
        // As shells say it.
        Some(127) => "a command was not found, exit code 127".to_string(),
        _ => end.status.to_string(),
    };
    let text = |how| {
        let before = window.to - end.ended_ns;
        format!(
            "The load {} {how} {before} before the end of the measurement ({status}).{said}",
            load.name
        )
    };
    Some(match end.status.code {
        Some(0) => Finding::new("load-ended-early", Severity::Error, text("ended"))
            .invalidates()
            .remedy("Have it run longer, or set `restart = true` in its definition."),
        _ => Finding::new("load-died", Severity::Error, text("died")).invalidates().remedy(TRY_IT),
    })
}

/// It must stay where it was put.
pub fn elsewhere(put: &str, run: &LoadRun) -> Option<Finding> {
    let (put, seen) = (put.parse::<CpuSet>().ok()?, run.placement.parse::<CpuSet>().ok()?);
    let text = format!(
        "The load {} was put on CPU {put} and has chosen others itself: it was on CPU {seen}.",
        run.name
    );
    let moved = Finding::new("load-elsewhere", Severity::Warning, text);
    let remedy = "Take `taskset` and the like out of its command, or put it there with --load-on.";
    (!seen.without(&put).is_empty()).then(|| moved.remedy(remedy))
}

/// Nothing of it may be left.
fn not_ended(load: &Load, end: &LoadEnd) -> Option<Finding> {
    let text = format!("{} processes of the load {} could not be ended.", end.left, load.name);
    let left = Finding::new("load-not-ended", Severity::Warning, text);
    (end.left > 0).then(|| left.remedy("Look for them with `ps`; the next run is under them."))
}

const TRY_IT: &str = "Try it by hand: the command is in the section on the load.";
const TOO_WEAK: &str = "Look for what else takes the CPUs, or ask for a stronger load.";

/// Why it did not reach what it should, in one sentence.
fn weakness(load: &Load, run: &LoadRun, steps: &[Step], window: &Window) -> Option<String> {
    let (name, least) = (&load.name, load.least);
    let seconds = (window.to - window.from).as_secs_f64();
    if let Some(share) = run.cpu_share.filter(|_| least.cpu_share > 0.0) {
        let weak: f64 =
            steps.iter().filter(|step| step.cpu_share < least.cpu_share).map(|s| s.seconds).sum();
        if share.mean < least.cpu_share || (weak > 1.5 && weak > WEAK_FOR * seconds) {
            return Some(format!(
                "The load {name} took {} of a CPU in the mean and was below {} for {weak:.1} of \
                 {seconds:.1} s.",
                percent(share.mean),
                percent(least.cpu_share)
            ));
        }
    }
    let evidence = run.evidence.as_ref()?;
    let mean = evidence.per_second.mean;
    (mean < least.evidence_per_second).then(|| {
        format!(
            "With the load {name} there were {mean:.0} {} in the mean ({}); {:.0} at least show \
             that it runs.",
            evidence.unit, evidence.counter, least.evidence_per_second
        )
    })
}

/// Whether it stood still for a large part of the time, though it had taken more before.
fn idleness(load: &Load, steps: &[Step]) -> Option<Finding> {
    let is_idle = |step: &&Step| step.cpu_share < IDLE;
    let busy = steps.iter().position(|step| step.cpu_share > ACTIVE)?;
    let idle: f64 = steps[busy..].iter().filter(is_idle).map(|step| step.seconds).sum();
    let all: f64 = steps.iter().map(|step| step.seconds).sum();
    let text = format!(
        "The load {} took next to nothing of any CPU for {idle:.1} of {all:.1} s, though it had \
         taken {} before.",
        load.name,
        percent(steps[busy].cpu_share)
    );
    let paused = Finding::new("load-paused", Severity::Warning, text);
    let remedy = "Was it stopped, or waiting? The CPU time of its processes is in the telemetry.";
    (idle > IDLE_FOR * all).then(|| paused.remedy(remedy))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
