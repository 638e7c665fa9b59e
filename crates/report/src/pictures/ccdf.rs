//! The tail chart for experts: the share of latencies later than x, both axes logarithmic, down to
//! the single latency that is the observed maximum.

use crate::pictures::axis::{Axis, Spacing};
use crate::pictures::curve::named_count;
use crate::pictures::options::Options;
use crate::pictures::panel::pen;
use crate::pictures::shares::{ShareChart, ShareStyle};
use crate::pictures::vertical_axis::VerticalAxis;
use crate::run_with_bins::RunWithBins;
use maud::html;

const LOOK: ShareStyle = ShareStyle {
    title: |terms| format!("share of larger {}", terms.many),
    share_title: "that were larger",
    told: "that were larger, logarithmic",
};

/// Latencies are logarithmic unless requested otherwise.
pub fn draw(runs: &[RunWithBins], options: &Options) -> String {
    let spacing = match options.axis.spacing {
        Spacing::Auto => Spacing::Log,
        asked => asked,
    };
    let options = Options { axis: Axis { spacing, ..options.axis }, ..options.clone() };
    let shares = ShareChart::new(runs, &options, LOOK);
    let area = &shares.area;
    let axis = VerticalAxis::shares_of(shares.most());
    let y = |share: f64| area.y(axis.place(share));
    // The maximum is one latency, even if its bin holds more.
    let height = |count: u64, seen: u64| y(count.saturating_sub(seen).max(1) as f64 / count as f64);
    let all = 0..shares.series.len();
    let named = 0..named_count(&shares.series);
    let drawn = html! {
        (shares.zone(y(1.0 / shares.most().max(1) as f64), area.bottom))
        @for index in all.rev() {
            (shares.line(index, |seen| height(shares.series[index].count, seen)))
        }
        @for index in named.rev() {
            @let series = &shares.series[index];
            @let has_end = !shares.continues(series) && series.open.is_none();
            @if let Some(max) = series.max.filter(|_| has_end) {
                (pen(index, &shares.series).mark(shares.x(max), height(series.count, series.count)))
            }
        }
    };
    shares.render(&axis.ticks(area.height()), shares.cut_words(), drawn)
}
