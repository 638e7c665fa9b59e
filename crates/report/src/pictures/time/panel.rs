//! A panel of latencies over time: a band from the minimum to p99.9, median and maximum.

use super::canvas::{Canvas, Key, KeyStyle, TimeArea};
use super::scale::LatencyHeights;
use crate::pictures::deadline::DeadlineMark;
use crate::pictures::svg::{Anchor, INK, MUTED, n, text};
use latlab_model::Nanos;
use latlab_stats::Span;
use maud::{Markup, html};

/// Room above the columns for the overrun marks.
const MISSED_ROOM: f64 = 9.0;

pub struct Panel<'a> {
    /// `None` for all threads pooled.
    pub thread: Option<u32>,
    pub name: String,
    /// The colour of the thread, or the text colour for all threads.
    pub colour: &'static str,
    pub spans: &'a [Span],
    /// The largest latency, with its release if known.
    pub max: Option<(Nanos, Option<Nanos>)>,
    pub deadline: Option<DeadlineMark>,
}

/// The lines of a panel: the colour shows the thread, the pattern the figure.
fn max_style(colour: &str) -> String {
    format!("fill:none;stroke:{colour};stroke-width:1.6")
}

fn median_style(colour: &str) -> String {
    format!("fill:none;stroke:{colour};stroke-width:2;stroke-dasharray:1.5 2.5")
}

fn p99_9_style(colour: &str) -> String {
    format!("fill:none;stroke:{colour};stroke-width:1.3;stroke-dasharray:6 3")
}

/// The upper limit of p99.9 in columns with too few latencies.
fn limit_style(colour: &str) -> String {
    format!("fill:none;stroke:{colour};stroke-width:1.3;stroke-opacity:.5;stroke-dasharray:2 4")
}

fn band_style(colour: &str) -> String {
    format!("fill:{colour};fill-opacity:.16;stroke:none")
}

/// The key for the lines of all panels.
pub fn keys(overruns: bool, many: bool, limits: bool, deadline: Option<String>) -> Vec<Key> {
    let key = |look: KeyStyle, words: &str| Key { look, words: words.to_string() };
    let of = if many { "largest of each column" } else { "largest" };
    let mut keys = vec![
        key(KeyStyle::Line(max_style(INK)), of),
        key(KeyStyle::Line(p99_9_style(INK)), "p99.9"),
        key(KeyStyle::Line(median_style(INK)), "median"),
        key(KeyStyle::Patch(band_style(INK)), "smallest to p99.9"),
    ];
    if limits {
        keys.insert(2, key(KeyStyle::Line(limit_style(INK)), "upper limit of p99.9"));
    }
    if overruns {
        keys.push(key(KeyStyle::Patch(format!("fill:{INK}")), "overruns"));
    }
    keys.extend(deadline.map(|words| key(KeyStyle::Patch(DeadlineMark::style()), &words)));
    keys
}

impl Panel<'_> {
    /// Draws the panel; all panels share the scale.
    pub fn draw(&self, canvas: &mut Canvas, heights: &LatencyHeights, height: f64) -> TimeArea {
        let area = self.draw_empty(canvas, heights, height);
        let drawn = self.lines(canvas, heights, &area);
        canvas.draw(drawn);
        match self.spans.iter().any(|span| span.count > 0) {
            true => {
                let mark = self.maximum(canvas, heights, &area);
                canvas.draw(mark);
            }
            false => canvas.empty_note(&area, "Nothing was recorded."),
        }
        area
    }

    /// Draws a panel with only its overrun marks, as a ground for dots.
    pub fn draw_empty(
        &self,
        canvas: &mut Canvas,
        heights: &LatencyHeights,
        height: f64,
    ) -> TimeArea {
        let outer = canvas.area(height + MISSED_ROOM);
        let area = TimeArea { top: outer.top + MISSED_ROOM, ..outer };
        for (latency, words) in heights.ticks(area.height()) {
            canvas.level(&area, area.y(heights.place(latency)), &words);
        }
        if let Some(deadline) = self.deadline {
            canvas.draw(deadline.upwards(heights.to, |at| heights.place(at), area.frame()));
        }
        let overruns = self.overrun_marks(canvas, &outer);
        canvas.draw(overruns);
        canvas.frame(&outer);
        area
    }

    fn lines(&self, canvas: &Canvas, heights: &LatencyHeights, area: &TimeArea) -> Markup {
        let y = |latency: f64| area.y(heights.place(latency));
        let of = |get: fn(&Span) -> Option<Nanos>| {
            move |span: &Span| get(span).map(|latency| latency.0 as f64)
        };
        let upper = |span: &Span| span.p99_9.map(|late| late.0 as f64).or(span.median);
        let path = |get: &dyn Fn(&Span) -> Option<f64>| {
            stepped(canvas, self.spans, |span| get(span).map(y))
        };
        let sum = |get: fn(&Span) -> u64| self.spans.iter().map(get).fold(0, u64::saturating_add);
        let max = self.spans.iter().filter_map(|span| span.max).max();
        html! {
            g data-thread=[self.thread] data-count=(sum(|span| span.count))
                data-overruns=(sum(|span| span.overruns)) data-max-ns=[max.map(|max| max.0)]
                data-log=(heights.log) data-from-ns=(n(heights.from)) data-to-ns=(n(heights.to))
                data-top=(n(area.top)) data-bottom=(n(area.bottom))
            {
                path d=(band(canvas, self.spans, |span| {
                    Some((y(span.min?.0 as f64), y(upper(span)?)))
                })) style=(band_style(self.colour)) {}
                path d=(path(&of(|span| span.p99_9.filter(|_| !span.p99_9_is_limit))))
                    style=(p99_9_style(self.colour)) data-line="p99.9" {}
                @if self.spans.iter().any(|span| span.p99_9_is_limit) {
                    path d=(path(&of(|span| span.p99_9.filter(|_| span.p99_9_is_limit))))
                        style=(limit_style(self.colour)) data-line="p99.9-limit" {}
                }
                path d=(path(&of(|span| span.max))) style=(max_style(self.colour))
                    data-line="max" {}
                path d=(path(&|span: &Span| span.median)) style=(median_style(self.colour))
                    data-line="median" {}
            }
        }
    }

    /// A bar above each column with overruns.
    fn overrun_marks(&self, canvas: &Canvas, area: &TimeArea) -> Markup {
        html! {
            @for span in self.spans.iter().filter(|span| span.overruns > 0) {
                @let (from, to) = (canvas.axis.x(span.from), canvas.axis.x(span.to));
                rect x=(n(from)) y=(n(area.top)) width=(n((to - from).max(1.5))) height="7"
                    style={ "fill:" (INK) } data-overruns=(span.overruns)
                {
                    title { (span.overruns) " missed" }
                }
            }
        }
    }

    /// A ring around the largest latency, which the heading names.
    fn maximum(&self, canvas: &Canvas, heights: &LatencyHeights, area: &TimeArea) -> Markup {
        let Some((max, release)) = self.max else { return html! {} };
        let column = self.spans.iter().find(|span| span.max == Some(max));
        let Some(at) = release
            .filter(|at| canvas.axis.holds(*at))
            .or(column.map(|span| Nanos(span.from.0 + (span.to - span.from).0 / 2)))
        else {
            return html! {};
        };
        let (x, y) = (canvas.axis.x(at), area.y(heights.place(max.0 as f64)));
        html! {
            circle cx=(n(x)) cy=(n(y)) r="4.5" data-max-ns=(max.0)
                style={ "fill:none;stroke:" (INK) ";stroke-width:1.6" } {}
        }
    }
}

/// A line that is level in each column, with gaps where there is no value.
pub fn stepped(canvas: &Canvas, spans: &[Span], y: impl Fn(&Span) -> Option<f64>) -> String {
    let mut path = String::new();
    let mut reached = None;
    for span in spans {
        let Some(y) = y(span) else {
            reached = None;
            continue;
        };
        let (from, to) = canvas.axis.pair(span.from, span.to);
        match reached.is_some_and(|end| span.from <= end) {
            true => path += &format!("V{}H{to}", n(y)),
            false => path += &format!("M{from} {}H{to}", n(y)),
        }
        reached = Some(span.to);
    }
    path
}

/// The area between two such lines. Adjacent columns share one outline, so that no seams show.
pub fn band(canvas: &Canvas, spans: &[Span], ends: impl Fn(&Span) -> Option<(f64, f64)>) -> String {
    let mut path = String::new();
    let mut back: Vec<String> = Vec::new();
    let mut reached = None;
    for span in spans {
        let (from, to) = canvas.axis.pair(span.from, span.to);
        let ends = ends(span);
        let goes_on = ends.is_some() && reached.is_some_and(|end| span.from <= end);
        if !goes_on {
            back.drain(..).rev().for_each(|part| path += &part);
        }
        let Some((low, high)) = ends else {
            reached = None;
            continue;
        };
        match goes_on {
            true => path += &format!("V{}H{to}", n(high)),
            false => {
                path += &format!("M{from} {}H{to}", n(high));
                back.push("z".to_string());
            }
        }
        back.push(format!("V{}H{from}", n(low)));
        reached = Some(span.to);
    }
    back.drain(..).rev().for_each(|part| path += &part);
    path
}

/// A small left-aligned heading.
pub fn heading(canvas: &mut Canvas, words: &str) {
    canvas.y += 20.0;
    let y = canvas.y;
    canvas.draw(text(12.0, y, Anchor::Start, super::canvas::SMALL, MUTED, words));
    canvas.y += 8.0;
}
