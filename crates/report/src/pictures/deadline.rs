//! The deadline in a chart: a line, and shading beyond it.

use crate::pictures::axis::LatencyAxis;
use crate::pictures::legend::Entry;
use crate::pictures::svg::{Anchor, TEXT_SIZE, line, n, text, text_width};
use latlab_model::{Nanos, Run};
use maud::{Markup, html};

/// Works on light and dark backgrounds; the page may override it for printing.
const COLOUR: &str = "var(--ll-deadline,#d4372c)";
/// The axis is not extended to a deadline more than this many times the largest latency.
const FAR: f64 = 100.0;

/// The common deadline of everything that a chart shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeadlineMark(Nanos);

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl DeadlineMark {
    /// The deadline of these runs; `None` if they do not share one.
    pub fn of_runs<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Option<DeadlineMark> {
        let mut deadlines = runs.into_iter().map(|run| run.asked.until.deadline_ns);
        let first = deadlines.next()??;
        deadlines.all(|other| other == Some(first)).then_some(DeadlineMark(first))
    }

    /// What an axis must include to show the deadline: the largest latency, or the deadline if it
    /// is larger and not far away.
    pub fn needed(of: Option<DeadlineMark>, max: Nanos) -> Nanos {
        let near = of.filter(|one| DeadlineMark::is_near(one.0, max));
        near.map_or(max, |one| one.0.max(max))
    }

    /// Whether a deadline belongs on an axis of latencies up to `max`.
    pub fn is_near(deadline: Nanos, max: Nanos) -> bool {
        (deadline.0 as f64) < FAR * max.0.max(1) as f64
    }

    /// `deadline 1 ms`
    fn words(self) -> String {
        format!("deadline {}", self.0)
    }

    /// The legend text for an axis that ends here.
    pub fn legend_words(self, end: f64) -> String {
        match self.is_off(end) {
            true => format!("{}: off the chart", self.words()),
            false => format!("beyond the {}", self.words()),
        }
    }

    /// The legend entry for an axis that ends here.
    pub fn entry(self, end: f64) -> Entry {
        Entry::area(DeadlineMark::style(), self.legend_words(end))
    }

    /// The legend style of the region beyond the deadline.
    pub fn style() -> String {
        format!("{};stroke:{COLOUR}", shade())
    }

    fn is_off(self, end: f64) -> bool {
        self.0.0 as f64 > end
    }

    /// Line and shading on a horizontal axis.
    pub fn across(self, axis: &LatencyAxis, frame: Frame) -> Markup {
        if self.is_off(axis.to) {
            return html! {};
        }
        let x = self.x(axis, frame);
        html! {
            (self.shade(Frame { left: x, ..frame }))
            (line((x, frame.top), (x, frame.bottom), COLOUR, 1.5))
        }
    }

    /// The label above a plot area.
    pub fn words_above(self, axis: &LatencyAxis, frame: Frame) -> Markup {
        let words = match self.is_off(axis.to) {
            true => self.legend_words(axis.to),
            false => self.words(),
        };
        let half = text_width(&words, TEXT_SIZE) / 2.0;
        let middle = self.x(axis, frame).min(frame.right + 20.0 - half).max(half + 4.0);
        text(middle, frame.top - 6.0, Anchor::Middle, TEXT_SIZE, COLOUR, &words)
    }

    fn x(self, axis: &LatencyAxis, frame: Frame) -> f64 {
        frame.left + axis.place(self.0.0 as f64) * (frame.right - frame.left)
    }

    /// Line and shading on a vertical axis up to `end`; `place` gives the position of a latency.
    pub fn upwards(self, end: f64, place: impl Fn(f64) -> f64, frame: Frame) -> Markup {
        if self.is_off(end) {
            return html! {};
        }
        let y = frame.bottom - place(self.0.0 as f64) * (frame.bottom - frame.top);
        html! {
            (self.shade(Frame { bottom: y, ..frame }))
            (self.line_upwards(end, place, frame))
        }
    }

    /// The line alone, to be drawn on top of what covers the rest.
    pub fn line_upwards(self, end: f64, place: impl Fn(f64) -> f64, frame: Frame) -> Markup {
        let y = frame.bottom - place(self.0.0 as f64) * (frame.bottom - frame.top);
        html! {
            @if !self.is_off(end) { (line((frame.left, y), (frame.right, y), COLOUR, 1.5)) }
        }
    }

    fn shade(self, beyond: Frame) -> Markup {
        let Frame { left, right, top, bottom } = beyond;
        html! {
            rect x=(n(left)) y=(n(top)) width=(n(right - left)) height=(n(bottom - top))
                style=(shade()) data-deadline-ns=(self.0.0) {}
        }
    }
}

fn shade() -> String {
    format!("fill:{COLOUR};fill-opacity:.1")
}
