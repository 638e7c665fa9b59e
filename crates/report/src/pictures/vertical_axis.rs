//! The vertical axes of counts and of shares.

use crate::pictures::area::Tick;
use crate::units::grouped;

/// Ratio of the lower edge to the lowest height, so that the latter is visible.
const BELOW_LOWEST: f64 = 0.8;
/// The lower edge is never below this power of ten.
const LOWEST_EXPONENT: f64 = -15.0;
/// Height of a label.
const NAME: f64 = 17.0;

/// A logarithmic vertical axis, from below the lowest height up.
pub struct VerticalAxis {
    /// Logarithm of the lower edge.
    from: f64,
    /// Exponent of ten at the upper edge.
    to: i32,
}

impl VerticalAxis {
    /// An axis that includes these heights, and a height of one.
    pub fn holding(heights: impl Iterator<Item = f64>) -> VerticalAxis {
        let hold = |(low, high): (f64, f64), height: f64| (low.min(height), high.max(height));
        let (low, high) = heights.filter(|height| *height > 0.0).fold((1.0, 1.0), hold);
        let to = ((high * 1.1).log10().ceil() as i32).max(1);
        VerticalAxis { from: (low * BELOW_LOWEST).log10().max(LOWEST_EXPONENT), to }
    }

    /// An axis of shares from 1/`count` to 1, with a zone below the lowest share.
    pub fn shares_of(count: u64) -> VerticalAxis {
        let lowest = 1.0 / count.max(1) as f64;
        VerticalAxis { from: lowest.log10() - 0.4, to: 0 }
    }

    /// Position of a height on the axis, from 0 to 1.
    pub fn place(&self, height: f64) -> f64 {
        let place = (height.log10() - self.from) / (f64::from(self.to) - self.from);
        place.clamp(0.0, 1.0)
    }

    /// Labelled heights for an axis of this length, with their labels.
    pub fn ticks(&self, pixels: f64) -> Vec<Tick> {
        let decades = f64::from(self.to) - self.from;
        let every = (decades * NAME / pixels).ceil().max(1.0) as i32;
        let exponents = self.from.ceil() as i32..=self.to;
        let named = exponents.filter(|exponent| exponent % every == 0);
        named
            .map(|exponent| {
                let name = match exponent {
                    -3..=-1 => {
                        format!("{:.*}", exponent.unsigned_abs() as usize, 10f64.powi(exponent))
                    }
                    0..=4 => grouped(10u64.pow(exponent as u32)),
                    _ => format!("10{}", superscript(exponent)),
                };
                Tick { place: self.place(10f64.powi(exponent)), name }
            })
            .collect()
    }
}

/// The labels of a linear axis of shares.
pub fn percents() -> Vec<Tick> {
    let fifths = 0..=5;
    fifths
        .map(|fifth| Tick { place: f64::from(fifth) / 5.0, name: format!("{} %", fifth * 20) })
        .collect()
}

fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let sign = if number < 0 { "⁻" } else { "" };
    let digits = number.unsigned_abs().to_string();
    let digits = digits.chars().filter_map(|c| DIGITS.get(c.to_digit(10)? as usize));
    sign.chars().chain(digits.copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &VerticalAxis, pixels: f64) -> Vec<String> {
        axis.ticks(pixels).into_iter().map(|tick| tick.name).collect()
    }

    #[test]
    fn heights_below_one_are_named() {
        let axis = VerticalAxis::holding([3e-5, 200.0].into_iter());
        let all = ["10⁻⁴", "0.001", "0.01", "0.1", "1", "10", "100", "1 000"];
        assert_eq!(names(&axis, 400.0), all);
        assert_eq!(names(&axis, 60.0), ["0.001", "1", "1 000"]);
    }

    #[test]
    fn shares_go_down_to_one_of_all() {
        let axis = VerticalAxis::shares_of(2_000);
        assert_eq!(names(&axis, 400.0), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(axis.place(1.0), 1.0);
        assert!(axis.place(1.0 / 2_000.0) > 0.05);
        assert_eq!(names(&VerticalAxis::shares_of(0), 400.0), ["1"]);
    }
}
