//! KTAP, the kernel's format of test results: one test, with the cases as subtests.

use super::{Problem, TestCase, TestSuite};
use latlab_model::sanitize::escape_controls;

/// The suite, with each case's output.
pub fn text(suite: &TestSuite) -> String {
    let mut text = format!("KTAP version 1\n1..1\n  KTAP version 1\n  1..{}\n", suite.cases.len());
    for (number, case) in suite.cases.iter().enumerate() {
        let name = match case.group == suite.name {
            true => case.name.clone(),
            false => format!("{}: {}", case.group, case.name),
        };
        text += &result("  ", number + 1, &name, case);
    }
    text + &result("", 1, &suite.overall.name, &suite.overall)
}

/// The output of a case, followed by its result.
fn result(indent: &str, number: usize, name: &str, case: &TestCase) -> String {
    let name = escape_controls(name);
    let said = case.text().lines().filter(|line| !line.is_empty());
    let said = said.map(|line| format!("{indent}# {name}: {}\n", escape_controls(line)));
    // A # in a name would start a directive.
    let name = name.replace('#', "_");
    let result = match &case.problem {
        None => format!("ok {number} {name}"),
        Some((Problem::Failure, _)) => format!("not ok {number} {name}"),
        Some((Problem::Error, _)) => format!("not ok {number} {name} # ERROR no answer"),
        Some((Problem::Skipped, why)) => {
            format!("ok {number} {name} # SKIP {}", escape_controls(why))
        }
    };
    format!("{}{indent}{result}\n", said.collect::<String>())
}
