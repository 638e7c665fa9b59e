//! What the two charts of shares (CDF and CCDF) have in common.

use crate::pictures::area::Tick;
use crate::pictures::area::{Area, BELOW, NAME_ACROSS, Sides};
use crate::pictures::axis::{LatencyAxis, PooledLatencies};
use crate::pictures::curve::{
    Curve, highest, latencies, named_count, of_runs, open_stretch, others,
};
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::latency::words;
use crate::pictures::legend::{Entry, Legend};
use crate::pictures::options::{Options, PictureLabels};
use crate::pictures::panel::pen;
use crate::pictures::picture::{FIRST_LINE, Heading, Picture};
use crate::pictures::svg::{Anchor, MUTED, Pen, TEXT_SIZE, hatch_style, hatched, n, text};
use crate::run_with_bins::{RunWithBins, conditions, terms, title};
use crate::terms::{Terms, along};
use crate::units::{four_digits, grouped, percent_of, reached};
use latlab_model::Nanos;
use maud::{Markup, html};

pub struct ShareStyle {
    /// Suffix of the title.
    pub title: fn(&Terms) -> String,
    /// Which share the vertical axis shows.
    pub share_title: &'static str,
    /// Description of the lines for screen readers.
    pub told: &'static str,
}

pub struct ShareChart<'a> {
    pub series: Vec<Curve<'a>>,
    pub axis: LatencyAxis,
    pub area: Area,
    labels: PictureLabels,
    options: &'a Options,
    look: ShareStyle,
    heading: Heading,
    deadline: Option<DeadlineMark>,
    terms: &'static Terms,
}

impl<'a> ShareChart<'a> {
    pub fn new(
        runs: &'a [RunWithBins<'a>],
        options: &'a Options,
        look: ShareStyle,
    ) -> ShareChart<'a> {
        let (mut series, terms) = (of_runs(runs), terms(runs));
        let bins = series.iter().flat_map(|series| series.bins.iter());
        let deadline = DeadlineMark::of_runs(runs.iter().map(|one| one.run));
        let pooled = PooledLatencies::from_bins(bins, highest(&series)).with(deadline);
        let axis = LatencyAxis::choose(&pooled, options.axis);
        let width = options.drawn_width();
        let labels = options.labels.clone().unwrap_or_else(|| PictureLabels {
            title: format!("{}: {}", title(runs), (look.title)(terms)),
            conditions: conditions(runs),
            names: Vec::new(),
        });
        for (one, name) in series.iter_mut().zip(&labels.names) {
            one.name.clone_from(name);
        }
        let heading = Heading::new(&labels.title, &labels.conditions, width);
        let top = FIRST_LINE + heading.height();
        let area = Area::across(width, top, options.drawn_height(), Sides::default());
        ShareChart { series, axis, area, labels, options, look, heading, deadline, terms }
    }

    /// The largest count of a line; a share below one of it is meaningless.
    pub fn most(&self) -> u64 {
        self.series.iter().map(|series| series.count).max().unwrap_or(0)
    }

    /// The picture around the drawn content, with notes in its legend.
    pub fn render(&self, up: &[Tick], notes: Vec<String>, drawn: Markup) -> String {
        let area = &self.area;
        let notes = notes.into_iter().map(Entry::note);
        let entries = self.entries().into_iter().chain(notes).collect();
        let legend = Legend::new(entries, self.options.drawn_width());
        let share = format!("Share of {} {}", self.terms.many, self.look.share_title);
        let across = self.axis.ticks(area.width(), NAME_ACROSS);
        let picture = Picture {
            options: self.options,
            height: area.bottom + BELOW + 8.0 + legend.height() + 4.0,
            title: self.labels.title.clone(),
            description: self.description(),
            latencies: latencies(&self.series),
        };
        picture.render(html! {
            (self.heading.render(FIRST_LINE))
            (area.furniture((&across, &self.axis.title(self.terms)), (up, &share)))
            @if let Some(deadline) = self.deadline {
                (deadline.across(&self.axis, area.frame()))
                (deadline.words_above(&self.axis, area.frame()))
            }
            (self.open())
            (drawn)
            (legend.render(area.bottom + BELOW + 8.0))
            @if latencies(&self.series) == 0 { (area.empty_note(self.terms)) }
        })
    }

    /// Each line with its maximum, and the share that it reaches on the axis.
    fn entries(&self) -> Vec<Entry> {
        let words = |series: &Curve| match self.continues(series) {
            true => {
                format!("{}; {} at {}", series.words(), self.reached(series).1, self.axis.end())
            }
            false => series.words(),
        };
        let drawn = self.series.iter().take(named_count(&self.series));
        let entries = drawn.map(|one| Entry::line(one.pen(), words(one)).with_mark());
        let open = open_stretch(&self.series).map(|open| open.words(self.terms));
        let open = open.map(|words| Entry::area(hatch_style(), words));
        let others = others(&self.series).map(|words| Entry::line(Pen::background(), words));
        entries.chain(others).chain(open).collect()
    }

    /// Where the share is unknown, since the individual latencies are.
    fn open(&self) -> Markup {
        let open = open_stretch(&self.series).filter(|open| (open.from.0 as f64) < self.axis.to);
        let Some(open) = open else { return html! {} };
        let right = open.to.map_or(self.area.right, |to| self.x(to));
        let area = &self.area;
        hatched((self.x(open.from), area.top), (right, area.bottom), open.count)
    }

    fn description(&self) -> String {
        let mut cut: String = self.cut_words().iter().map(|words| format!(" {words}.")).collect();
        let open = open_stretch(&self.series).map(|open| open.words(self.terms));
        cut.extend(open.map(|words| format!(" Hatched: {words}, of unknown size.")));
        format!(
            "Share of {} {}, over {}. {}. {}. One {} is one of at most {}: smaller shares are not \
             known.{cut}",
            self.terms.many,
            self.look.told,
            along(self.axis.log, self.terms),
            self.labels.conditions.join(". "),
            words(&self.series).join("; "),
            self.terms.one,
            grouped(self.most()),
        )
    }

    /// Describes what lies outside of the axis.
    pub fn cut_words(&self) -> Vec<String> {
        let (mut below, mut beyond) = (0u64, 0u64);
        for series in &self.series {
            let drawn_open = series.open.filter(|open| (open.from.0 as f64) < self.axis.to);
            let drawn = self.not_above(series, self.axis.to);
            let drawn = drawn.saturating_add(drawn_open.map_or(0, |open| open.count));
            beyond = beyond.saturating_add(series.count.saturating_sub(drawn));
            // A logarithmic axis begins at its lowest latency, so nothing is cut off there.
            let from = if self.options.axis.from.is_some() { self.axis.from } else { 0.0 };
            below = below.saturating_add(self.not_above(series, from));
        }
        let from = self.options.axis.from.unwrap_or_default();
        let max = highest(&self.series).unwrap_or_default();
        let beyond = (beyond > 0).then(|| {
            format!("{} beyond {}, up to {}", grouped(beyond), self.axis.end(), four_digits(max))
        });
        let below = (below > 0).then(|| format!("{} not above {from}", grouped(below)));
        beyond.into_iter().chain(below).collect()
    }

    /// The number of latencies of a line in bins that end here or before.
    fn not_above(&self, series: &Curve, latency: f64) -> u64 {
        let steps = steps(series).take_while(|(edge, _)| *edge <= latency);
        steps.last().map_or(0, |(_, seen)| seen)
    }

    /// The share of a line that is reached at the end of the axis.
    pub fn reached(&self, series: &Curve) -> (f64, String) {
        let seen = self.not_above(series, self.axis.to);
        (seen as f64 / series.count.max(1) as f64, reached(seen, series.count))
    }

    /// Whether a line continues beyond the axis.
    pub fn continues(&self, series: &Curve) -> bool {
        // With unknown latencies, the course of the line is unknown too.
        let is_open = series.open.is_some_and(|open| (open.from.0 as f64) < self.axis.to);
        !is_open && series.max.is_some_and(|max| max.0 as f64 > self.axis.to)
    }

    pub fn x(&self, latency: Nanos) -> f64 {
        self.area.x(self.axis.place(latency.0 as f64))
    }

    /// A line; `height` maps the number of latencies no later to a coordinate.
    pub fn line(&self, index: usize, height: impl Fn(u64) -> f64) -> Markup {
        let series = &self.series[index];
        let max = series.max.map(|max| max.0.to_string()).unwrap_or_default();
        html! {
            path d=(self.path(series, height)) style=(pen(index, &self.series).style())
                stroke-linejoin="round" data-line=(series.key())
                data-count=(series.count) data-max-ns=(max) {}
        }
    }

    /// Rises only at the upper edge of each bin, so that no latency looks earlier than it may have
    /// been. Of the edges within half a pixel the last one is drawn.
    fn path(&self, series: &Curve, height: impl Fn(u64) -> f64) -> String {
        if series.count == 0 {
            return String::new();
        }
        let start = self.not_above(series, self.axis.from);
        let mut path = format!("M{} {}", n(self.area.left), n(height(start)));
        let inside = |(edge, _): &(f64, u64)| *edge > self.axis.from && *edge <= self.axis.to;
        let mut waiting: Option<(f64, u64)> = None;
        let mut drawn = f64::NEG_INFINITY;
        for (edge, seen) in steps(series).filter(inside) {
            let x = self.area.x(self.axis.place(edge));
            if let Some((before, seen)) = waiting.filter(|_| x - drawn >= 0.5) {
                path += &format!("H{}V{}", n(before), n(height(seen)));
                drawn = before;
            }
            waiting = Some((x, seen));
        }
        if let Some((x, seen)) = waiting {
            path += &format!("H{}V{}", n(x), n(height(seen)));
        }
        if self.continues(series) {
            path += &format!("H{}", n(self.area.right));
        }
        path
    }

    /// The share of one latency, if no zone can show it.
    pub fn one_latency(&self) -> String {
        let share = percent_of(1, self.most()).unwrap_or_default();
        format!(
            "One of {} {} is {share}: thinner than a line",
            grouped(self.most()),
            self.terms.many
        )
    }

    fn less_than_one(&self) -> String {
        match self.most() {
            1 => format!("less than the only {}", self.terms.one),
            most => format!("less than one of {} {}", grouped(most), self.terms.many),
        }
    }

    /// Shades the zone in which a share is less than one latency, from one height to another.
    pub fn zone(&self, top: f64, bottom: f64) -> Markup {
        let area = &self.area;
        html! {
            @if bottom - top >= 1.0 && self.most() > 0 {
                rect x=(n(area.left)) y=(n(top)) width=(n(area.width())) height=(n(bottom - top))
                    style={ "fill:" (MUTED) ";fill-opacity:.16" } data-zone=(self.most()) {}
            }
            @if bottom - top >= 15.0 && self.most() > 0 {
                (text(area.left + 8.0, (top + bottom) / 2.0 + 4.5, Anchor::Start, TEXT_SIZE, MUTED,
                    &self.less_than_one()))
            }
        }
    }
}

/// Upper edges of the bins of a line, the last one its maximum, and the count up to each.
fn steps<'a>(series: &'a Curve) -> impl Iterator<Item = (f64, u64)> + 'a {
    let max = series.max.unwrap_or(Nanos::MAX);
    series.bins.iter().scan(0u64, move |seen, bin| {
        *seen = seen.saturating_add(bin.count);
        Some((bin.high_ns.min(max).0 as f64, *seen))
    })
}
