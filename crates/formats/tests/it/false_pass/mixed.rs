//! Outputs of two tools in one file: what one reader does not recognise must not lead to a pass.

use crate::cases::*;
use crate::outputs::{OUTPUTS, Output};
use crate::verdict::*;
use latlab_model::Nanos;

fn largest(output: &Output) -> Nanos {
    let read = read_text(output.text.as_bytes(), &query_of(output.command).0);
    judge(&read, Nanos(i64::MAX / 4)).1
}

/// Fails for each text that passes, for all pairs of a good output with a deadline that it meets,
/// and a late one, combined by `together`. A text has a name.
fn assert_none_passes(together: impl Fn(&Output, &Output) -> Vec<(String, String)>) {
    let all: Vec<(&Output, Nanos)> = OUTPUTS.iter().map(|one| (one, largest(one))).collect();
    let mut failed = Vec::new();
    for (good, in_time) in &all {
        let deadline = *in_time + Nanos(10_000);
        for (late, most) in all.iter().filter(|late| late.1 > deadline) {
            for (name, text) in together(good, late) {
                let (word, now) =
                    judge(&read_text(text.as_bytes(), &query_of(good.command).0), deadline);
                if word == Word::Pass {
                    failed.push(format!("* {name}: passes with {now}, not {most}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{} pairs:\n{}", failed.len(), failed.join("\n"));
}

/// A file with a good output and a late one, in either order, passes with none of the formats.
#[test]
fn a_late_output_next_to_a_good_one() {
    assert_none_passes(|good, late| {
        let above = |first: &Output, second: &Output| {
            let name = format!("{} above {}", first.name, second.name);
            (name, format!("{}{}", first.text, second.text))
        };
        vec![above(good, late), above(late, good)]
    });
}

/// The same with a shell command between them.
#[test]
fn a_late_output_behind_a_command() {
    assert_none_passes(|good, late| {
        let text = format!("$ ./good\n{}$ ./late\n{}$ \n", good.text, late.text);
        vec![(format!("{}, {}", good.name, late.name), text)]
    });
}
