//! A comparison as tests: one test case for each metric of each scenario.

use super::sections::middle;
use super::sentences::{factor, headline, missed, probability, ratio, remark, title};
use crate::test_suite::{Problem, SuiteTime, TestCase, TestFigure, TestSuite};
use latlab_stats::comparison::{
    ComparisonWord, MetricComparison, RunComparison, ScenarioComparison,
};

/// One test suite. A regression is a failure, an undecided metric an error.
pub fn test_suite(of: &RunComparison) -> TestSuite {
    let cases: Vec<TestCase> = of.scenarios.iter().flat_map(cases).collect();
    let remarks = of.scenarios.iter().flat_map(|one| one.remarks.iter().map(remark));
    let lines: Vec<String> = std::iter::once(headline(of)).chain(remarks).collect();
    let name = "latlab compare".to_string();
    let overall = case(&name, name.clone(), of.word, headline(of));
    let runs = of.scenarios.iter().flat_map(|one| one.base.iter().chain(&one.candidate));
    let time = SuiteTime::of(
        runs.map(|run| (run.started.as_str(), run.measured_ns, run.hostname.as_deref())),
    );
    TestSuite { name, cases, overall, remarks: lines.join("\n"), time }
}

fn cases(of: &ScenarioComparison) -> Vec<TestCase> {
    let group = of.name.as_deref().unwrap_or("runs");
    let metric = |one: &MetricComparison| TestCase {
        figures: figures(one),
        ..case(group, one.metric.to_string(), one.word, message(one))
    };
    let misses = of.misses.iter().map(|one| {
        let word = one.word.unwrap_or(ComparisonWord::NoRegression);
        case(group, "misses".to_string(), word, missed(one))
    });
    of.metrics.iter().map(metric).chain(misses).collect()
}

pub(crate) fn case(group: &str, name: String, word: ComparisonWord, message: String) -> TestCase {
    let (problem, output) = match word {
        ComparisonWord::NoRegression => (None, Some(message)),
        ComparisonWord::Regressed => (Some((Problem::Failure, message)), None),
        _ => (Some((Problem::Error, message)), None),
    };
    TestCase { group: group.to_string(), name, problem, output, ..TestCase::default() }
}

fn figures(of: &MetricComparison) -> Vec<TestFigure> {
    let name = of.metric.as_str().replace(' ', "-");
    let sides = [("base", &of.base_ns), ("candidate", &of.candidate_ns)];
    let figure = |(side, values): (&str, &Vec<f64>)| TestFigure {
        name: format!("{name}-{side}"),
        nanos: Some(middle(values)).filter(|_| !values.is_empty()),
    };
    sides.into_iter().map(figure).collect()
}

fn message(of: &MetricComparison) -> String {
    format!(
        "{}: {}, limit x{}, p={}, {} and {} runs",
        title(of.word),
        factor(of.ratio, of.interval),
        ratio(1.0 + of.margin),
        probability(of.p),
        of.base_ns.len(),
        of.candidate_ns.len()
    )
}
