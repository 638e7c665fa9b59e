//! Lists in terminals of any width: every entry is named, and no line is too long.

use crate::common;
use latlab_model::Nanos;
use latlab_model::explanation::{
    BlamePart, Cause, CauseKind, CpuBefore, RunCause, RunExplanation, SpikeBlame, TracedThread,
    UnexplainedReason, WakePhase,
};
use latlab_model::run::VerdictWord;
use latlab_model::shell::Line;
use latlab_report::campaign::{CampaignEntry, SheetEntry, campaigns, sheets};
use latlab_report::{
    Column, LoadEntry, Style, causes_text, load_entry, rendered_spike, run_length, spike_sentence,
    table, timeline,
};
use latlab_stats::{AllowedBursts, RunLength};
use latlab_store::{CampaignCounts, CampaignSummary};
use proptest::prelude::*;

const PLAIN: Style = Style { colour: false };
const REMEDY: &str = "Find out who starts it, and move it to another CPU.";

/// Checks that a text contains all of these words regardless of line breaks, and that no line is too
/// long. Only a word that is longer than a line may continue on the next one, or take a line alone,
/// which the terminal wraps.
fn check(text: &str, words: &[&str], width: usize) -> Result<(), TestCaseError> {
    let unbroken: String = text.split_whitespace().collect();
    for word in words.iter().flat_map(|words| words.split_whitespace()) {
        let is_there = text.contains(word) || word.len() > width && unbroken.contains(word);
        prop_assert!(is_there, "{word} at {width}:\n{text}");
    }
    let lines = text.lines().filter(|line| line.split_whitespace().count() > 1);
    let longest = lines.map(|line| line.chars().count()).max();
    prop_assert!(longest <= Some(width), "at {width}:\n{text}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
    #[test]
    fn no_width_costs_a_load_or_a_sheet(
        name in "[a-z]{3,10}(-[a-z]{2,5})?",
        about in "[a-z]{1,12}( [a-z]{1,12}){0,20}",
        parameters in "([a-z]{2,6}=[0-9]{1,5}( |, )){0,8}[a-z]{2,6}=[0-9]{1,5}",
        is_here in any::<bool>(),
    ) {
        let place = format!("needs the program {name}; built in");
        let load = LoadEntry {
            name: name.clone(),
            about: about.clone(),
            parameters: parameters.clone(),
            place,
            is_here,
        };
        let sheet = SheetEntry {
            name: name.clone(),
            about: about.clone(),
            runs: 12,
            total_ns: Nanos(90_000_000_000),
        };
        for width in 60..=200 {
            check(&load_entry(&load, width, PLAIN), &[&name, &about, &parameters, "needs"], width)?;
            check(&sheets(std::slice::from_ref(&sheet), width), &[&name, &about, "12 runs"], width)?;
        }
    }

    /// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
    #[test]
    fn no_width_costs_a_plan_or_its_command(
        lengths in prop::collection::vec(1i64..400_000, 1..6),
        deadline in prop::option::of(1i64..100_000_000),
    ) {
        let plan = |(bursts, seconds): (u64, &i64)| AllowedBursts {
            bursts,
            fixed_ns: Nanos(seconds * 1_000_000_000),
            any_time_ns: Nanos(seconds * 2_000_000_000),
        };
        let plans = (0..).zip(&lengths).map(plan).collect();
        let length = RunLength { limit_per_hour: 0.1, confidence: 0.95, plans };
        for width in 60..=200 {
            let said = run_length(&length, deadline.map(Nanos), width, PLAIN);
            let command = format!("--for {}s", lengths[0]);
            let rows: Vec<String> = (0..lengths.len()).map(|row| row.to_string()).collect();
            let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
            check(&said, &[&["latlab run", &command, "bursts", "95"], &rows[..]].concat(), width)?;
        }
    }

    /// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
    #[test]
    fn no_width_costs_a_cause_its_remedy_or_a_part(
        names in prop::collection::vec("[a-z]{1,12}(/[a-z0-9]{1,8}){0,2}", 1..6),
        lengths in prop::collection::vec(1i64..10_000_000, 6),
        reason in prop::sample::select(UnexplainedReason::ALL),
    ) {
        let named = |name: &str| Cause { kind: CauseKind::Thread, name: name.to_string() };
        let cause = |(name, length): (&String, &i64)| RunCause {
            cause: named(name),
            count: 12_345,
            share: 0.25,
            total_ns: Nanos(length * 12_345),
            largest_ns: Nanos(*length),
            cpus: vec![0, 1, 2, 3],
            first_ns: Nanos(1_000_000_000),
            last_ns: Nanos(90_000_000_000),
            kernel_priority: Some(4),
            thread: Some(4711),
            process: None,
            started: Vec::new(),
            realtime: None,
            remedy: Some(Line::new(REMEDY)),
        };
        let mut end = 0;
        let parts: Vec<BlamePart> = names.iter().zip(&lengths).map(|(name, length)| {
            let from_ns = Nanos(end);
            end += length;
            BlamePart {
                from_ns,
                to_ns: Nanos(end),
                phase: WakePhase::Waiting,
                cause: named(name),
                thread: Some(TracedThread { id: 4711, kernel_priority: Some(4), known: None, started_by: None }),
                evidence: None,
                detail: None,
            }
        }).collect();
        let blame = SpikeBlame {
            spike: 17,
            thread: 1,
            cpu: Some(3),
            release_ns: Nanos(5_000_000_000),
            latency_ns: Nanos(end),
            parts,
            cause: None,
            cause_ns: Nanos(0),
            longest: None,
            started: Vec::new(),
            reason: Some(reason),
            sentence: None,
            stolen: None,
            gap: None,
            before: CpuBefore::default(),
        };
        let mut run = common::normal().run;
        let explanation = RunExplanation {
            causes: names.iter().zip(&lengths).map(cause).collect(),
            largest: vec![blame.clone()],
            ..RunExplanation::default()
        };
        run.explanation = Some(explanation);
        let (sentence, reason) = (spike_sentence(&blame), rendered_spike(&blame).gap.unwrap());
        let words: Vec<&str> = names.iter().map(String::as_str).chain([sentence.as_str()]).collect();
        for width in 60..=200 {
            let said = causes_text(&run, width, PLAIN);
            check(&said, &[&words[..], &[REMEDY]].concat(), width)?;
            let said = timeline(&blame, &run, width, PLAIN);
            check(&said, &[&words[..], &["Spike 17"], &[reason.as_str()]].concat(), width)?;
        }
    }

    /// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
    #[test]
    fn no_width_costs_a_table_what_is_never_given_up(
        names in prop::collection::vec("[a-z0-9]{1,20}([-:/.][a-z0-9]{1,15}){0,3}", 1..8),
        words in prop::collection::vec("[a-z]{1,12}( [a-z]{1,12}){0,6}", 8),
        numbers in prop::collection::vec(any::<u32>(), 8),
    ) {
        let many = names.len();
        let of_number = || numbers[..many].iter().map(|number| number.to_string());
        for width in 60..=200 {
            let columns = vec![
                Column::new("run", 0, names.clone()).left(),
                Column::new("a word or two", 0, words[..many].to_vec()).left(),
                Column::new("largest", 0, of_number()).unit("us"),
                Column::new("of less weight", 3, of_number()),
                Column::new("of little weight", 5, of_number()),
            ];
            let said = table(columns, width, PLAIN);
            let wanted: Vec<&str> = names.iter().chain(&words[..many]).map(String::as_str).collect();
            check(&said, &wanted, width)?;
            for number in of_number() {
                prop_assert!(said.contains(&number), "{number} at {width}:\n{said}");
            }
        }
    }
}

/// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
#[test]
fn no_width_costs_a_campaign() {
    let entry = |id: &str, summary| CampaignEntry { id: id.into(), summary };
    let counts = CampaignCounts { planned: 12, measured: 7, invalid: 0, failed: 0, damaged: 0 };
    let verdicts = vec![(VerdictWord::Pass, 4), (VerdictWord::Fail, 3)];
    let entries = [
        entry(
            "20261121T160430Z_stress-five-on-both-kernels",
            Ok(CampaignSummary { counts, verdicts }),
        ),
        entry("20261121T170430Z_other", Err("the file campaign.json ends too early".into())),
    ];
    for width in 60..=200 {
        let said = campaigns(&entries, width);
        for words in
            ["_stress-five-on-both-kernels:", "4 pass, 3 fail,", "_other:", "--resume", "too early"]
        {
            let mut words = words.split(' ');
            assert!(words.all(|word| said.contains(word)), "at {width}:\n{said}");
        }
        assert!(said.lines().all(|line| line.chars().count() <= width), "at {width}:\n{said}");
    }
}
