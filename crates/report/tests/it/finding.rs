//! The texts of findings: all in one list, and the reference against what is printed.

#[path = "../../../model/tests/it/finding/examples.rs"]
mod examples;

pub use examples::all;
use latlab_model::finding::*;
use latlab_report::{FINDING_TOPICS, InWords, Said};
use serde_json::json;

#[test]
fn every_sentence_in_one_list() {
    let list = all().into_iter().map(|kind| {
        let finding = Finding::new(kind);
        let Weight { severity, effect } = finding.weight();
        let effect = match effect {
            VerdictEffect::None => "",
            VerdictEffect::ForbidsPass => ", no pass",
            VerdictEffect::MakesInvalid => ", invalid",
        };
        let remedy = finding.remedy().map(|remedy| format!("\n    -> {remedy}"));
        let (code, text) = (finding.code(), finding.text());
        format!("{code} ({severity}{effect})\n    {text}{}\n", remedy.unwrap_or_default())
    });
    insta::assert_snapshot!(list.collect::<Vec<String>>().join("\n"));
}

/// Whether a printed text may come from a template.
fn is_of(template: &str, printed: &str) -> bool {
    let mut rest = printed;
    let mut parts =
        template.split('{').map(|part| part.split_once('}').map_or(part, |(_, own)| own));
    let begins = parts.next().is_none_or(|first| {
        let behind = rest.strip_prefix(first);
        rest = behind.unwrap_or_default();
        behind.is_some()
    });
    begins
        && parts.all(|own| match rest.find(own) {
            Some(at) => {
                rest = &rest[at + own.len()..];
                true
            }
            None => false,
        })
}

/// Invariant (documents): Each text and remedy of the reference is one that is printed.
#[test]
fn all_that_is_documented_is_printed() {
    let all: Vec<Finding> = all().into_iter().map(Finding::new).collect();
    let mut unprinted = Vec::new();
    for (row, words) in FINDING_TOPICS.iter().flat_map(|topic| topic.entries()) {
        let printed: Vec<&Finding> = all.iter().filter(|one| one.code() == row.code).collect();
        for Said { text, remedies } in words.says {
            let of_text: Vec<_> = printed.iter().filter(|one| is_of(text, &one.text())).collect();
            if of_text.is_empty() {
                unprinted.push(format!("{}: {text}", row.code));
                continue;
            }
            for remedy in *remedies {
                let is_printed = of_text
                    .iter()
                    .filter_map(|one| one.remedy())
                    .any(|printed| is_of(remedy, printed.as_str()));
                if !is_printed {
                    unprinted.push(format!("{}: {text}\n{remedy}", row.code));
                }
            }
        }
    }
    assert_eq!(unprinted, <[String; 0]>::default());
}

#[test]
fn each_code_has_words_and_all_words_a_code() {
    for topic in FINDING_TOPICS {
        let codes: Vec<&str> = topic.rows.iter().map(|row| row.variant).collect();
        let words: Vec<&str> = topic.words.iter().map(|words| words.variant).collect();
        assert_eq!(codes, words, "{}", topic.title);
    }
}

#[test]
fn no_placeholder_is_left() {
    for finding in all().into_iter().map(Finding::new) {
        let remedy = finding.remedy().map(|remedy| remedy.to_string()).unwrap_or_default();
        assert!(!format!("{}{remedy}", finding.text()).contains(['{', '}']), "{finding:?}");
    }
}

#[test]
fn what_is_printed_has_its_sentences_beside_its_parameters() {
    let lost = LossFinding::SpikesLost { count: 17 };
    let printed = serde_json::to_value(Finding::new(lost).of_thread(1).rendered()).unwrap();
    let expected = json!({
        "code": "spikes-lost", "count": 17, "at_ns": null, "thread": 1, "severity": "warning",
        "text": "The times of 17 large latencies are lost: they came faster than they could be \
                 stored. The histogram contains them all.",
        "remedy": null, "effect": "none",
    });
    assert_eq!(printed, expected);
    assert_eq!(serde_json::from_value::<Finding>(printed).unwrap().code(), "spikes-lost");
}

#[test]
fn a_finding_of_a_newer_version_is_shown_by_its_code() {
    let stored = json!({ "code": "from-the-future", "degrees": 7, "severity": "error", "effect": "invalid" });
    let finding: Finding = serde_json::from_value(stored).unwrap();
    assert!(finding.text().contains("'from-the-future' is unknown to this version"));
    let printed = serde_json::to_value(finding.rendered()).unwrap();
    assert_eq!((&printed["degrees"], &printed["severity"]), (&json!(7), &json!("error")));
}
