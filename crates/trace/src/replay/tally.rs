//! All wake-ups of a replay as one table.

use super::context::{is_foreign, who};
use latlab_model::Nanos;
use latlab_model::replay::{
    HeldBy, PartFigures, ReplayLeg, ReplayPart, ReplayTable, ReplayedLatency,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Counts parts and causes.
#[derive(Default)]
pub struct ReplayTally {
    wake_ups: u64,
    whole: u64,
    parts: BTreeMap<ReplayPart, PartFigures>,
    holders: BTreeMap<String, HeldBy>,
}

/// The cause if nothing blocked it.
const NO_CAUSE: &str = "none: the wake-up itself";

impl ReplayTally {
    pub fn push(&mut self, told: &ReplayedLatency) {
        self.wake_ups += 1;
        let sum: Nanos = told.legs.iter().map(ReplayLeg::length).sum();
        self.whole += u64::from(sum == told.latency_ns && told.gap.is_none());
        let (mut parts, mut holders) = (BTreeMap::new(), BTreeMap::new());
        for leg in &told.legs {
            *parts.entry(leg.part).or_insert(Nanos::ZERO) += leg.length();
            if is_foreign(leg, &told.measured) {
                *holders.entry(who(leg)).or_insert(Nanos::ZERO) += leg.length();
            }
        }
        for (part, length) in parts {
            let none =
                PartFigures { part, count: 0, total_ns: Nanos::ZERO, largest_ns: Nanos::ZERO };
            let figures = self.parts.entry(part).or_insert(none);
            figures.count += 1;
            figures.total_ns += length;
            figures.largest_ns = figures.largest_ns.max(length);
        }
        let most = holders.into_iter().max_by_key(|(_, length)| *length);
        let (who, length) = most.unwrap_or_else(|| (NO_CAUSE.to_string(), Nanos::ZERO));
        let holder = self.holders.entry(who.clone()).or_insert_with(|| HeldBy {
            who,
            count: 0,
            total_ns: Nanos::ZERO,
            largest_ns: Nanos::ZERO,
        });
        holder.count += 1;
        holder.total_ns += length;
        holder.largest_ns = holder.largest_ns.max(length);
    }

    pub fn finish(self) -> ReplayTable {
        let mut holders: Vec<HeldBy> = self.holders.into_values().collect();
        holders.sort_by_key(|one| Reverse((one.count, one.largest_ns)));
        ReplayTable {
            wake_ups: self.wake_ups,
            whole: self.whole,
            parts: self.parts.into_values().collect(),
            holders,
        }
    }
}
