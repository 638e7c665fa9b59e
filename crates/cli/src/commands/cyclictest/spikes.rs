//! The large latencies of a thread. They give exact values beyond the fine bins, and cycle numbers.

use latlab_model::Nanos;
use latlab_model::frame::Spike;

/// Latencies that the agent sent with their releases.
#[derive(Clone, Default, Debug)]
pub struct Spikes(Vec<Spike>);

impl Spikes {
    /// Adds spikes; the agent sends about the 4096 largest of each thread.
    pub fn add(&mut self, spikes: &[Spike]) {
        self.0.extend_from_slice(spikes);
    }

    /// Latencies above a limit, in the order of their releases.
    pub fn above(&self, limit: Nanos) -> Vec<Spike> {
        let mut above: Vec<Spike> =
            self.0.iter().copied().filter(|spike| spike.latency_ns > limit).collect();
        above.sort_unstable_by_key(|spike| spike.release_ns);
        above
    }

    /// Numbers of the cycles above a limit. As in cyclictest, an overrun is no cycle. Overruns
    /// follow from latencies of a period or more, so those before a cycle tell how many to
    /// subtract.
    pub fn cycles_above(&self, limit: Nanos, first_release: Nanos, period: Nanos) -> Vec<u64> {
        let mut overruns = 0;
        let mut numbers = Vec::new();
        for Spike { latency_ns, release_ns } in self.above(limit.min(period - Nanos(1))) {
            let number = (release_ns - first_release).0 / period.0 - overruns;
            if latency_ns > limit {
                numbers.push(number.max(0) as u64);
            }
            overruns += latency_ns.0 / period.0;
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant (command line): Cycle numbers of large latencies are those of cyclictest.
    #[test]
    fn cycles_are_numbered_without_the_missed_releases() {
        let spike = |release: i64, latency: i64| Spike {
            latency_ns: Nanos(latency),
            release_ns: Nanos(1000 + release),
        };
        let mut spikes = Spikes::default();
        // The period is 100. The spike at 300 causes two overruns, so the release at 600 is the
        // next cycle.
        spikes.add(&[spike(700, 60), spike(200, 50), spike(300, 250), spike(600, 5)]);
        assert_eq!(spikes.cycles_above(Nanos(40), Nanos(1000), Nanos(100)), [2, 3, 5]);
        assert_eq!(spikes.cycles_above(Nanos(1), Nanos(1000), Nanos(100)), [2, 3, 4, 5]);
    }
}
