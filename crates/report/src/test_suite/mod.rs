//! Results as tests: a suite of test cases, in the formats that test systems read.

mod junit;
mod ktap;
mod lava;
mod run;

pub use run::{not_measured, of_run};

use latlab_model::Nanos;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Problem {
    Skipped,
    /// There is no answer.
    Error,
    Failure,
}

/// An additional measured value.
#[derive(Clone, PartialEq, Debug)]
pub struct TestFigure {
    /// Without spaces.
    pub name: String,
    /// `None` if not known.
    pub nanos: Option<f64>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct TestCase {
    pub group: String,
    pub name: String,
    /// Name for formats without spaces in names; `None` to derive it from `name`.
    pub short_name: Option<String>,
    /// Names and values that describe the test environment.
    pub properties: Option<Vec<(&'static str, String)>>,
    /// The problem with a message; `None` if the case passed.
    pub problem: Option<(Problem, String)>,
    pub output: Option<String>,
    /// The largest measured time.
    pub measured: Option<Nanos>,
    /// Further measured values.
    pub figures: Vec<TestFigure>,
    /// Measurement time.
    pub took: Option<Nanos>,
}

impl TestCase {
    /// The lines to print for the case.
    fn text(&self) -> &str {
        let message = self.problem.as_ref().map(|(_, message)| message);
        self.output.as_ref().or(message).map_or("", String::as_str)
    }
}

/// When, how long and where the runs of a suite were measured.
#[derive(Clone, PartialEq, Debug)]
pub struct SuiteTime {
    /// Start of the first run, in UTC (RFC 3339).
    pub started: String,
    /// Total measurement time.
    pub took: Nanos,
    /// `None` if unknown, or if there are several machines.
    pub hostname: Option<String>,
}

impl SuiteTime {
    /// From the start, length and machine of each run; `None` if there are no runs.
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

#[derive(Clone, PartialEq, Debug)]
pub struct TestSuite {
    pub name: String,
    pub cases: Vec<TestCase>,
    /// The overall result.
    pub overall: TestCase,
    pub remarks: String,
    /// `None` if nothing was measured.
    pub time: Option<SuiteTime>,
}

impl TestSuite {
    pub fn junit(&self) -> String {
        junit::text(self)
    }

    /// One test, with the cases as its subtests.
    pub fn ktap(&self) -> String {
        ktap::text(self)
    }

    /// Lines that LAVA parses from a console.
    pub fn lava(&self) -> String {
        lava::text(self)
    }
}

/// The heaviest problem of these cases; the result is only skipped if all cases are.
pub(crate) fn heaviest(cases: &[TestCase]) -> Option<Problem> {
    let kinds = || cases.iter().map(|case| case.problem.as_ref().map(|(kind, _)| *kind));
    match kinds().max().flatten() {
        Some(Problem::Skipped) if kinds().any(|kind| kind.is_none()) => None,
        heaviest => heaviest,
    }
}
