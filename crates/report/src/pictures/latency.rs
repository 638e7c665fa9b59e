//! The usual latency chart: how many latencies have which size, a line for each thread. Heights are
//! logarithmic, so that one late wake-up among a hundred million is visible, and are densities, so
//! that no step depends on the width of its bin. Nothing is cut off: latencies outside of the axis
//! are drawn as a bar next to it, with their count. Several runs are stacked on one scale, each
//! drawn as if it were alone.

use crate::pictures::area::{Area, BELOW, NAME_ACROSS};
use crate::pictures::curve::{
    Curve, latencies, named_count, of_runs, open_stretch, others, threads,
};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::Options;
use crate::pictures::panel::{Panel, Shared, panels};
use crate::pictures::picture::{FIRST_LINE, Heading, Picture};
use crate::pictures::svg::Pen;
use crate::run_with_bins::{RunWithBins, conditions, names, terms, title};
use crate::sentence;
use crate::terms::along;
use crate::units::grouped;
use latlab_model::{Run, ThreadBins};
use maud::{Markup, html};

/// Room between two runs.
const GAP: f64 = 22.0;
/// Several runs share the height of one, but none gets lower than this.
const LOWEST: f64 = 170.0;

/// The chart of one run as one SVG element, for a page or a file.
pub fn latency_picture(run: &Run, bins: &[ThreadBins], options: &Options) -> String {
    draw(&[RunWithBins { run, bins }], options)
}

/// The chart of one run, or of several on one scale.
pub fn draw(runs: &[RunWithBins], options: &Options) -> String {
    let series: Vec<Vec<Curve>> = runs.iter().map(threads).collect();
    let groups: Vec<&[Curve]> = series.iter().map(Vec::as_slice).collect();
    let width = options.drawn_width();
    let deadline = DeadlineMark::of_runs(runs.iter().map(|one| one.run));
    let (shared, panels) = panels(&groups, options.axis, width - 100.0, terms(runs), deadline);
    let outside: Vec<bool> = panels.iter().map(Panel::is_outside).collect();
    // If no run is drawn, the counts of what is outside still need a place.
    let is_drawn = |at: &usize| !outside[*at] || outside.iter().all(|one| *one);
    let left_out = left_out(runs, &panels, &is_drawn);
    let heading = match runs.len() {
        1 => None,
        _ => Some(Heading::new(&title(runs), &left_out, width)),
    };
    let mut top = FIRST_LINE + heading.as_ref().map_or(0.0, Heading::height);
    let mut drawn = Vec::new();
    let several = panels.iter().zip(headings(runs, options)).enumerate();
    for (_, (panel, heading)) in several.filter(|(at, _)| is_drawn(at)) {
        let part = Part::new(panel, heading, top, runs.len(), &shared, options);
        top = part.end + GAP;
        drawn.push(part.render());
    }
    let picture = Picture {
        options,
        height: top - GAP,
        title: format!("{}: histogram of {} {}", title(runs), all(&panels), shared.terms.many),
        description: description(runs, &shared, &panels),
        latencies: panels.iter().fold(0, |sum, one| sum.saturating_add(latencies(one.series))),
    };
    picture.render(html! {
        @if let Some(heading) = heading { (heading.render(FIRST_LINE)) }
        @for part in drawn { (part) }
    })
}

/// Names the runs that have no latencies on the axis.
fn left_out(
    runs: &[RunWithBins],
    panels: &[Panel],
    is_drawn: &dyn Fn(&usize) -> bool,
) -> Vec<String> {
    let all = names(runs).into_iter().zip(panels).enumerate().filter(|(at, _)| !is_drawn(at));
    let all =
        all.map(|(_, (name, panel))| format!("{name} ({})", grouped(latencies(panel.series))));
    let all: Vec<String> = all.collect();
    match all[..] {
        [] => Vec::new(),
        _ => vec![format!("Outside of this range lies all of {}.", all.join(", "))],
    }
}

/// Several runs overlaid in one area; for one run, its threads.
pub fn draw_in_one(runs: &[RunWithBins], options: &Options) -> String {
    let series = of_runs(runs);
    let width = options.drawn_width();
    let deadline = DeadlineMark::of_runs(runs.iter().map(|one| one.run));
    let groups = [&series[..]];
    let (shared, panels) = panels(&groups, options.axis, width - 100.0, terms(runs), deadline);
    let heading = Heading::new(&title(runs), &conditions(runs), width);
    let part = Part::new(&panels[0], heading, FIRST_LINE, 1, &shared, options);
    let picture = Picture {
        options,
        height: part.end,
        title: format!("{}: histogram of {} {}", title(runs), all(&panels), shared.terms.many),
        description: format!(
            "{}, logarithmic, over {}, one line for each run. {}.",
            shared.height_title(),
            along(shared.axis.log, shared.terms),
            words(&series).join("; ")
        ),
        latencies: latencies(&series),
    };
    picture.render(part.render())
}

fn all(panels: &[Panel]) -> String {
    grouped(panels.iter().fold(0, |sum, one| sum.saturating_add(latencies(one.series))))
}

/// The heading of each run: the complete one, or only what distinguishes it from the others.
fn headings(runs: &[RunWithBins], options: &Options) -> Vec<Heading> {
    let width = options.drawn_width();
    match runs {
        [_] if !options.has_heading => vec![Heading::new("", &[], width)],
        [_] => vec![Heading::new(&title(runs), &conditions(runs), width)],
        several => several
            .iter()
            .zip(names(several))
            .map(|(one, name)| Heading::of_part(&name, &[sentence::conditions(one.run)], width))
            .collect(),
    }
}

struct Part<'a> {
    panel: &'a Panel<'a>,
    shared: &'a Shared,
    heading: Heading,
    top: f64,
    area: Area,
    legend: Legend,
    end: f64,
}

impl<'a> Part<'a> {
    fn new(
        panel: &'a Panel<'a>,
        heading: Heading,
        top: f64,
        runs: usize,
        shared: &'a Shared,
        options: &Options,
    ) -> Part<'a> {
        let width = options.drawn_width();
        let height = options.drawn_height();
        let height = if runs > 1 { (1.2 * height / runs as f64).max(LOWEST) } else { height };
        let area = Area::across(width, top + heading.height(), height, shared.sides);
        let entries = entries(panel.series).into_iter().chain(panel.outside_entries(shared));
        let legend = Legend::new(entries.collect(), width);
        let end = area.bottom + BELOW + 8.0 + legend.height() + 4.0;
        Part { panel, shared, heading, top, area, legend, end }
    }

    fn render(&self) -> Markup {
        let (area, shared) = (&self.area, self.shared);
        let across = shared.axis.ticks(area.width(), NAME_ACROSS);
        let up = shared.heights.ticks(area.height());
        html! {
            (self.heading.render(self.top))
            (area.furniture((&across, &shared.axis.title(shared.terms)), (&up, &shared.height_title())))
            (self.panel.render(shared, area))
            @if let Some(deadline) = shared.deadline {
                (deadline.words_above(&shared.axis, area.frame()))
            }
            (self.legend.render(area.bottom + BELOW + 8.0))
            @if latencies(self.panel.series) == 0 { (area.empty_note(shared.terms)) }
        }
    }
}

/// Legend entries of lines with their maxima.
pub fn entries(series: &[Curve]) -> Vec<Entry> {
    let entry = |series: &Curve| Entry::line(series.pen(), series.words()).with_mark();
    let others = others(series).map(|words| Entry::line(Pen::background(), words));
    series.iter().take(named_count(series)).map(entry).chain(others).collect()
}

fn description(runs: &[RunWithBins], shared: &Shared, panels: &[Panel]) -> String {
    let each = panels.iter().zip(runs).zip(names(runs)).map(|((panel, one), name)| {
        let lines: Vec<String> = words(panel.series);
        let outside = [panel.beyond_words(shared), panel.below_words(shared)];
        let outside = outside.into_iter().flatten();
        let mut outside: String = outside.map(|words| format!(" {}.", words.join(" "))).collect();
        let open = open_stretch(panel.series).map(|open| open.words(shared.terms));
        outside.extend(open.map(|words| format!(" Hatched: {words}, of unknown size.")));
        let name = if runs.len() > 1 { format!("{name}: ") } else { String::new() };
        format!("{name}{}. {}.{outside}", sentence::conditions(one.run), lines.join("; "))
    });
    format!(
        "{}, logarithmic, over {}, one line for each measuring thread. {}",
        shared.height_title(),
        along(shared.axis.log, shared.terms),
        each.collect::<Vec<_>>().join(" "),
    )
}

/// A text for each line.
pub fn words(series: &[Curve]) -> Vec<String> {
    series[..named_count(series)].iter().map(Curve::words).chain(others(series)).collect()
}
