//! Outputs of two tools in one file: what one reader does not know is no reason to pass.

use crate::cases::*;
use crate::outputs::{OUTPUTS, Output};
use crate::verdict::*;
use latlab_model::Nanos;

fn largest(output: &Output) -> Nanos {
    let read = read_text(output.text.as_bytes(), &query_of(output.command).0);
    judge(&read, Nanos(i64::MAX / 4)).1
}

/// A file with a good output and one that is late, in each order, passes with none of the formats.
#[test]
fn a_late_output_next_to_a_good_one() {
    let all: Vec<(&Output, Nanos)> = OUTPUTS.iter().map(|one| (one, largest(one))).collect();
    let mut failed = Vec::new();
    for (good, in_time) in &all {
        let deadline = *in_time + Nanos(10_000);
        for (late, most) in all.iter().filter(|late| late.1 > deadline) {
            for (first, second) in [(good, late), (late, good)] {
                let text = format!("{}{}", first.text, second.text);
                let (word, now) =
                    judge(&read_text(text.as_bytes(), &query_of(good.command).0), deadline);
                if word == Word::Pass {
                    let names = (first.name, second.name);
                    failed.push(format!(
                        "* {} above {}: passes with {now}, not {most}",
                        names.0, names.1
                    ));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} pairs:\n{}", failed.len(), failed.join("\n"));
}

/// The same with a line of the shell between them.
#[test]
fn a_late_output_behind_a_command() {
    let all: Vec<(&Output, Nanos)> = OUTPUTS.iter().map(|one| (one, largest(one))).collect();
    let mut failed = Vec::new();
    for (good, in_time) in &all {
        let deadline = *in_time + Nanos(10_000);
        for (late, most) in all.iter().filter(|late| late.1 > deadline) {
            let text = format!("$ ./good\n{}$ ./late\n{}$ \n", good.text, late.text);
            let (word, now) =
                judge(&read_text(text.as_bytes(), &query_of(good.command).0), deadline);
            if word == Word::Pass {
                failed
                    .push(format!("* {}, {}: passes with {now}, not {most}", good.name, late.name));
            }
        }
    }
    assert!(failed.is_empty(), "{} pairs:\n{}", failed.len(), failed.join("\n"));
}
