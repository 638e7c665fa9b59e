//! What a cause is called, and what it did to a spike or a cycle.

use super::facts::Facts;
use super::kinds::{Cases, case, words};
use super::{detail, process_of, reason, urgency_of};
use crate::units::short;
use latlab_model::explanation::{
    BlamePart, Cause, CauseKind, SpikeBlame, UnexplainedReason, WakePhase,
};
use latlab_model::template::filled;
use latlab_model::units::counted;

/// A cause in a few words.
pub fn cause_words(cause: &Cause) -> String {
    let template = case(words(cause.kind).name, &Facts::of(cause));
    filled(template, |fact| (fact == "name").then(|| cause.name.clone()))
}

/// What happened, with the size of the latency first.
pub fn sentence(blame: &SpikeBlame) -> String {
    let Some(cause) = &blame.cause else {
        let why = blame.reason.unwrap_or(UnexplainedReason::CauseUnknown);
        return format!("{}: not explained: {}.", blame.latency_ns, reason(why));
    };
    let share = blame.cause_ns.0 * 100 / blame.latency_ns.0.max(1);
    let evidence = |words: String| format!(" ({words})");
    let what = said(words(cause.kind).spike, blame, cause, blame.cause_ns.to_string(), evidence);
    format!("{}: {what}, {share} % of it.", blame.latency_ns)
}

/// `2.6 ms of it waiting for a futex that logger (nice 0) held`; `None` if nothing is known of it.
pub fn clause(blame: &SpikeBlame) -> Option<String> {
    let Some(cause) = &blame.cause else { return unclear(blame) };
    let took = short(blame.cause_ns.0 as f64);
    let evidence = |words: String| format!(", {words}");
    let what = said(words(cause.kind).cycle, blame, cause, took.clone(), evidence);
    Some(format!("{took} of it {what}"))
}

/// A text with its facts.
fn said(
    cases: Cases,
    blame: &SpikeBlame,
    cause: &Cause,
    took: String,
    evidence: impl Fn(String) -> String,
) -> String {
    let facts = Facts::of_spike(cause, blame);
    let longest = blame.longest.as_ref();
    let of = longest.and_then(|part: &BlamePart| part.thread.as_ref());
    let name = &cause.name;
    let thread = || {
        let of = of?;
        let process = process_of(of).map(|words| format!(" {words}")).unwrap_or_default();
        Some(format!("{name} (thread {}{process})", of.id))
    };
    let starter = || {
        let starter = of?.started_by.as_ref()?;
        Some(format!(" (thread {})", starter.id))
    };
    let urgency = || Some(format!(" ({})", urgency_of(of?)?));
    filled(case(cases, &facts), |fact| {
        Some(match fact {
            "name" => name.clone(),
            "cause" => cause_words(cause),
            "took" => took.clone(),
            "thread" => thread().unwrap_or_else(|| name.clone()),
            "priority" => facts.priority.clone().unwrap_or_default(),
            "urgency" => urgency().unwrap_or_default(),
            "starter" => starter().unwrap_or_default(),
            "started" => started(blame),
            "detail" => longest.and_then(detail).map(&evidence).unwrap_or_default(),
            _ => return None,
        })
    })
}

/// The names of what was started, in parentheses.
fn started(blame: &SpikeBlame) -> String {
    let words = blame.started.iter().map(|one| match one.threads {
        1 => one.name.clone(),
        threads => format!("{} {}", one.name, counted(threads, "time", "times")),
    });
    let words: Vec<String> = words.collect();
    match words.is_empty() {
        true => String::new(),
        false => format!(" ({})", words.join(", ")),
    }
}

/// What is known of the time that is not explained.
fn unclear(blame: &SpikeBlame) -> Option<String> {
    let unknown = blame.parts.iter().filter(|part| part.cause.kind == CauseKind::Unknown);
    let longest = unknown.max_by_key(|part| part.length())?;
    let when = match longest.phase {
        WakePhase::TimerLate => "until it was woken",
        WakePhase::Work => "in its work",
        _ => "until it ran",
    };
    let how = match blame.reason {
        Some(UnexplainedReason::OnlyTheProgram) => "which only --explain records",
        _ => "which is not recorded",
    };
    Some(format!("{} of it {when}, {how}", short(longest.length().0 as f64)))
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{Cases, words};
    use super::super::remedy;
    use super::*;
    use latlab_model::Nanos;
    use latlab_model::explanation::{CpuBefore, RunCause, Starter, TracedThread};

    const NAMES: [&str; 7] =
        ["", "make", "irq/33-eth0", "migration/0", "kworker/0:1", "NET_RX", "33 eth0"];

    fn spike(cause: &Cause, thread: Option<TracedThread>) -> SpikeBlame {
        let longest = BlamePart {
            from_ns: Nanos(0),
            to_ns: Nanos(1),
            phase: WakePhase::Waiting,
            cause: cause.clone(),
            thread,
            evidence: None,
            detail: None,
        };
        SpikeBlame {
            spike: 1,
            thread: 0,
            cpu: None,
            release_ns: Nanos(0),
            latency_ns: Nanos(2),
            parts: Vec::new(),
            cause: Some(cause.clone()),
            cause_ns: Nanos(1),
            longest: Some(longest),
            started: Vec::new(),
            reason: None,
            sentence: None,
            stolen: None,
            before: CpuBefore::default(),
            gap: None,
        }
    }

    fn in_the_run(cause: &Cause, kernel_priority: Option<i32>, id: Option<i32>) -> RunCause {
        RunCause {
            cause: cause.clone(),
            count: 1,
            share: 1.0,
            total_ns: Nanos(1),
            largest_ns: Nanos(1),
            cpus: Vec::new(),
            first_ns: Nanos(0),
            last_ns: Nanos(0),
            kernel_priority,
            thread: id,
            process: None,
            started: Vec::new(),
            realtime: None,
            remedy: None,
        }
    }

    /// Every text of a cause with this name.
    fn texts(cause: &Cause) -> Vec<String> {
        let started_by = Some(Starter { id: 6, name: "sh".to_string() });
        let thread = |priority| TracedThread {
            id: 7,
            kernel_priority: Some(priority),
            known: None,
            started_by: started_by.clone(),
        };
        let mut texts = vec![cause_words(cause)];
        for of in [None, Some(thread(4)), Some(thread(120))] {
            let (id, priority) =
                (of.as_ref().map(|one| one.id), of.as_ref().and_then(|one| one.kernel_priority));
            let blame = spike(cause, of);
            texts.extend(clause(&blame));
            texts.push(sentence(&blame));
            texts.push(remedy(&in_the_run(cause, priority, id), None).to_string());
        }
        texts
    }

    #[test]
    fn every_fact_of_a_text_is_filled_in() {
        for kind in CauseKind::ALL {
            for name in NAMES {
                let cause = Cause { kind: *kind, name: name.to_string() };
                let texts = texts(&cause);
                let has_gap = |text: &String| text.contains('{') || text.is_empty();
                let is_nameless = name.is_empty() && *kind == CauseKind::Thread;
                assert!(is_nameless || !texts.iter().any(has_gap), "{kind} {name}: {texts:?}");
            }
        }
    }

    #[test]
    fn every_kind_has_a_text_for_any_other_case() {
        let applies = |cases: Cases| {
            let last = cases.last().expect("a case");
            (last.0)(&Facts::default())
        };
        for kind in CauseKind::ALL {
            let words = words(*kind);
            let all = [words.name, words.spike, words.cycle, words.remedy];
            assert!(all.into_iter().all(applies), "{kind}");
        }
    }
}
