//! What the runs come to, in a sentence: which runs pass, and which do not.

use super::RunTable;
use crate::summary::headline;
use crate::units::short;
use crate::verdict::forbids_pass;
use latlab_model::run::VerdictWord;
use latlab_model::{Nanos, Run};
use std::collections::BTreeSet;

/// More runs of one verdict than these are counted, not named.
const NAMED_RUNS: usize = 4;

/// The order in which verdicts are said: what is good enough first.
const VERDICTS: [VerdictWord; 4] =
    [VerdictWord::Pass, VerdictWord::Fail, VerdictWord::Inconclusive, VerdictWord::Invalid];

impl RunTable<'_> {
    /// "rt passes; stock fails."; without verdicts, where the observed maximum was largest.
    pub(crate) fn headline(&self) -> String {
        if !self.is_of_one_kind() {
            return "These runs used different instruments: latencies of woken threads and gaps of \
                    spinning threads are not comparable."
                .to_string();
        }
        match self.runs.iter().any(|run| run.verdict.is_some()) {
            true => self.verdicts(),
            false => self.maxima().unwrap_or_else(|| {
                format!("{} runs, of which some recorded nothing.", self.runs.len())
            }),
        }
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
            self.runs.iter().filter_map(|run| run.asked.deadline_ns).collect();
        let own = if deadlines.len() > 1 { " (their deadlines differ)" } else { "" };
        format!("{}{own}.", clauses.join("; "))
    }

    /// Where the observed maximum was smallest and largest; none where a run has none.
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

    /// How the runs that fail missed their deadline, and what forbids others a pass; nothing where there
    /// is none or too many.
    pub(crate) fn misses(&self) -> Option<String> {
        let failed = self.runs.iter().zip(&self.names).filter(|(run, _)| {
            let has_failed =
                run.verdict.as_ref().is_some_and(|verdict| verdict.word == VerdictWord::Fail);
            has_failed || forbids_pass(run).is_some()
        });
        let sentence = |(run, name): (&&Run, &String)| {
            let headline = headline(run);
            let counts = headline.split_once(": ").map_or(headline.as_str(), |(_, counts)| counts);
            format!("{name}: {counts}")
        };
        let sentences: Vec<String> = failed.map(sentence).collect();
        (1..=NAMED_RUNS).contains(&sentences.len()).then(|| sentences.join(" "))
    }
}

/// The runs of a verdict with its verb; none where there are none.
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
