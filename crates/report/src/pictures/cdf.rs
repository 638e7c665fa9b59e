//! The cumulative chart: the share of latencies no later than x, with an arrow to each maximum,
//! since the end of a line at 100 % is hard to see.

use crate::pictures::curve::{Curve, named_count};
use crate::pictures::options::Options;
use crate::pictures::panel::pen;
use crate::pictures::shares::{ShareChart, ShareStyle};
use crate::pictures::svg::{INK, line, n};
use crate::pictures::vertical_axis::percents;
use crate::run_with_bins::RunWithBins;
use maud::{Markup, html};

const LOOK: ShareStyle = ShareStyle {
    title: |_| "cumulative share".to_string(),
    share_title: "no larger",
    told: "that were no larger",
};
/// Maximum difference in length between neighbouring arrows.
const LONGER: f64 = 23.0;

pub fn draw(runs: &[RunWithBins], options: &Options) -> String {
    let shares = ShareChart::new(runs, options, LOOK);
    let area = &shares.area;
    let all = 0..shares.series.len();
    let one = 1.0 / shares.most().max(1) as f64;
    let thin = (one * area.height() < 1.0).then(|| shares.one_latency());
    let notes = shares.cut_words().into_iter().chain(thin).collect();
    let drawn = html! {
        (shares.zone(area.top, area.y(1.0 - one)))
        @for index in all.rev() {
            @let count = shares.series[index].count.max(1) as f64;
            (shares.line(index, |seen| area.y(seen as f64 / count)))
        }
        (arrows(&shares))
    };
    shares.render(&percents(), notes, drawn)
}

/// An arrow to the end of each line. Arrows get longer to the right, so that each is visible.
fn arrows(shares: &ShareChart) -> Markup {
    let mut ends: Vec<(usize, &Curve)> =
        shares.series.iter().enumerate().take(named_count(&shares.series)).collect();
    // A line with unknown latencies has no known end.
    ends.retain(|(_, series)| series.max.is_some() && series.open.is_none());
    ends.sort_by_key(|(index, series)| (series.max, *index));
    let area = &shares.area;
    let first = area.top + area.height() * 0.3;
    let each = (area.height() * 0.62 / ends.len().max(1) as f64).min(LONGER);
    html! {
        @for (place, (index, series)) in ends.into_iter().enumerate() {
            (arrow(shares, index, series, first + place as f64 * each))
        }
    }
}

fn arrow(shares: &ShareChart, index: usize, series: &Curve, y: f64) -> Markup {
    let Some(max) = series.max else { return html! {} };
    let area = &shares.area;
    let x = if shares.continues(series) { area.right } else { shares.x(max) };
    let tip = area.y(shares.reached(series).0);
    let head: Vec<String> = [(0.0, 6.0), (-3.5, 14.0), (3.5, 14.0)]
        .map(|(dx, dy)| format!("{},{}", n(x + dx), n(tip + dy)))
        .into();
    html! {
        (line((x, y), (x, tip + 12.0), INK, 0.8))
        polygon points=(head.join(" ")) style={ "fill:" (INK) } {}
        (pen(index, &shares.series).mark(x, tip))
    }
}
