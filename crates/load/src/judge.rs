//! Whether a load ran as it should, all the time that was measured.

use crate::gathered::{Step, Window};
use latlab_model::load::{Load, LoadEnd, LoadRun};
use latlab_model::run::{Finding, Severity};

/// A load may be weak for this share of the time, since it shares the machine with others.
const WEAK_FOR: f64 = 0.1;

/// What speaks against the load.
pub fn findings(
    load: &Load,
    run: &LoadRun,
    end: Option<&LoadEnd>,
    steps: &[Step],
    window: &Window,
) -> Vec<Finding> {
    let name = &load.name;
    let mut found = Vec::new();
    let mut invalid = |code: &str, text: String, remedy: &str| {
        let finding = Finding::new(code, Severity::Error, text).invalidates();
        found.push(finding.remedy(remedy));
    };
    let seconds = (window.to - window.from).as_secs_f64();
    match run.shown_ns {
        _ if run.started_ns.is_none() => {
            invalid("load-died", format!("The load {name} was never started."), TRY_IT);
            return found;
        }
        Some(shown) if shown <= window.from => {}
        Some(shown) => {
            let late = shown - window.from;
            let text = format!("The load {name} began {late} after the first counted release.");
            invalid("load-started-late", text, "Give it a longer --warm-up.");
        }
        None => {
            let share = percent(load.least.cpu_share);
            let text =
                format!("The load {name} had not taken {share} of a CPU when the measuring began.");
            invalid("load-started-late", text, TRY_IT);
        }
    }
    match end {
        None if window.whole => {
            let text = format!(
                "Who watched the load {name} was killed, so that nobody knows whether it ran."
            );
            invalid("load-died", text, "Measure again, and end nothing of it by hand.");
        }
        Some(end) if end.by_itself && end.ended_ns < window.to => {
            let before = window.to - end.ended_ns;
            let said = end.last_lines.iter().rev().find(|line| !line.trim().is_empty());
            let said = said.map(|line| format!(" It said: '{}'.", line.trim())).unwrap_or_default();
            let (code, how) = match end.status.code {
                Some(0) => ("load-ended-early", "ended"),
                _ => ("load-died", "died"),
            };
            let text = format!(
                "The load {name} {how} {before} before the end of the measurement ({}).{said}",
                end.status
            );
            let remedy = match code {
                "load-died" => TRY_IT,
                _ => "Have it run longer, or set `restart = true` in its definition.",
            };
            invalid(code, text, remedy);
        }
        _ => {}
    }
    let ended_early = end.is_some_and(|end| end.by_itself);
    if !ended_early && let Some(text) = weakness(load, run, steps, seconds) {
        invalid("load-too-weak", text, TOO_WEAK);
    }
    if let Some(left) = end.map(|end| end.left).filter(|left| *left > 0) {
        let text = format!("{left} processes of the load {name} could not be ended.");
        found.push(Finding::new("load-not-ended", Severity::Warning, text));
    }
    found
}

const TRY_IT: &str = "Try it by hand: the command is in the section on the load.";
const TOO_WEAK: &str = "Look for what else takes the CPUs, or ask for a stronger load.";

/// Why it did not reach what it should, in one sentence.
fn weakness(load: &Load, run: &LoadRun, steps: &[Step], seconds: f64) -> Option<String> {
    let (name, least) = (&load.name, load.least);
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

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
