//! The latency picture of this field: how many latencies were how large, a line a thread.
//!
//! Heights are logarithmic, so that one late wake-up among a hundred million is seen, and are
//! densities, so that no step of a line depends on how wide it happens to be. Nothing is cut: what
//! does not fit on the axis is drawn as a mass beside it, with its count in words. Several runs
//! are drawn above each other on one scale: each stays the picture it is alone.

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

/// Room between a run and the next one.
const GAP: f64 = 22.0;
/// Two or more runs share the height that one has, but none becomes lower than this.
const LOWEST: f64 = 170.0;

/// The picture of one run as one SVG element, for a page or on its own.
pub fn latency_picture(run: &Run, bins: &[ThreadBins], options: &Options) -> String {
    draw(&[RunWithBins { run, bins }], options)
}

/// The picture of one run, or of several on one scale.
pub fn draw(runs: &[RunWithBins], options: &Options) -> String {
    let series: Vec<Vec<Curve>> = runs.iter().map(threads).collect();
    let groups: Vec<&[Curve]> = series.iter().map(Vec::as_slice).collect();
    let width = options.drawn_width();
    let deadline = DeadlineMark::of_runs(runs.iter().map(|one| one.run));
    let (shared, panels) = panels(&groups, options.axis, width - 100.0, terms(runs), deadline);
    let outside: Vec<bool> = panels.iter().map(Panel::is_outside).collect();
    // Somewhere the counts of what is outside have to be, where nothing else is.
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

/// The runs that have nothing on the axis, in a sentence.
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

/// The picture of several runs over each other, in one area; of one run, its threads.
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

/// What stands above each run: all there is to say, or what it is beside the others.
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

/// One run with its heading and legend.
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

/// The entries of a legend of lines with their maxima.
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

/// The lines in words.
pub fn words(series: &[Curve]) -> Vec<String> {
    series[..named_count(series)].iter().map(Curve::words).chain(others(series)).collect()
}
