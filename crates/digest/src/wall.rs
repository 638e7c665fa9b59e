//! Wall time of a run: from CLOCK_MONOTONIC to UTC and back, by the nearest reading of the clocks.
//!
//! During a night the wall clock is slewed and may be set, so one offset for a whole run is wrong.

use jiff::Timestamp;
use latlab_model::{Nanos, Run, nanos};

/// Two instants of one wall time that are closer than this differ by the noise of reading four
/// clocks.
const SAME: Nanos = nanos::MILLISECOND;

/// Both clocks at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Reading {
    monotonic: Nanos,
    realtime: Nanos,
}

/// The readings of a run, ascending by CLOCK_MONOTONIC; at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WallClock(Vec<Reading>);

/// A wall time that occurred twice, because the clock was set back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AmbiguousTime;

impl WallClock {
    /// From pairs of CLOCK_MONOTONIC and CLOCK_REALTIME; a run whose stream broke off before the
    /// first reading still knows its start.
    pub fn new(readings: impl IntoIterator<Item = (Nanos, Nanos)>, run: &Run) -> Option<WallClock> {
        let readings = readings.into_iter();
        let mut readings: Vec<Reading> =
            readings.map(|(monotonic, realtime)| Reading { monotonic, realtime }).collect();
        if readings.is_empty() {
            readings.push(began(run)?);
        }
        readings.sort_by_key(|reading| reading.monotonic);
        Some(WallClock(readings))
    }

    /// Nanoseconds since 1970 in UTC at an instant of CLOCK_MONOTONIC.
    pub fn realtime(&self, at: Nanos) -> Nanos {
        // Each reading represents the time closer to it than to any other.
        let (mut low, mut high) = (0, self.0.len() - 1);
        while low < high {
            let middle = low.midpoint(high);
            if at < self.end_of(middle) { high = middle } else { low = middle + 1 }
        }
        self.0[low].realtime + (at - self.0[low].monotonic)
    }

    /// The same as text (RFC 3339), with this many digits of the second.
    pub fn utc(&self, at: Nanos, digits: usize) -> String {
        match Timestamp::from_nanosecond(self.realtime(at).0.into()) {
            Ok(time) => format!("{time:.digits$}"),
            Err(_) => at.0.to_string(),
        }
    }

    /// The instant of a wall time; for one that the clock jumped over, the instant of the jump.
    pub fn monotonic(&self, realtime: Nanos) -> Result<Nanos, AmbiguousTime> {
        let mut found: Option<Nanos> = None;
        let mut jumped = None;
        for (index, reading) in self.0.iter().enumerate() {
            let at = reading.monotonic + (realtime - reading.realtime);
            let begins = if index == 0 { -Nanos::MAX } else { self.end_of(index - 1) };
            match found {
                _ if at < begins => jumped = jumped.or(Some(begins)),
                _ if at >= self.end_of(index) => {}
                Some(first) if at - first > SAME => return Err(AmbiguousTime),
                _ => found = found.or(Some(at)),
            }
        }
        Ok(found.or(jumped).unwrap_or(Nanos::MAX))
    }

    /// The first instant that is closer to the next reading.
    fn end_of(&self, index: usize) -> Nanos {
        self.0
            .get(index + 1)
            .map_or(Nanos::MAX, |next| Nanos(self.0[index].monotonic.0.midpoint(next.monotonic.0)))
    }
}

fn began(run: &Run) -> Option<Reading> {
    let monotonic = run.first_release()?;
    let started: Timestamp = run.started.parse().ok()?;
    let realtime = Nanos(i64::try_from(started.as_nanosecond()).ok()?);
    Some(Reading { monotonic, realtime })
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::nanos::SECOND;
    use proptest::prelude::*;

    /// A reading per second; after it the wall clock is ahead by its offset.
    fn clock(offsets: &[i64]) -> WallClock {
        let reading = |(second, &offset): (i64, &i64)| {
            let monotonic = SECOND * (100 + second);
            Reading { monotonic, realtime: monotonic + Nanos(offset) }
        };
        WallClock((0..).zip(offsets).map(reading).collect())
    }

    const S: i64 = SECOND.0;

    #[test]
    fn the_nearest_reading_counts() {
        let slewed = clock(&[1000 * S, 1000 * S + 100_000, 1000 * S + 200_000]);
        let realtime = |at: i64| slewed.realtime(Nanos(at)).0;
        assert_eq!(realtime(100 * S + 400_000_000), 1100 * S + 400_000_000);
        assert_eq!(realtime(100 * S + 600_000_000), 1100 * S + 600_100_000);
        assert_eq!(realtime(200 * S), 1200 * S + 200_000);
        assert_eq!(realtime(0), 1000 * S);
    }

    #[test]
    fn a_time_that_came_twice_is_told_and_one_that_was_jumped_over_is_the_jump() {
        let back = clock(&[1000 * S, 1000 * S, 990 * S, 990 * S]);
        assert_eq!(back.monotonic(Nanos(1080 * S)), Ok(Nanos(80 * S)));
        assert_eq!(back.monotonic(Nanos(1100 * S)), Err(AmbiguousTime));
        assert_eq!(back.monotonic(Nanos(1110 * S)), Ok(Nanos(120 * S)));
        let on = clock(&[1000 * S, 1000 * S, 4600 * S, 4600 * S]);
        assert_eq!(on.monotonic(Nanos(3000 * S)), Ok(Nanos(101 * S + S / 2)));
        assert_eq!(on.monotonic(Nanos(4702 * S)), Ok(Nanos(102 * S)));
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same_instant(
            slews in proptest::collection::vec(-400_000i64..400_000, 1..50), at in 0i64..100 * S
        ) {
            let offsets: Vec<i64> = slews.iter().scan(1000 * S, |offset, slew| {
                *offset += slew;
                Some(*offset)
            }).collect();
            let clock = clock(&offsets);
            let at = Nanos(90 * S + at);
            let back = clock.monotonic(clock.realtime(at)).unwrap();
            // A wall time at the seam of two readings may belong to either.
            prop_assert!((back - at).0.abs() <= 800_000, "{at:?} {back:?}");
        }
    }
}
