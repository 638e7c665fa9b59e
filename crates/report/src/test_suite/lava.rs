//! Lines that LAVA parses from the console as test results.

use super::{Problem, TestCase, TestSuite};
use std::collections::BTreeSet;

/// The cases; those with their own group form a test set.
pub fn text(suite: &TestSuite) -> String {
    let mut text = String::new();
    let mut names = BTreeSet::new();
    for cases in suite.cases.chunk_by(|one, next| one.group == next.group) {
        let set = cases[0].group != suite.name;
        if set {
            text += &format!("<LAVA_SIGNAL_TESTSET START {}>\n", without_blanks(&cases[0].group));
            names.clear();
        }
        cases.iter().for_each(|case| text += &lines(case, &mut names));
        if set {
            text += "<LAVA_SIGNAL_TESTSET STOP>\n";
        }
    }
    text
}

fn lines(case: &TestCase, names: &mut BTreeSet<String>) -> String {
    let mut line = |name: &str, result: &str, nanos: Option<f64>| {
        let name = unused(name, names);
        let measured =
            nanos.map(|ns| format!(" MEASUREMENT={:.3} UNITS=us", ns / 1e3)).unwrap_or_default();
        format!("<LAVA_SIGNAL_TESTCASE TEST_CASE_ID={name} RESULT={result}{measured}>\n")
    };
    let mut text = String::new();
    for figure in &case.figures {
        let result = if figure.nanos.is_some() { "pass" } else { "unknown" };
        text += &line(&figure.name, result, figure.nanos);
    }
    let result = match case.problem {
        None => "pass",
        Some((Problem::Failure, _)) => "fail",
        Some((Problem::Error, _)) => "unknown",
        Some((Problem::Skipped, _)) => "skip",
    };
    // Lines that are not signals are for readers of the log.
    if let Some((Problem::Error, message)) = &case.problem {
        text += &format!("{}: {}\n", case.name, message.replace('<', "("));
    }
    let name = case.short_name.clone().unwrap_or_else(|| without_blanks(&case.name));
    text + &line(&name, result, case.measured.map(|time| time.0 as f64))
}

/// A unique name, as LAVA keeps only one result for each.
fn unused(name: &str, names: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut free = std::iter::once(name.to_string()).chain(numbered);
    let name = free.find(|name| !names.contains(name)).unwrap_or_default();
    names.insert(name.clone());
    name
}

/// Replaces characters that LAVA does not accept in names by dashes.
fn without_blanks(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._".contains(c);
    let words = text.split(|c| !is_plain(c)).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    if name.is_empty() { "unnamed".to_string() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_blanks_and_stand_once() {
        let case = |name: &str| TestCase {
            group: "set 1".to_string(),
            name: name.to_string(),
            ..TestCase::default()
        };
        let suite = TestSuite {
            name: "all".to_string(),
            cases: vec![case("hack bench: 4"), case("hack-bench (4)"), case("<>")],
            overall: case("all"),
            remarks: String::new(),
            time: None,
        };
        let ids = ["hack-bench-4", "hack-bench-4-2", "unnamed"]
            .map(|id| format!("<LAVA_SIGNAL_TESTCASE TEST_CASE_ID={id} RESULT=pass>\n"));
        let set = ["<LAVA_SIGNAL_TESTSET START set-1>\n", "<LAVA_SIGNAL_TESTSET STOP>\n"];
        assert_eq!(text(&suite), format!("{}{}{}", set[0], ids.concat(), set[1]));
    }
}
