//! A series of builds as tests: one test case, for the newest build.

use super::sentences::{headline, limits, step};
use crate::compare::case;
use crate::test_suite::{SuiteTime, TestCase, TestSuite};
use latlab_model::Nanos;
use latlab_stats::builds::Trend;

/// A suite with a case for the newest build. A regression is a failure, an undecided result an
/// error.
pub fn test_suite(of: &Trend) -> TestSuite {
    let newest = of.builds.last();
    let name = newest.map_or("no build", |build| &build.name);
    let measured = newest.map(|build| Nanos(build.value_ns.round() as i64));
    let case = case(of.metric.as_str(), name.to_string(), of.word, headline(of));
    let lines: Vec<String> = of.steps.iter().map(step).chain(limits(of)).collect();
    let name = "latlab trend".to_string();
    let overall = TestCase { name: name.clone(), ..case.clone() };
    TestSuite {
        name,
        cases: vec![TestCase { measured, took: newest.map(|build| build.measured_ns), ..case }],
        overall,
        remarks: lines.join("\n"),
        time: SuiteTime::of(
            newest.map(|one| (one.started.as_str(), one.measured_ns, None)).into_iter(),
        ),
    }
}
