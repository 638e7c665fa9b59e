//! The page's chart for a thread of an attached program: histograms of its cycle times.

use super::part;
use crate::units::{grouped, short};
use latlab_model::attach::{AttachedThreadRun, CyclePart};
use maud::{Markup, html};

/// Width of the chart.
const WIDTH: f64 = 640.0;
/// Room for the label of a row.
const MARGIN: f64 = 130.0;
/// The CSS class, which sets the colour.
fn class(part: CyclePart) -> &'static str {
    match part {
        CyclePart::WakeUp => "part wake-up",
        CyclePart::Execution => "part execution",
        CyclePart::Preempted => "part preempted",
        CyclePart::Blocked => "part blocked",
        CyclePart::Response => "part response",
    }
}

/// Wake-up, execution and response, one above the other on one logarithmic time axis.
pub fn histograms(thread: &AttachedThreadRun) -> Markup {
    let rows = [CyclePart::WakeUp, CyclePart::Execution, CyclePart::Response];
    let bins = || rows.iter().filter_map(|row| part(thread, *row)).flat_map(|one| &one.bins);
    let Some(low) = bins().map(|bin| bin.low_ns.0.max(100)).min() else { return html! {} };
    let high = bins().map(|bin| bin.high_ns.0.min(100_000_000_000)).max().unwrap_or(low) * 11 / 10;
    let (from, to) = ((low as f64).log10(), (high as f64).log10().max((low as f64).log10() + 1.0));
    let x =
        |time: f64| MARGIN + (time.max(1.0).log10() - from) / (to - from) * (WIDTH - MARGIN - 10.0);
    let height = 46.0;
    let bottom = rows.len() as f64 * height;
    let decades: Vec<i32> = (from.ceil() as i32..=to.floor() as i32).collect();
    let name = format!("Times of the cycles of {}", thread.found.name);
    html! {
        svg.cycles viewBox={ "0 0 " (WIDTH) " " (bottom + 22.0) } role="img" aria-label=(name) {
            @for decade in &decades {
                @let at = x(10_f64.powi(*decade));
                line.grid x1=(fixed(at)) x2=(fixed(at)) y1="0" y2=(bottom) {}
                text x=(fixed(at)) y=(bottom + 15.0) text-anchor="middle" { (short(10_f64.powi(*decade))) }
            }
            @for (row, which) in rows.iter().enumerate() {
                @let base = (row + 1) as f64 * height - 4.0;
                text x="0" y=(base) { (which.as_str()) }
                @if let Some(figures) = part(thread, *which) {
                    @let most = figures.bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
                    @for bin in &figures.bins {
                        @let left = x(bin.low_ns.0.max(low) as f64);
                        @let right = x(bin.high_ns.0.min(high) as f64);
                        // Logarithmic, so that a single cycle is visible next to a million others.
                        @let tall = (1.0 + bin.count as f64).ln() / (1.0 + most).ln() * (height - 10.0);
                        rect class=(class(*which)) x=(fixed(left)) y=(fixed(base - tall))
                            width=(fixed((right - left - 0.5).max(0.5))) height=(fixed(tall)) {
                            title { (which.as_str()) " " (bin.low_ns) " to " (bin.high_ns) ": " (grouped(bin.count)) }
                        }
                    }
                }
            }
            @if let Some(deadline) = thread.found.deadline_ns.filter(|time| time.0 > low && time.0 < high) {
                @let at = x(deadline.0 as f64);
                line.deadline x1=(fixed(at)) x2=(fixed(at)) y1="0" y2=(bottom) { title { "deadline " (deadline) } }
            }
        }
    }
}

fn fixed(number: f64) -> String {
    format!("{number:.1}")
}
