//! When the trace is on: a fixed pattern, and when it really was. Pure.

use latlab_model::Plan;
use std::collections::VecDeque;

/// Length of a step of the pattern …
const STEP: i64 = 2_000_000_000;
/// … and in a run too short for four rounds of it.
const SHORTEST_STEP: i64 = 100_000_000;
/// Steps of a round; in the last of them the trace is off, so that a run of a moment has legs.
const ROUND: i64 = 4;
/// Windows that are remembered, which is minutes.
const KEPT: usize = 64;

/// On, on, on, off, from the first release to the end; on before it.
pub struct Pattern {
    first: i64,
    step: i64,
}

impl Pattern {
    pub fn new(first: i64, plan: &Plan) -> Pattern {
        let by_cycles = plan.cycles.map(|cycles| plan.period_ns.0.saturating_mul(cycles as i64));
        let lengths = plan.duration_ns.map(|length| length.0).into_iter().chain(by_cycles);
        let length = lengths.min().unwrap_or(i64::MAX);
        Pattern { first, step: (length / (4 * ROUND)).clamp(SHORTEST_STEP, STEP) }
    }

    pub fn is_on(&self, now: i64) -> bool {
        now < self.first || (now - self.first) / self.step % ROUND != ROUND - 1
    }

    /// When this may be another answer.
    pub fn next_change(&self, now: i64) -> i64 {
        match now < self.first {
            true => self.first,
            false => self.first + ((now - self.first) / self.step + 1) * self.step,
        }
    }
}

/// A time in which the trace was on or off without a break.
struct Window {
    from: i64,
    to: i64,
    on: bool,
}

/// When the trace was on and off; between two windows it was being switched.
#[derive(Default)]
pub struct Windows(VecDeque<Window>);

impl Windows {
    /// From now on it is switched so.
    pub fn begin(&mut self, on: bool, now: i64) {
        self.0.push_back(Window { from: now, to: i64::MAX, on });
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// From now on it is being switched.
    pub fn end(&mut self, now: i64) {
        if let Some(last) = self.0.back_mut() {
            last.to = last.to.min(now);
        }
    }

    /// How it is switched; none before the first time.
    pub fn is_on(&self) -> Option<bool> {
        self.0.back().map(|last| last.on)
    }

    /// Whether it was on or off for all of this time; none where it was both, or nobody knows.
    pub fn state(&self, from: i64, to: i64) -> Option<bool> {
        let within = |window: &&Window| window.from <= from && to <= window.to;
        self.0.iter().rev().find(within).map(|window| window.on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;

    #[test]
    fn a_quarter_of_the_run_is_off() {
        for (plan, step) in [
            (Plan { duration_ns: Some(Nanos(60_000_000_000)), ..Plan::default() }, STEP),
            (Plan { duration_ns: Some(Nanos(8_000_000_000)), ..Plan::default() }, 500_000_000),
            (Plan { cycles: Some(10), ..Plan::default() }, SHORTEST_STEP),
            (Plan::default(), STEP),
        ] {
            let pattern = Pattern::new(77, &plan);
            let on: Vec<bool> = (0..8).map(|k| pattern.is_on(77 + k * step)).collect();
            assert_eq!(on, [true, true, true, false, true, true, true, false]);
            assert!(pattern.is_on(0) && pattern.next_change(0) == 77);
            assert_eq!(pattern.next_change(77 + step - 1), 77 + step);
            assert_eq!(pattern.next_change(77 + step), 77 + 2 * step);
        }
    }

    #[test]
    fn what_lies_across_a_switch_is_neither() {
        let mut windows = Windows::default();
        assert_eq!((windows.is_on(), windows.state(0, 1)), (None, None));
        windows.begin(true, 10);
        windows.end(20);
        windows.begin(false, 22);
        assert_eq!((windows.state(10, 20), windows.state(22, 99)), (Some(true), Some(false)));
        assert_eq!((windows.state(19, 23), windows.state(9, 12)), (None, None));
        windows.end(30);
        assert_eq!((windows.state(22, 31), windows.is_on()), (None, Some(false)));
    }
}
