//! The first advice for a run that is not good enough, depending on what is known.

use crate::common;
use latlab_model::Nanos;
use latlab_model::doctor::{Diagnosis, Effect, Sign, Topic};
use latlab_model::finding::{ConditionFinding, Finding, LatencyComparison, Severity, When};
use latlab_model::run::VerdictWord;
use latlab_model::shell::Line;
use latlab_report::{Style, summarise};

const THROTTLING: &str = "sysctl -w kernel.sched_rt_runtime_us=-1";

fn condition(code: &str, acts: (i64, i64), remedy: &'static str) -> Diagnosis {
    let (least, most) = acts;
    Diagnosis {
        code: code.to_string(),
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: Effect { acts: Some((Nanos(least), Nanos(most))), ..Effect::NONE },
        text: format!("It is {code}."),
        file: String::new(),
        value: String::new(),
        why: String::new(),
        cost: String::new(),
        remedy: Some(Line::new(remedy)),
        undo: None,
    }
}

fn throttling() -> Diagnosis {
    let effect = Effect::NONE.if_seen(Sign::Throttling).protecting("a loop then keeps its CPU");
    let one = condition("rt-throttling", (1_000_000, 1_000_000_000), THROTTLING);
    Diagnosis { effect: Effect { acts: one.effect.acts, ..effect }, ..one }
}

/// The summary of a run with this largest latency on such a machine.
fn said(word: VerdictWord, largest_us: i64, findings: Vec<Finding>) -> String {
    let mut run = common::normal().run;
    run.total.max_ns = Some(Nanos(largest_us * 1_000));
    run.verdict.as_mut().unwrap().word = word;
    run.doctor = Some(vec![
        condition("not-realtime", (20_000, 1_000_000_000), "apt install linux-image-rt-amd64"),
        throttling(),
    ]);
    run.findings = findings;
    summarise(&run, "", 100, Style { colour: false })
}

fn was_throttled() -> Finding {
    let latencies = LatencyComparison { recorded: "latency".into(), then: None, otherwise: None };
    let when = When { from_ns: Nanos(0), to_ns: Nanos(1) };
    let event = "rt-throttling".to_string();
    Finding::new(ConditionFinding::KernelEvent { event, count: 1, when, latencies })
}

/// Invariant (doctor): Nothing is suspected that cannot make a latency of that size.
#[test]
fn a_condition_is_suspected_only_where_it_can_make_such_a_latency() {
    let small = said(VerdictWord::Fail, 6, Vec::new());
    assert!(!small.contains("rt-throttling") && !small.contains("not-realtime"), "{small}");
    assert!(small.contains("Try first [explain]: Measure again with `--explain`"), "{small}");
    let large = said(VerdictWord::Fail, 5_000, Vec::new());
    assert!(large.contains("Try first [not-realtime]: apt install"), "{large}");
    assert!(!large.contains("rt-throttling"), "no period was throttled: {large}");
    let throttled = said(VerdictWord::Fail, 50_000, vec![was_throttled()]);
    assert!(throttled.contains("[rt-throttling]"), "{throttled}");
}

#[test]
fn after_a_pass_nothing_is_to_be_tried() {
    let text = said(VerdictWord::Pass, 50_000, vec![was_throttled()]);
    assert!(text.contains("Noticed:") && !text.contains("Try first"), "{text}");
    assert!(!text.contains("not-realtime"), "{text}");
}

#[test]
fn a_remedy_that_takes_a_protection_away_says_so() {
    let mut run = common::normal().run;
    run.total.max_ns = Some(Nanos(50_000_000));
    run.verdict.as_mut().unwrap().word = VerdictWord::Fail;
    run.doctor = Some(vec![throttling()]);
    run.findings = vec![was_throttled()];
    let text = summarise(&run, "", 100, Style { colour: false });
    assert!(text.contains(&format!("Try first [rt-throttling]: {THROTTLING}\n")), "{text}");
    assert!(text.contains("This removes a protection: a loop then keeps its CPU."), "{text}");
}
