//! A run as a test suite: each thread against the deadline, and the verdict.

use super::{Problem, SuiteTime, TestCase, TestFigure, TestSuite};
use crate::InWords;
use crate::rendered_verdict;
use crate::sections::attach::thread_name;
use latlab_model::Run;
use latlab_model::run::{ThreadRun, VerdictWord};
use latlab_model::units::counted;

const NO_DEADLINE: &str = "no deadline was given";

pub fn of_run(run: &Run) -> TestSuite {
    let facts = [
        ("run", Some(run.id.clone())),
        ("kernel", Some(run.machine.kernel.clone()).filter(|kernel| !kernel.is_empty())),
        ("board", run.machine.board.clone()),
    ];
    let properties: Vec<(&'static str, String)> =
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let verdict = of_verdict(run);
    let threads = run.threads.iter().map(|thread| of_thread(run, thread));
    let case = |case: TestCase| TestCase { properties: Some(properties.clone()), ..case };
    let cases = threads.chain([verdict.clone()]).map(case).collect();
    let findings: Vec<String> = run
        .findings_by_weight()
        .iter()
        .map(|finding| format!("{}: {} [{}]", finding.severity(), finding.text(), finding.code()))
        .collect();
    let name = run.asked.name.clone();
    let overall = TestCase { name: name.clone(), ..verdict };
    let measured = (run.started.as_str(), run.measured_ns, run.machine.hostname.as_deref());
    let time = SuiteTime::of(std::iter::once(measured));
    TestSuite { name, cases, overall, remarks: findings.join("\n"), time }
}

/// A suite for something that could not be measured, with the reason.
pub fn not_measured(name: &str, reason: &str) -> TestSuite {
    let case = TestCase {
        group: name.to_string(),
        name: "verdict".to_string(),
        problem: Some((Problem::Error, reason.to_string())),
        ..TestCase::default()
    };
    let overall = TestCase { name: name.to_string(), ..case.clone() };
    let (name, remarks) = (name.to_string(), String::new());
    TestSuite { name, cases: vec![case], overall, remarks, time: None }
}

fn of_verdict(run: &Run) -> TestCase {
    let verdict = rendered_verdict(run);
    let invalid = run.findings.iter().find(|finding| finding.invalidates());
    let problem = match verdict.as_ref().map(|verdict| verdict.word) {
        Some(VerdictWord::Pass) => None,
        Some(VerdictWord::Fail) => Some(Problem::Failure),
        Some(VerdictWord::Inconclusive | VerdictWord::Invalid) => Some(Problem::Error),
        None if invalid.is_some() => Some(Problem::Error),
        None => Some(Problem::Skipped),
    };
    let sentence = verdict.and_then(|verdict| verdict.sentence);
    let text = sentence.or(invalid.map(|finding| finding.text()));
    let text = text.unwrap_or_else(|| NO_DEADLINE.to_string()).replace('\n', " ");
    let case = TestCase { name: "verdict".to_string(), measured: run.total.max_ns, ..case_of(run) };
    with_problem(case, problem, text)
}

fn of_thread(run: &Run, thread: &ThreadRun) -> TestCase {
    let (setup, summary) = (&thread.setup, &thread.summary);
    let number = setup.thread;
    let name = match setup.cpu {
        Some(cpu) if run.attached.is_none() => format!("thread {number} (CPU {cpu})"),
        _ => thread_name(run, number),
    };
    let hidden = run.findings.iter().find(|finding| {
        finding.forbids_pass() && finding.thread.is_none_or(|thread| thread == number)
    });
    let problem = match (run.asked.until.deadline_ns, summary.misses) {
        _ if summary.cycles == 0 => Some(Problem::Error),
        (Some(_), Some(0)) if hidden.is_some() => Some(Problem::Error),
        (None, _) => Some(Problem::Skipped),
        (Some(_), Some(0)) => None,
        (Some(_), Some(_)) => Some(Problem::Failure),
        (Some(_), None) => Some(Problem::Error),
    };
    let mut words = vec![counted(summary.cycles, "latency", "latencies")];
    let at_least = if summary.max_is_at_least { "at least " } else { "" };
    words.extend(summary.max_ns.map(|max| format!("largest {at_least}{max}")));
    if let (Some(deadline), Some(misses)) = (run.asked.until.deadline_ns, summary.misses) {
        words
            .push(format!("{} of {deadline}", counted(misses, "deadline miss", "deadline misses")));
    }
    words.extend(hidden.map(|finding| finding.text().trim_end_matches('.').to_string()));
    // The names that Linaro's test definitions use for the figures of cyclictest.
    let figures = [
        ("min", summary.min_ns.map(|time| time.0 as f64)),
        ("avg", summary.mean_ns),
        ("max", summary.max_ns.map(|time| time.0 as f64)),
    ];
    let figure = |(what, nanos)| TestFigure { name: format!("t{number}-{what}-latency"), nanos };
    let case = TestCase {
        name,
        short_name: Some(format!("t{number}-deadline")),
        figures: figures.into_iter().map(figure).collect(),
        ..case_of(run)
    };
    with_problem(case, problem, words.join(", "))
}

fn case_of(run: &Run) -> TestCase {
    let (group, took) = (run.asked.name.clone(), Some(run.measured_ns));
    TestCase { group, took, ..TestCase::default() }
}

fn with_problem(case: TestCase, problem: Option<Problem>, text: String) -> TestCase {
    let message = |kind| match kind {
        Problem::Skipped => NO_DEADLINE.to_string(),
        _ => text.clone(),
    };
    TestCase { problem: problem.map(|kind| (kind, message(kind))), output: Some(text), ..case }
}
