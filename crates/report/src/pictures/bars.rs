//! Values and fill patterns of the bars in the tail chart.

use crate::pictures::curve::Curve;
use crate::pictures::svg::{PAPER, Pen};
use crate::units::bin_edge;
use latlab_stats::{latencies_needed, quantile_of_rows};

/// The groups of bars, in order.
pub const GROUPS: [&str; 10] = [
    "mean",
    "90 %",
    "95 %",
    "99 %",
    "99.5 %",
    "99.9 %",
    "99.99 %",
    "99.999 %",
    "99.9999 %",
    "maximum",
];
/// The quantiles among them, in parts per million.
pub const SHARES: [(u32, &str); 8] = [
    (900_000, GROUPS[1]),
    (950_000, GROUPS[2]),
    (990_000, GROUPS[3]),
    (995_000, GROUPS[4]),
    (999_000, GROUPS[5]),
    (999_900, GROUPS[6]),
    (999_990, GROUPS[7]),
    (999_999, GROUPS[8]),
];

pub struct Bar {
    pub value: f64,
    /// Whether there are enough latencies for this quantile.
    pub supported: bool,
}

/// The bars of one line, by group.
pub struct Bars {
    groups: Vec<Option<Bar>>,
}

impl Bars {
    pub fn new(series: &Curve) -> Bars {
        let full = |value: Option<f64>| value.map(|value| Bar { value, supported: true });
        let quantile = |share: u32| {
            let observed = series.min.zip(series.max)?;
            let value = quantile_of_rows(&series.rows(), share, observed)?;
            // A quantile is never shown above the maximum.
            let value = bin_edge(value).min(observed.1).0 as f64;
            Some(Bar { value, supported: series.count >= latencies_needed(share) })
        };
        let mut groups = vec![full(series.mean)];
        groups.extend(SHARES.map(|(share, _)| quantile(share)));
        groups.push(full(series.max.map(|max| max.0 as f64)));
        Bars { groups }
    }

    /// The existing bars, with the index of their group.
    pub fn drawn(&self) -> impl Iterator<Item = (usize, &Bar)> {
        self.groups.iter().enumerate().filter_map(|(group, bar)| Some((group, bar.as_ref()?)))
    }

    /// Whether a group has a bar without enough latencies.
    pub fn is_hollow(&self, group: usize) -> bool {
        self.groups.get(group).and_then(Option::as_ref).is_some_and(|bar| !bar.supported)
    }
}

/// Hatching, so that a print without colour distinguishes the bars too.
const HATCHES: [&str; 6] = [
    "",
    "M-1 7L7 -1M-1 1L1 -1M5 7L7 5",
    "M-1 -1L7 7M5 -1L7 1M-1 5L1 7",
    "M0 3H6",
    "M3 0V6",
    "M-1 7L7 -1M-1 -1L7 7",
];

/// The SVG patterns that fill the bars, by pen number.
pub fn patterns(id: &str, pens: impl Iterator<Item = usize>) -> String {
    let one = |index: usize| {
        let colour = Pen::number(index).colour;
        let hatch = HATCHES[index % HATCHES.len()];
        let ground = if hatch.is_empty() { "1" } else { ".3" };
        format!(
            "<pattern id=\"{id}-fill-{index}\" width=\"6\" height=\"6\" \
             patternUnits=\"userSpaceOnUse\">\
             <rect width=\"6\" height=\"6\" style=\"fill:{colour};fill-opacity:{ground}\"/>\
             <path d=\"{hatch}\" style=\"fill:none;stroke:{colour};stroke-width:1.6\"/></pattern>"
        )
    };
    format!("<defs>{}</defs>", pens.map(one).collect::<String>())
}

/// The style of the bars of a line.
pub fn fill(id: &str, index: usize) -> String {
    format!("fill:url(#{id}-fill-{index});stroke:{};stroke-width:1", Pen::number(index).colour)
}

/// The style of a bar without enough latencies.
pub fn hollow(index: usize) -> String {
    let colour = Pen::number(index).colour;
    format!("fill:{PAPER};stroke:{colour};stroke-width:1.2;stroke-dasharray:3 2")
}
