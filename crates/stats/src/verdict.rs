//! The judgement of a run against its deadline, by plain counting.

use crate::units::{grouped, percent, trimmed};
use latlab_model::Nanos;
use latlab_model::plan::{Plan, Recorded};
use latlab_model::run::{EndReason, Finding, Summary, Verdict, VerdictWord};

/// Everything that a judgement rests on.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// What was asked.
    pub plan: &'a Plan,
    /// All threads together.
    pub total: &'a Summary,
    /// Number of measuring threads.
    pub threads: usize,
    /// Measuring threads for which nothing was recorded.
    pub silent_threads: usize,
    /// From the first counted release to the end of the last interval.
    pub measured: Nanos,
    /// Time that was watched for gaps, of all threads together; of use without releases only.
    pub watched: Nanos,
    /// Stimuli whose response could not be measured; of the instrument `respond` only.
    pub unmeasured: u64,
    /// Why the run ended, or the first of its threads that ended for a reason of its own.
    pub ended: EndReason,
    /// What was found.
    pub findings: &'a [Finding],
}

/// With 95 % confidence, no more than this share of activations misses, when none of them did.
///
/// The one-sided limit of Clopper and Pearson at zero misses: nearly 3.00/n.
pub fn at_most_share(activations: u64) -> f64 {
    if activations == 0 { 1.0 } else { -(0.05_f64.ln() / activations as f64).exp_m1() }
}

/// The judgement; none where no deadline was given.
///
/// What makes the figures worthless goes before everything else, because then not even a miss
/// says something about the machine; but misses are named in every sentence.
pub fn judge(evidence: &Evidence) -> Option<Verdict> {
    let deadline_ns = evidence.plan.deadline_ns?;
    let misses = evidence.total.misses.unwrap_or(0);
    let (word, reason) = decide(evidence, misses);
    // What was not measured may have missed.
    let bounded = misses == 0
        && has_data(evidence)
        && evidence.unmeasured == 0
        && word != VerdictWord::Invalid;
    let spins = evidence.plan.method.records() == Recorded::Gap;
    let activations = evidence.total.activations;
    let at_most_share = (bounded && !spins).then(|| at_most_share(activations));
    let at_most_per_second = (bounded && spins).then(|| at_most_per_second(evidence.watched));
    let what = match evidence.plan.method.records() {
        Recorded::Response => "stimuli",
        Recorded::Latency | Recorded::Gap => "releases",
    };
    let bound = match (at_most_share, at_most_per_second) {
        (Some(share), _) => bound_by_count(share, what),
        (_, Some(rate)) => bound_by_time(rate),
        _ => String::new(),
    };
    let sentence = match evidence.plan.method.records() {
        Recorded::Response => answered(evidence, deadline_ns, word, reason),
        Recorded::Latency | Recorded::Gap => sentence(evidence, deadline_ns, word, reason),
    };
    let sentence = sentence + &bound;
    Some(Verdict {
        word,
        deadline_ns,
        misses,
        activations,
        at_most_share,
        at_most_per_second,
        sentence,
    })
}

/// With 95 % confidence, no more misses than these come in a second, when none came in this time:
/// the limit of a Poisson process, 3.00/T.
pub fn at_most_per_second(watched: Nanos) -> f64 {
    -0.05_f64.ln() / watched.as_secs_f64()
}

/// Whether anything was recorded at all; a busy loop without a gap has recorded just that.
fn has_data(evidence: &Evidence) -> bool {
    match evidence.plan.method.records() {
        Recorded::Gap => evidence.watched > Nanos::ZERO,
        Recorded::Latency | Recorded::Response => evidence.total.activations > 0,
    }
}

/// The word, and the reason where the counts are not reason enough.
fn decide(evidence: &Evidence, misses: u64) -> (VerdictWord, Option<String>) {
    if let Some(reason) = why_invalid(evidence.findings) {
        return (VerdictWord::Invalid, Some(reason));
    }
    if misses > 0 {
        return (VerdictWord::Fail, None);
    }
    match why_undecided(evidence) {
        Some(reason) => (VerdictWord::Inconclusive, Some(reason)),
        None => (VerdictWord::Pass, None),
    }
}

fn why_invalid(findings: &[Finding]) -> Option<String> {
    let mut invalidating = findings.iter().filter(|finding| finding.invalidates);
    let first = invalidating.next()?;
    let text = first.text.trim_end().trim_end_matches('.');
    Some(match invalidating.count() {
        0 => text.to_string(),
        1 => format!("{text} (and one more finding)"),
        more => format!("{text} (and {more} more findings)"),
    })
}

fn why_undecided(evidence: &Evidence) -> Option<String> {
    if !has_data(evidence) {
        return Some("nothing was recorded".to_string());
    }
    if evidence.silent_threads > 0 {
        let (silent, all) = (evidence.silent_threads, evidence.threads);
        return Some(format!("nothing was recorded on {silent} of {all} threads"));
    }
    if evidence.unmeasured > 0 {
        let (unmeasured, all) = (evidence.unmeasured, evidence.total.activations);
        return Some(format!(
            "{} of {} responses were not measured",
            grouped(unmeasured),
            grouped(all)
        ));
    }
    why_too_short(evidence.ended).map(str::to_string)
}

fn why_too_short(ended: EndReason) -> Option<&'static str> {
    match ended {
        EndReason::Finished => None,
        EndReason::Interrupted => Some("the run was interrupted"),
        EndReason::StopAbove => Some("the run ended at its stop threshold"),
        EndReason::CpuOffline => Some("a measured CPU was taken offline"),
        EndReason::RanAway => Some("a thread ran without sleeping and was stopped"),
        EndReason::RecorderFull => Some("the recorder could take no more"),
        EndReason::Failed => Some("a measuring thread failed"),
        EndReason::Lost => Some("the stream broke off before the end of the run"),
    }
}

fn sentence(
    evidence: &Evidence,
    deadline: Nanos,
    word: VerdictWord,
    reason: Option<String>,
) -> String {
    let Evidence { plan, total, threads, measured, .. } = evidence;
    let misses = of(total.misses.unwrap_or(0), "miss", "misses");
    let threads = of(*threads as u64, "thread", "threads");
    let among = match plan.method.records() {
        Recorded::Gap => format!("among {}", of(total.activations, "gap", "gaps")),
        Recorded::Latency | Recorded::Response => {
            format!("in {}", of(total.activations, "release", "releases"))
        }
    };
    let rhythm = plan.method.rhythm().map(|rhythm| format!(", {rhythm}")).unwrap_or_default();
    let mut text = format!("Deadline {deadline}{rhythm}, {threads}: {word}");
    if let Some(reason) = reason {
        text += &format!(" ({reason})");
    }
    text += &format!(". {misses} {among} ({measured})");
    if let Some(max) = total.max_ns {
        text += &format!(", observed maximum {max}");
    }
    text + "."
}

/// The same of stimuli and responses.
fn answered(
    evidence: &Evidence,
    deadline: Nanos,
    word: VerdictWord,
    reason: Option<String>,
) -> String {
    let total = evidence.total;
    let misses = of(total.misses.unwrap_or(0), "miss", "misses");
    let stimuli = of(total.activations, "stimulus", "stimuli");
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let max = total.max_ns.map(|max| format!(", observed maximum {max}")).unwrap_or_default();
    format!(
        "Deadline {deadline} from stimulus to response: {word}{reason}. {misses} in {stimuli}{max}."
    )
}

fn bound_by_count(share: f64, what: &str) -> String {
    format!(
        " With 95 % confidence at most {} of {what} miss (3.00/n, one in {}), as long as load \
         and machine stay as they were.",
        percent(share),
        grouped((1.0 / share).round() as u64)
    )
}

/// Gaps come when they please, so that the time without one counts, not the number of others.
fn bound_by_time(per_second: f64) -> String {
    let each = Nanos((1e9 / per_second) as i64);
    format!(
        " With 95 % confidence such a gap comes at most once in {each} (3.00 in the time watched, \
         {} a second), as long as load and machine stay as they were.",
        trimmed(format!("{per_second:.4}"))
    )
}

/// A count with its noun.
fn of(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{} {many}", grouped(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;
    use latlab_model::plan::{Method, Spin};
    use latlab_model::run::Severity;

    fn total(activations: u64, misses: u64) -> Summary {
        Summary {
            cycles: activations,
            activations,
            misses: Some(misses),
            max_ns: (activations > 0).then_some(Nanos(83_000)),
            ..Summary::default()
        }
    }

    fn judged(total: &Summary, ended: EndReason, findings: &[Finding]) -> Verdict {
        judge(&Evidence {
            unmeasured: 0,
            plan: &plan(),
            total,
            threads: 1,
            silent_threads: 0,
            measured: Nanos(12_500_000_000_000),
            watched: Nanos::ZERO,
            ended,
            findings,
        })
        .unwrap()
    }

    #[test]
    fn the_limit_at_zero_misses() {
        let near = |got: f64, expected: f64| (got / expected - 1.0).abs() < 1e-6;
        assert!(near(at_most_share(100_000_000), 2.995732e-8));
        assert!(near(at_most_share(10), 1.0 - 0.05_f64.powf(0.1)));
        assert!(near(at_most_share(1), 0.95));
        assert_eq!(at_most_share(0), 1.0);
    }

    #[test]
    fn a_pass_prints_its_bound() {
        let verdict = judged(&total(100_000_000, 0), EndReason::Finished, &[]);
        assert_eq!(verdict.word, VerdictWord::Pass);
        assert_eq!(
            verdict.sentence,
            "Deadline 125 us, period 125 us, 1 thread: pass. 0 misses in 100 000 000 releases \
             (3.472 h), observed maximum 83 us. With 95 % confidence at most 0.000003 % of \
             releases miss (3.00/n, one in 33 380 821), as long as load and machine stay as they \
             were."
        );
    }

    #[test]
    fn one_miss_fails_even_when_interrupted() {
        for ended in EndReason::ALL {
            let verdict = judged(&total(1_000, 1), *ended, &[]);
            assert_eq!(verdict.word, VerdictWord::Fail);
            assert_eq!(verdict.at_most_share, None);
            assert!(verdict.sentence.contains("fail. 1 miss in 1 000 releases"));
        }
    }

    #[test]
    fn a_run_that_was_cut_short_decides_nothing() {
        for ended in EndReason::ALL.iter().filter(|&&ended| ended != EndReason::Finished) {
            let verdict = judged(&total(1_000, 0), *ended, &[]);
            assert_eq!(verdict.word, VerdictWord::Inconclusive, "{ended}");
        }
        let nothing = judged(&total(0, 0), EndReason::Finished, &[]);
        assert_eq!((nothing.word, nothing.at_most_share), (VerdictWord::Inconclusive, None));
    }

    /// Invariant (losses): An invalidating finding outweighs a pass and hides no miss.
    #[test]
    fn what_invalidates_wins_but_hides_no_miss() {
        let harmless = Finding::new("a", Severity::Error, "Nothing to do with it.");
        let refused = Finding::new("b", Severity::Error, "The lock was refused.").invalidates();
        for misses in [0, 7] {
            let findings = [harmless.clone(), refused.clone(), refused.clone()];
            let verdict = judged(&total(1_000, misses), EndReason::Finished, &findings);
            assert_eq!((verdict.word, verdict.misses), (VerdictWord::Invalid, misses));
            let words = format!(
                "invalid (The lock was refused (and one more finding)). {misses} misses in"
            );
            assert!(verdict.sentence.contains(&words), "{}", verdict.sentence);
        }
        assert_eq!(judged(&total(9, 0), EndReason::Finished, &[harmless]).word, VerdictWord::Pass);
    }

    #[test]
    fn without_releases_the_bound_is_by_time() {
        let plan = Plan { method: Method::Spin(Spin::default()), ..plan() };
        let judged = |total: &Summary, watched| {
            let evidence = Evidence {
                unmeasured: 0,
                plan: &plan,
                total,
                threads: 1,
                silent_threads: 0,
                measured: Nanos(300_000_000_000),
                watched,
                ended: EndReason::Finished,
                findings: &[],
            };
            judge(&evidence).unwrap()
        };
        // 300 s without a single gap say as much as 300 s with a million short ones.
        let verdicts = [total(0, 0), total(1_000_000, 0)].map(|total| {
            let verdict = judged(&total, Nanos(300_000_000_000));
            assert!(
                (verdict.at_most_per_second.unwrap() - 0.009_985_8).abs() < 1e-6,
                "{verdict:?}"
            );
            assert_eq!(verdict.at_most_share, None);
            verdict
        });
        assert!(verdicts.iter().all(|verdict| verdict.word == VerdictWord::Pass));
        assert!(verdicts[1].sentence.contains("gaps above 1 us"), "{}", verdicts[1].sentence);
        assert!(verdicts[1].sentence.contains("at most once in 100.1"), "{}", verdicts[1].sentence);
        let nothing = judged(&total(0, 0), Nanos::ZERO);
        assert_eq!(nothing.word, VerdictWord::Inconclusive);
        let missed = judged(&total(9, 1), Nanos(300_000_000_000));
        assert_eq!((missed.word, missed.at_most_per_second), (VerdictWord::Fail, None));
    }

    #[test]
    fn no_deadline_no_verdict() {
        let plan = Plan { deadline_ns: None, ..plan() };
        let total = total(5, 0);
        let evidence = Evidence {
            unmeasured: 0,
            plan: &plan,
            total: &total,
            threads: 1,
            silent_threads: 0,
            measured: Nanos::ZERO,
            watched: Nanos::ZERO,
            ended: EndReason::Finished,
            findings: &[],
        };
        assert_eq!(judge(&evidence), None);
    }
}
