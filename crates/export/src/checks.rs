//! A run as test cases: each thread against the deadline, and the verdict.

use latlab_model::Run;
use latlab_model::run::{ThreadRun, VerdictWord};
use latlab_model::units::counted;
use latlab_report::rendered_verdict;

/// What became of a test case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// No release missed the deadline.
    Pass,
    /// One did.
    Fail,
    /// The figures do not decide.
    NoAnswer,
    /// There is no deadline.
    NoDeadline,
}

/// A test case.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// Its name: `thread 0 (CPU 2)`.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What there is to say, in a line.
    pub text: String,
}

/// Each thread against the deadline.
pub fn of_threads(run: &Run) -> Vec<Check> {
    run.threads.iter().map(|thread| of_thread(run, thread)).collect()
}

/// The verdict of the run.
pub fn of_run(run: &Run) -> Check {
    let verdict = rendered_verdict(run);
    let invalid = run.findings.iter().find(|finding| finding.invalidates());
    let outcome = match verdict.as_ref().map(|verdict| verdict.word) {
        Some(VerdictWord::Pass) => Outcome::Pass,
        Some(VerdictWord::Fail) => Outcome::Fail,
        Some(VerdictWord::Inconclusive | VerdictWord::Invalid) => Outcome::NoAnswer,
        None if invalid.is_some() => Outcome::NoAnswer,
        None => Outcome::NoDeadline,
    };
    let sentence = verdict.and_then(|verdict| verdict.sentence);
    let text = sentence.or(invalid.map(|finding| finding.text()));
    let text = text.unwrap_or_else(|| "no deadline was given".to_string());
    Check { name: run.asked.name.clone(), outcome, text: text.replace('\n', " ") }
}

fn of_thread(run: &Run, thread: &ThreadRun) -> Check {
    let (setup, summary) = (&thread.setup, &thread.summary);
    let name = match setup.cpu {
        Some(cpu) => format!("thread {} (CPU {cpu})", setup.thread),
        None => format!("thread {}", setup.thread),
    };
    let outcome = match (run.asked.deadline_ns, summary.misses) {
        _ if summary.cycles == 0 => Outcome::NoAnswer,
        (None, _) => Outcome::NoDeadline,
        (Some(_), Some(0)) => Outcome::Pass,
        (Some(_), Some(_)) => Outcome::Fail,
        (Some(_), None) => Outcome::NoAnswer,
    };
    let mut words = vec![counted(summary.cycles, "latency", "latencies")];
    words.extend(summary.max_ns.map(|max| format!("largest {max}")));
    if let (Some(deadline), Some(misses)) = (run.asked.deadline_ns, summary.misses) {
        words
            .push(format!("{} of {deadline}", counted(misses, "deadline miss", "deadline misses")));
    }
    Check { name, outcome, text: words.join(", ") }
}
