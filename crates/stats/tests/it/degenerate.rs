//! No input makes a figure infinite or undefined, or causes a panic.

use latlab_model::statistics::TailModel;
use latlab_model::{Bin, Nanos};
use latlab_stats::{
    Durations, LateCycle, MissesInTime, Onset, PeriodicEvidence, QUANTILES, Stall, TailEvidence,
    TimedEvent, change_points, clustering, growth_chance, periodic, quantile_interval,
    rising_order, share_at_most, slice_dependence, tail_model, with_swallowed,
};
use proptest::prelude::*;

/// Extreme inputs: no latencies, one, all alike, two values, as large as a clock can show.
fn latencies() -> impl Strategy<Value = Vec<i64>> {
    let any = prop_oneof![Just(0), Just(1), Just(i64::MAX), Just(i64::MAX - 1), 0..200_000_i64];
    prop_oneof![
        Just(Vec::new()),
        any.clone().prop_map(|one| vec![one]),
        (any.clone(), 2..1_200_usize).prop_map(|(one, count)| vec![one; count]),
        (any.clone(), any.clone(), 300..1_200_usize).prop_map(|(one, other, count)| (0..count)
            .map(|at| if at % 3 == 0 { other } else { one })
            .collect()),
        prop::collection::vec(any, 0..600),
    ]
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

fn is_finite(model: &TailModel) -> bool {
    let figures = [model.extremal_index, model.scale_ns, model.shape];
    let pairs = [model.shape_interval, model.extremal_index_by_gaps];
    let pairs = pairs.into_iter().flatten().flat_map(|(one, other)| [one, other]);
    // JSON writes non-finite numbers as null, and cannot read them back.
    let text = serde_json::to_string(model).unwrap();
    let read: TailModel = serde_json::from_str(&text).unwrap();
    all_finite(&figures.into_iter().flatten().chain(pairs).collect::<Vec<_>>()) && read == *model
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_tail_of_anything_is_a_number_or_a_refusal(
        latencies in latencies(), releases in prop_oneof![Just(0), Just(u64::MAX), 1..10_000_000_u64],
        growth in prop_oneof![Just(None), (0.0..=1.0).prop_map(Some)],
    ) {
        let count = latencies.len().max(1) as f64;
        let event = |(at, size): (usize, &i64)| TimedEvent { at: at as f64 / count, size: *size as f64 };
        let bursts: Vec<TimedEvent> = latencies.iter().enumerate().map(event).collect();
        let measured = Nanos(latencies.first().copied().unwrap_or(0));
        let evidence = TailEvidence { bursts: &bursts, releases, measured, resolution_ns: 1, growth };
        let model = tail_model(&evidence);
        prop_assert!(is_finite(&model), "{model:?}");
        prop_assert!(model.estimate.is_none() || model.refusals.is_empty());
        let maxima: Vec<f64> = bursts.iter().take(100).map(|one| one.size).collect();
        prop_assert!(growth_chance(&maxima, &bursts).is_none_or(|p| (0.0..=1.0).contains(&p)));
        let order = rising_order(&maxima);
        prop_assert!(all_finite(&[order.tau, order.chance]));
        let changes = change_points(&maxima[..maxima.len().min(14)]);
        prop_assert!(changes.points.iter().all(|point| point.p > 0.0 && point.shift.estimate.is_finite()));
    }

    #[test]
    fn intervals_and_periods_of_anything_are_numbers(
        latencies in latencies(), period in prop_oneof![Just(1), Just(i64::MAX), 1..10_000_000_i64],
        per_event in prop_oneof![Just(None), Just(Some(f64::MAX)), (0.0..1e4).prop_map(Some)],
    ) {
        let bin = |value: i64, count| {
            let high = value.saturating_add(1);
            Bin { low_ns: Nanos(value.min(high - 1)), high_ns: Nanos(high), count }
        };
        let mut sorted = latencies.clone();
        sorted.sort_unstable();
        let rows: Vec<Bin> = sorted.iter().map(|value| bin(*value, 1)).collect();
        let all_beyond = [bin(i64::MAX, u64::MAX / 4)];
        let observed = (Nanos(sorted.first().copied().unwrap_or(0)), sorted.last().map(|max| Nanos(*max)));
        for share in QUANTILES {
            for rows in [&rows[..], &all_beyond] {
                if let Some(found) = quantile_interval(rows, share, observed, per_event) {
                    prop_assert!(found.high_ns.is_none_or(|high| Some(high) >= found.low_ns));
                }
            }
        }
        let stalls: Vec<Stall> = latencies.iter().take(20).map(|latency| {
            Stall { latency_ns: Nanos(*latency), period_ns: Nanos(period) }
        }).collect();
        with_swallowed(&rows, &stalls);
        let onset = |(at, latency): (usize, &i64)| Onset { release: 7 * at as u64, latency_ns: Nanos(*latency) };
        let onsets: Vec<Onset> = latencies.iter().enumerate().map(onset).collect();
        let evidence = PeriodicEvidence {
            onsets: &onsets, releases: 7 * latencies.len() as u64, period_ns: Nanos(period), threads: 1,
        };
        if let Some(found) = periodic(&evidence) {
            let (low, high) = found.share_interval;
            prop_assert!(all_finite(&[found.share, low, high, found.concentration, found.phase, found.p]));
        }
    }

    #[test]
    fn bounds_of_anything_are_shares(
        latencies in latencies(), releases in prop_oneof![Just(0), Just(u64::MAX), 1..10_000_000_u64],
    ) {
        let late = |(at, latency): (usize, &i64)| LateCycle {
            thread: 0,
            release_ns: Nanos(at as i64 * 250_000),
            period_ns: Nanos(250_000),
            latency_ns: Nanos(*latency),
            misses: latency.unsigned_abs() / 250_000 + 1,
        };
        let late: Vec<LateCycle> = latencies.iter().enumerate().map(late).collect();
        let found = clustering(&late, releases);
        let index = found.extremal_index.into_iter().chain(found.by_gaps.into_iter().flat_map(|(a, b)| [a, b]));
        prop_assert!(all_finite(&index.collect::<Vec<_>>()), "{found:?}");
        let sizes: Vec<u64> = found.bursts.iter().map(|burst| burst.misses).collect();
        let misses = sizes.iter().fold(0_u64, |sum, size| sum.saturating_add(*size));
        let share = share_at_most(&MissesInTime { misses, releases, runs: &[], slices: &sizes, bursts: &sizes, bursts_below: &sizes });
        prop_assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{share:?}");
        let slices: Vec<(f64, f64)> = sizes.iter().map(|size| (releases as f64, *size as f64)).collect();
        let found = slice_dependence(&slices, &sizes, &Durations::default());
        prop_assert!(found.is_none_or(|found| found.per_event >= 1.0 && found.per_event.is_finite()));
        prop_assert!(found.is_none_or(|found| found.longer.is_none_or(|longer| longer.is_finite())));
    }
}
