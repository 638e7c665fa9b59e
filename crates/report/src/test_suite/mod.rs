//! Results as tests: a suite of test cases, in the formats that test systems read.

mod junit;
mod ktap;
mod lava;
mod run;

pub use run::{not_measured, of_run};

use latlab_model::Nanos;

/// What is wrong with a test case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Problem {
    /// It was left out.
    Skipped,
    /// There is no answer.
    Error,
    /// It failed.
    Failure,
}

/// A figure beside the results.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// Its name, without blanks.
    pub name: String,
    /// Its value in nanoseconds; none where it is not known.
    pub nanos: Option<f64>,
}

/// A test case.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TestCase {
    /// What it belongs to.
    pub group: String,
    /// Its name.
    pub name: String,
    /// Its name where that may have no blanks, unless it is made of the other one.
    pub short_name: Option<String>,
    /// Names and values of what it was measured on.
    pub properties: Option<Vec<(&'static str, String)>>,
    /// What is wrong with it, and a message.
    pub problem: Option<(Problem, String)>,
    /// What it says.
    pub output: Option<String>,
    /// What was measured.
    pub measured: Option<Nanos>,
    /// What else was measured.
    pub figures: Vec<Figure>,
    /// For how long.
    pub took: Option<Nanos>,
}

impl TestCase {
    /// What there is to say of it, in lines.
    fn text(&self) -> &str {
        let message = self.problem.as_ref().map(|(_, message)| message);
        self.output.as_ref().or(message).map_or("", String::as_str)
    }
}

/// When, how long and where the runs of a suite were measured.
#[derive(Clone, PartialEq, Debug)]
pub struct SuiteTime {
    /// When the first of them began, in UTC (RFC 3339).
    pub started: String,
    /// How long they were measured, together.
    pub took: Nanos,
    /// The machine, if it is one and known.
    pub hostname: Option<String>,
}

impl SuiteTime {
    /// Of runs, each with its start, length and machine; `None` of none.
    pub(crate) fn of<'a>(
        runs: impl Iterator<Item = (&'a str, Nanos, Option<&'a str>)>,
    ) -> Option<SuiteTime> {
        let runs: Vec<_> = runs.collect();
        let started = runs.iter().map(|(started, ..)| *started).min()?.to_string();
        let (.., first) = *runs.first()?;
        let is_one = runs.iter().all(|(.., hostname)| *hostname == first);
        let hostname = first.filter(|_| is_one).map(str::to_string);
        Some(SuiteTime { started, took: runs.iter().map(|(_, took, _)| *took).sum(), hostname })
    }
}

/// A suite of test cases.
#[derive(Clone, PartialEq, Debug)]
pub struct TestSuite {
    /// Its name.
    pub name: String,
    /// What is tested.
    pub cases: Vec<TestCase>,
    /// What all of it comes to.
    pub overall: TestCase,
    /// What else there is to say.
    pub remarks: String,
    /// `None` where nothing was measured.
    pub time: Option<SuiteTime>,
}

impl TestSuite {
    /// The suite as JUnit XML.
    pub fn junit(&self) -> String {
        junit::text(self)
    }

    /// The suite as KTAP: one test, with its cases as subtests.
    pub fn ktap(&self) -> String {
        ktap::text(self)
    }

    /// The suite as lines that LAVA takes from a console.
    pub fn lava(&self) -> String {
        lava::text(self)
    }
}

/// The heaviest problem of these cases; all of them must be skipped to make the whole so.
pub(crate) fn heaviest(cases: &[TestCase]) -> Option<Problem> {
    let kinds = || cases.iter().map(|case| case.problem.as_ref().map(|(kind, _)| *kind));
    match kinds().max().flatten() {
        Some(Problem::Skipped) if kinds().any(|kind| kind.is_none()) => None,
        heaviest => heaviest,
    }
}
