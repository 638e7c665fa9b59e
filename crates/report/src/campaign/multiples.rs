//! A small chart for each row of a campaign, all on one scale: each repeat, and all repeats pooled.
//! Rows that have something in common, such as all kernels, are overlaid.

use super::table::summed;
use super::variants::variant_names;
use crate::campaign::{CampaignRow, CampaignTable};
use crate::pictures::cpus::Grid;
use crate::pictures::curve::{Curve, highest, latencies};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::Options;
use crate::pictures::panel::{Panel, Shared, panels};
use crate::pictures::picture::{FIRST_LINE, Heading, Picture};
use crate::pictures::svg::{Anchor, INK, MUTED, Pen, TEXT_SIZE, text, text_width};
use crate::terms::{self, Terms};
use latlab_model::{Run, ThreadBins};
use maud::{Markup, html};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Font size in a small chart.
const SMALL: f64 = 11.0;
/// Room between the charts and the legend.
const BELOW: f64 = 30.0;

pub type Counted<'a> = (&'a Run, &'a [ThreadBins]);

/// The runs of each row's cells; a cell is `None` if it has no run.
pub fn multiples(
    table: &CampaignTable,
    rows: &[Vec<Option<Counted>>],
    options: &Options,
) -> String {
    let lines = row_lines(table);
    let each = lines.iter().zip(rows);
    let groups: Vec<Vec<Curve>> = each.map(|(line, runs)| repeats(line.pen, runs)).collect();
    let small = Small {
        title: format!("{}: row by row", table.name),
        labels: table.rows.iter().map(|row| row.label.as_str()).collect(),
        // The pooled line repeats the latencies of the single repeats, so count only that one.
        latencies: groups.iter().filter_map(|group| group.first()).map(|all| all.count).sum(),
        entries: match groups.iter().any(|group| group.len() > 1) {
            true => entries(&lines).into_iter().chain([each_repeat()]).collect(),
            false => entries(&lines),
        },
        groups,
    };
    small.draw(rows, options)
}

/// Whether some rows have something in common, so that overlaying them makes sense.
pub fn can_be_overlaid(table: &CampaignTable) -> bool {
    let groups: BTreeSet<String> = row_lines(table).into_iter().map(|line| line.group).collect();
    groups.len() < table.rows.len()
}

/// The rows of each group overlaid, with their repeats pooled.
pub fn overlaid(table: &CampaignTable, rows: &[Vec<Option<Counted>>], options: &Options) -> String {
    let lines = row_lines(table);
    let mut groups: Vec<(&str, Vec<Curve>)> = Vec::new();
    for (line, curve) in lines.iter().zip(pooled_rows(table, rows)) {
        match groups.iter_mut().find(|(group, _)| *group == line.group) {
            Some((_, curves)) => curves.push(curve),
            None => groups.push((&line.group, vec![curve])),
        }
    }
    let (labels, groups): (Vec<&str>, Vec<Vec<Curve>>) = groups.into_iter().unzip();
    let title = format!("{}: rows over each other", table.name);
    let latencies = groups.iter().flatten().map(|line| line.count).sum();
    Small { title, labels, entries: entries(&lines), groups, latencies }.draw(rows, options)
}

/// How a row is drawn among others. Rows with the same name have the same colour in all charts.
pub struct RowLine {
    /// The rows of one group are overlaid.
    pub group: String,
    /// Name within the group.
    pub name: String,
    /// Number of the pen.
    pub pen: usize,
}

/// Names each row by target, kernel or board where these differ, else by its settings. If no row
/// has anything in common with another, its own name is used.
pub fn row_lines(table: &CampaignTable) -> Vec<RowLine> {
    let lines = grouped_lines(table);
    let groups: BTreeSet<&str> = lines.iter().map(|line| line.group.as_str()).collect();
    if groups.len() < lines.len() {
        return lines;
    }
    let alone = |(pen, row): (usize, &CampaignRow)| RowLine {
        group: row.label.clone(),
        name: row.label.clone(),
        pen,
    };
    table.rows.iter().enumerate().map(alone).collect()
}

fn grouped_lines(table: &CampaignTable) -> Vec<RowLine> {
    let variants = variant_names(table);
    let has_variants = variants.windows(2).any(|pair| pair[0] != pair[1]);
    let mut names: Vec<String> = Vec::new();
    let rows = table.rows.iter().zip(variants).map(|(row, variant)| {
        let settings = row.label.strip_prefix(&row.scenario).unwrap_or(&row.label);
        let (group, name) = match has_variants {
            true => (row.group.clone(), variant),
            false => (row.scenario.clone(), settings.trim_start_matches(", ").to_string()),
        };
        let known = names.iter().position(|other| *other == name);
        let pen = known.unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        });
        RowLine { group, name, pen }
    });
    rows.collect()
}

/// All repeats of each row pooled, drawn as in an overlay.
pub fn pooled_rows<'a>(table: &CampaignTable, rows: &[Vec<Option<Counted>>]) -> Vec<Curve<'a>> {
    let curve = |(line, cells): (RowLine, &Vec<Option<Counted>>)| {
        let runs: Vec<Counted> = cells.iter().flatten().copied().collect();
        Curve { pen: Some(line.pen), ..pooled(line.name, &runs) }
    };
    row_lines(table).into_iter().zip(rows).map(curve).collect()
}

struct Small<'a> {
    title: String,
    labels: Vec<&'a str>,
    groups: Vec<Vec<Curve<'a>>>,
    entries: Vec<Entry>,
    latencies: u64,
}

impl Small<'_> {
    fn draw(self, rows: &[Vec<Option<Counted>>], options: &Options) -> String {
        let Small { title, labels, groups, entries, latencies } = self;
        let borrowed: Vec<&[Curve]> = groups.iter().map(Vec::as_slice).collect();
        let grid = Grid::new(groups.len(), options);
        let runs = || rows.iter().flatten().flatten().map(|(run, _)| *run);
        let (terms, deadline) = (terms::of_all(runs()), DeadlineMark::of_runs(runs()));
        let (shared, panels) = panels(&borrowed, options.axis, grid.panel_width(), terms, deadline);
        let width = options.drawn_width();
        let heading = Heading::new(
            &title,
            &[format!(
                "Heights: {} per unit of width, logarithmic; one scale for all.",
                terms.many
            )],
            width,
        );
        let top = FIRST_LINE + heading.height() - 8.0;
        let end = grid.end(top);
        let deadline = deadline.map(|one| one.entry(shared.axis.to));
        let legend = Legend::new(entries.into_iter().chain(deadline).collect(), width);
        let picture = Picture {
            options,
            height: end + BELOW + legend.height(),
            title: title.clone(),
            description: description(&labels, &groups, terms),
            latencies,
        };
        let middle = (grid.left() + width - 16.0) / 2.0;
        picture.render(html! {
            (heading.render(FIRST_LINE))
            @for (index, panel) in panels.iter().enumerate() {
                (small(&grid, index, panel, &shared, top, labels[index]))
            }
            (text(middle, end + 8.0, Anchor::Middle, TEXT_SIZE, INK, &shared.axis.title(terms)))
            (legend.render(end + BELOW))
        })
    }
}

fn pooled<'a>(name: String, runs: &[Counted]) -> Curve<'a> {
    let bins = summed(runs.iter().flat_map(|(_, bins)| *bins).flat_map(|thread| &thread.bins));
    let curve = Curve {
        name,
        min: runs.iter().filter_map(|(run, _)| run.total.min_ns).min(),
        max: runs.iter().filter_map(|(run, _)| run.total.max_ns).max(),
        max_is_at_least: runs.iter().any(|(run, _)| run.total.max_is_at_least),
        ..Curve::default()
    };
    curve.with_rows(Cow::Owned(bins))
}

/// The pooled line first, then each repeat in the background if there are several.
fn repeats<'a>(pen: usize, cells: &[Option<Counted<'a>>]) -> Vec<Curve<'a>> {
    let runs: Vec<Counted> = cells.iter().flatten().copied().collect();
    let all = Curve { pen: Some(pen), ..pooled("all repeats".to_string(), &runs) };
    let each = runs
        .iter()
        .zip(1..)
        .map(|(run, number)| pooled(format!("repeat {number}"), std::slice::from_ref(run)));
    match runs.len() {
        0 | 1 => vec![all],
        _ => std::iter::once(all).chain(each).collect(),
    }
}

/// The legend; empty for a single line.
fn entries(lines: &[RowLine]) -> Vec<Entry> {
    // Each small chart already has its name as a title.
    if lines.iter().all(|line| line.name == line.group) {
        return Vec::new();
    }
    let mut entries: Vec<Entry> = Vec::new();
    for line in lines {
        if line.pen == entries.len() {
            let name = if line.name.is_empty() { "all repeats" } else { &line.name };
            entries.push(Entry::line(Pen::number(line.pen), name.to_string()).with_mark());
        }
    }
    entries
}

fn each_repeat() -> Entry {
    Entry::line(Pen::background(), "each repeat".to_string())
}

fn description(labels: &[&str], groups: &[Vec<Curve>], terms: &Terms) -> String {
    let each = labels.iter().zip(groups).map(|(label, group)| match highest(group) {
        Some(max) => format!("{label}: observed maximum {max}."),
        None => format!("{label}: no {}.", terms.many),
    });
    each.collect::<Vec<_>>().join(" ")
}

fn small(
    grid: &Grid,
    index: usize,
    panel: &Panel,
    shared: &Shared,
    top: f64,
    label: &str,
) -> Markup {
    let area = grid.area(index, top, shared.sides);
    let across = shared.axis.ticks(area.width(), if area.width() > 300.0 { 90.0 } else { 62.0 });
    let across = grid.spread_ticks(across, &area);
    let up = shared.heights.ticks(area.height());
    let maximum = highest(panel.series).map(|max| format!(": maximum {max}")).unwrap_or_default();
    let words = format!("{label}{maximum}");
    let words = if text_width(&words, SMALL) <= area.width() { words } else { label.to_string() };
    html! {
        (area.grid(&across, &up))
        @if grid.is_first(index) { (area.names_left(&up, SMALL)) }
        @if grid.is_lowest(index) { (area.names_below(&across, SMALL)) }
        (area.axes())
        (panel.render(shared, &area))
        (text(area.axis_left, area.top - 6.0, Anchor::Start, SMALL, INK, &words))
        @if latencies(panel.series) == 0 {
            @let (x, y) = area.middle();
            (text(x, y, Anchor::Middle, SMALL, MUTED, &format!("no {}", shared.terms.many)))
        }
    }
}
