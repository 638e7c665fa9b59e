//! Judges a run against its deadline by plain counting.

use crate::bursts::{ENOUGH_BURSTS, ENOUGH_FOR_CLUMPS, LateCycle, LowerLevel, bursts, clump};
use crate::dependence::{MissesInTime, begins_at_most, share_at_most};
use crate::limit::{BurstCount, is_early_but_good, judge_limit, may_be_chosen};
use latlab_model::Nanos;
use latlab_model::finding::{Finding, FindingKind, ImportFinding};
use latlab_model::plan::{Plan, Recorded};
use latlab_model::run::{EndReason, MissBursts, Summary, Verdict, VerdictReason, VerdictWord};

/// Everything that a judgement is based on.
#[derive(Clone, Copy, Debug)]
pub struct VerdictInput<'a> {
    /// The run as requested.
    pub plan: &'a Plan,
    /// All threads together.
    pub total: &'a Summary,
    pub threads: usize,
    /// Measuring threads that recorded nothing.
    pub silent_threads: usize,
    /// From the first counted release to the end of the last interval.
    pub measured: Nanos,
    /// First counted release.
    pub from: Nanos,
    /// The cycles that missed the deadline, if their releases are known.
    pub late: &'a [LateCycle],
    /// Bursts at the highest level below the deadline that has [`ENOUGH_BURSTS`], if the deadline
    /// itself has fewer and that level is known.
    pub below: Option<&'a LowerLevel>,
    /// The same for [`ENOUGH_FOR_CLUMPS`].
    pub far_below: Option<&'a LowerLevel>,
    /// Time watched for gaps, summed over threads; 0 unless the method has no releases.
    pub watched: Nanos,
    /// Stimuli whose response could not be measured; `respond` only.
    pub unmeasured: u64,
    /// Why the run ended, or the first thread that ended for another reason.
    pub ended: EndReason,
    pub findings: &'a [Finding],
}

/// Upper 95 % bound of the share of releases that begin a burst of misses, if no release missed.
/// The share of misses may be higher, since a burst has many.
///
/// The one-sided limit of Clopper and Pearson at zero misses: nearly 3.00/n.
pub fn at_most_share(releases: u64) -> f64 {
    if releases == 0 { 1.0 } else { -(0.05_f64.ln() / releases as f64).exp_m1() }
}

/// The judgement; `None` without a deadline.
///
/// An invalidating finding comes first, because then not even a miss tells anything about the
/// machine; but misses are counted in every verdict.
pub fn judge(evidence: &VerdictInput) -> Option<Verdict> {
    let deadline_ns = evidence.plan.until.deadline_ns?;
    let misses = evidence.total.misses.unwrap_or(0);
    let (word, reason) = decide(evidence, misses);
    let forbids_pass = forbidden(evidence.findings).is_some();
    // Releases not measured, or missing, may have missed.
    let bounded = misses == 0
        && has_data(evidence)
        && evidence.unmeasured == 0
        && !forbids_pass
        && word != VerdictWord::Invalid;
    let spins = evidence.plan.method.records() == Recorded::Gap;
    let releases = evidence.total.releases;
    let at_most_share = (bounded && !spins).then(|| at_most_share(releases));
    let at_most_per_second = (bounded && spins).then(|| at_most_per_second(evidence.watched));
    let verdict = Verdict {
        word,
        deadline_ns,
        misses,
        releases,
        at_most_share,
        at_most_per_second,
        bursts: miss_bursts(evidence, misses).filter(|_| word != VerdictWord::Invalid),
        limit: None,
        reason,
        sentence: None,
    };
    let Some(per_hour) = evidence.plan.until.limit_per_hour else {
        return Some(without_bounds(verdict, forbids_pass));
    };
    let ended = evidence.ended;
    let of_end = |reason: &VerdictReason| matches!(reason, VerdictReason::Ended { .. });
    let undecided =
        why_undecided(evidence).filter(|reason| !(of_end(reason) && is_early_but_good(ended)));
    let chosen = may_be_chosen(evidence.plan, ended);
    let judged = judge_limit(verdict, per_hour, evidence.measured, chosen, undecided);
    Some(without_bounds(judged, forbids_pass))
}

/// If latencies may be missing, the counts give no upper bound.
fn without_bounds(verdict: Verdict, forbids_pass: bool) -> Verdict {
    if !forbids_pass {
        return verdict;
    }
    let limit = verdict.limit.filter(|_| verdict.word == VerdictWord::Fail);
    Verdict { bursts: None, limit, ..verdict }
}

/// The reason of the first finding that forbids a pass.
pub(crate) fn forbidden(findings: &[Finding]) -> Option<VerdictReason> {
    let mut all = findings.iter().filter(|finding| finding.forbids_pass());
    let finding = all.next()?.clone();
    Some(VerdictReason::PassForbidden { finding, others: all.count() as u64 })
}

/// Slices of the measured time; if misses depend on each other, their counts vary by more than
/// chance.
const SLICES: usize = 100;

/// The misses as bursts; `None` without releases, or if part of the time was not measured.
fn miss_bursts(evidence: &VerdictInput, misses: u64) -> Option<MissBursts> {
    let hours = evidence.measured.as_secs_f64() / 3600.0;
    let is_timed = evidence.plan.method.records() == Recorded::Latency && evidence.unmeasured == 0;
    if !is_timed || !has_data(evidence) || hours <= 0.0 {
        return None;
    }
    let found = bursts(evidence.late);
    let known = found.iter().fold(0, |sum: u64, one| sum.saturating_add(one.misses));
    let unknown = misses.saturating_sub(known);
    let sizes: Vec<u64> = found.iter().map(|one| one.misses).collect();
    let below =
        evidence.below.filter(|_| (1..ENOUGH_BURSTS).contains(&sizes.len()) && unknown == 0);
    let sizes_below: Vec<u64> =
        below.map_or(Vec::new(), |below| below.bursts.iter().map(|one| one.misses).collect());
    let releases = evidence.total.releases;
    let slices = slices(evidence);
    let share = share_at_most(&MissesInTime {
        misses,
        releases,
        runs: &[],
        slices: &slices,
        bursts: &sizes,
        bursts_below: &sizes_below,
    });
    let of_clumps = match evidence.far_below.filter(|_| found.len() < ENOUGH_FOR_CLUMPS) {
        Some(level) => &level.bursts,
        None => &found,
    };
    let clump = clump(of_clumps, evidence.from, evidence.measured);
    let begins = begins_at_most(sizes.len() as u64, clump, releases);
    let found = MissBursts {
        count: found.len() as u64,
        largest: sizes.iter().copied().max().unwrap_or(0),
        unknown,
        at_most_per_hour: 0.0,
        begins_at_most: (unknown == 0).then_some(begins),
        share_at_most: share.filter(|_| unknown == 0 && misses > 0),
        clump,
        sizes_above_ns: below.map(|below| below.level_ns),
    };
    // Misses without known times may each be a burst.
    let rate = BurstCount::of(&found, misses, evidence.measured).rate();
    Some(MissBursts { at_most_per_hour: rate.at_most_per_hour, ..found })
}

/// The misses of each slice of the measured time.
fn slices(evidence: &VerdictInput) -> Vec<u64> {
    let mut slices = vec![0_u64; SLICES];
    let length = evidence.measured.0.max(1) as f64;
    for one in evidence.late {
        let part = (one.release_ns - evidence.from).0.max(0) as f64 / length;
        let at = (part * SLICES as f64) as usize;
        let slice = &mut slices[at.min(SLICES - 1)];
        *slice = slice.saturating_add(one.misses);
    }
    slices
}

/// Upper 95 % bound of misses per second, if none occurred in this time: the Poisson limit, 3.00/T.
pub fn at_most_per_second(watched: Nanos) -> f64 {
    -0.05_f64.ln() / watched.as_secs_f64()
}

/// Whether anything was recorded at all; for a busy loop, no gap is a result too.
fn has_data(evidence: &VerdictInput) -> bool {
    match evidence.plan.method.records() {
        Recorded::Gap => evidence.watched > Nanos::ZERO,
        Recorded::Latency | Recorded::Response => evidence.total.releases > 0,
    }
}

/// The word, and the reason if the counts alone do not explain it.
fn decide(evidence: &VerdictInput, misses: u64) -> (VerdictWord, Option<VerdictReason>) {
    let invalidating = evidence.findings.iter().filter(|finding| finding.invalidates());
    let findings: Vec<String> = invalidating.map(|finding| finding.code().to_string()).collect();
    if !findings.is_empty() {
        return (VerdictWord::Invalid, Some(VerdictReason::Findings { findings }));
    }
    if misses > 0 {
        return (VerdictWord::Fail, None);
    }
    match why_undecided(evidence) {
        Some(reason) => (VerdictWord::Inconclusive, Some(reason)),
        None => (VerdictWord::Pass, None),
    }
}

fn why_undecided(evidence: &VerdictInput) -> Option<VerdictReason> {
    let (silent, threads) = (evidence.silent_threads, evidence.threads);
    let (unmeasured, stimuli) = (evidence.unmeasured, evidence.total.releases);
    match () {
        () if !has_data(evidence) => Some(VerdictReason::NothingRecorded),
        () if silent > 0 => Some(VerdictReason::SilentThreads { silent, threads }),
        () if unmeasured > 0 => {
            Some(VerdictReason::ResponsesNotMeasured { count: unmeasured, stimuli })
        }
        () if unknown_latencies(evidence).is_some() => unknown_latencies(evidence),
        () if forbidden(evidence.findings).is_some() => forbidden(evidence.findings),
        () if evidence.ended == EndReason::Finished => None,
        () => Some(VerdictReason::Ended { reason: evidence.ended }),
    }
}

/// What an imported file leaves unknown about the deadline.
fn unknown_latencies(evidence: &VerdictInput) -> Option<VerdictReason> {
    let count = evidence.findings.iter().find_map(|finding| match &finding.kind {
        FindingKind::Import(ImportFinding::DeadlineUndecided { count }) => Some(*count),
        _ => None,
    })?;
    Some(VerdictReason::LatenciesUnknown { count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan;
    use latlab_model::finding::MachineFinding;
    use latlab_model::plan::Until;
    use latlab_model::plan::{Method, Spin};

    fn total(releases: u64, misses: u64) -> Summary {
        Summary {
            cycles: releases,
            releases,
            misses: Some(misses),
            max_ns: (releases > 0).then_some(Nanos(83_000)),
            ..Summary::default()
        }
    }

    fn verdict_of(total: &Summary, ended: EndReason, findings: &[Finding]) -> Verdict {
        judge(&VerdictInput {
            unmeasured: 0,
            plan: &plan(),
            total,
            threads: 1,
            silent_threads: 0,
            measured: Nanos(12_500_000_000_000),
            from: Nanos::ZERO,
            late: &[],
            below: None,
            far_below: None,
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
    fn a_pass_has_its_bound() {
        let verdict = verdict_of(&total(100_000_000, 0), EndReason::Finished, &[]);
        assert_eq!((verdict.word, verdict.reason), (VerdictWord::Pass, None));
        assert_eq!(verdict.at_most_share, Some(at_most_share(100_000_000)));
    }

    #[test]
    fn one_miss_fails_even_when_interrupted() {
        for ended in EndReason::ALL {
            let verdict = verdict_of(&total(1_000, 1), *ended, &[]);
            assert_eq!(verdict.word, VerdictWord::Fail);
            assert_eq!((verdict.at_most_share, verdict.reason), (None, None));
        }
    }

    #[test]
    fn a_run_that_was_cut_short_decides_nothing() {
        for ended in EndReason::ALL.iter().filter(|&&ended| ended != EndReason::Finished) {
            let verdict = verdict_of(&total(1_000, 0), *ended, &[]);
            assert_eq!(verdict.word, VerdictWord::Inconclusive, "{ended}");
            assert_eq!(verdict.reason, Some(VerdictReason::Ended { reason: *ended }));
        }
        let nothing = verdict_of(&total(0, 0), EndReason::Finished, &[]);
        assert_eq!((nothing.word, nothing.at_most_share), (VerdictWord::Inconclusive, None));
        assert_eq!(nothing.reason, Some(VerdictReason::NothingRecorded));
    }

    /// Invariant (losses): An invalidating finding outweighs a pass and hides no miss.
    #[test]
    fn what_invalidates_wins_but_hides_no_miss() {
        let (rested_ns, spun_ns) = (Nanos(1), Nanos(2));
        let harmless = Finding::new(MachineFinding::SpinRested { rested_ns, spun_ns });
        let suspended = Finding::new(MachineFinding::Suspended { length_ns: Nanos(1) });
        for misses in [0, 7] {
            let findings = [harmless.clone(), suspended.clone(), suspended.clone()];
            let verdict = verdict_of(&total(1_000, misses), EndReason::Finished, &findings);
            assert_eq!((verdict.word, verdict.misses), (VerdictWord::Invalid, misses));
            let findings = vec!["suspended".to_string(); 2];
            assert_eq!(verdict.reason, Some(VerdictReason::Findings { findings }));
        }
        assert_eq!(
            verdict_of(&total(9, 0), EndReason::Finished, &[harmless]).word,
            VerdictWord::Pass
        );
    }

    fn left_out(line: u64) -> Finding {
        Finding::new(ImportFinding::ImportLeftOut {
            count: 1,
            items: "lines".to_string(),
            first_line: Some(line),
            first: "0004x0 000009".to_string(),
        })
    }

    /// Invariant (losses): A recording that may lack latencies never passes, and a miss in it still fails.
    #[test]
    fn what_may_lack_latencies_does_not_pass_and_bounds_nothing() {
        let findings = [left_out(4), left_out(9)];
        let verdict = verdict_of(&total(999, 0), EndReason::Finished, &findings);
        assert_eq!(verdict.word, VerdictWord::Inconclusive);
        let reason = VerdictReason::PassForbidden { finding: left_out(4), others: 1 };
        assert_eq!(verdict.reason, Some(reason));
        assert_eq!((verdict.at_most_share, verdict.bursts), (None, None));
        let missed = verdict_of(&total(999, 2), EndReason::Finished, &findings);
        assert_eq!((missed.word, missed.reason), (VerdictWord::Fail, None));
        let suspended = Finding::new(MachineFinding::Suspended { length_ns: Nanos(1) });
        let both = [suspended, left_out(4)];
        let invalid = verdict_of(&total(999, 0), EndReason::Finished, &both);
        assert_eq!(invalid.word, VerdictWord::Invalid);
    }

    #[test]
    fn a_limit_is_not_kept_by_what_may_lack_latencies() {
        let plan = Plan { until: Until { limit_per_hour: Some(10.0), ..plan().until }, ..plan() };
        let judged = |misses: u64, findings: &[Finding]| {
            judge(&VerdictInput {
                unmeasured: 0,
                plan: &plan,
                total: &total(1_000_000, misses),
                threads: 1,
                silent_threads: 0,
                measured: Nanos(36_000_000_000_000),
                from: Nanos::ZERO,
                late: &[],
                below: None,
                far_below: None,
                watched: Nanos::ZERO,
                ended: EndReason::Finished,
                findings,
            })
            .unwrap()
        };
        assert_eq!(judged(1, &[]).word, VerdictWord::Pass);
        let open = judged(1, &[left_out(4)]);
        assert_eq!((open.word, open.limit), (VerdictWord::Inconclusive, None));
        assert!(matches!(open.reason, Some(VerdictReason::PassForbidden { others: 0, .. })));
    }

    #[test]
    fn without_releases_the_bound_is_by_time() {
        let plan = Plan { method: Method::Spin(Spin::default()), ..plan() };
        let verdict_of = |total: &Summary, watched| {
            let evidence = VerdictInput {
                unmeasured: 0,
                plan: &plan,
                total,
                threads: 1,
                silent_threads: 0,
                measured: Nanos(300_000_000_000),
                from: Nanos::ZERO,
                late: &[],
                below: None,
                far_below: None,
                watched,
                ended: EndReason::Finished,
                findings: &[],
            };
            judge(&evidence).unwrap()
        };
        // 300 s without a single gap prove as much as 300 s with a million short ones.
        let verdicts = [total(0, 0), total(1_000_000, 0)].map(|total| {
            let verdict = verdict_of(&total, Nanos(300_000_000_000));
            assert!(
                (verdict.at_most_per_second.unwrap() - 0.009_985_8).abs() < 1e-6,
                "{verdict:?}"
            );
            assert_eq!(verdict.at_most_share, None);
            verdict
        });
        assert!(verdicts.iter().all(|verdict| verdict.word == VerdictWord::Pass));
        let nothing = verdict_of(&total(0, 0), Nanos::ZERO);
        assert_eq!(nothing.word, VerdictWord::Inconclusive);
        let missed = verdict_of(&total(9, 1), Nanos(300_000_000_000));
        assert_eq!((missed.word, missed.at_most_per_second), (VerdictWord::Fail, None));
    }

    #[test]
    fn misses_that_come_together_are_one_burst() {
        let hour = Nanos(3_600_000_000_000);
        let late = |second: i64, misses| LateCycle {
            thread: 0,
            release_ns: Nanos(second * 1_000_000_000),
            period_ns: Nanos(125_000),
            latency_ns: Nanos(130_000),
            misses,
        };
        let verdict_of = |late: &[LateCycle], misses| {
            judge(&VerdictInput {
                unmeasured: 0,
                plan: &plan(),
                total: &total(28_800_000, misses),
                threads: 1,
                silent_threads: 0,
                measured: hour,
                from: Nanos::ZERO,
                late,
                below: None,
                far_below: None,
                watched: Nanos::ZERO,
                ended: EndReason::Finished,
                findings: &[],
            })
            .and_then(|verdict| verdict.bursts)
            .unwrap()
        };
        let none = verdict_of(&[], 0);
        assert_eq!((none.count, none.largest, none.unknown), (0, 0, 0));
        assert!((none.at_most_per_hour - 2.995_732).abs() < 1e-6);
        assert!((none.begins_at_most.unwrap() / at_most_share(28_800_000) - 1.0).abs() < 1e-6);
        assert_eq!((none.share_at_most, none.clump), (None, None));
        let some = verdict_of(&[late(5, 95), late(900, 1), late(3_000, 4)], 100);
        assert_eq!((some.count, some.largest), (3, 95));
        assert!((some.at_most_per_hour - 7.753_656_527_9).abs() < 1e-6);
        // Three bursts do not show how large bursts are.
        assert_eq!(some.share_at_most, None);
        assert!((some.begins_at_most.unwrap() * 28_800_000.0 - 7.753_7).abs() < 1e-3, "{some:?}");
        let lost = verdict_of(&[late(5, 95)], 100);
        assert_eq!((lost.count, lost.unknown, lost.begins_at_most), (1, 5, None));
        assert!(lost.at_most_per_hour > 11.0);
    }

    #[test]
    fn no_deadline_no_verdict() {
        let plan = Plan { until: Until { deadline_ns: None, ..plan().until }, ..plan() };
        let total = total(5, 0);
        let evidence = VerdictInput {
            unmeasured: 0,
            plan: &plan,
            total: &total,
            threads: 1,
            silent_threads: 0,
            measured: Nanos::ZERO,
            from: Nanos::ZERO,
            late: &[],
            below: None,
            far_below: None,
            watched: Nanos::ZERO,
            ended: EndReason::Finished,
            findings: &[],
        };
        assert_eq!(judge(&evidence), None);
    }
}
