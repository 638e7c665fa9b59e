//! The latencies of each row in a small picture, all on one scale: each repeat, and all together.

use super::table::summed;
use crate::pictures::cpus::Grid;
use crate::pictures::curve::{Curve, highest, latencies};
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::Options;
use crate::pictures::panel::{Panel, Shared, panels};
use crate::pictures::picture::{FIRST_LINE, Heading, Picture};
use crate::pictures::svg::{Anchor, INK, MUTED, Pen, TEXT_SIZE, text, text_width};
use crate::terms::{self, Terms};
use latlab_model::campaign_table::CampaignTable;
use latlab_model::{Run, ThreadBins};
use maud::{Markup, html};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Size of the type in a small picture.
const SMALL: f64 = 11.0;
/// Between the pictures and the legend.
const BELOW: f64 = 30.0;

/// A run with the counts of its threads.
pub type Counted<'a> = (&'a Run, &'a [ThreadBins]);

/// The picture: for each row of the table the runs of its cells, none where a cell has no run.
pub fn multiples(
    table: &CampaignTable,
    rows: &[Vec<Option<Counted>>],
    options: &Options,
) -> String {
    let groups: Vec<Vec<Curve>> = rows.iter().map(|runs| lines(table, runs)).collect();
    let small = Small {
        title: format!("{}: row by row", table.name),
        labels: table.rows.iter().map(|row| row.label.as_str()).collect(),
        // All repeats together are drawn beside each of them: their latencies count once.
        latencies: groups.iter().filter_map(|group| group.first()).map(|all| all.count).sum(),
        groups,
    };
    small.drawn(rows, options)
}

/// Whether a scenario has several rows, which can be drawn over each other.
pub fn can_be_overlaid(table: &CampaignTable) -> bool {
    let scenarios: BTreeSet<&str> = table.rows.iter().map(|row| row.scenario.as_str()).collect();
    scenarios.len() < table.rows.len()
}

/// The rows of each scenario over each other, all their repeats together.
pub fn overlaid(table: &CampaignTable, rows: &[Vec<Option<Counted>>], options: &Options) -> String {
    let mut scenarios: Vec<(&str, Vec<Curve>)> = Vec::new();
    for (row, cells) in table.rows.iter().zip(rows) {
        let runs: Vec<Counted> = cells.iter().flatten().copied().collect();
        let name = row.label.strip_prefix(&row.scenario).unwrap_or(&row.label);
        let line = pooled(name.trim_start_matches(", ").to_string(), &runs);
        match scenarios.iter_mut().find(|(scenario, _)| *scenario == row.scenario) {
            Some((_, lines)) => lines.push(line),
            None => scenarios.push((&row.scenario, vec![line])),
        }
    }
    let (labels, groups): (Vec<&str>, Vec<Vec<Curve>>) = scenarios.into_iter().unzip();
    let title = format!("{}: all rows in one chart", table.name);
    let latencies = groups.iter().flatten().map(|line| line.count).sum();
    Small { title, labels, groups, latencies }.drawn(rows, options)
}

/// Small pictures on one scale.
struct Small<'a> {
    title: String,
    /// What stands above each.
    labels: Vec<&'a str>,
    /// The lines of each.
    groups: Vec<Vec<Curve<'a>>>,
    latencies: u64,
}

impl Small<'_> {
    fn drawn(self, rows: &[Vec<Option<Counted>>], options: &Options) -> String {
        let Small { title, labels, groups, latencies } = self;
        let borrowed: Vec<&[Curve]> = groups.iter().map(Vec::as_slice).collect();
        let grid = Grid::new(groups.len(), options);
        let terms = terms::of_all(rows.iter().flatten().flatten().map(|(run, _)| *run));
        let (shared, panels) = panels(&borrowed, options.axis, grid.panel_width(), terms);
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
        let legend = Legend::new(entries(&groups), width);
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

/// Runs together, as one line.
fn pooled<'a>(name: String, runs: &[Counted]) -> Curve<'a> {
    let bins = summed(runs.iter().flat_map(|(_, bins)| *bins).flat_map(|thread| &thread.bins));
    Curve {
        name,
        count: bins.iter().fold(0, |sum: u64, bin| sum.saturating_add(bin.count)),
        min: runs.iter().filter_map(|(run, _)| run.total.min_ns).min(),
        max: runs.iter().filter_map(|(run, _)| run.total.max_ns).max(),
        bins: Cow::Owned(bins),
        ..Curve::default()
    }
}

/// First all repeats together, then each, where there are several.
fn lines<'a>(table: &CampaignTable, cells: &[Option<Counted<'a>>]) -> Vec<Curve<'a>> {
    let runs: Vec<Counted> = cells.iter().flatten().copied().collect();
    let all = pooled("all repeats".to_string(), &runs);
    // A cell without a run keeps its place, and so its pen.
    let each = cells.iter().zip(&table.columns);
    let each = each.map(|(cell, column)| pooled(column.to_string(), cell.as_slice()));
    match cells.len() {
        0 | 1 => vec![all],
        _ => std::iter::once(all).chain(each).collect(),
    }
}

/// Which line is which, by the row that has the most of them.
fn entries(groups: &[Vec<Curve>]) -> Vec<Entry> {
    let most = groups.iter().max_by_key(|group| group.len());
    let entry = |(index, series): (usize, &Curve)| {
        Entry::line(Pen::number(index), series.name.clone()).with_mark()
    };
    most.filter(|group| group.len() > 1)
        .map(|group| {
            group.iter().take(crate::pictures::curve::named(group)).enumerate().map(entry).collect()
        })
        .unwrap_or_default()
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
