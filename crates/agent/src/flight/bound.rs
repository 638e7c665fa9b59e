//! The latency from which on a spike is recorded. Pure.

use latlab_model::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Without a limit from the user, this many of the largest latencies so far are spikes …
const FEWEST: u64 = 10;
/// … and once there are more cycles, one in this many: those beyond p99.99.
const ONE_IN: u64 = 10_000;
/// The threads report only their largest 4096 latencies.
const MOST: u64 = 2048;

/// The bound, which rises with the latencies seen.
pub struct SpikeBound {
    fixed: Option<Nanos>,
    cycles: u64,
    largest: BinaryHeap<Reverse<Nanos>>,
}

impl SpikeBound {
    /// Uses the given limit; without one, a bound that follows the largest latencies.
    pub fn new(fixed: Option<Nanos>) -> SpikeBound {
        SpikeBound { fixed, cycles: 0, largest: BinaryHeap::new() }
    }

    /// Counts further cycles.
    pub fn count(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    /// Whether this latency is a spike; false before the first cycles are counted, as there is
    /// nothing to compare with.
    pub fn is_spike(&mut self, latency: Nanos) -> bool {
        if let Some(fixed) = self.fixed {
            return latency > fixed;
        }
        let kept = (self.cycles / ONE_IN).clamp(FEWEST, MOST) as usize;
        let is_large = self.largest.len() < kept
            || self.largest.peek().is_some_and(|Reverse(least)| latency > *least);
        if is_large {
            self.largest.push(Reverse(latency));
            if self.largest.len() > kept {
                self.largest.pop();
            }
        }
        is_large && self.cycles > 0
    }

    /// Threads must report latencies from here on.
    pub fn floor(&self) -> Nanos {
        self.fixed.map_or(Nanos::MAX, |fixed| fixed + Nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenth_largest_so_far_is_the_bound_and_later_one_in_ten_thousand() {
        let mut bound = SpikeBound::new(None);
        assert!((1..=20).all(|latency| !bound.is_spike(Nanos(latency))), "nothing to compare with");
        bound.count(1_000);
        // The largest are 11 to 20.
        assert!(!bound.is_spike(Nanos(11)) && bound.is_spike(Nanos(12)));
        assert!(!bound.is_spike(Nanos(12)) && bound.is_spike(Nanos(13)));
        bound.count(1_000_000);
        assert!((0..90).all(|_| bound.is_spike(Nanos(5))), "there is room for a hundred");
        assert!(!bound.is_spike(Nanos(5)) && bound.is_spike(Nanos(6)));
    }

    #[test]
    fn a_limit_of_the_user_holds_from_the_first_cycle_on() {
        let mut bound = SpikeBound::new(Some(Nanos(100)));
        assert!(!bound.is_spike(Nanos(100)) && bound.is_spike(Nanos(101)));
        assert_eq!(bound.floor(), Nanos(101));
    }
}
