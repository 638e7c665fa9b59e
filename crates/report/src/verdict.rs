//! The judgement of a run: one sentence in parts, of which each output uses as many as it has room
//! for.

use crate::InWords;
use crate::causes;
use crate::figures::{self, SaidLatency};
use crate::sections::attach;
use crate::sentence;
use crate::units::{counted, grouped, percent, span, trimmed, within_sentence};
use latlab_model::finding::{FindingKind, LossFinding};
use latlab_model::plan::Recorded;
use latlab_model::run::{BurstLimit, EndReason, MissBursts, Verdict, VerdictReason, VerdictWord};
use latlab_model::shell::Line;
use latlab_model::{Nanos, Plan, Run};
use latlab_stats::comparison::BurstRate;

/// The run as a command prints it: with the sentences of its findings, its verdict and its causes
/// of spikes, with its command in words, and without the checksums of the stored files.
pub fn rendered(run: &Run) -> Run {
    let command = run.asked.command.as_deref().and_then(Line::reread);
    let asked = Plan { command: command.map(|line| line.to_string()), ..run.asked.clone() };
    Run {
        asked,
        findings: run.findings.iter().map(|finding| finding.rendered()).collect(),
        verdict: rendered_verdict(run),
        explanation: causes::rendered(run),
        checksum: None,
        ..run.clone()
    }
}

/// The verdict with its sentences; `None` if no deadline was given.
pub fn rendered_verdict(run: &Run) -> Option<Verdict> {
    let verdict = run.verdict.clone()?;
    let sentence = judgement(run, &verdict).sentence(Parts::All);
    Some(Verdict { sentence: Some(sentence), ..verdict })
}

/// How much of a judgement is stated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parts {
    /// Word, misses, reason and maximum.
    Answer,
    /// Also the place of the maximum.
    WithPlace,
    /// Also the bound on future misses.
    All,
}

pub(crate) struct Judgement {
    word: VerdictWord,
    /// `none of 120 361 releases missed the 250 us deadline`.
    missed: String,
    reason: Option<String>,
    /// Whether the reason prevents a run without misses from passing.
    but: bool,
    /// `; the largest took 214 us`.
    largest: String,
    place: Option<String>,
    bound: Option<String>,
}

impl Judgement {
    /// One or two sentences.
    pub(crate) fn sentence(&self, parts: Parts) -> String {
        let word = self.word.as_str().to_uppercase();
        let text = format!("{word}: {}", self.without_word(parts));
        match &self.bound {
            Some(bound) if parts == Parts::All => format!("{text} {bound}"),
            _ => text,
        }
    }

    /// The sentence without the verdict, to follow the name of a run.
    pub(crate) fn without_word(&self, parts: Parts) -> String {
        let Judgement { missed, reason, but, largest, place, .. } = self;
        let place = place.as_ref().filter(|_| parts != Parts::Answer && !largest.is_empty());
        let largest = largest.clone() + &in_brackets(place.cloned());
        match reason {
            Some(reason) if *but => format!("{missed}, but {reason}{largest}."),
            Some(reason) => format!("{reason}. {}{largest}.", capitalised(missed)),
            None => format!("{missed}{largest}."),
        }
    }
}

/// Capitalises the first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_ascii_uppercase().to_string() + chars.as_str())
        .unwrap_or_default()
}

pub(crate) fn judgement(run: &Run, verdict: &Verdict) -> Judgement {
    let of_program = attach::judgement(run, verdict);
    let (missed, largest) =
        of_program.unwrap_or_else(|| (missed(run, verdict), largest_words(run)));
    let is_forbidden = matches!(verdict.reason, Some(VerdictReason::PassForbidden { .. }));
    Judgement {
        word: verdict.word,
        missed,
        reason: reason(run, verdict),
        but: is_forbidden && verdict.misses == 0,
        largest,
        place: sentence::maximum_place(run)
            .filter(|place| !place.is_empty() && run.attached.is_none()),
        bound: bound(run, verdict),
    }
}

/// How many releases missed the deadline, as a clause.
fn missed(run: &Run, verdict: &Verdict) -> String {
    let Verdict { deadline_ns, misses, releases, .. } = verdict;
    let (one, many) = match run.asked.method.records() {
        Recorded::Latency if run.asked.method.is_import() => ("latency", "latencies"),
        Recorded::Latency => ("release", "releases"),
        Recorded::Gap => ("gap", "gaps"),
        Recorded::Response => judged_responses(run),
    };
    let count = match misses {
        0 => "none".to_string(),
        misses => grouped(*misses),
    };
    // A file may state a maximum of gaps that it does not list.
    let all = match misses > releases {
        true => format!("at least {}", counted(*misses, one, many)),
        false => counted(*releases, one, many),
    };
    format!("{count} of {all} missed the {deadline_ns} deadline")
}

fn largest_words(run: &Run) -> String {
    let size = match run.asked.method.records() {
        Recorded::Latency | Recorded::Response => "took",
        Recorded::Gap => "lasted",
    };
    let words = |max: SaidLatency| {
        format!("; the largest {size} {}{}", max.short(), sentence::without_self_interference(run))
    };
    largest(run).map(words).unwrap_or_default()
}

/// The bound that a run gives on future misses.
pub(crate) fn bound(run: &Run, verdict: &Verdict) -> Option<String> {
    let what = match run.asked.method.records() {
        Recorded::Response => judged_responses(run).1,
        Recorded::Latency | Recorded::Gap => "releases",
    };
    if let Some(bursts) = &verdict.bursts {
        let limit = verdict
            .limit
            .map(|limit| format!(" {}", against(&limit, verdict.word, verdict.misses)));
        let most = verdict.limit.map_or(bursts.at_most_per_hour, |limit| limit.at_most_per_hour);
        let bound = bound_bursts(bursts, most);
        return Some(format!("{bound}{}{}", limit.unwrap_or_default(), of_one_boot(run)));
    }
    match (verdict.at_most_share, verdict.at_most_per_second) {
        (Some(share), _) => Some(bound_by_count(share, what)),
        (_, Some(rate)) => Some(bound_by_time(rate)),
        _ => None,
    }
}

/// The bound on one line.
pub(crate) fn bound_in_short(run: &Run, verdict: &Verdict) -> Option<String> {
    let Some(MissBursts { count, at_most_per_hour, .. }) = verdict.bursts else {
        return bound(run, verdict);
    };
    let most = per_hour(verdict.limit.map_or(at_most_per_hour, |limit| limit.at_most_per_hour));
    let limit =
        verdict.limit.map(|limit| format!(" {}", against(&limit, verdict.word, verdict.misses)));
    let at_most = match (count, verdict.limit) {
        // Misses that did not occur may still come; only a longer run excludes them.
        (0, None) => format!(
            "{} cannot exclude up to {most} bursts of misses an hour (95 % confidence); see \
             `latlab plan`.",
            span(run.measured_ns)
        ),
        (0, Some(_)) => format!("At most {most} bursts of misses an hour (95 % confidence)."),
        (count, _) => format!(
            "The misses came in {}: at most {most} an hour (95 % confidence).",
            counted(count, "burst", "bursts"),
        ),
    };
    Some(at_most + &limit.unwrap_or_default())
}

/// Compares the bursts with the tolerated rate.
pub(crate) fn against(limit: &BurstLimit, word: VerdictWord, misses: u64) -> String {
    let tolerated = rate(limit.per_hour);
    match (word, limit.more_ns) {
        (VerdictWord::Pass, _) => format!("That keeps the limit of {tolerated} in an hour."),
        (VerdictWord::Fail, _) => format!(
            "More than {} come, above the limit of {tolerated} in an hour.",
            rate_below(limit.at_least_per_hour)
        ),
        (_, Some(more)) => format!(
            "The limit is {tolerated} in an hour: {} more without a {}miss would show that it is kept.",
            span(more),
            if misses > 0 { "further " } else { "" }
        ),
        _ => format!("The limit is {tolerated} in an hour."),
    }
}

/// The caveat about a single run.
fn of_one_boot(run: &Run) -> &'static str {
    match run.asked.method.is_import() || run.asked.on.target.has_virtual_time() {
        true => "",
        false => " This is one run of one boot; another boot may differ.",
    }
}

/// Singular and plural of what a verdict on responses counts. A run that was cut off knows only the
/// stimuli that were answered.
pub(crate) fn judged_responses(run: &Run) -> (&'static str, &'static str) {
    match run.responses() {
        Some(_) => ("stimulus", "stimuli"),
        None => ("known response", "known responses"),
    }
}

/// The largest latency that the verdict counts, including those after the last stored interval.
pub(crate) fn largest(run: &Run) -> Option<SaidLatency> {
    let uncounted = run.findings.iter().filter_map(|finding| match finding.kind {
        FindingKind::Loss(LossFinding::SpikesUncounted { largest_ns, .. }) => Some(largest_ns),
        _ => None,
    });
    let max = uncounted.chain(run.total.max_ns).max()?.0 as f64;
    let of_total = figures::maximum(&run.total).unwrap_or(figures::known(max));
    Some(SaidLatency { ns: max, ..of_total }.resolved(figures::resolution(run)))
}

/// Why a run is `invalid` or `inconclusive`, as a clause; `None` if its counts decide.
pub fn verdict_reason(run: &Run) -> Option<String> {
    reason(run, run.verdict.as_ref()?)
}

/// Why a run is `invalid` or `inconclusive`, as a clause.
pub(crate) fn reason(run: &Run, verdict: &Verdict) -> Option<String> {
    Some(match verdict.reason.as_ref()? {
        VerdictReason::Findings { findings } => heaviest(run, findings),
        VerdictReason::NothingRecorded => "nothing was recorded".to_string(),
        VerdictReason::SilentThreads { silent, threads } => {
            format!("nothing was recorded on {silent} of {threads} threads")
        }
        VerdictReason::ResponsesNotMeasured { count, stimuli } => {
            let verb = if *count == 1 { "was" } else { "were" };
            format!("{} of {} responses {verb} not measured", grouped(*count), grouped(*stimuli))
        }
        VerdictReason::LatenciesUnknown { count } => match count {
            Some(count) => format!(
                "the file does not say whether {} missed",
                counted(*count, "latency", "latencies")
            ),
            None => "the file does not say how many latencies it leaves out".to_string(),
        },
        VerdictReason::PassForbidden { finding, others } => {
            and_others(&within_sentence(&finding.text()), *others)
        }
        VerdictReason::LimitOpen => match &verdict.limit {
            Some(limit) => format!(
                "the run is too short to show that there are at most {} of misses an hour",
                bursts_at(limit.per_hour)
            ),
            None => "the run is too short for its limit".to_string(),
        },
        VerdictReason::Ended { reason } => too_short(*reason).to_string(),
    })
}

/// What prevents a run without misses from passing, as a clause.
pub(crate) fn forbids_pass(run: &Run) -> Option<String> {
    let verdict = run.verdict.as_ref()?;
    let is_forbidden = matches!(verdict.reason, Some(VerdictReason::PassForbidden { .. }));
    is_forbidden.then(|| reason(run, verdict)).flatten()
}

fn in_brackets(reason: Option<String>) -> String {
    reason.map(|reason| format!(" ({reason})")).unwrap_or_default()
}

/// The first finding that makes the run `invalid`, and the number of the others.
fn heaviest(run: &Run, codes: &[String]) -> String {
    let first = run.findings.iter().find(|finding| finding.invalidates());
    let text = first.map(|finding| finding.text());
    let text = text.as_deref().unwrap_or("see the findings");
    and_others(text, codes.len().saturating_sub(1) as u64)
}

/// The sentence of a finding as a clause, and the number of the others.
pub(crate) fn and_others(text: &str, others: u64) -> String {
    let text = text.trim_end_matches('.');
    match others {
        0 => text.to_string(),
        1 => format!("{text}, and one more finding"),
        count => format!("{text}, and {count} more findings"),
    }
}

fn too_short(ended: EndReason) -> &'static str {
    match ended {
        EndReason::Finished | EndReason::Decided => "the run was too short",
        EndReason::Interrupted => "the run was interrupted",
        EndReason::StopAbove => "the run stopped at a value above --stop-above",
        EndReason::CpuOffline => "a measured CPU was taken offline",
        EndReason::RanAway => "a thread ran without sleeping and was stopped",
        EndReason::RecorderFull => "the recorder was full",
        EndReason::Failed => "a measuring thread failed",
        EndReason::Lost => "the stream ended early",
    }
}

/// The assumption behind every bound.
pub(crate) const UNCHANGED: &str =
    "if load and machine do not change and bursts come independently";
/// Bursts with at least this many misses on average are said to clump.
const NOTABLE_CLUMP: f64 = 1.5;

/// Misses cluster, so the rate of bursts is bounded instead.
fn bound_bursts(bursts: &MissBursts, most_per_hour: f64) -> String {
    let MissBursts { count, largest, unknown, begins_at_most, share_at_most, .. } = *bursts;
    let MissBursts { clump, sizes_above_ns, .. } = *bursts;
    let seen = match (count, unknown) {
        (0, 0) => String::new(),
        (0, _) => format!("The times of {} are not known. ", counted(unknown, "miss", "misses")),
        (_, 0) => format!(
            "The misses came in {}, the largest of {}. ",
            counted(count, "burst", "bursts"),
            counted(largest, "miss", "misses")
        ),
        _ => format!(
            "The misses came in {} at least, the largest of {}; the times of {} are not known. ",
            counted(count, "burst", "bursts"),
            counted(largest, "miss", "misses"),
            grouped(unknown)
        ),
    };
    let begins = begins_at_most.or(share_at_most.filter(|_| count == 0));
    let begins =
        begins.map(|share| format!(", one in {} releases", grouped((1.0 / share).round() as u64)));
    let share = share_at_most.filter(|_| count > 0);
    let share = share.map(|share| format!(", and at most {} of the releases miss", percent(share)));
    let sizes = sizes_above_ns.filter(|_| share.is_some()).map(|level| {
        format!(" (for bursts as large as those of latencies above {level}; those at the deadline are few)")
    });
    let clump = clump.filter(|clump| *clump >= NOTABLE_CLUMP);
    let clump = clump
        .map(|clump| format!(" Bursts come up to {clump:.1} at a time, which is allowed for."));
    format!(
        "{seen}At most {} bursts of misses an hour{}{}{} (95 % confidence), {UNCHANGED}.{}",
        per_hour(most_per_hour),
        begins.unwrap_or_default(),
        share.unwrap_or_default(),
        sizes.unwrap_or_default(),
        clump.unwrap_or_default()
    )
}

/// A tolerated rate as it was given.
pub(crate) fn rate(per_hour: f64) -> String {
    if per_hour >= 1e4 {
        grouped(per_hour.round() as u64)
    } else {
        trimmed(format!("{per_hour:.6}"))
    }
}

/// What the rounds of a watch prove together, as a clause.
pub fn bursts_so_far(found: &BurstRate, bounds: &BurstLimit, limit: Option<&BurstLimit>) -> String {
    let least = if found.unknown > 0 { "at least " } else { "" };
    let bursts = counted(found.bursts, "burst of misses", "bursts of misses");
    let (measured, most) = (span(found.measured_ns), per_hour(bounds.at_most_per_hour));
    let said =
        format!("so far {least}{bursts} in {measured}, at most {most} an hour (95 %, at any time)");
    let Some(limit) = limit else { return said };
    let against = match () {
        () if limit.at_least_per_hour > limit.per_hour => "exceeded",
        () if limit.at_most_per_hour <= limit.per_hour => "kept",
        () => "open",
    };
    format!("{said}; limit of {} an hour: {against}", rate(limit.per_hour))
}

fn bursts_at(per_hour: f64) -> String {
    let unit = if per_hour == 1.0 { "burst" } else { "bursts" };
    format!("{} {unit}", rate(per_hour))
}

/// An exceeded rate, rounded down to two digits.
fn rate_below(rate: f64) -> String {
    if rate >= 10.0 {
        return grouped(rate.floor() as u64);
    }
    let last = 10_f64.powf(rate.max(1e-9).log10().floor() - 1.0);
    let rounded = (rate / last + 1e-9).floor() * last;
    let decimals = (-last.log10()).round().max(0.0) as usize;
    trimmed(format!("{rounded:.decimals$}"))
}

/// A rate, rounded up to two digits.
pub(crate) fn per_hour(rate: f64) -> String {
    if rate >= 10.0 {
        return grouped(rate.ceil() as u64);
    }
    let last = 10_f64.powf(rate.max(1e-9).log10().floor() - 1.0);
    let rounded = (rate / last).ceil() * last;
    let decimals = (-last.log10()).round().max(0.0) as usize;
    trimmed(format!("{rounded:.decimals$}"))
}

fn bound_by_count(share: f64, what: &str) -> String {
    format!(
        "With 95 % confidence at most one in {} {what} begins a burst of misses (3.00/n), {UNCHANGED}.",
        grouped((1.0 / share).round() as u64)
    )
}

/// Gaps do not occur per cycle, so the bound depends on the time without one.
fn bound_by_time(per_second: f64) -> String {
    let each = Nanos((1e9 / per_second) as i64);
    format!(
        "With 95 % confidence a burst of such gaps begins at most once in {each} (3.00 in the measured \
         time, {} a second), {UNCHANGED}.",
        trimmed(format!("{per_second:.4}"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_bounded_and_what_is_not_known_of_them_is_said() {
        let none = MissBursts {
            at_most_per_hour: 0.8633,
            begins_at_most: Some(3e-8),
            ..MissBursts::default()
        };
        assert_eq!(
            bound_bursts(&none, none.at_most_per_hour),
            "At most 0.87 bursts of misses an hour, one in 33 333 333 releases (95 % confidence), if load \
             and machine do not change and bursts come independently."
        );
        let some = MissBursts {
            count: 130,
            largest: 95,
            at_most_per_hour: 13_401.2,
            share_at_most: Some(0.0055),
            clump: Some(2.25),
            ..none
        };
        assert_eq!(
            bound_bursts(&some, some.at_most_per_hour),
            "The misses came in 130 bursts, the largest of 95 misses. At most 13 402 bursts of misses an \
             hour, one in 33 333 333 releases, and at most 0.55 % of the releases miss (95 % confidence), if \
             load and machine do not change and bursts come independently. Bursts come up to 2.2 at a time, which is allowed for."
        );
        let few = MissBursts { count: 3, sizes_above_ns: Some(Nanos(60_000)), ..some };
        assert!(bound_bursts(&few, 9.0).contains(
            "and at most 0.55 % of the releases miss (for bursts as large as those of latencies above 60 us; \
             those at the deadline are few) (95 % confidence), if load"
        ));
        let lost = MissBursts { unknown: 12, begins_at_most: None, share_at_most: None, ..some };
        assert!(bound_bursts(&lost, lost.at_most_per_hour).starts_with(
            "The misses came in 130 bursts at least, the largest of \
            95 misses; the times of 12 are not known. "
        ));
    }

    #[test]
    fn a_limit_is_kept_exceeded_or_needs_more_time() {
        let limit = BurstLimit {
            per_hour: 0.1,
            at_most_per_hour: 0.8633,
            at_least_per_hour: 0.0,
            at_any_time: false,
            more_ns: Some(Nanos(95_400_000_000_000)),
        };
        assert_eq!(
            against(&limit, VerdictWord::Inconclusive, 0),
            "The limit is 0.1 in an hour: 26.5 h more without a miss would show that it is kept."
        );
        assert_eq!(
            against(&limit, VerdictWord::Pass, 0),
            "That keeps the limit of 0.1 in an hour."
        );
        let exceeded = BurstLimit { at_least_per_hour: 2.15, ..limit };
        assert_eq!(
            against(&exceeded, VerdictWord::Fail, 9),
            "More than 2.1 come, above the limit of 0.1 in an hour."
        );
    }
}
