//! The result of the runs in a sentence: which pass, and which do not.

use super::RunTable;
use crate::facts::is_invalid;
use crate::figures::{P99_9, SaidLatency, maximum};
use crate::units::{counted, grouped, short, trimmed};
use crate::verdict::{Parts, forbids_pass, judgement};
use latlab_model::run::{Summary, VerdictWord};
use latlab_model::{Nanos, Run};
use std::collections::BTreeSet;
use std::ops::Range;

/// Up to this many runs of one verdict are named; more are counted.
const NAMED_RUNS: usize = 4;

/// The order in which verdicts are stated, the best first.
const VERDICTS: [VerdictWord; 4] =
    [VerdictWord::Pass, VerdictWord::Fail, VerdictWord::Inconclusive, VerdictWord::Invalid];

impl RunTable<'_> {
    /// The answer: "rt passes; stock fails." For two runs with equal verdicts it says what the
    /// second has more and less of. Remarks about all runs follow.
    pub(super) fn answer(&self) -> Vec<String> {
        if !self.is_of_one_kind() {
            let text = "These runs used different instruments: latencies of woken threads and gaps of \
                        spinning threads are not comparable.";
            return vec![text.to_string()];
        }
        let words: BTreeSet<Option<&str>> =
            self.runs.iter().map(|run| Some(run.verdict.as_ref()?.word.as_str())).collect();
        let differences = self.differences();
        let facts = match words.iter().any(Option::is_some) {
            true => Some(self.verdicts()),
            false => self.maxima(),
        };
        let answer: Vec<String> = match words.len() {
            1 => differences.into_iter().chain(facts).collect(),
            _ => facts.into_iter().chain(differences).collect(),
        };
        match answer.is_empty() {
            true => vec![format!("{} runs, of which some recorded nothing.", self.runs.len())],
            false => answer,
        }
    }

    /// What the second of two runs has more and less of: "rt: 205 times fewer misses, largest half
    /// as large." `None` for any other number of runs, or if a finding makes one invalid.
    fn differences(&self) -> Option<String> {
        let ([base, candidate], [_, name]) = (self.runs.as_slice(), self.names.as_slice()) else {
            return None;
        };
        if is_invalid(base) || is_invalid(candidate) {
            return None;
        }
        let size = |(figure, of): (&str, fn(&Summary) -> Option<SaidLatency>)| {
            let known = |run: &Run| of(&run.total).filter(|one| !one.is_bound() && one.ns > 0.0);
            let words = as_large(known(candidate)?.ns / known(base)?.ns);
            Some(format!("{figure} {words}"))
        };
        let of_tail = |total: &Summary| P99_9.of(total);
        let sizes = [("largest", maximum as fn(&Summary) -> _), (P99_9.name, of_tail)];
        let sizes = sizes.into_iter().filter_map(size);
        let all: Vec<String> = fewer_misses(base, candidate).into_iter().chain(sizes).collect();
        (!all.is_empty()).then(|| format!("{name}: {}.", all.join(", ")))
    }

    fn verdicts(&self) -> String {
        let with = |word: Option<VerdictWord>| {
            let all = self.runs.iter().zip(&self.names);
            let with = all.filter(|(run, _)| run.verdict.as_ref().map(|one| one.word) == word);
            clause(&with.map(|(_, name)| name.as_str()).collect::<Vec<_>>(), word)
        };
        let words = VERDICTS.map(Some).into_iter().chain([None]);
        let clauses: Vec<String> = words.filter_map(with).collect();
        let deadlines: BTreeSet<Nanos> =
            self.runs.iter().filter_map(|run| run.asked.until.deadline_ns).collect();
        let own = if deadlines.len() > 1 { " (their deadlines differ)" } else { "" };
        format!("{}{own}.", clauses.join("; "))
    }

    /// The smallest and the largest observed maximum; `None` if a run has none.
    fn maxima(&self) -> Option<String> {
        let maxima: Option<Vec<Nanos>> = self.runs.iter().map(|run| run.total.max_ns).collect();
        let mut all: Vec<(Nanos, &String)> = maxima?.into_iter().zip(&self.names).collect();
        all.sort();
        let ((least, lowest), (most, highest)) = (all.first()?, all.last()?);
        let (least, most) = (short(least.0 as f64), short(most.0 as f64));
        Some(format!(
            "The observed maximum was smallest in {lowest} ({least}) and largest in {highest} \
             ({most})."
        ))
    }

    /// How the failing runs missed their deadline, and what prevents others from passing; `None` if
    /// there are no such runs, or too many.
    pub(crate) fn misses(&self) -> Option<String> {
        let failed = self.runs.iter().zip(&self.names).filter(|(run, _)| {
            let has_failed =
                run.verdict.as_ref().is_some_and(|verdict| verdict.word == VerdictWord::Fail);
            has_failed || forbids_pass(run).is_some()
        });
        let sentence = |(run, name): (&&Run, &String)| {
            let judged = judgement(run, run.verdict.as_ref()?).without_word(Parts::Answer);
            Some(format!("{name}: {judged}"))
        };
        let sentences: Vec<String> = failed.filter_map(sentence).collect();
        (1..=NAMED_RUNS).contains(&sentences.len()).then(|| sentences.join(" "))
    }
}

/// How many times fewer or more misses the second run has, relative to its releases.
fn fewer_misses(base: &Run, candidate: &Run) -> Option<String> {
    let share = |run: &Run| Some(run.total.misses? as f64 / run.total.releases.max(1) as f64);
    let (before, now) = (share(base)?, share(candidate)?);
    let count = |run: &Run| counted(run.total.misses.unwrap_or(0), "miss", "misses");
    match (before > 0.0, now > 0.0) {
        (false, false) => None,
        (true, false) => Some(format!("no miss instead of {}", count(base))),
        (false, true) => Some(format!("{} instead of none", count(candidate))),
        (true, true) => Some(match now / before {
            ratio if is_same(ratio) => "as many misses".to_string(),
            ratio if ratio < SMALL.start => format!("{} times fewer misses", times(1.0 / ratio)),
            ratio if ratio < 1.0 => format!("{:.0} % fewer misses", (1.0 - ratio) * 100.0),
            ratio if ratio < SMALL.end => format!("{:.0} % more misses", (ratio - 1.0) * 100.0),
            ratio => format!("{} times as many misses", times(ratio)),
        }),
    }
}

/// A ratio of sizes in words.
fn as_large(ratio: f64) -> String {
    match ratio {
        same if is_same(same) => "as large".to_string(),
        half if is_same(half * 2.0) => "half as large".to_string(),
        twice if is_same(twice / 2.0) => "twice as large".to_string(),
        less if less < SMALL.start => format!("{} times smaller", times(1.0 / less)),
        less if less < 1.0 => format!("{:.0} % smaller", (1.0 - less) * 100.0),
        more if more < SMALL.end => format!("{:.0} % larger", (more - 1.0) * 100.0),
        more => format!("{} times as large", times(more)),
    }
}

/// Ratios that are stated in percent.
const SMALL: Range<f64> = 0.55..1.9;

/// Whether a reader would call the two equal.
fn is_same(ratio: f64) -> bool {
    (0.95..1.05).contains(&ratio)
}

/// A factor with two digits.
fn times(factor: f64) -> String {
    match factor {
        small if small < 9.95 => trimmed(format!("{small:.1}")),
        large => grouped(large.round() as u64),
    }
}

/// The runs with this verdict as a clause; `None` if there are none.
fn clause(names: &[&str], word: Option<VerdictWord>) -> Option<String> {
    let who = match names {
        [] => return None,
        [one] => one.to_string(),
        [some @ .., last] if names.len() <= NAMED_RUNS => format!("{} and {last}", some.join(", ")),
        many => format!("{} runs", many.len()),
    };
    let (one, many) = match word {
        Some(VerdictWord::Pass) => ("passes", "pass"),
        Some(VerdictWord::Fail) => ("fails", "fail"),
        Some(VerdictWord::Inconclusive) => ("is inconclusive", "are inconclusive"),
        Some(VerdictWord::Invalid) => ("is invalid", "are invalid"),
        None => ("has no verdict", "have no verdict"),
    };
    Some(format!("{who} {}", if names.len() == 1 { one } else { many }))
}
