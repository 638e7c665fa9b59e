//! Estimates the disk space of a run in advance.

use latlab_model::{Nanos, Plan};

/// Upper bound for a sample: the journal takes less than the table.
const SAMPLE: u64 = 2;
/// Trace of a cycle, in the journal …
const TRACE_JOURNAL: u64 = 7;
/// … and in its table.
const TRACE_TABLE: u64 = 8;
/// Counts of a thread per second, with clocks and other frames.
const JOURNAL_SECOND: u64 = 3_000;
/// A reading of the conditions, per thread, in the journal and again in its table.
const READING: u64 = 2_000;
/// A row of `intervals.parquet`.
const INTERVAL_ROW: u64 = 300;
/// Candidates for the largest latencies of a thread, and all that comes once.
const JOURNAL_ONCE: u64 = 1 << 20;
/// The largest latencies of a thread, its histogram, `run.json`.
const TABLES_ONCE: u64 = 1 << 18;

/// Upper estimate in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpaceNeeded {
    /// Expected samples; zero if none are kept.
    pub samples: u64,
    pub journal: u64,
    /// The tables made from the journal while it still exists.
    pub tables: u64,
}

impl SpaceNeeded {
    /// Peak usage.
    pub fn bytes(&self) -> u64 {
        self.journal.saturating_add(self.tables)
    }

    /// What the stream of a run may contain in its last moment: the largest latencies.
    pub fn at_end(threads: u32) -> u64 {
        JOURNAL_ONCE * u64::from(threads)
    }

    /// For a run of this length, or of the plan's; `None` if neither is set.
    pub fn of_run(plan: &Plan, threads: u32, length: Option<Nanos>) -> Option<SpaceNeeded> {
        let whole = |thread: u32| {
            let cycles = plan.until.cycles.zip(plan.method.period_of(thread));
            let by_cycles = cycles
                .map(|(cycles, period)| Nanos(period.0.saturating_mul(cycles.min(1 << 62) as i64)));
            [length.or(plan.until.duration_ns), by_cycles].into_iter().flatten().min()
        };
        let mut room = SpaceNeeded { samples: 0, journal: 0, tables: 0 };
        for thread in 0..threads {
            let length = whole(thread)?;
            let period = plan.method.period_of(thread);
            let cycles = period.map_or(0, |period| (length.0 / period.0.max(1)) as u64);
            let has_breakdown = plan.method.has_breakdown();
            // The breakdown needs every latency.
            let samples = if plan.keep.samples || has_breakdown { cycles } else { 0 };
            let traced = if has_breakdown { cycles } else { 0 };
            let seconds = length.0 as u64 / 1_000_000_000 + 1;
            let intervals = length.0 / plan.keep.interval_ns.0.max(1) + 1;
            room.samples += samples;
            let readings =
                plan.keep.telemetry.map_or(0, |one| length.0 / one.every_ns.0.max(1) + 2);
            let readings = readings as u64 * READING;
            room.journal += samples * SAMPLE + traced * TRACE_JOURNAL;
            room.journal += seconds * JOURNAL_SECOND + JOURNAL_ONCE + readings;
            room.tables += samples * SAMPLE + traced * TRACE_TABLE;
            room.tables += intervals as u64 * INTERVAL_ROW + TABLES_ONCE + readings;
        }
        Some(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::nanos::SECOND;
    use latlab_model::plan::{Cyclic, Method};
    use latlab_model::plan::{Keep, Until};

    #[test]
    fn a_night_of_samples_is_two_bytes_each_twice() {
        let plan = Plan {
            method: Method::Cyclic(Cyclic::every(Nanos(50_000))),
            keep: Keep { samples: true, ..Keep::default() },
            until: Until { duration_ns: Some(SECOND * 8 * 3600), ..Until::default() },
            ..Plan::default()
        };
        let room = SpaceNeeded::of_run(&plan, 4, None).unwrap();
        assert_eq!(room.samples, 4 * 20_000 * 8 * 3600);
        let both = 2 * 2 * room.samples;
        assert!(room.bytes() > both && room.bytes() < both + both / 10, "{room:?}");
        assert_eq!(
            SpaceNeeded::of_run(
                &Plan { until: Until { duration_ns: None, ..plan.until.clone() }, ..plan.clone() },
                4,
                None
            ),
            None
        );
        let short = Plan { until: Until { cycles: Some(1_000), ..plan.until }, ..plan };
        assert_eq!(SpaceNeeded::of_run(&short, 4, None).unwrap().samples, 4_000);
        let cyclic = Cyclic { breakdown: true, ..Cyclic::every(Nanos(50_000)) };
        let breakdown = Plan {
            method: Method::Cyclic(cyclic),
            keep: Keep { samples: false, ..short.keep },
            ..short
        };
        let more = SpaceNeeded::of_run(&breakdown, 4, None).unwrap();
        let (journal, tables) = (more.journal, more.tables);
        let less = SpaceNeeded::of_run(
            &Plan { method: Method::Cyclic(Cyclic::every(Nanos(50_000))), ..breakdown },
            4,
            None,
        )
        .unwrap();
        assert_eq!((journal - less.journal, tables - less.tables), (4_000 * 9, 4_000 * 10));
    }
}
