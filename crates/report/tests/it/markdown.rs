//! Markdown: every word of it, and that no text escapes its place.

use crate::common;
use latlab_model::doctor::{Diagnosis, Effect, Topic};
use latlab_model::finding::{CaptureFinding, Finding, Severity};
use latlab_report::{markdown, markdown_list};
use proptest::prelude::*;

#[test]
fn the_markdown_is_golden() {
    for (name, fixture) in common::all().into_iter().filter(|(name, _)| *name != "many") {
        insta::assert_snapshot!(format!("{name}"), markdown(&fixture.run));
    }
    let all = common::all();
    let runs: Vec<&latlab_model::Run> = all.iter().map(|(_, fixture)| &fixture.run).collect();
    insta::assert_snapshot!("list", markdown_list(&runs));
}

/// A run with all texts replaced by this one.
fn filled(text: &str) -> latlab_model::Run {
    let mut run = common::invalid().run;
    run.id = text.into();
    run.latlab = text.into();
    run.asked.name = text.into();
    run.asked.note = Some(text.into());
    run.machine.hostname = Some(format!("h{text}"));
    run.machine.kernel = text.into();
    run.threads.iter_mut().for_each(|thread| thread.setup.policy = text.into());
    run.threads.iter_mut().for_each(|thread| thread.setup.core_type = Some(text.into()));
    for finding in &mut run.findings {
        *finding = Finding::new(CaptureFinding::CaptureNote { note: text.into() });
    }
    run.verdict.as_mut().unwrap().sentence = Some(text.into());
    run
}

/// Lines outside of the code block, which comes last.
fn prose(text: &str) -> Vec<&str> {
    text.lines().take_while(|line| !line.starts_with("```")).collect()
}

/// Unescaped cell separators.
fn bars(line: &str) -> usize {
    let mut before = '|';
    let mut bars = 0;
    for c in line.chars() {
        bars += usize::from(c == '|' && before != '\\');
        before = if before == '\\' { ' ' } else { c };
    }
    bars
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_text_gets_out_of_its_place(
        text in "([|`<>*_\\[\\]#@&!~$\\\\\r\n\t\u{0}\u{2028}\u{1b}a1 -]|\\PC){0,24}"
    ) {
        let (plain, odd) = (markdown(&filled("a")), markdown(&filled(&text)));
        let (plain, odd) = (prose(&plain), prose(&odd));
        prop_assert_eq!(plain.len(), odd.len(), "as many lines");
        for (plain, odd) in plain.iter().zip(&odd) {
            prop_assert!(!odd.contains(char::is_control));
            let begins = |line: &str| line.chars().next();
            prop_assert!(begins(plain) == begins(odd) || plain.is_empty());
            if begins(plain) == Some('|') {
                prop_assert_eq!(bars(plain), bars(odd), "as many cells: {}", odd);
            }
            // No tag, code span or link: each of their characters is escaped.
            let bare = odd.replace("<!-- -->", "").replace("\\\\", "");
            for sign in ['<', '`', ']', '&'] {
                for (at, _) in bare.match_indices(sign) {
                    prop_assert!(bare[..at].ends_with('\\'), "{}", odd);
                }
            }
        }
    }

    #[test]
    fn the_command_stays_in_its_block(text in "[`\n a]{0,20}") {
        let all = markdown(&filled(&text));
        let (_, block) = all.split_once("Repeat it:\n\n").unwrap();
        let fence = block.split("sh\n").next().unwrap();
        let inside = &block[fence.len() + 3..block.len() - fence.len() - 1];
        prop_assert!(fence.len() >= 3 && !inside.contains(fence));
    }
}

#[test]
fn nobody_is_called_and_no_issue_is_linked() {
    let mut run = common::normal().run;
    run.machine.kernel = "6.1 #1 by @someone".into();
    let text = markdown(&run);
    assert!(text.contains("6.1 #<!-- -->1 by @<!-- -->someone"), "{text}");
}

#[test]
fn the_doctor_has_its_lines() {
    let text = |text: &str| text.to_string();
    let one = Diagnosis {
        effect: Effect::NONE,
        code: text("idle"),
        severity: Severity::Warning,
        topic: Topic::Cpu,
        text: text("a|b"),
        file: text("/sys/x"),
        value: text("1"),
        why: text("why"),
        cost: text("cost"),
        remedy: None,
        undo: None,
    };
    let mut run = common::normal().run;
    run.doctor = Some(vec![one]);
    let text = markdown(&run);
    assert!(
        text.contains(
            "Diagnoses of this machine (1 warning):\n\n- **warning**: a\\|b \\[idle\\]\n"
        )
    );
}
