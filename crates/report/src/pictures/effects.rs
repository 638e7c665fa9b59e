//! Effects of settings: a row for each, with the ratio of a figure and its interval.

use crate::pictures::area::{Area, BELOW, Tick};
use crate::pictures::options::Options;
use crate::pictures::picture::Picture;
use crate::pictures::svg::{Anchor, INK, MUTED, TEXT_SIZE, line, n, text, text_width};
use maud::{Markup, html};

const TOP: f64 = 14.0;
const ROW: f64 = 22.0;
/// Widest column of names, as a share of the picture.
const NAMES: f64 = 0.45;
/// Ratios on the axis.
const RATIOS: [f64; 13] = [0.02, 0.05, 0.1, 0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 10.0, 20.0, 50.0];
/// Shortest reach of the axis, as a ratio.
const SHORTEST: f64 = 1.3;

/// A row of the picture.
pub struct EffectRow<'a> {
    pub name: &'a str,
    pub ratio: f64,
    /// Bounds of the ratio; `None` where open.
    pub bounds: (Option<f64>, Option<f64>),
    pub colour: &'static str,
}

pub struct EffectsPicture<'a> {
    pub rows: Vec<EffectRow<'a>>,
    /// A ratio within this range makes no difference.
    pub tolerance: f64,
    /// The figure, as the axis names it.
    pub figure: &'a str,
}

pub fn draw(of: &EffectsPicture, options: &Options) -> String {
    let width = options.drawn_width();
    let widest = of.rows.iter().map(|row| text_width(row.name, TEXT_SIZE)).fold(60.0, f64::max);
    let left = (widest + 24.0).min(width * NAMES);
    let area = Area {
        left,
        right: width - 24.0,
        top: TOP,
        bottom: TOP + ROW * of.rows.len().max(1) as f64,
        axis_left: left,
    };
    let known = of.rows.iter().flat_map(|row| {
        let (low, high) = row.bounds;
        [Some(row.ratio), low, high].into_iter().flatten()
    });
    let far = known.map(|ratio| ratio.max(f64::MIN_POSITIVE).ln().abs());
    let reach = far.fold(SHORTEST.ln(), f64::max).min(4.0) * 1.1;
    let place =
        |ratio: f64| (1.0 + (ratio.max(f64::MIN_POSITIVE).ln() / reach).clamp(-1.0, 1.0)) / 2.0;
    let inside = RATIOS.iter().filter(|ratio| ratio.ln().abs() < reach);
    let ticks: Vec<Tick> =
        inside.map(|ratio| Tick { place: place(*ratio), name: format!("x{ratio}") }).collect();
    let described = of.rows.iter().map(|row| format!("{} x{:.2}", row.name, row.ratio));
    let picture = Picture {
        options,
        height: area.bottom + BELOW,
        title: format!("Effect of each setting on {}", of.figure),
        description: format!("{}.", described.collect::<Vec<_>>().join(", ")),
        latencies: 0,
    };
    let same = [1.0 / (1.0 + of.tolerance), 1.0 + of.tolerance].map(|ratio| area.x(place(ratio)));
    picture.render(html! {
        rect x=(n(same[0])) y=(n(area.top)) width=(n(same[1] - same[0])) height=(n(area.height()))
            style={ "fill:" (MUTED) ";fill-opacity:.15;stroke:none" } {}
        (area.grid(&ticks, &[]))
        (line((area.x(0.5), area.top), (area.x(0.5), area.bottom), INK, 1.2))
        @for (at, row) in of.rows.iter().enumerate() {
            (effect(row, &area, TOP + ROW * (at as f64 + 0.5), &place))
        }
        (area.names_below(&ticks, TEXT_SIZE))
        (line((area.left, area.bottom), (area.right, area.bottom), INK, 1.2))
        (text(area.middle().0, area.bottom + 42.0, Anchor::Middle, TEXT_SIZE, INK,
            &format!("{} with the setting / without it", of.figure)))
    })
}

fn effect(row: &EffectRow, area: &Area, y: f64, place: &dyn Fn(f64) -> f64) -> Markup {
    let end = |bound: Option<f64>, open: f64| area.x(bound.map_or(open, place));
    let (from, to) = (end(row.bounds.0, 0.0), end(row.bounds.1, 1.0));
    html! {
        g data-setting=(row.name) data-ratio=(n(row.ratio)) {
            (text(area.left - 8.0, y + TEXT_SIZE * 0.35, Anchor::End, TEXT_SIZE, INK, row.name))
            (line((from, y), (to, y), row.colour, 1.6))
            // An open end has no cap.
            @for (bound, x) in [(row.bounds.0, from), (row.bounds.1, to)] {
                @if bound.is_some() { (line((x, y - 4.0), (x, y + 4.0), row.colour, 1.6)) }
            }
            circle cx=(n(area.x(place(row.ratio)))) cy=(n(y)) r="3.8" style={ "fill:" (row.colour) } {}
        }
    }
}
