//! A comparison as JUnit XML: a test case for each metric of each scenario.

use super::sentences::{headline, missed, probability, range, ratio, remark, title};
use crate::campaign::xml_text;
use latlab_model::run_comparison::{
    ComparisonWord, MetricComparison, RunComparison, ScenarioComparison,
};

/// One test suite. What regressed fails; what is undecided is an error.
pub fn junit(of: &RunComparison) -> String {
    let cases: Vec<Case> = of.scenarios.iter().flat_map(cases).collect();
    let count = |kind: &str| cases.iter().filter(|case| case.kind() == Some(kind)).count();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text += &format!(
        "<testsuite name=\"latlab compare\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\">\n",
        cases.len(),
        count("failure"),
        count("error")
    );
    for case in &cases {
        let (group, name) = (xml_text(&case.group), xml_text(&case.name));
        let message = xml_text(&case.message);
        text += &format!("  <testcase classname=\"{group}\" name=\"{name}\">\n");
        text += &match case.kind() {
            Some(kind) => format!("    <{kind} message=\"{message}\"/>\n"),
            None => format!("    <system-out>{message}</system-out>\n"),
        };
        text += "  </testcase>\n";
    }
    let remarks = of.scenarios.iter().flat_map(|one| one.remarks.iter().map(remark));
    let lines: Vec<String> = std::iter::once(headline(of)).chain(remarks).collect();
    text + &format!("  <system-out>{}</system-out>\n</testsuite>\n", xml_text(&lines.join("\n")))
}

struct Case {
    group: String,
    name: String,
    word: ComparisonWord,
    message: String,
}

impl Case {
    fn kind(&self) -> Option<&'static str> {
        match self.word {
            ComparisonWord::NoRegression => None,
            ComparisonWord::Regressed => Some("failure"),
            _ => Some("error"),
        }
    }
}

fn cases(of: &ScenarioComparison) -> Vec<Case> {
    let group = of.name.clone().unwrap_or_else(|| "runs".to_string());
    let case = |one: &MetricComparison| Case {
        group: group.clone(),
        name: one.metric.to_string(),
        word: one.word,
        message: message(one),
    };
    let misses = of.misses.iter().map(|one| Case {
        group: group.clone(),
        name: "misses".to_string(),
        word: one.word.unwrap_or(ComparisonWord::NoRegression),
        message: missed(one),
    });
    of.metrics.iter().map(case).chain(misses).collect()
}

fn message(of: &MetricComparison) -> String {
    let interval = of.interval.map(|interval| format!(" (95 %: {})", range(interval)));
    format!(
        "{}: x{}{}, limit x{}, p={}, {} and {} runs",
        title(of.word),
        ratio(of.ratio),
        interval.unwrap_or_default(),
        ratio(1.0 + of.care),
        probability(of.p),
        of.base_ns.len(),
        of.candidate_ns.len()
    )
}
