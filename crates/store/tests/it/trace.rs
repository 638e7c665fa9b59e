//! The recorded kernel trace is stored, and gives the breakdown of the run again.

use latlab_digest::TraceRow;
use latlab_digest::testing::SyntheticRun;
use latlab_model::breakdown::{Breakdown, Part, PartFigures};
use latlab_model::nanos::MILLISECOND;
use latlab_model::samples::Sample;
use latlab_model::trace::{
    ThreadEvent, ThreadEventKind, TraceLoss, TraceRowKind, TraceStretch, TraceWindow,
};
use latlab_model::{Histogram, Nanos, Run};
use latlab_stats::quantiles;
use latlab_store::{Finished, SampleReader, Store};
use latlab_trace::Matcher;
use std::collections::BTreeMap;
use std::path::Path;

/// All rows of the trace as one stretch.
fn recorded(path: &Path, run: &Run) -> TraceStretch {
    let rows = latlab_store::trace(path, run).unwrap().expect("a run with a trace");
    let rows: Vec<TraceRow> = rows.flat_map(|rows| rows.unwrap()).collect();
    let mut threads: BTreeMap<u32, Vec<ThreadEvent>> = BTreeMap::new();
    let mut stretch = TraceStretch { until_ns: Nanos::MAX, ..TraceStretch::default() };
    let mut window: Option<TraceWindow> = None;
    for row in rows {
        let TraceRow { time_ns, cpu, .. } = row;
        let mut push = |kind| {
            let event = ThreadEvent { at_ns: time_ns, cpu: cpu.unwrap(), kind };
            threads.entry(row.thread.unwrap()).or_default().push(event);
        };
        let begin = |on| TraceWindow { from_ns: time_ns, to_ns: Nanos::MAX, on };
        match row.kind {
            TraceRowKind::Armed => {
                push(ThreadEventKind::Armed { release_ns: row.release_ns.unwrap() });
            }
            TraceRowKind::Expired => push(ThreadEventKind::Expired),
            TraceRowKind::SwitchedIn => push(ThreadEventKind::SwitchedIn),
            TraceRowKind::Lost => {
                let (cpu, count) = (cpu.unwrap(), row.lost.unwrap());
                stretch.losses.push(TraceLoss { at_ns: time_ns, cpu, count });
            }
            TraceRowKind::On => window = Some(begin(true)),
            TraceRowKind::Off => window = Some(begin(false)),
            TraceRowKind::Unknown => {
                let window = window.take().expect("a window that began");
                stretch.windows.push(TraceWindow { to_ns: time_ns, ..window });
            }
        }
    }
    assert_eq!(window, None, "each window has its end");
    stretch.threads = threads.into_iter().collect();
    stretch
}

fn samples(path: &Path, run: &Run) -> BTreeMap<u32, Vec<Sample>> {
    let mut threads: BTreeMap<u32, Vec<Sample>> = BTreeMap::new();
    let reader = SampleReader::open(path, &run.files["samples.parquet"]).unwrap();
    for piece in reader.stretch(Nanos(i64::MIN)..Nanos::MAX) {
        let piece = piece.unwrap();
        threads.entry(piece.thread).or_default().extend(piece.samples);
    }
    threads
}

/// The breakdown of each thread, from the stored events and latencies of a run.
fn derived(path: &Path, run: &Run) -> Vec<Breakdown> {
    let mut matcher = Matcher::new(&run.applied.threads);
    let samples = samples(path, run);
    samples.iter().for_each(|(thread, samples)| matcher.push_samples(*thread, samples));
    matcher.push_trace(&recorded(path, run));
    let mut all = Vec::new();
    matcher.flush(|breakdown| {
        all.push(breakdown.clone());
        true
    });
    all
}

fn figures(breakdown: &Breakdown, part: Part) -> Option<PartFigures> {
    let counts = breakdown.counts.iter().find(|(known, _)| *known == part);
    let of = |counts: &Histogram| {
        let quantiles = quantiles(counts)?;
        Some(PartFigures {
            count: counts.count,
            min_ns: counts.min_ns,
            p50_ns: quantiles.p50_ns?,
            p99_ns: quantiles.p99_ns?,
            max_ns: counts.max_ns,
        })
    };
    counts.and_then(|(_, counts)| of(counts))
}

/// The figures of the document equal those derived from the stored events.
pub fn expect_same(path: &Path, run: &Run) {
    let breakdown = run.breakdown.as_ref().unwrap();
    let derived = derived(path, run);
    assert_eq!(derived.len(), breakdown.threads.len());
    for (stored, derived) in breakdown.threads.iter().zip(&derived) {
        assert_eq!((stored.thread, stored.tally), (derived.thread, derived.tally));
        assert_eq!(stored.irq, figures(derived, Part::Irq));
        assert_eq!(stored.thread_part, figures(derived, Part::Thread));
    }
    let sum = |part: Part| {
        let counts = derived.iter().flat_map(|breakdown| &breakdown.counts);
        counts.filter(|(known, _)| *known == part).map(|(_, counts)| counts.count).sum::<u64>()
    };
    if let Some(cost) = &breakdown.cost {
        let counts = (cost.traced.count, cost.untraced.count);
        assert_eq!((sum(Part::Traced), sum(Part::Untraced)), counts);
    }
    for large in &breakdown.largest {
        let of = derived.iter().find(|one| one.thread == large.thread).unwrap();
        assert!(of.largest.contains(&large.breakdown), "{large:?}");
    }
}

/// Invariant (agent): The stored trace and latencies give the breakdown of the run document again.
#[test]
fn the_stored_trace_gives_the_breakdown_of_the_run_again() {
    let root = tempfile::tempdir().unwrap();
    let mut open = Store::new(root.path()).begin("traced").unwrap();
    let stream = SyntheticRun {
        breakdown: true,
        seconds: 8,
        period: MILLISECOND,
        ..SyntheticRun::default()
    };
    stream.each_message(|message| open.append(&message.encode()).unwrap());
    let Finished { run, path } = open.finish().unwrap();
    let breakdown = run.breakdown.as_ref().unwrap();
    let tally = breakdown.tally;
    assert_eq!((tally.events_lost, tally.unsound), (7 * 3, 0));
    assert!(tally.traced > 13_000 && tally.known > 12_000, "{tally:?}");
    let untraced = breakdown.cost.as_ref().unwrap().untraced.count;
    assert!((1_900..2_010).contains(&untraced), "{untraced}");
    let fewer = |part: &latlab_model::breakdown::ThreadBreakdown| part.known().1 < part.known().0;
    assert!(breakdown.threads.iter().all(fewer), "some have no thread part");
    expect_same(&path, &run);
    assert!(latlab_store::verify(&path).whole, "{:?}", latlab_store::verify(&path));
    assert!(!run.asked.keep.samples && run.files.contains_key("samples.parquet"));
}
