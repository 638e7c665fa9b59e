use super::*;
use crate::random::Random;

fn evidence(bursts: &[TimedEvent]) -> TailEvidence<'_> {
    TailEvidence {
        bursts,
        releases: 1_000_000,
        measured: Nanos(200_000_000_000),
        resolution_ns: 1,
        growth: None,
    }
}

/// Latencies above 50 us with these excesses, at random times.
fn bursts(seed: u64, count: usize, excess: impl Fn(&mut Random) -> f64) -> Vec<TimedEvent> {
    let mut random = Random::new(seed);
    let one = |random: &mut Random| {
        let size = (50_000.0 + excess(random)).floor();
        TimedEvent { at: random.uniform(), size }
    };
    (0..count).map(|_| one(&mut random)).collect()
}

fn exponential(random: &mut Random) -> f64 {
    -3_000.0 * random.uniform().ln()
}

fn refusals(bursts: &[TimedEvent]) -> Vec<TailRefusal> {
    tail_model(&evidence(bursts)).refusals
}

#[test]
fn a_tail_of_one_mechanism_has_an_estimate_that_holds_the_truth() {
    let (mut answers, mut covers) = (0, 0);
    for seed in 0..20 {
        let Some(estimate) = tail_model(&evidence(&bursts(seed, 1_000, exponential))).estimate
        else {
            continue;
        };
        answers += 1;
        let truth = 50_000 + (3_000.0 * 10_000.0_f64.ln()) as i64;
        covers += usize::from(estimate.low_ns.0 <= truth && truth <= estimate.high_ns.0);
        assert!(estimate.low_ns <= estimate.value_ns && estimate.value_ns <= estimate.high_ns);
        assert_eq!(estimate.once_per_ns, Nanos(2_000_000_000_000), "ten times the run");
    }
    assert!(answers >= 15 && covers + 3 >= answers, "{answers} answers, {covers} hold");
}

#[test]
fn a_second_mechanism_is_refused() {
    let mixture = bursts(1, 1_000, |random| {
        exponential(random) + if random.uniform() < 0.3 { 60_000.0 } else { 0.0 }
    });
    assert!(!refusals(&mixture).is_empty());
    // Five hits of another mechanism, far out.
    let few = bursts(2, 1_000, |random| {
        exponential(random) + if random.uniform() < 0.005 { 90_000.0 } else { 0.0 }
    });
    let found = refusals(&few);
    assert!(found.iter().any(|one| matches!(one, TailRefusal::OtherMechanism { .. })), "{found:?}");
}

#[test]
fn a_heavy_tail_is_refused() {
    let heavy = bursts(3, 1_000, |random| 3_000.0 * (random.uniform().powf(-0.6) - 1.0) / 0.6);
    let found = refusals(&heavy);
    assert!(found.iter().any(|one| matches!(one, TailRefusal::HeavyTail { .. })), "{found:?}");
}

#[test]
fn growth_is_refused() {
    let steady = bursts(8, 1_000, exponential);
    let grown = TailEvidence { growth: Some(0.002), ..evidence(&steady) };
    assert_eq!(tail_model(&grown).refusals, [TailRefusal::Growing { p: 0.002 }]);
    assert_eq!(tail_model(&grown).estimate, None);
    // A mode that occurs in the second half only.
    let late: Vec<TimedEvent> = steady
        .iter()
        .map(|one| {
            let more = if one.at > 0.8 { 12_000.0 } else { 0.0 };
            TimedEvent { size: one.size + more, ..*one }
        })
        .collect();
    let found = refusals(&late);
    assert!(found.iter().any(|one| matches!(one, TailRefusal::HalvesDiffer { .. })), "{found:?}");
}

#[test]
fn a_tail_of_few_cells_or_few_bursts_is_refused() {
    let in_steps = |step: f64| -> Vec<TimedEvent> {
        let rounded =
            |one: TimedEvent| TimedEvent { size: (one.size / step).floor() * step, ..one };
        bursts(5, 1_000, |random| exponential(random) / 3.0).into_iter().map(rounded).collect()
    };
    let coarse = in_steps(2_500.0);
    let evidence_in_steps = TailEvidence { resolution_ns: 2_500, ..evidence(&coarse) };
    let model = tail_model(&evidence_in_steps);
    assert!(matches!(model.refusals[..], [TailRefusal::TooCoarse { cells: ..5, .. }]), "{model:?}");
    assert_eq!(model.shape, None, "no fit was tried");
    let few = bursts(6, 249, exponential);
    assert_eq!(refusals(&few), [TailRefusal::TooFewBursts { has: 249, needs: 250 }]);
    // A run whose largest latencies are a large part of it has no tail.
    let all = bursts(7, 1_000, exponential);
    let short = TailEvidence { releases: 2_000, ..evidence(&all) };
    assert!(matches!(
        tail_model(&short).refusals[..],
        [TailRefusal::TooFewBursts { has: 100, .. }]
    ));
}
