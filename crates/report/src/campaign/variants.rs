//! The targets, kernels and boards that the rows of a campaign were measured on, and the outcome of
//! each.

use super::table::heaviest_word;
use crate::campaign::{CampaignRow, CampaignTable};
use crate::facts::kernel_words;
use latlab_model::run::VerdictWord;
use latlab_model::target::short_name;
use std::collections::BTreeSet;

/// A sentence names at most this many rows.
const NAMED_ROWS: usize = 3;
/// A sentence names up to this many targets, kernels or boards that all pass.
const NAMED_VARIANTS: usize = 8;

/// What was measured in each row, by the shortest distinguishing name, such as `rt-6.12`. All names
/// are empty if every row was measured on the same target, kernel and board.
pub fn variant_names(table: &CampaignTable) -> Vec<String> {
    let facts: Vec<[String; 3]> = table.rows.iter().map(facts).collect();
    let distinct = |of: &dyn Fn(&[String; 3]) -> String| {
        facts.iter().map(of).collect::<BTreeSet<String>>().len()
    };
    let differing: Vec<usize> =
        (0..3).filter(|&at| distinct(&|fact| fact[at].clone()) > 1).collect();
    let joined = |fact: &[String; 3], all: &[usize]| {
        let parts = all.iter().map(|&at| fact[at].as_str()).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    };
    let all = distinct(&|fact| fact.join("\n"));
    let enough = (1..=differing.len())
        .map(|count| &differing[..count])
        .find(|some| distinct(&|fact| joined(fact, some)) == all)
        .unwrap_or(&differing);
    facts.iter().map(|fact| joined(fact, enough)).map(without_common_folder(&facts)).collect()
}

fn facts(row: &CampaignRow) -> [String; 3] {
    let target = short_name(&row.target).to_string();
    [target, kernel(row).unwrap_or_default(), row.board.clone().unwrap_or_default()]
}

/// Drops the folder of lab targets if all have the same.
fn without_common_folder(facts: &[[String; 3]]) -> impl Fn(String) -> String {
    let machine =
        |fact: &[String; 3]| fact[0].split_once('/').map(|(machine, _)| machine.to_string());
    let machines: BTreeSet<Option<String>> = facts.iter().map(machine).collect();
    let common = match machines.len() {
        1 => machines.into_iter().next().flatten().map(|machine| machine + "/"),
        _ => None,
    };
    move |name: String| match &common {
        Some(common) => name.strip_prefix(common).unwrap_or(&name).to_string(),
        None => name,
    }
}

/// The kernel of a row and its preemption, as far as known.
pub fn kernel(row: &CampaignRow) -> Option<String> {
    Some(kernel_words(row.kernel.as_ref()?, row.preemption.as_deref()))
}

/// The outcome of the campaign: each target, kernel or board with its verdict, or each row. `None`
/// without a verdict.
pub fn headline(table: &CampaignTable) -> Option<String> {
    table.rows.iter().find_map(|row| row.verdict)?;
    let names = variant_names(table);
    let mut variants: Vec<(&str, Vec<&CampaignRow>)> = Vec::new();
    for (name, row) in names.iter().zip(&table.rows) {
        match variants.iter_mut().find(|(known, _)| known == name) {
            Some((_, rows)) => rows.push(row),
            None => variants.push((name, vec![row])),
        }
    }
    let passes =
        |rows: &[&CampaignRow]| rows.iter().all(|row| row.verdict == Some(VerdictWord::Pass));
    if let [some @ .., (last, _)] = &variants[..]
        && (1..NAMED_VARIANTS).contains(&some.len())
        && variants.iter().all(|(_, rows)| passes(rows))
    {
        let some: Vec<&str> = some.iter().map(|(name, _)| *name).collect();
        return Some(format!("{} and {last} pass.", some.join(", ")));
    }
    let sentences = match &variants[..] {
        [(_, rows)] => rows.iter().map(|row| clause(&row.label, &[row])).collect::<Vec<_>>(),
        several => several.iter().map(|(name, rows)| clause(name, rows)).collect(),
    };
    match sentences.len() {
        0..=8 => Some(format!("{}.", sentences.join("; "))),
        _ => Some(format!("{}.", tally(table))),
    }
}

/// A name with the heaviest verdict of its rows, and the exceptions.
fn clause(name: &str, rows: &[&CampaignRow]) -> String {
    let word = heaviest_word(rows.iter().filter_map(|row| row.verdict));
    let with: Vec<&str> =
        rows.iter().filter(|row| row.verdict == word).map(|row| row.group.as_str()).collect();
    let part = match word {
        Some(VerdictWord::Pass) | None => String::new(),
        Some(_) if with.len() == rows.len() => String::new(),
        Some(_) if with.len() <= NAMED_ROWS => {
            format!(" in {} of {} rows ({})", with.len(), rows.len(), with.join("; "))
        }
        Some(_) => format!(" in {} of {} rows", with.len(), rows.len()),
    };
    format!("{name} {}{part}", verb(word))
}

fn verb(word: Option<VerdictWord>) -> &'static str {
    match word {
        Some(VerdictWord::Pass) => "passes",
        Some(VerdictWord::Fail) => "fails",
        Some(VerdictWord::Inconclusive) => "is inconclusive",
        Some(VerdictWord::Invalid) => "is invalid",
        None => "has no verdict",
    }
}

/// The number of rows by verdict.
fn tally(table: &CampaignTable) -> String {
    let words = VerdictWord::ALL.iter().map(|word| Some(*word)).chain([None]);
    let counts = words.filter_map(|word| {
        let count = table.rows.iter().filter(|row| row.verdict == word).count();
        let name = word.map_or("without a verdict".to_string(), |word| word.to_string());
        (count > 0).then(|| format!("{name}: {count}"))
    });
    format!("Rows by verdict: {}", counts.collect::<Vec<_>>().join(", "))
}
