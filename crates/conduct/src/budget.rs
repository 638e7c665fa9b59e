//! Limits how often a cheap measurement is repeated.

use latlab_model::Nanos;

/// Distance of rounds, and the share of a CPU that all of them together may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CpuBudget {
    /// Time between the starts of two rounds.
    pub every_ns: Nanos,
    /// Of one CPU; 0.001 is a thousandth.
    pub share: f64,
}

impl CpuBudget {
    /// Start of the next round, relative to the start of the first: at its distance, or later, when
    /// the CPU time spent so far is within the share of the elapsed time.
    pub fn next_round(&self, last_began: Nanos, spent: Nanos) -> Nanos {
        let within = Nanos((spent.0 as f64 / self.share).min(i64::MAX as f64) as i64);
        within.max(Nanos(last_began.0.saturating_add(self.every_ns.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::nanos::SECOND;

    /// Invariant (watch): All rounds together stay within the share of a CPU.
    #[test]
    fn rounds_wait_until_what_they_took_is_within_the_share() {
        let budget = CpuBudget { every_ns: SECOND * 60, share: 0.001 };
        // 60 ms are a thousandth of a minute.
        assert_eq!(budget.next_round(Nanos(0), Nanos(50_000_000)), SECOND * 60);
        assert_eq!(budget.next_round(Nanos(0), Nanos(90_000_000)), SECOND * 90);
        // What was saved earlier may be spent later.
        let (mut begins, mut spent) = (Nanos(0), Nanos(0));
        for _ in 0..1_000 {
            spent += Nanos(75_000_000);
            begins = budget.next_round(begins, spent);
            assert!(spent.0 as f64 <= begins.0 as f64 * budget.share * 1.000_001);
        }
        assert_eq!(begins, SECOND * 75_000);
        let tiny = CpuBudget { share: f64::MIN_POSITIVE, ..budget };
        assert_eq!(tiny.next_round(Nanos(0), Nanos(1)), Nanos::MAX);
    }
}
