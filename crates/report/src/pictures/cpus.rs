//! A small latency chart for each CPU, all on one scale.

use crate::pictures::area::Tick;
use crate::pictures::area::{Area, Sides};
use crate::pictures::curve::{
    Curve, OpenStretch, highest, latencies, open_stretch, threads, whole_runs,
};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::latency::words;
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::Options;
use crate::pictures::panel::{Panel, Shared, panels};
use crate::pictures::picture::{FIRST_LINE, Heading, Picture};
use crate::pictures::svg::{Anchor, INK, MUTED, Pen, TEXT_SIZE, hatch_style, text, text_width};
use crate::run_with_bins::{RunWithBins, conditions, names, terms, title};
use crate::terms::along;
use crate::units::{four_digits, grouped};
use latlab_model::Nanos;
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Limit of drawn CPUs; those with the largest maxima stay.
const MOST: usize = 128;
/// Minimum width of a small chart.
const NARROWEST: f64 = 94.0;
/// Room at the left for axis labels.
const NAMES: f64 = 70.0;
/// Space between two small charts.
const GAP: f64 = 14.0;
/// Room above each for its title, and below the lowest of a column for axis labels.
const WORDS: f64 = 18.0;
const BELOW: f64 = 24.0;
/// Font size in a small chart.
const SMALL: f64 = 11.0;

pub fn draw(runs: &[RunWithBins], options: &Options) -> String {
    let (cpus, left_out) = by_cpu(runs);
    let groups: Vec<&[Curve]> = cpus.iter().map(Vec::as_slice).collect();
    let grid = Grid::new(groups.len(), options);
    let deadline = DeadlineMark::of_runs(runs.iter().map(|one| one.run));
    let (shared, panels) = panels(&groups, options.axis, grid.panel_width(), terms(runs), deadline);
    let cpus = Cpus { runs, panels, shared, grid, left_out, options };
    cpus.render()
}

/// The lines of each CPU, one for each run. Threads that share a CPU get one chart each.
fn by_cpu<'a>(runs: &[RunWithBins<'a>]) -> (Vec<Vec<Curve<'a>>>, usize) {
    let mut cpus: BTreeMap<(u32, u32), Vec<Curve>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        let mut each = threads(run);
        each.sort_by_key(|series| series.thread);
        let mut before: BTreeMap<u32, u32> = BTreeMap::new();
        for series in each {
            let cpu = series.cpu.unwrap_or(u32::MAX);
            let nth = before.entry(cpu).or_default();
            let lines = cpus.entry((cpu, *nth)).or_default();
            // A run without this CPU keeps its place, and so its pen.
            lines.resize_with(at, Curve::default);
            // With one run each CPU has its own pen, with several each run.
            let pen = if runs.len() > 1 { Some(at) } else { series.pen };
            lines.push(Curve { pen, ..series });
            *nth += 1;
        }
    }
    let left_out = cpus.len().saturating_sub(MOST);
    let mut all: Vec<Vec<Curve>> = cpus.into_values().collect();
    if left_out > 0 {
        let mut by_maximum: Vec<usize> = (0..all.len()).collect();
        by_maximum.sort_by_key(|&index| (Reverse(highest(&all[index])), index));
        let kept: Vec<usize> = by_maximum.into_iter().take(MOST).collect();
        let mut index = 0..;
        all.retain(|_| index.next().is_some_and(|index| kept.contains(&index)));
    }
    (all, left_out)
}

/// The layout of the small charts.
pub struct Grid {
    count: usize,
    columns: usize,
    width: f64,
    height: f64,
}

impl Grid {
    pub fn new(count: usize, options: &Options) -> Grid {
        let room = options.drawn_width() - NAMES - 16.0;
        let fitting = ((room + GAP) / (NARROWEST + GAP)).floor().max(1.0) as usize;
        let wanted = match count {
            0..=1 => 1,
            2..=4 => 2,
            5..=9 => 3,
            10..=16 => 4,
            _ => 8,
        };
        let columns = wanted.min(fitting);
        let width = (room + GAP) / columns as f64 - GAP;
        Grid { count, columns, width, height: (width * 0.55).clamp(64.0, 230.0) }
    }

    fn rows(&self) -> usize {
        self.count.div_ceil(self.columns).max(1)
    }

    pub fn panel_width(&self) -> f64 {
        self.width
    }

    pub fn end(&self, top: f64) -> f64 {
        top + self.rows() as f64 * (self.height + WORDS + GAP) + BELOW
    }

    pub fn area(&self, index: usize, top: f64, sides: Sides) -> Area {
        let left = NAMES + (index % self.columns) as f64 * (self.width + GAP);
        let top = top + (index / self.columns) as f64 * (self.height + WORDS + GAP) + WORDS;
        Area::between(left, left + self.width, top, self.height, sides)
    }

    pub fn is_first(&self, index: usize) -> bool {
        index.is_multiple_of(self.columns)
    }

    pub fn is_lowest(&self, index: usize) -> bool {
        index + self.columns >= self.count
    }

    pub fn left(&self) -> f64 {
        NAMES
    }

    /// Drops labels that would overlap those of the next chart.
    pub fn spread_ticks(&self, ticks: Vec<Tick>, area: &Area) -> Vec<Tick> {
        let mut free = f64::NEG_INFINITY;
        let mut limit = area.axis_left + self.width + GAP / 2.0 + 4.0;
        let mut kept = Vec::new();
        for tick in ticks {
            let half = text_width(&tick.name, SMALL) / 2.0 + 2.0;
            let x = area.x(tick.place);
            if kept.is_empty() {
                // The first label of the next chart stands there.
                limit = limit.min(x - half + self.width + GAP);
            }
            if x - half >= free && x + half <= limit {
                free = x + half;
                kept.push(tick);
            }
        }
        kept
    }
}

struct Cpus<'a> {
    runs: &'a [RunWithBins<'a>],
    panels: Vec<Panel<'a>>,
    shared: Shared,
    grid: Grid,
    left_out: usize,
    options: &'a Options,
}

impl Cpus<'_> {
    fn render(&self) -> String {
        let width = self.options.drawn_width();
        let heading = Heading::new(&self.title(), &self.conditions(), width);
        let top = FIRST_LINE + heading.height() - 8.0;
        let end = self.grid.end(top);
        let legend = Legend::new(self.entries(), width);
        let is_long = self.long_words_fit();
        let drawn = self.panels.iter().enumerate();
        let drawn = drawn.map(|(index, panel)| self.small(index, panel, top, is_long));
        let picture = Picture {
            options: self.options,
            height: end + 30.0 + legend.height(),
            title: self.title(),
            description: self.description(),
            latencies: self.latencies(),
        };
        picture.render(html! {
            (heading.render(FIRST_LINE))
            @for one in drawn { (one) }
            (self.titles(top, end))
            (legend.render(end + 30.0))
            @if self.panels.is_empty() {
                (self.grid.area(0, top, Sides::default()).empty_note(self.shared.terms))
            }
        })
    }

    fn title(&self) -> String {
        format!("{}: CPU by CPU", title(self.runs))
    }

    fn conditions(&self) -> Vec<String> {
        let left_out = (self.left_out > 0).then(|| {
            format!("The {MOST} with the largest maxima are drawn; {} more are not.", self.left_out)
        });
        let below = self.panels.iter().map(|panel| panel.outside.below).sum::<u64>();
        let from = Nanos(self.shared.axis.from as i64);
        let below = (below > 0)
            .then(|| format!("Below {from}: {} {}.", grouped(below), self.shared.terms.many));
        let heights = self.has_no_room_for_a_title();
        let heights = heights.then(|| format!("Heights: {}.", self.shared.height_title()));
        conditions(self.runs).into_iter().chain(left_out).chain(below).chain(heights).collect()
    }

    /// A single row of small charts is too low for the title of the vertical axis.
    fn has_no_room_for_a_title(&self) -> bool {
        self.grid.end(0.0) < 230.0
    }

    fn latencies(&self) -> u64 {
        self.panels.iter().fold(0, |sum, panel| sum.saturating_add(latencies(panel.series)))
    }

    /// The runs, if there are several, and the deadline.
    fn entries(&self) -> Vec<Entry> {
        let lines = if self.runs.len() > 1 { words(&whole_runs(self.runs)) } else { Vec::new() };
        let entry = |(index, words)| Entry::line(Pen::number(index), words).with_mark();
        let deadline = self.shared.deadline.map(|one| one.entry(self.shared.axis.to));
        let open = self.panels.iter().filter_map(|panel| open_stretch(panel.series));
        let open = open.reduce(OpenStretch::with).map(|open| open.words(self.shared.terms));
        let open = open.map(|words| Entry::area(hatch_style(), words));
        lines.into_iter().enumerate().map(entry).chain(open).chain(deadline).collect()
    }

    fn titles(&self, top: f64, end: f64) -> Markup {
        let middle = (NAMES + self.options.drawn_width() - 16.0) / 2.0;
        let whole = Area {
            left: NAMES,
            right: self.options.drawn_width() - 16.0,
            top,
            // The part of a tall picture that is seen first.
            bottom: (end - BELOW).min(top + 320.0),
            axis_left: NAMES,
        };
        html! {
            (text(middle, end + 8.0, Anchor::Middle, TEXT_SIZE, INK, &self.shared.axis.title(self.shared.terms)))
            @if !self.has_no_room_for_a_title() {
                (whole.title_left(&self.shared.height_title()))
            }
        }
    }

    fn small(&self, index: usize, panel: &Panel, top: f64, is_long: bool) -> Markup {
        let area = self.grid.area(index, top, self.shared.sides);
        let across =
            self.shared.axis.ticks(area.width(), if area.width() > 300.0 { 90.0 } else { 62.0 });
        let across = self.grid.spread_ticks(across, &area);
        let up = self.shared.heights.ticks(area.height());
        let at = (area.axis_left, area.top - 6.0);
        html! {
            (area.grid(&across, &up))
            @if self.grid.is_first(index) { (area.names_left(&up, SMALL)) }
            @if self.grid.is_lowest(index) { (area.names_below(&across, SMALL)) }
            (area.axes())
            (panel.render(&self.shared, &area))
            (text(at.0, at.1, Anchor::Start, SMALL, INK, &self.words(panel, is_long)))
            @if let Some(words) = panel.beyond_words(&self.shared) {
                @if let Some(words) = fits(words, area.width()) {
                    (text(area.right - 3.0, area.top + 11.0, Anchor::End, SMALL, MUTED, &words))
                }
            }
            @if latencies(panel.series) == 0 {
                @let (x, y) = area.middle();
                @let nothing = format!("no {}", self.shared.terms.many);
                (text(x, y, Anchor::Middle, SMALL, MUTED, &nothing))
            }
        }
    }

    /// The title of a small chart: its CPU and the observed maximum.
    fn words(&self, panel: &Panel, is_long: bool) -> String {
        let Some(series) = panel.series.iter().find(|series| !series.name.is_empty()) else {
            return String::new();
        };
        let cpu = series.cpu.map(|cpu| format!("CPU {cpu}"));
        let alone = self
            .panels
            .iter()
            .filter(|other| other.series.iter().any(|other| other.cpu == series.cpu));
        let name = match (cpu, alone.count()) {
            (Some(cpu), 0 | 1) => cpu,
            (Some(cpu), _) => format!("{cpu}, thread {}", series.thread.unwrap_or(0)),
            (None, _) => series.name.clone(),
        };
        match highest(panel.series) {
            Some(max) if is_long => format!("{name}: maximum {}", four_digits(max)),
            Some(max) => format!("{name}: {}", four_digits(max)),
            None => name,
        }
    }

    /// Whether the long title fits everywhere; all small charts use the same form.
    fn long_words_fit(&self) -> bool {
        let mut words = self.panels.iter().map(|panel| self.words(panel, true));
        words.all(|words| text_width(&words, SMALL) <= self.grid.width + GAP / 2.0)
    }

    fn description(&self) -> String {
        let each = self.panels.iter().map(|panel| {
            let outside = [panel.beyond_words(&self.shared), panel.below_words(&self.shared)];
            let outside = outside.into_iter().flatten().map(|words| words.join(" "));
            let own = std::iter::once(self.words(panel, true));
            own.chain(outside).collect::<Vec<_>>().join(", ")
        });
        let (each, names): (Vec<String>, _) = (each.collect(), names(self.runs));
        format!(
            "{}, logarithmic, over {}, one small chart for each CPU, all on one scale; {} {} of \
             {}. {}. {}.",
            self.shared.height_title(),
            along(self.shared.axis.log, self.shared.terms),
            grouped(self.latencies()),
            self.shared.terms.many,
            names.join("; "),
            self.conditions().join(". "),
            each.join("; "),
        )
    }
}

/// As many of these words as fit, from the first on.
fn fits(words: Vec<String>, width: f64) -> Option<String> {
    let all = words.join(", ");
    let first = words.into_iter().next()?;
    [all, first].into_iter().find(|words| text_width(words, SMALL) <= width)
}
