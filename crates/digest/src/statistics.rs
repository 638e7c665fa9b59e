//! Statistics of a run beyond its counts, from its tables: bins, largest latencies, intervals.

use crate::rows::{IntervalRow, SpikeRow};
use crate::slices::{NormalScores, Slice, above_quantile, level_of};
use latlab_model::plan::{OverrunPolicy, Recorded};
use latlab_model::run::ThreadRun;
use latlab_model::statistics::{
    CorrectedQuantiles, Growth, IntervalRefusal, PeriodicLatencies, QuantileInterval,
    RunStatistics, TailModel, TailRefusal, ThreadStatistics,
};
use latlab_model::{Bin, Nanos, Run, ThreadBins};
use latlab_stats::{
    Clustering, Durations, LateCycle, Onset, PeriodicEvidence, QUANTILES, SliceDependence, Stall,
    TailEvidence, TimedEvent, clustering, dependences, growth_chance, periodic, quantile_interval,
    quantiles_of_rows, rising_order, slice_dependence, tail_model, with_swallowed,
};
use std::collections::BTreeMap;

/// Most slices of time that a run is cut into.
const MOST_SLICES: i64 = 100;
/// Significance level of growth.
const GROWTH_ALPHA: f64 = 0.05;

/// The statistics of a run, which take its intervals.
pub struct StatisticsDigest<'a> {
    run: &'a Run,
    bins: &'a [ThreadBins],
    spikes: &'a [SpikeRow],
    begin: Nanos,
    slices: usize,
    threads: BTreeMap<u32, ThreadSlices>,
}

/// A thread while its intervals arrive.
struct ThreadSlices {
    scores: NormalScores,
    rows: usize,
    slices: Vec<Slice>,
}

/// A set of latencies: of one thread, or of all.
struct Latencies<'a> {
    rows: Vec<Bin>,
    observed: (Nanos, Option<Nanos>),
    slices: Vec<Slice>,
    late: &'a [LateCycle],
    /// All latencies above this are among the late ones.
    known_above: Option<Nanos>,
}

impl<'a> StatisticsDigest<'a> {
    /// The statistics of a run with these bins and these largest latencies.
    pub fn new(run: &'a Run, bins: &'a [ThreadBins], spikes: &'a [SpikeRow]) -> Self {
        let begin = run.applied.threads.iter().map(|one| one.first_release_ns).min();
        let intervals = run.measured_ns.0 / run.asked.keep.interval_ns.0.max(1);
        // The reader of a file chooses its own slices.
        let slices = match run.asked.method.is_import() {
            true => MOST_SLICES,
            false => intervals.clamp(1, MOST_SLICES),
        };
        let (begin, threads) = (begin.unwrap_or_default(), BTreeMap::new());
        StatisticsDigest { run, bins, spikes, begin, slices: slices as usize, threads }
    }

    /// Adds an interval. Those without a time are in recording order.
    pub fn push(&mut self, row: &IntervalRow) {
        let middle = row.start_ns + Nanos((row.end_ns - row.start_ns).0 / 2);
        let at = (self.share_of_run(middle) * self.slices as f64) as usize;
        let thread = self.threads.entry(row.thread).or_insert_with(|| {
            let bins = self.bins.iter().find(|one| one.thread == row.thread);
            ThreadSlices {
                scores: NormalScores::new(bins.map_or(&[], |one| &one.bins)),
                rows: 0,
                slices: vec![Slice::default(); self.slices],
            }
        });
        let at = if row.end_ns > row.start_ns { at } else { thread.rows };
        thread.rows += 1;
        thread.slices[at.min(self.slices - 1)].add(row, &thread.scores);
    }

    pub fn finish(self) -> RunStatistics {
        let is_timed = self.run.asked.method.records() == Recorded::Latency;
        let late: Vec<Vec<LateCycle>> =
            self.run.threads.iter().map(|thread| self.late_cycles(thread)).collect();
        let threads = self.run.threads.iter().zip(&late).filter(|_| is_timed);
        RunStatistics {
            quantiles: self.all(&late.concat()).intervals(),
            corrected: self.corrected(),
            threads: threads.map(|(thread, late)| self.thread(thread, late)).collect(),
        }
    }

    /// Only the quantiles of all threads, which takes less time.
    pub fn quantiles(self) -> RunStatistics {
        let late: Vec<LateCycle> =
            self.run.threads.iter().flat_map(|thread| self.late_cycles(thread)).collect();
        RunStatistics {
            quantiles: self.all(&late).intervals(),
            corrected: self.corrected(),
            threads: Vec::new(),
        }
    }

    fn share_of_run(&self, time: Nanos) -> f64 {
        let length = self.run.measured_ns.0.max(1) as f64;
        ((time - self.begin).0 as f64 / length).clamp(0.0, 1.0)
    }

    /// The large latencies of a thread with known releases, and the releases that they swallowed.
    fn late_cycles(&self, thread: &ThreadRun) -> Vec<LateCycle> {
        let period_ns = thread.setup.period_ns.unwrap_or(Nanos(1)).max(Nanos(1));
        let of_thread = self.spikes.iter().filter(|row| row.thread == thread.setup.thread);
        let late = of_thread.map(|row| {
            let latency_ns = row.spike.latency_ns;
            let swallowed =
                if self.skips() { Stall { latency_ns, period_ns }.swallowed() } else { 0 };
            LateCycle {
                thread: row.thread,
                release_ns: row.spike.release_ns,
                period_ns,
                latency_ns,
                misses: 1 + swallowed.unsigned_abs(),
            }
        });
        late.collect()
    }

    fn skips(&self) -> bool {
        self.run.asked.method.overrun_policy() == Some(OverrunPolicy::Skip)
    }

    fn thread(&self, thread: &ThreadRun, late: &[LateCycle]) -> ThreadStatistics {
        let number = thread.setup.thread;
        let slices = self.threads.get(&number).map(|one| one.slices.clone()).unwrap_or_default();
        let rows = self.bins.iter().find(|one| one.thread == number);
        let known_above = known_above(thread, late);
        let summary = &thread.summary;
        let latencies = Latencies {
            rows: rows.map(|one| one.bins.clone()).unwrap_or_default(),
            observed: (summary.min_ns.unwrap_or_default(), summary.max_ns),
            slices,
            late,
            known_above,
        };
        // Latencies equal to the smallest known one may be incomplete.
        let complete: Vec<LateCycle> = late
            .iter()
            .copied()
            .filter(|one| known_above.is_none_or(|least| one.latency_ns > least))
            .collect();
        let found = clustering(&complete, summary.releases);
        let growth = self.growth(thread, &latencies, &found);
        let tail = self.tail(thread, &complete, &found, growth.as_ref());
        let growth = growth.map(|growth| Growth {
            typical_ns: tail.estimate.and(tail.scale_ns).map(|scale| {
                // Mean excess over the largest, for a tail that is nearly exponential.
                Nanos((scale * std::f64::consts::LN_2) as i64)
            }),
            ..growth
        });
        ThreadStatistics {
            thread: number,
            cpu: thread.setup.cpu,
            quantiles: latencies.intervals(),
            growth,
            tail,
            periodic: self.periodic(thread, &found),
        }
    }

    fn events(&self, found: &Clustering) -> Vec<TimedEvent> {
        let event = |burst: &latlab_stats::Burst| TimedEvent {
            at: self.share_of_run(burst.from_ns),
            size: burst.largest_ns.0 as f64,
        };
        found.bursts.iter().map(event).collect()
    }

    fn growth(
        &self,
        thread: &ThreadRun,
        latencies: &Latencies,
        found: &Clustering,
    ) -> Option<Growth> {
        let maxima = latencies.slices.iter().filter_map(|slice| slice.max_ns);
        let maxima: Vec<f64> = maxima.map(|max| max.0 as f64).collect();
        let chance = growth_chance(&maxima, &self.events(found))?;
        // Among many threads, one seems to grow by chance.
        let p = (chance * self.run.threads.len().max(1) as f64).min(1.0);
        Some(Growth {
            p,
            grows: p < GROWTH_ALPHA,
            trend: rising_order(&maxima).tau,
            stretches: maxima.len() as u64,
            max_at_share: thread.summary.max_at_ns.map(|at| self.share_of_run(at)),
            typical_ns: None,
        })
    }

    fn tail(
        &self,
        thread: &ThreadRun,
        late: &[LateCycle],
        found: &Clustering,
        growth: Option<&Growth>,
    ) -> TailModel {
        let lost = thread.end.as_ref().map_or(0, |end| end.spikes_lost);
        let refusal = match (late.is_empty(), lost) {
            (true, _) => Some(TailRefusal::NoTimes {}),
            (false, 0) => None,
            (false, lost) => Some(TailRefusal::Clipped { lost }),
        };
        let indices = TailModel {
            extremal_index: found.extremal_index,
            extremal_index_by_gaps: found.by_gaps,
            ..TailModel::default()
        };
        if let Some(refusal) = refusal {
            return TailModel { refusals: vec![refusal], ..indices };
        }
        let sizes = late.iter().map(|one| one.latency_ns.0.unsigned_abs());
        let model = tail_model(&TailEvidence {
            bursts: &self.events(found),
            releases: thread.summary.releases,
            measured: self.run.measured_ns,
            resolution_ns: sizes.fold(0, greatest_divisor),
            growth: growth.map(|growth| growth.p),
        });
        TailModel {
            extremal_index: indices.extremal_index,
            extremal_index_by_gaps: indices.extremal_index_by_gaps,
            ..model
        }
    }

    fn periodic(&self, thread: &ThreadRun, found: &Clustering) -> Option<PeriodicLatencies> {
        let period_ns = thread.setup.period_ns.filter(|period| *period > Nanos::ZERO)?;
        let onset = |burst: &latlab_stats::Burst| {
            let since = (burst.from_ns - thread.setup.first_release_ns).0;
            let release = since.checked_add(period_ns.0 / 2)? / period_ns.0;
            let release = u64::try_from(release).ok()?;
            Some(Onset { release, latency_ns: burst.largest_ns })
        };
        let onsets: Vec<Onset> = found.bursts.iter().filter_map(onset).collect();
        periodic(&PeriodicEvidence {
            onsets: &onsets,
            releases: thread.summary.releases,
            period_ns,
            threads: self.run.threads.len(),
        })
    }

    /// All threads together.
    fn all<'l>(&self, late: &'l [LateCycle]) -> Latencies<'l> {
        let mut slices = vec![Slice::default(); self.slices];
        for thread in self.threads.values() {
            slices.iter_mut().zip(&thread.slices).for_each(|(sum, one)| sum.join(one));
        }
        let known = self.run.threads.iter().map(|thread| {
            let of_thread: Vec<LateCycle> =
                late.iter().copied().filter(|one| one.thread == thread.setup.thread).collect();
            known_above(thread, &of_thread)
        });
        let total = &self.run.total;
        // Threads with different edges have no common quantiles.
        let rows = if total.quantiles.is_some() { self.rows() } else { Vec::new() };
        let observed = (total.min_ns.unwrap_or_default(), total.max_ns);
        let known_above = known.max().flatten();
        Latencies { rows, observed, slices, late, known_above }
    }

    /// The bins of all threads together, ascending.
    fn rows(&self) -> Vec<Bin> {
        let all: Vec<Bin> = self.bins.iter().flat_map(|one| one.bins.iter().copied()).collect();
        with_swallowed(&all, &[])
    }

    /// The quantiles including releases swallowed by stalls.
    fn corrected(&self) -> Option<CorrectedQuantiles> {
        if !self.skips() || self.run.total.overruns.unwrap_or(0) == 0 {
            return None;
        }
        let stalls: Vec<Stall> = self.run.threads.iter().flat_map(|one| self.stalls(one)).collect();
        let added: i64 = stalls.iter().map(|stall| stall.swallowed()).fold(0, i64::saturating_add);
        let added = added.unsigned_abs();
        let rows = with_swallowed(&self.rows(), &stalls);
        let observed = (self.run.total.min_ns?, self.run.total.max_ns?);
        (added > 0).then_some(CorrectedQuantiles {
            added,
            at_least: added < self.run.total.overruns.unwrap_or(0),
            quantiles: quantiles_of_rows(&rows, observed)?,
        })
    }

    fn stalls(&self, thread: &ThreadRun) -> Vec<Stall> {
        let late = self.late_cycles(thread).into_iter();
        let stall = |one: LateCycle| {
            let LateCycle { latency_ns, period_ns, .. } = one;
            Stall { latency_ns, period_ns }
        };
        let has_period = thread.setup.period_ns.is_some();
        late.map(stall).filter(|stall| has_period && stall.swallowed() > 0).collect()
    }
}

/// The latency above which all latencies of a thread have known releases; `None` if all have.
fn known_above(thread: &ThreadRun, late: &[LateCycle]) -> Option<Nanos> {
    let least = late.iter().map(|one| one.latency_ns).min().unwrap_or(Nanos::MAX);
    (thread.summary.cycles > late.len() as u64).then_some(least)
}

impl Latencies<'_> {
    fn intervals(&self) -> Vec<QuantileInterval> {
        let found = dependences(&QUANTILES, |share, hint| self.dependence(share, hint));
        let interval = |(share, found): (&u32, Option<SliceDependence>)| {
            let per_event = found.map(|found| found.per_event);
            let interval = quantile_interval(&self.rows, *share, self.observed, per_event)?;
            Some(match found.and_then(|found| found.longer) {
                Some(times) => QuantileInterval {
                    low_ns: None,
                    high_ns: None,
                    refusal: Some(IntervalRefusal::SlowVariation { times }),
                    ..interval
                },
                None => interval,
            })
        };
        QUANTILES.iter().zip(found).filter_map(interval).collect()
    }

    /// How latencies near a quantile depend on each other; `None` if their order is not known.
    fn dependence(&self, parts_per_million: u32, hint: &Durations) -> Option<SliceDependence> {
        let slices: Vec<Slice> =
            self.slices.iter().filter(|slice| slice.count > 0).cloned().collect();
        let above = above_quantile(&slices, parts_per_million)?;
        let level = level_of(&slices, parts_per_million);
        let level = level.filter(|level| self.known_above.is_none_or(|least| *level > least));
        let late: Vec<LateCycle> = self
            .late
            .iter()
            .copied()
            .filter(|one| level.is_some_and(|level| one.latency_ns >= level))
            .collect();
        let sizes: Vec<u64> =
            latlab_stats::bursts(&late).iter().map(|burst| burst.misses).collect();
        slice_dependence(&above, &sizes, hint)
    }
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}
