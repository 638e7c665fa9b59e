//! Many threads over time: a row for each, with its maximum as a colour.

use super::canvas::{Canvas, SMALL, TimeArea};
use super::palette::{LEVELS, Shades, colour};
use crate::pictures::svg::{Anchor, INK, n, text};
use crate::terms;
use latlab_model::{Nanos, Run};
use latlab_stats::Span;
use maud::html;

pub fn rows(canvas: &mut Canvas, run: &Run, threads: &[(u32, Vec<Span>)]) -> Option<TimeArea> {
    let maxima = || threads.iter().flat_map(|(_, spans)| spans).filter_map(|span| span.max);
    let shades = Shades::holding(maxima().map(|max| max.0 as f64))?;
    let row = (300.0 / threads.len() as f64).clamp(2.0, 16.0);
    legend(
        canvas,
        &format!("Largest {} of each thread", terms::of_run(run).one),
        &shades,
        &|value| {
            let digit = 10f64.powf(value.max(1.0).log10().floor() - 2.0).max(1.0);
            Nanos(((value / digit).round() * digit) as i64).to_string()
        },
    );
    let area = canvas.area(row * threads.len() as f64);
    paper(canvas, &area);
    let mut levels = vec![String::new(); LEVELS];
    for (index, (_, spans)) in threads.iter().enumerate() {
        let top = area.top + index as f64 * row;
        for (level, from, to) in stretches(spans, &shades) {
            let (from, to) = canvas.axis.pair(from, to);
            levels[level] += &format!("M{from} {}H{to}v{}H{from}z", n(top), n(row));
        }
    }
    paint(canvas, &levels);
    // Labels are taller than rows.
    let every = (14.0 / row).ceil() as usize;
    for (index, (thread, _)) in threads.iter().enumerate().step_by(every) {
        let known = run.threads.iter().find(|known| known.setup.thread == *thread);
        let cpu = known.and_then(|known| known.setup.cpu);
        let name = cpu.map_or(format!("thread {thread}"), |cpu| format!("CPU {cpu}"));
        let y = area.top + (index as f64 + 0.5) * row + 4.0;
        canvas.draw(text(area.left - 6.0, y, Anchor::End, SMALL, INK, &name));
    }
    canvas.frame(&area);
    Some(area)
}

/// Merges adjacent columns of the same colour.
fn stretches(spans: &[Span], shades: &Shades) -> Vec<(usize, Nanos, Nanos)> {
    let mut all: Vec<(usize, Nanos, Nanos)> = Vec::new();
    for span in spans {
        let Some(max) = span.max else { continue };
        let level = shades.level(max.0.max(1) as f64);
        match all.last_mut() {
            Some((known, _, to)) if *known == level && *to >= span.from => *to = span.to,
            _ => all.push((level, span.from, span.to)),
        }
    }
    all
}

/// A light ground, in dark mode too, since darker means more.
pub fn paper(canvas: &mut Canvas, area: &TimeArea) {
    let (width, height) = (area.right - area.left, area.height());
    canvas.draw(html! {
        rect x=(n(area.left)) y=(n(area.top)) width=(n(width)) height=(n(height))
            style="fill:#ffffff" {}
    });
}

/// Draws each colour with one path.
pub fn paint(canvas: &mut Canvas, levels: &[String]) {
    for (level, path) in levels.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let style = format!("fill:{}", colour(level));
        canvas.draw(html! { path d=(path) style=(style) shape-rendering="crispEdges" {} });
    }
}

/// The colour scale, labelled at both ends and in the middle.
pub fn legend(canvas: &mut Canvas, title: &str, shades: &Shades, name: &dyn Fn(f64) -> String) {
    canvas.keys(title, Vec::new());
    let width = (canvas.width - 90.0).min(300.0);
    let (left, top) = (40.0, canvas.y);
    let each = width / LEVELS as f64;
    for level in 0..LEVELS {
        let (x, style) = (left + level as f64 * each, format!("fill:{}", colour(level)));
        canvas.draw(html! {
            rect x=(n(x)) y=(n(top)) width=(n(each + 0.5)) height="10" style=(style) {}
        });
    }
    let middle = (shades.from * shades.to).sqrt();
    for (share, value) in [(0.0, shades.from), (0.5, middle), (1.0, shades.to)] {
        let x = left + share * width;
        canvas.draw(text(x, top + 23.0, Anchor::Middle, SMALL, INK, &name(value)));
    }
    canvas.y += 34.0;
}
