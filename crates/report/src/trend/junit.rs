//! A series of builds as JUnit XML: one test case, the newest build.

use super::sentences::{headline, limits, step};
use crate::compare::case;
use crate::junit::test_suite;
use latlab_model::trend::Trend;

/// A test suite with a case for the newest build. A regression fails; what is undecided is an error.
pub fn junit(of: &Trend) -> String {
    let newest = of.builds.last().map_or("no build", |build| &build.name);
    let case = case(of.metric.as_str(), newest.to_string(), of.word, headline(of));
    let lines: Vec<String> = of.steps.iter().map(step).chain(limits(of)).collect();
    test_suite("latlab trend", &[case], &lines.join("\n"))
}
