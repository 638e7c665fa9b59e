//! JUnit XML, which continuous integration systems display.

use super::{Problem, SuiteTime, TestCase, TestSuite};
use latlab_model::Nanos;
use latlab_model::sanitize::escape_lines;

fn tag(kind: Problem) -> &'static str {
    match kind {
        Problem::Failure => "failure",
        Problem::Error => "error",
        Problem::Skipped => "skipped",
    }
}

/// The suite and all its remarks.
pub fn text(suite: &TestSuite) -> String {
    let cases = &suite.cases;
    let count = |kind: Problem| {
        cases.iter().filter(|case| case.problem.as_ref().is_some_and(|one| one.0 == kind)).count()
    };
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text += &format!(
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"{}>\n",
        xml_text(&suite.name),
        cases.len(),
        count(Problem::Failure),
        count(Problem::Error),
        count(Problem::Skipped),
        suite.time.as_ref().map(suite_time).unwrap_or_default()
    );
    cases.iter().for_each(|case| text += &test_case(case));
    text + &format!("  <system-out>{}</system-out>\n</testsuite>\n", xml_text(&suite.remarks))
}

/// Time, timestamp and host as attributes. The JUnit schema allows no time zone and no fractional
/// seconds in a timestamp.
fn suite_time(SuiteTime { started, took, hostname }: &SuiteTime) -> String {
    let started = started.get(..SECONDS_END).unwrap_or(started);
    let hostname = hostname.as_ref().map(|name| format!(" hostname=\"{}\"", xml_text(name)));
    format!(
        " time=\"{}\" timestamp=\"{}\"{}",
        seconds(*took),
        xml_text(started),
        hostname.unwrap_or_default()
    )
}

/// Length of `2026-11-29T09:26:36.22Z` up to the whole seconds.
const SECONDS_END: usize = 19;

fn seconds(time: Nanos) -> String {
    format!("{:.3}", time.as_secs_f64())
}

fn test_case(case: &TestCase) -> String {
    let (group, name) = (xml_text(&case.group), xml_text(&case.name));
    let took = case.took.map(|took| format!(" time=\"{}\"", seconds(took))).unwrap_or_default();
    let mut text = format!("  <testcase classname=\"{group}\" name=\"{name}\"{took}>\n");
    if let Some(properties) = &case.properties {
        let property = |(name, value): &(&str, String)| {
            format!("      <property name=\"{name}\" value=\"{}\"/>\n", xml_text(value))
        };
        let lines: String = properties.iter().map(property).collect();
        text += &format!("    <properties>\n{lines}    </properties>\n");
    }
    if let Some((kind, message)) = &case.problem {
        text += &format!("    <{} message=\"{}\"/>\n", tag(*kind), xml_text(message));
    }
    if let Some(output) = &case.output {
        text += &format!("    <system-out>{}</system-out>\n", xml_text(output));
    }
    text + "  </testcase>\n"
}

/// Text for XML 1.0, which forbids most control characters.
fn xml_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in escape_lines(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            c => safe.push(c),
        }
    }
    safe
}
