//! Sentences on causes of latencies.

use latlab_model::Nanos;
use latlab_model::Run;
use latlab_model::explanation::*;
use latlab_model::plan::Policy;
use latlab_model::shell::Line;
use latlab_report::{cause_remedy, rendered, spike_sentence};

fn spike(cause: Option<(CauseKind, &str)>) -> SpikeBlame {
    let named = |(kind, name): (CauseKind, &str)| Cause { kind, name: name.to_string() };
    SpikeBlame {
        spike: 7,
        thread: 0,
        cpu: Some(1),
        release_ns: Nanos(5_000_000),
        latency_ns: Nanos(2_000_000),
        parts: Vec::new(),
        cause: cause.map(named),
        cause_ns: Nanos(1_500_000),
        longest: cause.map(|cause| BlamePart {
            from_ns: Nanos(0),
            to_ns: Nanos(1_000_000),
            phase: WakePhase::Waiting,
            cause: named(cause),
            thread: None,
            evidence: None,
            detail: None,
        }),
        started: Vec::new(),
        reason: None,
        sentence: None,
        stolen: None,
        before: CpuBefore::default(),
        gap: None,
    }
}

fn with_evidence(spike: SpikeBlame, evidence: CauseEvidence) -> SpikeBlame {
    let longest = spike.longest.map(|part| BlamePart { evidence: Some(evidence), ..part });
    SpikeBlame { longest, ..spike }
}

/// Everything that a run can store about its spikes.
fn explanation() -> RunExplanation {
    let printed = with_evidence(
        spike(Some((CauseKind::Printk, "logger"))),
        CauseEvidence::LinesPrinted { lines: 3 },
    );
    let parts = printed.longest.iter().cloned().collect();
    RunExplanation {
        explained: 1,
        causes: vec![RunCause {
            cause: Cause { kind: CauseKind::Thread, name: "hog".to_string() },
            count: 1,
            share: 0.5,
            total_ns: Nanos(1_500_000),
            largest_ns: Nanos(1_500_000),
            cpus: vec![1],
            first_ns: Nanos(0),
            last_ns: Nanos(0),
            kernel_priority: Some(4),
            thread: Some(60),
            process: None,
            started: Vec::new(),
            realtime: None,
            remedy: None,
        }],
        unexplained: vec![Unexplained {
            reason: Some(UnexplainedReason::EventsLost),
            count: 1,
            why: None,
        }],
        largest: vec![
            SpikeBlame { parts, ..printed },
            SpikeBlame { reason: Some(UnexplainedReason::EventsLost), ..spike(None) },
        ],
        ..RunExplanation::default()
    }
}

/// The fields that hold texts.
const TEXTS: [&str; 6] = ["sentence", "gap", "detail", "realtime", "remedy", "why"];

fn texts_in(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| {
                let own = TEXTS.contains(&name.as_str()).then(|| name.clone());
                own.into_iter().chain(texts_in(value)).collect::<Vec<_>>()
            })
            .collect(),
        serde_json::Value::Array(values) => values.iter().flat_map(texts_in).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn an_explanation_is_stored_as_codes_and_printed_with_its_texts() {
    let stored = serde_json::to_value(explanation()).unwrap();
    assert_eq!(texts_in(&stored), Vec::<String>::new());
    assert_eq!(serde_json::from_value::<RunExplanation>(stored).unwrap(), explanation());
    let printed = rendered(&Run { explanation: Some(explanation()), ..crate::common::empty().run })
        .explanation
        .unwrap();
    let [cause] = &printed.causes[..] else { panic!("{printed:?}") };
    assert_eq!(cause.realtime.as_deref(), Some("real-time priority 95"));
    assert_eq!(cause.remedy.as_ref().map(Line::as_str), Some("chrt --fifo --pid 89 60"));
    assert_eq!(printed.unexplained[0].why.as_deref(), Some("events were lost"));
    let [told, lost] = &printed.largest[..] else { panic!("{printed:?}") };
    assert_eq!(
        told.sentence.as_deref(),
        Some("2 ms: logger printed to the console for 1.5 ms (3 lines printed), 75 % of it.")
    );
    assert_eq!(told.parts[0].detail.as_deref(), Some("3 lines printed"));
    assert_eq!(lost.sentence.as_deref(), Some("2 ms: not explained: events were lost."));
    assert_eq!(lost.gap.as_deref(), Some("events were lost"));
    let names = texts_in(&serde_json::to_value(&printed).unwrap());
    assert!(TEXTS.iter().all(|text| names.iter().any(|name| name == text)), "{names:?}");
}

#[test]
fn a_spike_without_a_cause_says_why() {
    let of = |reason| spike_sentence(&SpikeBlame { reason, ..spike(None) });
    assert_eq!(
        of(Some(UnexplainedReason::CauseUnknown)),
        "2 ms: not explained: the recorded events do not show the cause."
    );
    let all: Vec<String> = UnexplainedReason::ALL.iter().map(|one| of(Some(*one))).collect();
    let is_one_sentence = |text: &&String| text.ends_with('.') && text.matches('.').count() == 1;
    assert_eq!(all.iter().filter(is_one_sentence).count(), all.len(), "{all:?}");
    assert!((1..all.len()).all(|at| !all[..at].contains(&all[at])), "{all:?}");
}

#[test]
fn what_is_started_is_told_by_name_and_number() {
    let started = |name: &str, threads| StartedThreads { name: name.to_string(), threads };
    let make = SpikeBlame {
        started: vec![started("cc1", 1), started("sh", 12)],
        ..spike(Some((CauseKind::Starts, "make")))
    };
    assert_eq!(
        spike_sentence(&make),
        "2 ms: processes started by make ran for 1.5 ms (cc1, sh 12 times), 75 % of it."
    );
}

#[test]
fn evidence_is_told_in_brackets() {
    let softirq = spike(Some((CauseKind::Softirq, "TIMER")));
    let of = |evidence| spike_sentence(&with_evidence(softirq.clone(), evidence));
    let called = |function: Option<&str>, thread: Option<&str>| CauseEvidence::Called {
        function: function.map(str::to_string),
        thread: thread.map(str::to_string),
    };
    assert!(of(called(Some("tick"), Some("make"))).contains("1.5 ms (tick in make), 75 %"));
    assert!(of(called(None, Some("make"))).contains("1.5 ms (in make), 75 %"));
    let stolen = CauseEvidence::Stolen { silence_ns: Nanos(9_000_000), rose_ns: Nanos(10_000_000) };
    assert!(of(stolen).contains("(no event for 9 ms, while steal rose by 10 ms)"));
    assert!(of(CauseEvidence::PageFaults { faults: 1_200 }).contains("(1 200 page faults)"));
    assert!(of(CauseEvidence::ShorterCauses { causes: 2 }).contains("(and 2 shorter causes)"));
}

/// A thread delayed by this cause.
pub fn held_off_by(kind: CauseKind, name: &str) -> RunCause {
    RunCause {
        cause: Cause { kind, name: name.to_string() },
        count: 1,
        share: 1.0,
        total_ns: Nanos(1),
        largest_ns: Nanos(1),
        cpus: vec![0],
        first_ns: Nanos(0),
        last_ns: Nanos(0),
        kernel_priority: None,
        thread: None,
        process: None,
        started: Vec::new(),
        realtime: None,
        remedy: None,
    }
}

#[test]
fn a_command_names_any_thread_and_nothing_else() {
    let of = |name: &str| cause_remedy(&held_off_by(CauseKind::Thread, name), None).to_string();
    assert_eq!(of("compiler"), "pgrep -x compiler | xargs -n 1 taskset -apc CPUS");
    let pattern = |name: &str| {
        let command = of(name);
        let rest = command.strip_prefix("pgrep -x ").unwrap();
        rest.strip_suffix(" | xargs -n 1 taskset -apc CPUS").unwrap().to_string()
    };
    assert_eq!(of("irq/33-eth0"), "echo CPUS > /proc/irq/33/smp_affinity_list");
    assert_eq!(pattern("irq/$(id>a)-x"), "'irq/\\$\\(id>a\\)-x'");
    assert_eq!(pattern("a b;reboot"), "'a b;reboot'");
    assert_eq!(pattern("it's"), "'it'\\''s'");
    assert_eq!(pattern("a.*(b)"), "'a\\.\\*\\(b\\)'");
    assert_eq!(pattern("$(id)\n`id`"), "'\\$\\(id\\).`id`'");
    assert_eq!(pattern("-f"), "-- -f");
    assert_eq!(pattern(""), "''");
}

#[test]
fn other_timers_are_moved_with_the_thread_that_starts_them() {
    let of = |process: Option<&str>, thread| {
        let process = process.map(str::to_string);
        let timers = held_off_by(CauseKind::OtherTimers, "timerfd_tmrproc");
        cause_remedy(&RunCause { process, thread, ..timers }, None).to_string()
    };
    assert_eq!(of(Some("server"), Some(7)), "pgrep -x server | xargs -n 1 taskset -apc CPUS");
    assert_eq!(of(None, Some(7)), "taskset -pc CPUS 7");
    assert_eq!(
        of(None, None),
        "Isolate the CPU: isolcpus=CPUS nohz_full=CPUS on the kernel's command line."
    );
}

#[test]
fn what_is_started_is_held_back_at_who_starts_it() {
    let of = |kernel_priority, policy| {
        let starts = held_off_by(CauseKind::Starts, "make");
        cause_remedy(&RunCause { thread: Some(60), kernel_priority, ..starts }, policy).to_string()
    };
    assert_eq!(of(None, None), "taskset -pc CPUS 60");
    assert_eq!(of(Some(4), None), "chrt --fifo --pid 89 60");
    assert_eq!(of(Some(4), Some(Policy::Rr { priority: 50 })), "chrt --fifo --pid 49 60");
}
