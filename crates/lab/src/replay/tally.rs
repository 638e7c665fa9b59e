//! All wake-ups of a replay as one table.

use super::context::{is_foreign, who};
use super::result::{
    ReplayCause, ReplayPart, ReplayPartFigures, ReplayTable, ReplayedLatency, TimedPart,
};
use latlab_model::Nanos;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Counts parts and causes.
#[derive(Default)]
pub struct ReplayTally {
    wake_ups: u64,
    whole: u64,
    parts: BTreeMap<ReplayPart, ReplayPartFigures>,
    causes: BTreeMap<String, ReplayCause>,
}

/// The cause if nothing blocked it.
const NO_CAUSE: &str = "none: the wake-up itself";

impl ReplayTally {
    pub fn push(&mut self, told: &ReplayedLatency) {
        self.wake_ups += 1;
        let sum: Nanos = told.parts.iter().map(TimedPart::length).sum();
        self.whole += u64::from(sum == told.latency_ns && told.gap.is_none());
        let (mut parts, mut causes) = (BTreeMap::new(), BTreeMap::new());
        for part in &told.parts {
            *parts.entry(part.part).or_insert(Nanos::ZERO) += part.length();
            if is_foreign(part, &told.measured) {
                *causes.entry(who(part)).or_insert(Nanos::ZERO) += part.length();
            }
        }
        for (part, length) in parts {
            let none = ReplayPartFigures {
                part,
                count: 0,
                total_ns: Nanos::ZERO,
                largest_ns: Nanos::ZERO,
            };
            let figures = self.parts.entry(part).or_insert(none);
            figures.count += 1;
            figures.total_ns += length;
            figures.largest_ns = figures.largest_ns.max(length);
        }
        let most = causes.into_iter().max_by_key(|(_, length)| *length);
        let (who, length) = most.unwrap_or_else(|| (NO_CAUSE.to_string(), Nanos::ZERO));
        let cause = self.causes.entry(who.clone()).or_insert_with(|| ReplayCause {
            who,
            count: 0,
            total_ns: Nanos::ZERO,
            largest_ns: Nanos::ZERO,
        });
        cause.count += 1;
        cause.total_ns += length;
        cause.largest_ns = cause.largest_ns.max(length);
    }

    pub fn finish(self) -> ReplayTable {
        let mut causes: Vec<ReplayCause> = self.causes.into_values().collect();
        causes.sort_by_key(|one| Reverse((one.count, one.largest_ns)));
        ReplayTable {
            wake_ups: self.wake_ups,
            whole: self.whole,
            parts: self.parts.into_values().collect(),
            causes,
        }
    }
}
