//! Clock times, one for each cycle of a loop with a known period: the lateness of each cycle, and
//! the error of its distance from the previous one.

use crate::read::recording::{LatencySeries, Recording};
use crate::read::samples::Samples;
use latlab_model::Nanos;

/// Limit for the times kept: half a day of a loop of 1 kHz.
const MOST: usize = 50_000_000;

/// The times so far.
pub struct Timestamps {
    period: i64,
    first: Option<i64>,
    last: i64,
    /// Number of the release that the last cycle served.
    release: i64,
    skipped: u64,
    backwards: u64,
    left: u64,
    lateness: Vec<i64>,
    errors: Samples,
}

impl Timestamps {
    /// For a loop with this period.
    pub fn new(period: Nanos) -> Timestamps {
        Timestamps {
            period: period.0.max(1),
            first: None,
            last: 0,
            release: 0,
            skipped: 0,
            backwards: 0,
            left: 0,
            lateness: Vec::new(),
            errors: Samples::default(),
        }
    }

    pub fn push(&mut self, time: i64) {
        let Some(first) = self.first else {
            (self.first, self.last) = (Some(time), time);
            self.lateness.push(0);
            return;
        };
        if time < self.last {
            self.backwards += 1;
            return;
        }
        if self.lateness.len() >= MOST {
            self.left += 1;
            return;
        }
        let distance = time - self.last;
        // A cycle more than half a period late has skipped a release.
        let releases = ((distance + self.period / 2) / self.period).max(1);
        self.skipped += releases as u64 - 1;
        self.release += releases;
        self.lateness.push(time - first - self.release.saturating_mul(self.period));
        self.errors.push((distance - self.period).abs());
        self.last = time;
    }

    /// Two recordings: the lateness of the releases, and the errors of the intervals.
    pub fn recordings(mut self) -> Vec<Recording> {
        let earliest = self.lateness.iter().copied().min().unwrap_or(0);
        let mut lateness = Samples::default();
        self.lateness.iter().for_each(|one| lateness.push(one - earliest));
        [
            ("release", "release jitter, from the earliest release", lateness.series()),
            ("interval", "distance of an interval from the period", self.errors.series()),
        ]
        .into_iter()
        .map(|(part, quantity, series)| self.recording(part, quantity, series))
        .collect()
    }

    fn recording(&self, part: &str, quantity: &'static str, series: LatencySeries) -> Recording {
        let mut recording = Recording::new("timestamps of a loop");
        (recording.part, recording.quantity) = (Some(part.to_string()), quantity);
        recording.length_ns = Nanos(self.first.map_or(0, |first| self.last - first));
        recording.series.push(LatencySeries { period_ns: Some(Nanos(self.period)), ..series });
        if self.skipped > 0 {
            recording.lacks(format!("{} releases have no time: they were skipped", self.skipped));
        }
        if self.backwards > 0 {
            recording.lacks(format!("{} times are before the one above them", self.backwards));
        }
        if self.left > 0 {
            recording.lacks(format!("{} times are more than can be kept", self.left));
        }
        recording
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_report::InWords;

    #[test]
    fn the_jitter_of_a_loop_comes_from_its_times() {
        let mut times = Timestamps::new(Nanos(1_000));
        [5_000, 6_010, 7_000, 10_100, 11_000].into_iter().for_each(|time| times.push(time));
        let [release, interval] = <[Recording; 2]>::try_from(times.recordings()).unwrap();
        let figures = |one: &Recording| {
            let counts = &one.series[0].counts;
            (counts.count, counts.min_ns.0, counts.max_ns.0)
        };
        assert_eq!(figures(&release), (5, 0, 100));
        assert_eq!(figures(&interval), (4, 10, 2_100));
        assert!(release.findings[0].text().contains("2 releases have no time"));
    }
}
