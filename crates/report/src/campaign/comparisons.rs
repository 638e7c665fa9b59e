//! Compares the targets, kernels or boards of a campaign.

use super::table::PlannedResult;
use super::variants::variant_names;
use crate::campaign::{CampaignRow, CampaignTable, VariantComparison};
use crate::compare::scenario_sentence;
use latlab_model::run::VerdictWord;
use latlab_stats::comparison::{ComparisonWord, ScenarioComparison};
use latlab_stats::{MeasuredRun, Tolerance, compare_runs};
use latlab_store::CellWord;
use std::collections::BTreeSet;

/// Each other variant against the base, which is the first one without a real-time kernel if there
/// is one.
pub fn comparisons(table: &CampaignTable, made: &[PlannedResult]) -> Vec<VariantComparison> {
    let names = variant_names(table);
    let mut variants: Vec<&String> = Vec::new();
    for name in &names {
        if !variants.contains(&name) {
            variants.push(name);
        }
    }
    let of = |variant: &String| -> Vec<&CampaignRow> {
        table
            .rows
            .iter()
            .zip(&names)
            .filter(|(_, name)| *name == variant)
            .map(|(row, _)| row)
            .collect()
    };
    let base = variants.iter().position(|variant| !of(variant).into_iter().any(is_realtime));
    let base = base.unwrap_or(0);
    let Some(first) = variants.get(base) else { return Vec::new() };
    let base_runs = runs(&of(first), made);
    let others = variants.iter().enumerate().filter(|(at, _)| *at != base);
    let compared = others.filter_map(|(_, variant)| {
        let candidate = runs(&of(variant), made);
        if base_runs.is_empty() || candidate.is_empty() {
            return None;
        }
        Some(VariantComparison {
            base: first.to_string(),
            candidate: variant.to_string(),
            compared: compare_runs(&base_runs, &candidate, &Tolerance::default()),
        })
    });
    compared.collect()
}

fn is_realtime(row: &CampaignRow) -> bool {
    row.preemption.as_deref().is_some_and(|preemption| preemption.contains("RT"))
}

fn runs<'a>(rows: &[&'a CampaignRow], made: &[PlannedResult<'a>]) -> Vec<MeasuredRun<'a>> {
    let find = |id: &String| made.iter().filter_map(|one| one.run).find(|one| one.run.id == *id);
    let of_row = |row: &&'a CampaignRow| {
        let group = row.group.as_str();
        let done = row.cells.iter().filter(|cell| {
            cell.state == CellWord::Done && cell.verdict != Some(VerdictWord::Invalid)
        });
        done.filter_map(|cell| {
            Some(MeasuredRun { scenario: Some(group), ..find(cell.run.as_ref()?)? })
        })
        .collect::<Vec<_>>()
    };
    rows.iter().flat_map(of_row).collect()
}

/// A sentence for each scenario.
pub fn comparison_lines(table: &CampaignTable) -> Vec<String> {
    let groups: BTreeSet<&String> = table.rows.iter().map(|row| &row.group).collect();
    let several = groups.len() > 1;
    // Boards that are equally indistinguishable from the base share one line.
    let is_alike = |one: &VariantComparison, other: &VariantComparison| {
        is_refused(one) && lines_of(one, "", several) == lines_of(other, "", several)
    };
    let mut alike: Vec<Vec<&VariantComparison>> = Vec::new();
    for one in &table.comparisons {
        match alike.iter_mut().find(|group| is_alike(group[0], one)) {
            Some(group) => group.push(one),
            None => alike.push(vec![one]),
        }
    }
    let lines = |group: &Vec<&VariantComparison>| match &group[..] {
        [one] => lines_of(one, &one.candidate, several),
        all => lines_of(all[0], &format!("{} others", all.len()), several),
    };
    alike.iter().flat_map(lines).collect()
}

fn is_refused(of: &VariantComparison) -> bool {
    of.compared.scenarios.iter().all(|scenario| scenario.word == ComparisonWord::Refused)
}

fn lines_of(of: &VariantComparison, candidate: &str, several: bool) -> Vec<String> {
    let said =
        |scenario: &ScenarioComparison| scenario_sentence(scenario, &of.base, candidate, "repeat");
    let all: Vec<String> = of.compared.scenarios.iter().map(said).collect();
    let is_same = all.windows(2).all(|pair| pair[0] == pair[1]);
    if is_same || !several {
        return all.into_iter().take(1).collect();
    }
    let names = of.compared.scenarios.iter().map(|one| one.name.as_deref().unwrap_or("runs"));
    names.zip(all).map(|(name, said)| format!("{name}: {said}")).collect()
}
