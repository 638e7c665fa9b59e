//! Timed findings as vertical lines through a chart, with their codes above.

use super::canvas::{Canvas, SMALL, TimeArea};
use crate::pictures::svg::{Anchor, INK, n, text};
use latlab_model::{Nanos, Run};
use maud::html;
use std::collections::BTreeMap;

/// Maximum rows of codes above a chart.
const ROWS: usize = 4;
const ROW: f64 = 15.0;
/// Marks of one code closer than this are merged.
const CLOSE: f64 = 26.0;

/// Neighbouring findings of one code.
struct FindingMark {
    code: String,
    xs: Vec<(f64, Nanos)>,
    /// Row of the label; `None` if no row has room.
    row: Option<usize>,
}

impl FindingMark {
    fn words(&self) -> String {
        match self.xs.len() {
            1 => self.code.clone(),
            many => format!("{} × {many}", self.code),
        }
    }

    fn width(&self) -> f64 {
        self.words().chars().count() as f64 * 6.6 + 10.0
    }
}

pub struct FindingMarks {
    all: Vec<FindingMark>,
    top: f64,
    rows: usize,
    left: f64,
    right: f64,
}

impl FindingMarks {
    /// Places the labels below what is already on the canvas.
    pub fn new(run: &Run, canvas: &mut Canvas) -> FindingMarks {
        let (left, right) = (canvas.axis.left, canvas.axis.right);
        let mut all = marks(run, canvas);
        let mut ends = [f64::NEG_INFINITY; ROWS];
        for mark in &mut all {
            let (from, to) = reach(mark, left, right);
            mark.row = ends.iter().position(|end| *end + 4.0 < from);
            if let Some(row) = mark.row {
                ends[row] = to;
            }
        }
        let rows = all.iter().filter_map(|mark| Some(mark.row? + 1)).max().unwrap_or(0);
        let top = canvas.y;
        canvas.y += rows as f64 * ROW + 4.0;
        FindingMarks { all, top, rows, left, right }
    }

    /// Draws the labels, and the lines down to the end of their areas.
    pub fn draw(&self, canvas: &mut Canvas, areas: &[TimeArea]) {
        let Some(bottom) = areas.iter().map(|area| area.bottom).reduce(f64::max) else { return };
        for mark in &self.all {
            let row = mark.row.unwrap_or(self.rows.saturating_sub(1));
            let y = self.top + row as f64 * ROW + 11.0;
            let style = format!("stroke:{INK};stroke-width:1;stroke-dasharray:3 3;opacity:.75");
            for (x, at) in &mark.xs {
                canvas.draw(html! {
                    line x1=(n(*x)) x2=(n(*x)) y1=(n(y + 3.0)) y2=(n(bottom)) style=(style)
                        data-code=(mark.code) data-at-ns=(at.0) {}
                });
            }
            if mark.row.is_some() {
                let (from, _) = reach(mark, self.left, self.right);
                canvas.draw(text(from + 2.0, y, Anchor::Start, SMALL, INK, &mark.words()));
            }
        }
    }

    /// Codes that had no room for a label.
    pub fn unnamed(&self) -> Option<String> {
        let unnamed = self.all.iter().filter(|mark| mark.row.is_none());
        let count: usize = unnamed.map(|mark| mark.xs.len()).sum();
        (count > 0).then(|| {
            let many = if count == 1 { "finding has" } else { "findings have" };
            format!("{count} more {many} a line without a label.")
        })
    }

    /// All codes with their times, for screen readers.
    pub fn words(&self, start: Nanos) -> Option<String> {
        let one = |mark: &FindingMark| {
            let since = (mark.xs[0].1 - start).max(Nanos::ZERO).as_secs_f64();
            format!("{} at +{since:.1} s", mark.words())
        };
        let all: Vec<String> = self.all.iter().take(20).map(one).collect();
        (!all.is_empty()).then(|| format!("Findings: {}.", all.join(", ")))
    }
}

/// The horizontal extent of a label: after its first line, or before the right edge.
fn reach(mark: &FindingMark, left: f64, right: f64) -> (f64, f64) {
    let from = (mark.xs[0].0 + 2.0).min(right + 14.0 - mark.width()).max(left - 50.0);
    (from, from + mark.width())
}

fn marks(run: &Run, canvas: &Canvas) -> Vec<FindingMark> {
    let start = run.first_release().unwrap_or_default();
    // Findings from just before the first release belong to the start.
    let timed = run.findings.iter().filter_map(|one| Some((one.at_ns?.max(start), one.code())));
    let mut timed: Vec<(Nanos, &str)> = timed.filter(|(at, _)| canvas.axis.holds(*at)).collect();
    timed.sort();
    let mut all: Vec<FindingMark> = Vec::new();
    let mut last_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, code) in timed {
        let x = canvas.axis.x(at);
        let close =
            |mark: &&mut FindingMark| mark.xs.last().is_some_and(|(last, _)| x - last < CLOSE);
        let last = last_of.get(code).and_then(|last| all.get_mut(*last));
        match last.filter(close) {
            Some(mark) => mark.xs.push((x, at)),
            None => {
                last_of.insert(code, all.len());
                all.push(FindingMark { code: code.to_string(), xs: vec![(x, at)], row: None });
            }
        }
    }
    all
}
