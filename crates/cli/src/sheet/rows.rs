//! Scenarios times matrix: the rows, each with its plan.

use super::Overrides;
use super::errors::SheetErrors;
use super::options::{
    NEEDS_PROGRAM, NOT_OF_PROGRAMS, SheetOption, is_known, names_program, options, reason,
};
use super::read::{Scenario, Sheet};
use crate::flags::attach::AttachOptions;
use crate::flags::parse;
use crate::flags::plan::MeasureArgs;
use crate::flags::sheet::Scale;
use crate::targets::NamedTarget;
use latlab_model::Plan;
use latlab_model::campaign::Row;
use latlab_model::load::Load;
use latlab_model::options::PlanOption;
use latlab_model::plan::Until;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// A row before random choices.
pub struct SheetRow {
    pub row: Row,
    /// The seed in the sheet, if any.
    pub seed: Option<u64>,
}

/// A board and its name.
type Board<'a> = (&'a String, &'a NamedTarget);

const TARGET: &str = "target";

/// Limit of rows; more are taken for a mistake, and would exhaust memory before they are shown.
const MOST_ROWS: usize = 10_000;

/// Expands all rows; mistakes are collected.
pub fn rows(sheet: &Sheet, instead: &Overrides, mistakes: &mut SheetErrors) -> Vec<SheetRow> {
    let mut rows: Vec<SheetRow> = Vec::new();
    let mut labels = HashSet::new();
    if let Some((at, text)) = too_many(sheet, instead.boards.len()) {
        mistakes.add(at, text);
        return rows;
    }
    if !instead.boards.is_empty() {
        for one in settings(sheet).filter(|one| one.key == TARGET) {
            mistakes
                .add(one.at.clone(), "target: --targets says what is measured; omit one of them");
        }
    }
    let boards: Vec<Option<Board<'_>>> = match instead.boards.is_empty() {
        true => vec![None],
        false => instead.boards.iter().map(Some).collect(),
    };
    for scenario in &sheet.scenarios {
        let spoiled = sheet.defaults.spoiled || scenario.settings.spoiled;
        let points = combinations(&sheet.matrix);
        let places =
            points.iter().flat_map(|point| boards.iter().map(move |board| (point, *board)));
        for (point, board) in places {
            match row(sheet, scenario, point, board, instead.scale.as_ref()) {
                Ok(made) if !labels.insert(made.row.label.clone()) => {
                    let at = point.last().map_or(scenario.at.clone(), |one| one.at.clone());
                    mistakes.add(
                        at,
                        format!("duplicate row '{}': a value is listed twice", made.row.label),
                    );
                }
                Ok(made) => rows.push(made),
                // A valid plan may lack only the invalid setting, so only mistakes about settings
                // that are present are certain.
                Err((word, _))
                    if spoiled && !merged(sheet, scenario, point).contains_key(word.as_str()) => {}
                Err((word, text)) => {
                    let (at, text) = locate_error(sheet, scenario, point, &word, text);
                    mistakes.add(at, text);
                }
            }
        }
    }
    rows
}

/// All settings of the sheet.
fn settings(sheet: &Sheet) -> impl Iterator<Item = &SheetOption> {
    let scenarios = sheet.scenarios.iter().flat_map(|one| &one.settings.list);
    sheet.defaults.list.iter().chain(scenarios).chain(sheet.matrix.iter().flatten())
}

/// The place of the matrix and the message, if it makes too many rows.
fn too_many(sheet: &Sheet, boards: usize) -> Option<(Range<usize>, String)> {
    // A list without a valid value counts as one, since the others are still expanded.
    let lengths = sheet.matrix.iter().map(|values| values.len().max(1));
    let boards = (boards > 0).then_some(boards);
    let factors: Vec<usize> = lengths.chain([sheet.scenarios.len()]).chain(boards).collect();
    let product = factors.iter().try_fold(1usize, |product, factor| product.checked_mul(*factor));
    if product.is_some_and(|rows| rows <= MOST_ROWS) {
        return None;
    }
    let at = sheet.matrix.iter().flatten().next().map_or(0..1, |first| first.at.clone());
    let factors: Vec<String> = factors.iter().map(usize::to_string).collect();
    let text = format!(
        "matrix, scenarios and boards make {} rows; the limit is {MOST_ROWS}: list fewer values",
        factors.join(" x ")
    );
    Some((at, text))
}

/// Every combination with one value for each option.
fn combinations(matrix: &[Vec<SheetOption>]) -> Vec<Vec<&SheetOption>> {
    let mut points: Vec<Vec<&SheetOption>> = vec![Vec::new()];
    for values in matrix {
        let longer = |point: &Vec<_>, value| point.iter().copied().chain([value]).collect();
        points = points
            .iter()
            .flat_map(|point| values.iter().map(move |value| longer(point, value)))
            .collect();
    }
    points
}

/// Makes a row. The error names the wrong option and gives the reason.
fn row(
    sheet: &Sheet,
    scenario: &Scenario,
    point: &[&SheetOption],
    board: Option<Board<'_>>,
    scale: Option<&Scale>,
) -> Result<SheetRow, (String, String)> {
    let merged = merged(sheet, scenario, point);
    let wrong = |text: String| (word_of(&text), text);
    let args = RowArgs::new(&merged, board)?;
    let loads = args.loads().map_err(|text| ("load".to_string(), text))?;
    let mut plan = scaled(args.plan().map_err(wrong)?, scale);
    plan.on.loads = loads;
    if plan.duration(1).is_none() {
        let text = format!("'{}' has no end; add for = \"1min\" or cycles = 100000", scenario.name);
        return Err((String::new(), text));
    }
    plan.check().map_err(wrong)?;
    let set = point.iter().map(|one| (one.key.clone(), one.text.clone()));
    let set = set.chain(board.map(|(name, _)| (TARGET.to_string(), name.clone())));
    let value = |key: &str| merged.get(key).map(|one| one.text.clone());
    let row = Row {
        label: label(scenario, point, board),
        scenario: scenario.name.clone(),
        about: scenario.about.clone(),
        settings: set.collect(),
        kernel: value("kernel"),
        left_out: None,
        plan,
    };
    Ok(SheetRow { row, seed: args.seed() })
}

/// What a row measures: threads of latlab, or those of a program.
enum RowArgs {
    Own(MeasureArgs),
    Program(AttachOptions),
}

impl RowArgs {
    fn new(
        merged: &BTreeMap<&str, &SheetOption>,
        board: Option<Board<'_>>,
    ) -> Result<RowArgs, (String, String)> {
        let wrong = |text: String| (word_of(&text), text);
        let board = board.map(|(_, named)| named.clone());
        let is_rest = |one: &&SheetOption| one.words.first().is_some_and(|word| word == "--");
        let (last, first): (Vec<_>, Vec<_>) = merged.values().copied().partition(is_rest);
        let words: Vec<String> =
            first.into_iter().chain(last).flat_map(|one| one.words.clone()).collect();
        if !merged.keys().any(|key| names_program(key)) {
            if let Some(key) = merged.keys().find(|key| is_only_of_programs(key)) {
                return Err((key.to_string(), format!("--{key} {NEEDS_PROGRAM}")));
            }
            let mut args: MeasureArgs = parse(&words).map_err(|error| wrong(reason(&error)))?;
            args.guest.board = board;
            return Ok(RowArgs::Own(args));
        }
        for (key, option) in merged {
            if !option.words.is_empty() && !is_known(key, PlanOption::is_of_attach) {
                return Err((key.to_string(), format!("--{key} {NOT_OF_PROGRAMS}")));
            }
        }
        let mut args: AttachOptions = parse(&words).map_err(|error| wrong(reason(&error)))?;
        args.guest.board = board;
        Ok(RowArgs::Program(args))
    }

    fn plan(&self) -> Result<Plan, String> {
        match self {
            RowArgs::Own(args) => args.plan_without_loads(0),
            RowArgs::Program(args) => args.plan_without_loads(),
        }
    }

    fn loads(&self) -> Result<Vec<Load>, String> {
        match self {
            RowArgs::Own(args) => args.loads(),
            RowArgs::Program(args) => args.loads(),
        }
    }

    fn seed(&self) -> Option<u64> {
        match self {
            RowArgs::Own(args) => args.value("seed")?.parse().ok(),
            RowArgs::Program(_) => None,
        }
    }
}

fn is_only_of_programs(key: &str) -> bool {
    is_known(key, PlanOption::is_of_attach) && !is_known(key, PlanOption::is_of_run)
}

/// A scenario overrides the defaults, and the matrix overrides both.
fn merged<'a>(
    sheet: &'a Sheet,
    scenario: &'a Scenario,
    point: &[&'a SheetOption],
) -> BTreeMap<&'a str, &'a SheetOption> {
    let own =
        sheet.defaults.list.iter().chain(&scenario.settings.list).chain(point.iter().copied());
    own.map(|one| (one.key.as_str(), one)).collect()
}

fn label(scenario: &Scenario, point: &[&SheetOption], board: Option<Board<'_>>) -> String {
    let settings = point.iter().map(|one| format!(", {} {}", one.key, one.text));
    let board = board.map(|(name, _)| format!(", {name}"));
    format!("{}{}", scenario.name, settings.chain(board).collect::<String>())
}

fn scaled(mut plan: Plan, scale: Option<&Scale>) -> Plan {
    let (duration_ns, cycles) = match scale {
        None => return plan,
        Some(Scale::Time(length)) => (Some(*length), None),
        Some(Scale::Cycles(_)) if plan.method.attach().is_some() => return plan,
        Some(Scale::Cycles(cycles)) => (None, Some(*cycles)),
    };
    plan.until = Until { duration_ns, cycles, ..plan.until };
    plan
}

/// The first option named in a message.
fn word_of(text: &str) -> String {
    let Some((_, rest)) = text.split_once("--") else { return String::new() };
    rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

/// The place to underline for a mistake, and its message in the words of a sheet.
fn locate_error(
    sheet: &Sheet,
    scenario: &Scenario,
    point: &[&SheetOption],
    word: &str,
    text: String,
) -> (Range<usize>, String) {
    let merged = merged(sheet, scenario, point);
    let at = merged.get(word).map_or(scenario.at.clone(), |one| one.at.clone());
    let text = options().fold(text, |text, one| text.replace(&format!("--{}", one.name), one.name));
    (at, text)
}
