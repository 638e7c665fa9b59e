//! The sections of a comparison below its answer.

use super::ComparedSides;
use super::machines;
use super::page::class;
use super::sentences::{
    incomplete, maxima, missed, power, probability, range, ratio, remark, title, unsupported,
};
use super::text::colour;
use crate::document::table::{Cell, Column, Table};
use crate::document::{Block, On, Section};
use crate::figures::{Counts, Place, columns};
use crate::sections::causes::SideBySide;
use crate::units::{counted, short, span};
use latlab_doctor::comparison::{Comparison, FactChange};
use latlab_model::Nanos;
use latlab_model::shell::Line;
use latlab_stats::comparison::{
    ComparedCauses, ComparedRun, MetricComparison, RunComparison, ScenarioComparison,
};

/// This many machine settings are named; the others are counted.
const NAMED_SETTINGS: usize = 6;
/// This many runs of a side are named above the figures; if there are more, all follow below.
const NAMED_RUNS: usize = 3;

/// All sections of a scenario except the charts.
pub fn of_scenario(of: &ScenarioComparison) -> Vec<Section> {
    [Some(metrics(of)), misses(of), Some(runs(of)), causes(of)].into_iter().flatten().collect()
}

/// The metrics of both sides, and what limits them.
pub fn metrics(of: &ScenarioComparison) -> Section {
    let caption = "A number of each run for each metric; ratios are candidate to base";
    let table = Table::new(caption, metric_columns(of)).stacked();
    let unsupported =
        of.unsupported.iter().map(|one| format!("Not compared: {}.", unsupported(one)));
    let remarks = of.remarks.iter().map(|one| format!("Caution: {}", remark(one)));
    Section::new("metrics", "Metrics")
        .without_title()
        .add(On::Text, Block::Text(sides(of)))
        .table(table)
        .texts(power(of).into_iter().chain(unsupported).chain(remarks))
}

fn metric_columns(of: &ScenarioComparison) -> Vec<Column> {
    let each = |cell: &dyn Fn(&MetricComparison) -> Cell| -> Vec<Cell> {
        of.metrics.iter().map(cell).collect()
    };
    let side = |values: &[f64], runs: &[ComparedRun]| {
        let each: Vec<String> = values.iter().map(|value| short(*value)).collect();
        let tip = format!("{}; {}. Runs: {}", each.join(", "), exposure(runs), ids(runs));
        Cell::from(short(middle(values))).tip(Some(tip))
    };
    let number = |one: &MetricComparison| {
        format!("{} and {} runs", one.base_ns.len(), one.candidate_ns.len())
    };
    let interval = |one: &MetricComparison| {
        let level = one.interval.map(|interval| {
            format!("exact, by ranks, {:.1} %, {}", interval.level * 100.0, number(one))
        });
        Cell::from(one.interval.map(range)).tip(level)
    };
    let chance = |one: &MetricComparison| {
        let of_all = probability(one.p_of_all);
        let how = format!(
            "Mann and Whitney, exact, {}; for all metrics and scenarios together p={of_all}",
            number(one)
        );
        Cell::from(probability(one.p)).tip(Some(how))
    };
    let of_ratio = |one: &MetricComparison| {
        let how = format!("Hodges and Lehmann, {}", number(one));
        Cell::from(format!("x{}", ratio(one.ratio))).tip(Some(how))
    };
    let word = |one: &MetricComparison| {
        Cell::from(title(one.word).to_string()).badge(class(one.word), colour(one.word))
    };
    vec![
        Column::new("metric", 0, each(&|one| one.metric.to_string().into())).left(),
        Column::new("base", 1, each(&|one| side(&one.base_ns, &of.base))),
        Column::new("candidate", 1, each(&|one| side(&one.candidate_ns, &of.candidate))),
        Column::new("ratio", 0, each(&of_ratio)),
        Column::new("95 % interval", 0, each(&interval)),
        Column::new("p", 2, each(&chance)),
        Column::new("limit", 3, each(&|one| format!("x{}", ratio(1.0 + one.margin)).into())),
        Column::new("verdict", 0, each(&word)).left(),
    ]
}

fn misses(of: &ScenarioComparison) -> Option<Section> {
    let misses = of.misses.as_ref()?;
    let sum = misses.word.map(|word| title(word).to_lowercase());
    let section = Section::new("misses", "Deadline misses").without_title();
    Some(section.sum(sum).text(missed(misses)))
}

/// The runs of both sides with their maxima, which are shown but not judged.
fn runs(of: &ScenarioComparison) -> Section {
    let all: Vec<&ComparedRun> = of.base.iter().chain(&of.candidate).collect();
    let sides = of.base.iter().map(|_| "base").chain(of.candidate.iter().map(|_| "candidate"));
    let boot = |run: &&ComparedRun| {
        let boot = run.boot_id.as_ref().map(|boot| boot.chars().take(8).collect::<String>());
        Cell::from(boot).tip(run.boot_id.clone())
    };
    let mut table = vec![
        Column::new("run", 0, all.iter().map(|run| run.id.clone())).left(),
        Column::new("side", 0, sides.map(str::to_string)).left(),
    ];
    let figures: Vec<Counts> = all.iter().map(|run| Counts::from(*run)).collect();
    table.extend(columns(Place::Compared, &figures));
    table.push(Column::new("boot", 1, all.iter().map(boot)).left());
    let caption = "Maxima depend on chance and on the length of a run, and are not judged";
    let section = Section::new("runs", "Runs and their maxima")
        .without_title()
        .add(On::Page, Block::Table(Table::new(caption, table).stacked()))
        .add(On::Text, Block::Text(maxima(of)));
    match all_runs(of) {
        few if few.is_empty() => section,
        many => {
            let many = vec![Block::List(String::new(), many)];
            section.add(On::Text, Block::Folded("All runs".to_string(), many))
        }
    }
}

fn causes(of: &ScenarioComparison) -> Option<Section> {
    let ComparedCauses { base, candidate } = of.causes.as_ref()?;
    let both = SideBySide::new([("base", Some(base)), ("candidate", Some(candidate))])?;
    Some(both.section())
}

/// Other differences between the two sides.
pub fn changes(of: &ComparedSides) -> Section {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_string());
    let line = |one: &FactChange| {
        format!("{}: {} -> {}", one.what.replace('_', " "), value(&one.before), value(&one.after))
    };
    let of_machine = of.machines.as_ref().map(settings).unwrap_or_default();
    let all: Vec<String> = of.changes.iter().map(line).chain(of_machine).collect();
    let section = Section::new("changes", "What differs between the sides");
    let section = machines::listed(section.sum(machines::sum(of)), of);
    let section = match all.is_empty() {
        true => {
            let nothing = "Nothing else is known to differ between the sides.".to_string();
            section.without_title().add(On::Text, Block::Text(nothing))
        }
        false => section.add(On::Text, Block::List(String::new(), all)),
    };
    section.texts_on(On::Text, left_out(&of.runs))
}

/// Which runs are compared; only the first ones if there are many.
fn sides(of: &ScenarioComparison) -> String {
    let names = |runs: &[ComparedRun]| match runs.len() {
        few if few <= NAMED_RUNS => ids(runs),
        many => format!("{} and {} more, named below", ids(&runs[..NAMED_RUNS]), many - NAMED_RUNS),
    };
    format!("Base: {}. Candidate: {}.", names(&of.base), names(&of.candidate))
}

/// All runs of the sides that are not named above.
fn all_runs(of: &ScenarioComparison) -> Vec<String> {
    let sides = [("base", &of.base), ("candidate", &of.candidate)];
    let many = sides.into_iter().filter(|(_, runs)| runs.len() > NAMED_RUNS);
    many.map(|(side, runs)| format!("Runs of the {side}: {}.", ids(runs))).collect()
}

/// The median of a side. Of two values, their geometric mean, as the ratio is one of logarithms.
pub fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.get((sorted.len().max(1) - 1) / 2), sorted.get(sorted.len() / 2)) {
        (Some(low), Some(high)) => (low * high).sqrt(),
        _ => 0.0,
    }
}

/// For how long and how often a side was measured.
pub fn exposure(runs: &[ComparedRun]) -> String {
    let releases = runs.iter().fold(0, |sum: u64, run| sum.saturating_add(run.releases));
    let measured: Nanos = runs.iter().map(|run| run.measured_ns).sum();
    let time = match measured.0 {
        0 => "in an unknown time".to_string(),
        _ => format!("in {}", span(measured)),
    };
    format!("{} {time}", counted(releases, "release", "releases"))
}

pub fn ids(runs: &[ComparedRun]) -> String {
    runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ")
}

fn settings(of: &Comparison) -> Vec<String> {
    let named = of.settings.iter().take(NAMED_SETTINGS).map(|one| {
        let value = |value: &Option<String>| match value {
            Some(value) => value.replace('\n', "; "),
            None => "none".to_string(),
        };
        format!("/{}: {} -> {}", one.file, value(&one.before), value(&one.after))
    });
    let mut lines: Vec<String> = named.collect();
    let options: usize = of.config.iter().flatten().map(|topic| topic.options.len()).sum();
    let more = of.settings.len().saturating_sub(NAMED_SETTINGS);
    if more > 0 || options > 0 {
        let command = Line::new("latlab doctor --against").word(&of.before).operand(&of.after);
        lines.push(format!("and {more} more settings, {options} kernel options: {command}"));
    }
    lines
}

/// Runs and scenarios that are not compared.
pub fn left_out(of: &RunComparison) -> Vec<String> {
    let invalid = (!of.invalid.is_empty())
        .then(|| format!("Left out because they are invalid: {}.", of.invalid.join(", ")));
    let alone = (!of.only_one_side.is_empty())
        .then(|| format!("Measured on one side only: {}.", of.only_one_side.join("; ")));
    invalid.into_iter().chain(incomplete(&of.incomplete)).chain(alone).collect()
}
