//! The cumulative picture: the share of latencies that were no later than this, with an arrow to
//! each maximum, since no eye finds the end of a line at 100 %.

use crate::pictures::area::Area;
use crate::pictures::curve::{Curve, named};
use crate::pictures::options::Options;
use crate::pictures::panel::pen;
use crate::pictures::shares::{ShareChart, ShareStyle};
use crate::pictures::svg::{Anchor, INK, TEXT_SIZE, line, n, outlined, text_width};
use crate::pictures::vertical_axis::percents;
use crate::run_with_bins::RunWithBins;
use maud::{Markup, html};

const LOOK: ShareStyle = ShareStyle {
    title: |_| "cumulative share".to_string(),
    share_title: "no larger",
    told: "that were no larger",
};
/// Height of the words at an arrow.
const WORDS: f64 = 19.0;

/// The picture.
pub fn draw(runs: &[RunWithBins], options: &Options) -> String {
    let shares = ShareChart::new(runs, options, LOOK);
    let area = &shares.area;
    let all = 0..shares.series.len();
    let one = 1.0 / shares.most().max(1) as f64;
    let thin = (one * area.height() < 1.0).then(|| shares.one_latency());
    let words: Vec<String> = shares.cut_words().into_iter().chain(thin).collect();
    let drawn = html! {
        (shares.zone(area.top, area.y(1.0 - one)))
        @for index in all.rev() {
            @let count = shares.series[index].count.max(1) as f64;
            (shares.line(index, |seen| area.y(seen as f64 / count)))
        }
        (arrows(&shares))
        (shares.corner(&words))
    };
    shares.render(&percents(), drawn)
}

/// An arrow to the end of each line: what is further to the right stands lower, so that no arrow
/// crosses the words of another.
fn arrows(shares: &ShareChart) -> Markup {
    let mut ends: Vec<(usize, &Curve)> =
        shares.series.iter().enumerate().take(named(&shares.series)).collect();
    ends.retain(|(_, series)| series.max.is_some());
    ends.sort_by_key(|(index, series)| (series.max, *index));
    let area = &shares.area;
    let first = area.top + area.height() * 0.3;
    let each = (area.height() * 0.62 / ends.len().max(1) as f64).min(WORDS + 4.0);
    html! {
        @for (place, (index, series)) in ends.into_iter().enumerate() {
            (arrow(shares, index, series, first + place as f64 * each))
        }
    }
}

fn arrow(shares: &ShareChart, index: usize, series: &Curve, y: f64) -> Markup {
    let Some(max) = series.max else { return html! {} };
    let area = &shares.area;
    let (share, reached) = shares.reached(series);
    let (x, words) = match shares.continues(series) {
        true => (area.right, format!("{reached} at {}, all at {max}", shares.axis.end())),
        false => (shares.x(max), format!("{reached} at {max}")),
    };
    let tip = area.y(share);
    let (at, anchor, words) = fitting(area, x, &format!("{}: {words}", series.name), &words);
    let head: Vec<String> = [(0.0, 6.0), (-3.5, 14.0), (3.5, 14.0)]
        .map(|(dx, dy)| format!("{},{}", n(x + dx), n(tip + dy)))
        .into();
    html! {
        (line((x, y), (x, tip + 12.0), INK, 0.8))
        polygon points=(head.join(" ")) style={ "fill:" (INK) } {}
        (pen(index, &shares.series).mark(x, tip))
        (outlined(at, y + 2.0, anchor, TEXT_SIZE, &words))
    }
}

/// Left of the arrow where there is room, with the name of the line if that fits too.
fn fitting(area: &Area, x: f64, long: &str, short: &str) -> (f64, Anchor, String) {
    let (before, after) = (x - area.left - 24.0, area.right - x - 10.0);
    for words in [long, short] {
        let width = text_width(words, TEXT_SIZE);
        if width <= before {
            return (x - 8.0, Anchor::End, words.to_string());
        }
        if width <= after {
            return (x + 8.0, Anchor::Start, words.to_string());
        }
    }
    (area.right, Anchor::End, short.to_string())
}
