//! What a campaign will do, shown before it starts.

use super::format::length;
use crate::document::style::Style;
use crate::document::table::{Column, table, wrapped};
use crate::figures::figure_head;
use crate::units::span;
use latlab_model::campaign::{Campaign, PlannedRun, Row};
use latlab_model::sanitize::escape_controls;
use latlab_model::shell;
use std::collections::HashSet;

/// Every run in order, and the total time.
pub fn planned(campaign: &Campaign, width: usize, style: Style) -> String {
    let about = campaign.about.as_ref().map(|about| format!("{}\n", wrapped(about, width, 0)));
    let length = length(campaign.shortest_and_longest(), campaign.scale.as_deref());
    let length = length.map(|length| format!("{}\n", wrapped(&length, width, 0)));
    format!(
        "{}\n{}{}{}{}\n{}",
        campaign.name,
        about.unwrap_or_default(),
        length.unwrap_or_default(),
        table(columns(campaign), width, style),
        effects(campaign, width),
        wrapped(&total(campaign), width, 0) + "\n"
    )
}

fn columns(campaign: &Campaign) -> Vec<Column> {
    let row = |run: &PlannedRun| &campaign.rows[run.row];
    let each = |cell: &dyn Fn(&Row) -> String| {
        campaign.runs.iter().map(|run| cell(row(run))).collect::<Vec<_>>()
    };
    let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_string());
    let loads = |row: &Row| {
        let words: Vec<&str> = row.plan.on.loads.iter().map(|load| load.words.as_str()).collect();
        dash((!words.is_empty()).then(|| words.join(" + ")))
    };
    let mut columns = vec![
        Column::new("run", 0, (1..=campaign.runs.len()).map(|number| number.to_string())),
        Column::new("row", 0, each(&|row| row.label.clone())).left(),
        Column::new("repeat", 0, campaign.runs.iter().map(|run| run.repeat.to_string())),
        Column::new(
            "length",
            0,
            campaign.runs.iter().map(|run| dash(campaign.run_duration(run).map(span))),
        ),
        Column::new(
            "deadline",
            2,
            each(&|row| dash(row.plan.until.deadline_ns.map(|time| time.to_string()))),
        ),
        Column::new(figure_head("kernel"), 0, each(&|row| dash(row.kernel.clone()))).left(),
        Column::new(figure_head("load"), 1, each(&loads)).left(),
    ];
    columns.retain(|column| !column.is_void());
    columns
}

/// What the runs change and execute, each listed once: a sheet can run any command.
fn effects(campaign: &Campaign, width: usize) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for plan in campaign.rows.iter().map(|row| &row.plan) {
        let files = plan
            .on
            .kernel_files
            .iter()
            .map(|one| ("changes", format!("{} = {}", one.path, one.value)));
        let tunings = plan.on.tunings.iter().map(|one| ("changes", format!("tuning {one}")));
        let command = plan.keep.on_spike.iter().map(|command| ("for a spike", command.clone()));
        let loads = plan.on.loads.iter().flat_map(|load| &load.processes);
        let loads = loads.map(|process| ("as load", shell::words(&process.argv)));
        lines.extend(files.chain(tunings).chain(command).chain(loads));
    }
    let mut shown = HashSet::new();
    lines.retain(|line| shown.insert(line.clone()));
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines.iter().map(|(what, text)| {
        let line = format!("{what}: {}", escape_controls(text));
        format!("  {}\n", wrapped(&line, width.saturating_sub(2), 4))
    });
    format!("\nThese runs change and execute:\n{}", lines.collect::<String>())
}

fn total(campaign: &Campaign) -> String {
    let runs = campaign.runs.len();
    let pauses = match campaign.pause_time().0 {
        0 => String::new(),
        _ => format!(" and {} of cool-down", span(campaign.pause_time())),
    };
    let cool = campaign.cool_down.below_millicelsius.map(|below| {
        format!(
            " Before each run but the first, the machine may cool down to {} C, for at most {}.",
            below as f64 / 1000.0,
            span(campaign.cool_down.limit_ns)
        )
    });
    let boards = campaign.rows.iter().map(|row| &row.plan.on.target);
    let boards: HashSet<String> = boards
        .filter(|target| target.is_behind_a_link())
        .map(|target| target.to_string())
        .collect();
    let boards = match boards.len() {
        0 | 1 => String::new(),
        several => format!(" {several} boards measure side by side, in less time (--jobs)."),
    };
    let loads = campaign.rows.iter().any(|row| !row.plan.on.loads.is_empty());
    let loads = if loads { " Loads take some seconds more to start and to stop." } else { "" };
    format!(
        "{runs} {} in order {} (seed {}): {} in all, {} with warm-ups{pauses}.{boards}{}{loads}",
        if runs == 1 { "run" } else { "runs" },
        campaign.order,
        campaign.seed,
        span(campaign.measured_time()),
        span(campaign.run_time()),
        cool.unwrap_or_default(),
    )
}
