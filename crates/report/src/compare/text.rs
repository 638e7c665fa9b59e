//! A comparison for the terminal, and as Markdown.

use super::sentences::{
    headline, incomplete, maxima, missed, power, probability, range, ratio, remark, scenario,
    title, unsupported,
};
use crate::sections::causes::SideBySide;
use crate::terminal::style::{Colour, Style};
use crate::terminal::table::{Column, escaped, markdown as markdown_table, table, wrapped};
use crate::units::short;
use latlab_model::comparison::{Comparison, FactChange};
use latlab_model::run_comparison::{
    ComparedCauses, ComparedRun, ComparisonWord, MetricComparison, RunComparison,
    ScenarioComparison,
};
use latlab_model::shell::Line;

/// Settings of the machine that are named; the others are counted.
const NAMED_SETTINGS: usize = 6;
/// Runs of a side that are named above the figures; of more all follow below.
const NAMED_RUNS: usize = 3;

/// The whole comparison in the terminal.
pub fn show(of: &RunComparison, width: usize, style: Style) -> String {
    let head = wrapped(&headline(of), width, 0);
    let mut text = format!("{}\n", style.paint(colour(of.word), &head));
    let several = of.scenarios.len() > 1;
    for one in &of.scenarios {
        if several {
            let name = one.name.as_deref().unwrap_or("runs");
            let line = wrapped(&format!("{name}: {}", scenario(one)), width, 2);
            text += &format!("\n{}\n", style.paint(Colour::Bold, &line));
        }
        text += &format!("{}\n\n", wrapped(&sides(one), width, 2));
        text += &table(columns(one), width, style);
        let lines: Vec<String> = below(one).into_iter().chain(all_runs(one)).collect();
        text += if lines.is_empty() { "" } else { "\n" };
        text +=
            &lines.iter().map(|line| format!("{}\n", wrapped(line, width, 2))).collect::<String>();
        if let Some(causes) = causes(one) {
            text += &format!("\n{}", table(causes.columns(), width, style));
        }
    }
    for line in changes(of).into_iter().chain(left_out(of)) {
        text += &format!("{}\n", wrapped(&line, width, 4));
    }
    text
}

/// The colour of the terminal.
pub(crate) fn colour(word: ComparisonWord) -> Colour {
    match word {
        ComparisonWord::NoRegression => Colour::Good,
        ComparisonWord::Regressed => Colour::Bad,
        _ => Colour::Warn,
    }
}

/// Which runs are compared; of many the first.
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

fn ids(runs: &[ComparedRun]) -> String {
    runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ")
}

fn columns(of: &ScenarioComparison) -> Vec<Column> {
    let cells = |cell: &dyn Fn(&MetricComparison) -> String| -> Vec<String> {
        of.metrics.iter().map(cell).collect()
    };
    let words = cells(&|one| title(one.word).to_string());
    let paint = |word: &str| {
        ComparisonWord::ALL.iter().find(|one| title(**one) == word).map(|one| colour(*one))
    };
    vec![
        Column::new("metric", 0, cells(&|one| one.metric.to_string())).left(),
        Column::new("base", 1, cells(&|one| short(middle(&one.base_ns)))),
        Column::new("candidate", 1, cells(&|one| short(middle(&one.candidate_ns)))),
        Column::new("ratio", 0, cells(&|one| format!("x{}", ratio(one.ratio)))),
        Column::new("95 % interval", 0, cells(&|one| one.interval.map_or("-".to_string(), range))),
        Column::new("p", 2, cells(&|one| probability(one.p))),
        Column::new("limit", 3, cells(&|one| format!("x{}", ratio(1.0 + one.care)))),
        Column::new("verdict", 0, words).left().coloured(paint),
    ]
}

/// The middle of the values of a side; of two that of their logarithms, as the ratio is one of logarithms.
pub(super) fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.get((sorted.len().max(1) - 1) / 2), sorted.get(sorted.len() / 2)) {
        (Some(low), Some(high)) => (low * high).sqrt(),
        _ => 0.0,
    }
}

/// Causes of the spikes of both sides.
pub(super) fn causes(of: &ScenarioComparison) -> Option<SideBySide<'_>> {
    let ComparedCauses { base, candidate } = of.causes.as_ref()?;
    SideBySide::new([("base", Some(base)), ("candidate", Some(candidate))])
}

/// What is said below the table.
fn below(of: &ScenarioComparison) -> Vec<String> {
    let unsupported =
        of.unsupported.iter().map(|one| format!("Not compared: {}.", unsupported(one)));
    let misses = of.misses.iter().map(missed);
    let remarks = of.remarks.iter().map(|one| format!("Caution: {}", remark(one)));
    misses.chain([maxima(of)]).chain(power(of)).chain(unsupported).chain(remarks).collect()
}

/// What differs between the two sides besides the figures.
fn changes(of: &RunComparison) -> Vec<String> {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_string());
    let line = |one: &FactChange| {
        format!("  {}: {} -> {}", one.what.replace('_', " "), value(&one.before), value(&one.after))
    };
    let of_machine = of.machines.as_ref().map(settings).unwrap_or_default();
    if of.changes.is_empty() && of_machine.is_empty() {
        return vec![
            String::new(),
            "Nothing else is known to differ between the sides.".to_string(),
        ];
    }
    let head = [String::new(), "Changed from base to candidate:".to_string()].into_iter();
    head.chain(of.changes.iter().map(line)).chain(of_machine).collect()
}

fn settings(of: &Comparison) -> Vec<String> {
    let named = of.settings.iter().take(NAMED_SETTINGS).map(|one| {
        let value = |value: &Option<String>| match value {
            Some(value) => value.replace('\n', "; "),
            None => "none".to_string(),
        };
        format!("  /{}: {} -> {}", one.file, value(&one.before), value(&one.after))
    });
    let mut lines: Vec<String> = named.collect();
    let options: usize = of.config.iter().flatten().map(|topic| topic.options.len()).sum();
    let more = of.settings.len().saturating_sub(NAMED_SETTINGS);
    if more > 0 || options > 0 {
        let command = Line::new("latlab doctor --against").word(&of.before).operand(&of.after);
        lines.push(format!("  and {more} more settings, {options} kernel options: {command}"));
    }
    lines
}

/// Runs and scenarios that are not compared.
pub(super) fn left_out(of: &RunComparison) -> Vec<String> {
    let invalid = (!of.invalid.is_empty())
        .then(|| format!("Left out because they are invalid: {}.", of.invalid.join(", ")));
    let alone = (!of.only_one_side.is_empty())
        .then(|| format!("Measured on one side only: {}.", of.only_one_side.join("; ")));
    invalid.into_iter().chain(incomplete(&of.incomplete)).chain(alone).collect()
}

/// The whole comparison in the Markdown of GitHub.
pub fn markdown(of: &RunComparison) -> String {
    let mut text = format!("**{}**\n\n", escaped(&headline(of)));
    for one in &of.scenarios {
        if of.scenarios.len() > 1 {
            let name = one.name.as_deref().unwrap_or("runs");
            text += &format!("#### {}\n\n{}\n\n", escaped(name), escaped(&scenario(one)));
        }
        text += &format!("{}\n\n{}\n", escaped(&sides(one)), markdown_table(&columns(one)));
        text += &below(one).iter().map(|line| format!("- {}\n", escaped(line))).collect::<String>();
        text.push('\n');
        if let Some(causes) = causes(one) {
            text += &format!("{}\n", markdown_table(&causes.columns()));
        }
        let runs = all_runs(one);
        if !runs.is_empty() {
            let lines = runs.iter().map(|line| format!("- {}\n", escaped(line)));
            let lines = lines.collect::<String>();
            text += &format!("<details><summary>All runs</summary>\n\n{lines}\n</details>\n\n");
        }
    }
    let lines = changes(of).into_iter().chain(left_out(of));
    let line = |line: String| match line.strip_prefix("  ") {
        Some(item) => format!("- {}\n", escaped(item)),
        None => format!("{}\n\n", escaped(&line)),
    };
    text + lines.filter(|line| !line.is_empty()).map(line).collect::<String>().trim_end() + "\n"
}
