//! Whether a run meets a tolerated rate of miss bursts.

use crate::any_time::{any_time_above, any_time_below};
use crate::comparison::BurstRate;
use crate::special::{count_above, count_below};
use crate::verdict::forbidden;
use latlab_model::run::{
    BurstLimit, EndReason, MissBursts, Run, Verdict, VerdictReason, VerdictWord,
};
use latlab_model::{Nanos, Plan};

/// Error probability of a one-sided 95 % bound.
const CHANCE: f64 = 0.05;
const HOUR_NS: f64 = 3.6e12;
/// Assumed clump size if unknown, for a run that may end at any time.
const UNKNOWN_CLUMP: f64 = 3.0;

/// A number of bursts in a length of time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BurstCount {
    /// Bursts with known times.
    pub least: u64,
    /// The same, if each miss without a known time is a burst.
    pub most: u64,
    pub measured: Nanos,
    /// Bursts per clump, if known; a clump counts as one event.
    pub clump: Option<f64>,
}

impl BurstCount {
    /// The bursts that a verdict states.
    pub fn of(bursts: &MissBursts, misses: u64, measured: Nanos) -> BurstCount {
        BurstCount {
            least: bursts.count.max(u64::from(misses > 0)),
            most: bursts.count.saturating_add(bursts.unknown),
            measured,
            clump: bursts.clump,
        }
    }

    /// The bursts of a stored run; `None` if bursts are undefined or its length is unknown.
    pub fn of_run(run: &Run) -> Option<BurstCount> {
        let verdict = run.verdict.as_ref()?;
        let is_timed = run.measured_ns > Nanos::ZERO && run.has_releases();
        is_timed.then(|| BurstCount::of(&bursts(verdict, run), verdict.misses, run.measured_ns))
    }

    pub fn plus(self, other: BurstCount) -> BurstCount {
        BurstCount {
            least: self.least.saturating_add(other.least),
            most: self.most.saturating_add(other.most),
            measured: self.measured + other.measured,
            clump: self.clump.into_iter().chain(other.clump).reduce(f64::max),
        }
    }

    /// The rates that the counts do not exclude. With `at_any_time` the bounds hold however the end
    /// of the run was chosen.
    pub fn against(self, per_hour: f64, at_any_time: bool) -> BurstLimit {
        let hours = (self.measured.0.max(1)) as f64 / HOUR_NS;
        let usual = if at_any_time { UNKNOWN_CLUMP } else { 1.0 };
        let clump = self.clump.unwrap_or(usual).max(1.0);
        let (least, most) = (self.least as f64 / clump, self.most as f64 / clump);
        let (above, below) = match at_any_time {
            true => (any_time_above(most, CHANCE), any_time_below(least, CHANCE)),
            false => (count_above(most, CHANCE), count_below(least, CHANCE)),
        };
        let needed = above * clump;
        let more = (needed / per_hour * HOUR_NS) as i64 - self.measured.0;
        BurstLimit {
            per_hour,
            at_most_per_hour: needed / hours,
            at_least_per_hour: below * clump / hours,
            at_any_time,
            more_ns: Some(Nanos(more)).filter(|more| *more > Nanos::ZERO),
        }
    }

    /// The same as a rate with its bound.
    pub fn rate(self) -> BurstRate {
        BurstRate {
            bursts: self.least,
            unknown: self.most.saturating_sub(self.least),
            measured_ns: self.measured,
            at_most_per_hour: self.against(1.0, false).at_most_per_hour,
        }
    }

    /// Whether a rate is shown to be met or exceeded, with bounds that hold at any time.
    pub fn decides(self, per_hour: f64) -> bool {
        let limit = self.against(per_hour, true);
        word(&limit).is_some()
    }
}

/// Whether the rate is met; `None` if undecided.
pub fn word(limit: &BurstLimit) -> Option<VerdictWord> {
    match () {
        () if limit.at_least_per_hour > limit.per_hour => Some(VerdictWord::Fail),
        () if limit.at_most_per_hour <= limit.per_hour => Some(VerdictWord::Pass),
        () => None,
    }
}

/// The verdict against a tolerated rate of bursts. `undecided` is the reason if the run, not having
/// ended as planned, can prove nothing but misses.
pub fn judge_limit(
    verdict: Verdict,
    per_hour: f64,
    measured: Nanos,
    at_any_time: bool,
    undecided: Option<VerdictReason>,
) -> Verdict {
    let Some(bursts) = verdict.bursts.filter(|_| verdict.word != VerdictWord::Invalid) else {
        return verdict;
    };
    let limit = BurstCount::of(&bursts, verdict.misses, measured).against(per_hour, at_any_time);
    let (word, reason) = match (word(&limit), undecided) {
        (Some(VerdictWord::Fail), _) => (VerdictWord::Fail, None),
        (_, Some(reason)) => (VerdictWord::Inconclusive, Some(reason)),
        (Some(word), None) => (word, None),
        (None, None) => (VerdictWord::Inconclusive, Some(VerdictReason::LimitOpen)),
    };
    let more_ns = limit.more_ns.filter(|_| reason == Some(VerdictReason::LimitOpen));
    Verdict { word, reason, limit: Some(BurstLimit { more_ns, ..limit }), ..verdict }
}

/// Whether the end of a run may have been chosen by what it showed.
pub fn may_be_chosen(plan: &Plan, ended: EndReason) -> bool {
    let open_ended = plan.until.duration_ns.is_none() && plan.until.cycles.is_none();
    plan.until.decided || open_ended || ended != EndReason::Finished
}

/// Whether the counts are valid although the run ended early: it was good until a user or a stop
/// rule ended it.
pub fn is_early_but_good(ended: EndReason) -> bool {
    use EndReason::{Decided, Finished, Interrupted, StopAbove};
    matches!(ended, Finished | Interrupted | StopAbove | Decided)
}

/// The bursts of a stored run; where they are unknown, each of its misses may be one.
fn bursts(verdict: &Verdict, run: &Run) -> MissBursts {
    verdict.bursts.unwrap_or_else(|| {
        let (most, measured) = (verdict.misses, run.measured_ns);
        let count = BurstCount { least: 0, most, measured, clump: None };
        MissBursts {
            count: 0,
            largest: 0,
            unknown: verdict.misses,
            at_most_per_hour: count.against(1.0, false).at_most_per_hour,
            ..MissBursts::default()
        }
    })
}

/// Judges a stored run against a tolerated rate of bursts; `None` without a deadline or without
/// releases.
pub fn rejudge(run: &Run, per_hour: f64) -> Option<Verdict> {
    let verdict = run.verdict.clone()?;
    BurstCount::of_run(run)?;
    let bursts = bursts(&verdict, run);
    let silent = run.threads.iter().filter(|thread| thread.summary.cycles == 0).count();
    let undecided = match &verdict.reason {
        _ if silent > 0 => {
            Some(VerdictReason::SilentThreads { silent, threads: run.threads.len() })
        }
        _ if forbidden(&run.findings).is_some() => forbidden(&run.findings),
        _ if !is_early_but_good(run.ended) => Some(VerdictReason::Ended { reason: run.ended }),
        Some(VerdictReason::Ended { .. } | VerdictReason::LimitOpen) | None => None,
        Some(reason) => Some(reason.clone()),
    };
    let chosen = may_be_chosen(&run.asked, run.ended);
    let verdict = Verdict { bursts: Some(bursts), ..verdict };
    Some(judge_limit(verdict, per_hour, run.measured_ns, chosen, undecided))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Nanos = Nanos(3_600_000_000_000);

    fn verdict(count: u64, unknown: u64) -> Verdict {
        let bursts = MissBursts {
            clump: Some(1.0),
            count,
            largest: 1,
            unknown,
            at_most_per_hour: 1.0,
            ..MissBursts::default()
        };
        Verdict {
            word: if count + unknown == 0 { VerdictWord::Pass } else { VerdictWord::Fail },
            deadline_ns: Nanos(125_000),
            misses: count + unknown,
            releases: 1_000_000,
            at_most_share: None,
            at_most_per_second: None,
            bursts: Some(bursts),
            limit: None,
            reason: None,
            sentence: None,
        }
    }

    fn verdict_of(count: u64, per_hour: f64, hours: f64, any_time: bool) -> Verdict {
        let measured = Nanos((hours * HOUR_NS) as i64);
        judge_limit(verdict(count, 0), per_hour, measured, any_time, None)
    }

    /// The example of the specification: 3.47 h without a miss and a limit of 0.1/h need 26.5 h
    /// more.
    #[test]
    fn a_limit_that_is_not_shown_yet_says_how_much_longer() {
        let open = verdict_of(0, 0.1, 3.47, false);
        assert_eq!(
            (open.word, &open.reason),
            (VerdictWord::Inconclusive, &Some(VerdictReason::LimitOpen))
        );
        let limit = open.limit.unwrap();
        assert!((limit.at_most_per_hour - 0.863_3).abs() < 1e-3, "{limit:?}");
        let more = limit.more_ns.unwrap().0 as f64 / HOUR_NS;
        assert!((more - 26.49).abs() < 0.01, "{more}");
        let kept = verdict_of(0, 0.1, 30.0, false);
        assert_eq!((kept.word, kept.limit.unwrap().more_ns), (VerdictWord::Pass, None));
    }

    #[test]
    fn misses_within_the_limit_pass_and_beyond_it_fail() {
        assert_eq!(verdict_of(3, 10.0, 1.0, false).word, VerdictWord::Pass);
        assert_eq!(verdict_of(8, 10.0, 1.0, false).word, VerdictWord::Inconclusive);
        assert_eq!(verdict_of(30, 10.0, 1.0, false).word, VerdictWord::Fail);
        let limit = verdict_of(30, 10.0, 1.0, false).limit.unwrap();
        // chi2.ppf(0.05, 60)/2 of scipy.
        assert!((limit.at_least_per_hour - 21.593_979).abs() < 1e-5, "{limit:?}");
    }

    #[test]
    fn who_may_stop_at_any_time_needs_longer() {
        for (bursts, hours) in [(0, 3.403), (1, 6.896), (2, 9.269), (3, 11.340), (4, 13.251)] {
            assert_eq!(verdict_of(bursts, 1.0, hours + 0.002, true).word, VerdictWord::Pass);
            assert_ne!(verdict_of(bursts, 1.0, hours - 0.002, true).word, VerdictWord::Pass);
        }
        let count = BurstCount { least: 0, most: 0, measured: HOUR, clump: Some(1.0) };
        assert!(count.decides(3.5) && !count.decides(3.3));
        assert!(BurstCount { least: 40, most: 40, ..count }.decides(4.0));
        // Bursts that come three at a time count as a third of them.
        let unknown = BurstCount { clump: None, ..count };
        assert!(unknown.decides(10.3) && !unknown.decides(10.1));
        let of_three = BurstCount { clump: Some(3.0), ..count };
        assert_eq!(of_three.against(1.0, true), unknown.against(1.0, true));
        assert!(unknown.against(1.0, false).at_most_per_hour < 3.0, "not without a choice");
    }

    #[test]
    fn nothing_decides_where_the_run_is_spoiled() {
        let invalid = Verdict { word: VerdictWord::Invalid, ..verdict(0, 0) };
        assert_eq!(judge_limit(invalid.clone(), 1.0, HOUR, false, None), invalid);
        let silent = VerdictReason::SilentThreads { silent: 1, threads: 2 };
        let judged = judge_limit(verdict(0, 0), 10.0, HOUR, false, Some(silent.clone()));
        assert_eq!((judged.word, judged.reason), (VerdictWord::Inconclusive, Some(silent.clone())));
        let exceeded = judge_limit(verdict(99, 0), 10.0, HOUR, false, Some(silent));
        assert_eq!(exceeded.word, VerdictWord::Fail);
        // Misses without known times may be many bursts, or one.
        let unknown = judge_limit(verdict(0, 40), 10.0, HOUR, false, None);
        assert_eq!(unknown.word, VerdictWord::Inconclusive);
    }

    /// How often a machine above its limit is accepted by a user who checks at every burst; fixed
    /// seed.
    #[test]
    fn watching_does_not_accept_a_bad_machine() {
        let mut random = crate::random::Random::new(7);
        let (mut accepted, mut rejected) = (0, 0);
        for _ in 0..1_000 {
            let (mut hours, mut at) = (0.0, 0);
            let limit = |at: u64, hours: f64| {
                let measured = Nanos((hours * HOUR_NS) as i64);
                let count = BurstCount { least: at, most: at, measured, clump: Some(1.0) };
                count.against(1.0, true)
            };
            while at < 25 {
                // The true rate is the limit itself, 1/h.
                let next = hours - f64::ln(random.uniform());
                if limit(at, next).at_most_per_hour <= 1.0 {
                    accepted += 1;
                    break;
                }
                (hours, at) = (next, at + 1);
                if limit(at, hours).at_least_per_hour > 1.0 {
                    rejected += 1;
                    break;
                }
            }
        }
        assert!(accepted <= 60, "{accepted} of 1000");
        assert!(rejected <= 60, "{rejected} of 1000");
    }
}
