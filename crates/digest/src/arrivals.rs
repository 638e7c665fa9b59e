//! The arrival curve of a thread: how many releases come at least and at most in any window of a
//! length.

use latlab_model::Nanos;
use latlab_model::attach::Arrivals;
use latlab_model::nanos::MILLISECOND;
use std::collections::VecDeque;

/// Lengths of the windows in ms.
const WINDOWS_MS: [i64; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/// Releases that are kept; of a thread with more in the longest window only the shorter are known.
const MOST_KEPT: usize = 1 << 18;

/// Takes releases in order.
pub struct ArrivalCurve {
    /// The last releases, which the windows still need.
    kept: VecDeque<Nanos>,
    /// Number of releases before those.
    dropped: u64,
    windows: Vec<Window>,
}

struct Window {
    length: Nanos,
    /// Number of the first release that no window has left behind.
    from: u64,
    least: u64,
    most: u64,
}

impl Default for ArrivalCurve {
    fn default() -> ArrivalCurve {
        let window = |ms| Window { length: MILLISECOND * ms, from: 0, least: u64::MAX, most: 0 };
        ArrivalCurve {
            kept: VecDeque::new(),
            dropped: 0,
            windows: WINDOWS_MS.map(window).into_iter().collect(),
        }
    }
}

impl ArrivalCurve {
    pub fn push(&mut self, release: Nanos) {
        // A release that was read late counts with the one before.
        let release = self.kept.back().map_or(release, |last| release.max(*last));
        self.kept.push_back(release);
        let ArrivalCurve { kept, dropped, windows, .. } = self;
        let last = *dropped + kept.len() as u64 - 1;
        for window in windows.iter_mut() {
            let before = release - window.length;
            let at = |number: u64| kept[(number - *dropped) as usize];
            // Of all windows, those that begin just after a release have least.
            while at(window.from) < before {
                window.least = window.least.min(last - 1 - window.from);
                window.from += 1;
            }
            let same = (window.from..last).take_while(|number| at(*number) == before).count();
            window.most = window.most.max(last + 1 - window.from - same as u64);
        }
        if kept.len() > MOST_KEPT {
            windows.pop();
        }
        let needed = windows.iter().map(|window| window.from).min().unwrap_or(last);
        kept.drain(..(needed - *dropped) as usize);
        *dropped = needed;
    }

    /// For each window that is not longer than all of the time.
    pub fn finish(&self) -> Vec<Arrivals> {
        let all = self.windows.iter().filter(|window| window.least != u64::MAX);
        let arrivals = |window: &Window| Arrivals {
            window_ns: window.length,
            least: window.least,
            most: window.most,
        };
        all.map(arrivals).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::nanos::MICROSECOND;
    use proptest::prelude::*;

    fn curve(releases: &[i64]) -> Vec<Arrivals> {
        let mut curve = ArrivalCurve::default();
        releases.iter().for_each(|at| curve.push(MICROSECOND * *at));
        curve.finish()
    }

    /// By looking at each window that begins at a release, or just after one.
    fn searched(releases: &[i64], length: i64) -> Option<(u64, u64)> {
        let (first, last) = (*releases.first()?, *releases.last()?);
        let count = |holds: &dyn Fn(i64) -> bool| releases.iter().filter(|at| holds(**at)).count();
        let most = releases.iter().map(|from| count(&|at| at > from - length && at <= *from));
        let after = releases.iter().filter(|from| **from + length < last && **from >= first);
        let least = after.map(|from| count(&|at| at > *from && at <= from + length)).min()?;
        Some((least as u64, most.max()? as u64))
    }

    #[test]
    fn a_burst_and_a_pause_are_the_two_ends() {
        // Three at once every 10 ms.
        let releases: Vec<i64> =
            (0..100).flat_map(|n| [0, 100, 200].map(|at| n * 10_000 + at)).collect();
        let of = |ms: i64| {
            let curve = curve(&releases);
            let one = curve.iter().find(|one| one.window_ns == MILLISECOND * ms).unwrap();
            (one.least, one.most)
        };
        assert_eq!((of(1), of(5), of(10), of(20)), ((0, 3), (0, 3), (3, 3), (6, 6)));
        assert_eq!(curve(&releases).len(), 9, "no window of a second in less than one");
        assert!(curve(&[5]).is_empty() && curve(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn each_window_is_as_if_all_were_searched(
            steps in prop::collection::vec(0i64..4_000, 0..120),
        ) {
            let mut at = 0;
            let mut releases = Vec::new();
            for step in steps {
                at += step / 100 * 100;
                releases.push(at);
            }
            let told: Vec<(i64, u64, u64)> = curve(&releases)
                .iter()
                .map(|one| (one.window_ns.0 / 1_000, one.least, one.most))
                .collect();
            let expected: Vec<(i64, u64, u64)> = WINDOWS_MS
                .iter()
                .filter_map(|ms| searched(&releases, ms * 1000).map(|(l, m)| (ms * 1000, l, m)))
                .collect();
            prop_assert_eq!(told, expected);
        }
    }
}
