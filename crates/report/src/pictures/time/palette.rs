//! Colours of a density: viridis, which is perceptually uniform with any colour vision and in
//! greyscale.

/// From few to many: viridis from yellow to violet, so that darker is more.
const STOPS: [(u8, u8, u8); 10] = [
    (189, 223, 38),
    (122, 209, 81),
    (68, 191, 112),
    (34, 168, 132),
    (33, 145, 140),
    (42, 120, 142),
    (53, 95, 141),
    (65, 68, 135),
    (72, 36, 117),
    (68, 1, 84),
];

/// Number of colours in a chart.
pub const LEVELS: usize = 20;

/// The colour of a level, from few to many.
pub fn colour(level: usize) -> String {
    let (red, green, blue) = mixed(level.min(LEVELS - 1) as f64 / (LEVELS - 1) as f64);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn mixed(share: f64) -> (u8, u8, u8) {
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (place as usize).min(STOPS.len() - 2);
    let part = place - below as f64;
    let mix = |one: u8, two: u8| (f64::from(one) * (1.0 - part) + f64::from(two) * part).round();
    let (low, high) = (STOPS[below], STOPS[below + 1]);
    (mix(low.0, high.0) as u8, mix(low.1, high.1) as u8, mix(low.2, high.2) as u8)
}

/// A logarithmic scale of colours.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shades {
    /// Value of the first colour.
    pub from: f64,
    /// Value of the last colour.
    pub to: f64,
}

impl Shades {
    /// A scale for all positive values; `None` if there are none.
    pub fn holding(values: impl Iterator<Item = f64>) -> Option<Shades> {
        let range = values.filter(|value| *value > 0.0).map(|value| (value, value));
        let (from, to) = range.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        Some(Shades { from, to: to.max(from * 1.000_001) })
    }

    pub fn level(&self, value: f64) -> usize {
        let share = (value / self.from).ln() / (self.to / self.from).ln();
        ((share * LEVELS as f64) as usize).min(LEVELS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_is_darker_than_the_one_before() {
        let light = |(red, green, blue): (u8, u8, u8)| {
            0.2126 * f64::from(red) + 0.7152 * f64::from(green) + 0.0722 * f64::from(blue)
        };
        let all: Vec<f64> = (0..LEVELS).map(|n| light(mixed(n as f64 / 19.0))).collect();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1] + 2.0), "{all:?}");
        assert_eq!((colour(0), colour(LEVELS)), ("#bddf26".to_string(), "#440154".to_string()));
    }

    #[test]
    fn shades_hold_what_they_were_made_for() {
        let shades = Shades::holding([0.0, 1.0, 100.0, 10_000.0].into_iter()).unwrap();
        assert_eq!([1.0, 100.0, 10_000.0].map(|value| shades.level(value)), [0, 10, 19]);
        assert_eq!(Shades::holding([0.0].into_iter()), None);
        assert_eq!(Shades::holding([7.0].into_iter()).unwrap().level(7.0), 0);
    }
}
