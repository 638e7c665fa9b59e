//! When the trace was on and off.

use latlab_model::Nanos;
use latlab_model::trace::TraceWindow;
use std::collections::VecDeque;

/// Windows kept, which cover minutes.
const KEPT: usize = 64;

/// When the trace was on and off; between two windows it was being switched, or its state is
/// unknown.
#[derive(Default)]
pub struct TraceWindows(VecDeque<TraceWindow>);

impl TraceWindows {
    /// It is in this state from now on.
    pub fn begin(&mut self, on: bool, now: Nanos) {
        self.store(TraceWindow { from_ns: now, to_ns: Nanos::MAX, on });
    }

    /// It is being switched from now on.
    pub fn end(&mut self, now: Nanos) {
        if let Some(last) = self.0.back_mut() {
            last.to_ns = last.to_ns.min(now);
        }
    }

    /// Adds a window that was seen elsewhere; one that continues the last is joined to it.
    pub fn push(&mut self, window: TraceWindow) {
        match self.0.back_mut() {
            Some(last) if last.to_ns == window.from_ns && last.on == window.on => {
                last.to_ns = window.to_ns;
            }
            _ => self.store(window),
        }
    }

    /// The current state; `None` before the first switch.
    pub fn is_on(&self) -> Option<bool> {
        self.0.back().map(|last| last.on)
    }

    /// Whether it was on or off for all of this time; `None` if it was both, or unknown.
    pub fn state(&self, from: Nanos, to: Nanos) -> Option<bool> {
        let within = |window: &&TraceWindow| window.from_ns <= from && to <= window.to_ns;
        self.0.iter().rev().find(within).map(|window| window.on)
    }

    /// The windows between these times.
    pub fn between(&self, from: Nanos, to: Nanos) -> Vec<TraceWindow> {
        let cut = self.0.iter().map(|window| TraceWindow {
            from_ns: window.from_ns.max(from),
            to_ns: window.to_ns.min(to),
            on: window.on,
        });
        cut.filter(|window| window.from_ns < window.to_ns).collect()
    }

    fn store(&mut self, window: TraceWindow) {
        self.0.push_back(window);
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switched() -> TraceWindows {
        let mut windows = TraceWindows::default();
        assert_eq!((windows.is_on(), windows.state(Nanos(0), Nanos(1))), (None, None));
        windows.begin(true, Nanos(10));
        windows.end(Nanos(20));
        windows.begin(false, Nanos(22));
        windows
    }

    #[test]
    fn what_lies_across_a_switch_is_neither() {
        let mut windows = switched();
        let state = |windows: &TraceWindows, from, to| windows.state(Nanos(from), Nanos(to));
        assert_eq!((state(&windows, 10, 20), state(&windows, 22, 99)), (Some(true), Some(false)));
        assert_eq!((state(&windows, 19, 23), state(&windows, 9, 12)), (None, None));
        windows.end(Nanos(30));
        assert_eq!((state(&windows, 22, 31), windows.is_on()), (None, Some(false)));
    }

    #[test]
    fn windows_that_were_cut_are_joined_and_a_missing_part_is_not_made_up() {
        let windows = switched();
        let mut joined = TraceWindows::default();
        for (from, to) in [(0, 12), (12, 21), (21, 25), (30, 40)] {
            windows.between(Nanos(from), Nanos(to)).into_iter().for_each(|one| joined.push(one));
        }
        let state = |from, to| joined.state(Nanos(from), Nanos(to));
        assert_eq!(
            (state(10, 20), state(22, 25), state(30, 40)),
            (Some(true), Some(false), Some(false))
        );
        assert_eq!((state(9, 20), state(24, 31)), (None, None));
    }
}
