//! Translates messages to cyclictest's options: the code that measures and stores is shared with
//! `latlab run`, and names that command's options.

use std::fmt::Display;

/// Options of `latlab run`, and the equivalent ones of cyclictest.
const OWN: [(&str, &str); 10] = [
    ("--cpus", "--affinity"),
    ("--cycles", "--loops"),
    ("--for", "--duration"),
    ("--helpers-on", "--mainaffinity"),
    ("--idle-states system", "--default-system"),
    ("--idle-states", "--latency"),
    ("--period", "--interval"),
    ("--period-step", "--distance"),
    ("--set", "--deepest-idle-state"),
    ("--stop-above", "--breaktrace"),
];

/// Translates a message. Text between backquotes is a command of another program and stays.
pub fn own_words(message: impl Display) -> String {
    let message = message.to_string();
    let parts = message.split('`').enumerate();
    let parts =
        parts.map(|(at, part)| if at % 2 == 0 { translated(part) } else { part.to_string() });
    parts.collect::<Vec<_>>().join("`")
}

fn translated(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        out += &rest[..at];
        rest = &rest[at..];
        let end = rest.find(|c: char| c != '-' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let with_value = OWN.iter().find(|(run, _)| run.contains(' ') && rest.starts_with(run));
        let alone = || OWN.iter().find(|(run, _)| *run == &rest[..end]);
        match with_value.or_else(alone) {
            Some((run, own)) => {
                out += own;
                rest = &rest[run.len()..];
            }
            None => {
                out += &rest[..end];
                rest = &rest[end..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::cyclictest::option_table::TABLE;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// Sources of the messages that `latlab cyclictest` can print.
    const SOURCES: [&str; 12] = [
        "agent/src/cpu_claim.rs",
        "agent/src/layout.rs",
        "agent/src/prepare.rs",
        "agent/src/refusals.rs",
        "agent/src/tuning/affinity.rs",
        "conduct/src/disk_space.rs",
        "model/src/plan/check.rs",
        "model/src/plan/cyclic.rs",
        "model/src/plan/policy.rs",
        "store/src/error.rs",
        "cli/src/store.rs",
        "cli/src/commands/cyclictest/*",
    ];
    /// Options that no plan of cyclictest uses, so that messages about them are never printed.
    const NOT_ASKED: [&str; 24] = [
        "--baseline",
        "--board-folder",
        "--deadline",
        "--detach",
        "--explain",
        "--instrument",
        "--breakdown",
        "--limit",
        "--load",
        "--mechanism",
        "--overruns",
        "--on-spike",
        "--phase",
        "--samples",
        "--share",
        "--spike-above",
        "--target",
        "--telemetry",
        "--timer-slack",
        "--tune",
        "--until-decided",
        "--wakers-on",
        "--warm-up",
        "--window",
    ];

    /// The options in a text outside of backquotes.
    fn options(text: &str) -> BTreeSet<String> {
        let outside = text.split('`').step_by(2);
        let words =
            outside.flat_map(|part| part.split(|c: char| c != '-' && !c.is_ascii_alphanumeric()));
        let words = words.filter(|word| word.starts_with("--"));
        let words = words.map(|word| word.trim_end_matches('-').to_string());
        words.filter(|word| !word.is_empty()).collect()
    }

    /// String literals of a source, without its tests and comments.
    fn texts(source: &str) -> Vec<String> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code = lines.collect::<Vec<_>>().join("\n").replace("\\\"", "'").replace("'\"'", "' '");
        code.split('"').skip(1).step_by(2).map(|text| text.replace("\\\n", " ")).collect()
    }

    fn files(pattern: &str) -> Vec<String> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        match pattern.strip_suffix("/*") {
            None => vec![read(&crates.join(pattern))],
            Some(folder) => {
                let entries = fs::read_dir(crates.join(folder)).unwrap();
                let paths = entries.map(|entry| entry.unwrap().path());
                let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
                let not_here = |path: &std::path::PathBuf| !path.ends_with("own_words.rs");
                paths.filter(not_here).map(|path| read(&path)).collect()
            }
        }
    }

    #[test]
    fn no_message_advises_an_option_that_cyclictest_does_not_have() {
        let own: BTreeSet<String> =
            TABLE.iter().map(|entry| format!("--{}", entry.spec.long)).collect();
        let mut found = 0;
        for source in SOURCES.iter().flat_map(|pattern| files(pattern)) {
            // Commands of `latlab` are printed to be pasted, so they keep their own options.
            for text in texts(&source).into_iter().filter(|text| !text.starts_with("latlab ")) {
                for option in options(&own_words(&text)) {
                    let is_known = own.contains(&option) || NOT_ASKED.contains(&option.as_str());
                    assert!(is_known, "{option} in '{text}'");
                    found += 1;
                }
            }
        }
        assert!(found > 40, "{found} options in all messages");
        assert!(OWN.iter().all(|(_, ours)| own.contains(*ours)));
    }

    #[test]
    fn commands_of_other_programs_stay_as_they_are() {
        let advice = "use --helpers-on or --period, --period-step 5; run `latlab run --for 5s`, or measure \
                      with --policy other --idle-states system";
        assert_eq!(
            own_words(advice),
            "use --mainaffinity or --interval, --distance 5; run `latlab run --for 5s`, or measure \
             with --policy other --default-system"
        );
    }
}
