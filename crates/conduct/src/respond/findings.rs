//! Findings about a capture that its counts do not show.

use latlab_capture::{CaptureResult, Loss, LossKind, NANO_PS, WireLevels};
use latlab_model::Nanos;
use latlab_model::finding::{CaptureFinding, Finding, ImpossibleReading};

/// Error of a program that takes 1 000 000 ns for a second.
const SECOND_TAKEN_FOR_A_MILLISECOND: i64 = 999_000_000 * NANO_PS;

/// Findings beyond the counts; those are derived for any run.
pub fn findings(measured: &CaptureResult) -> Vec<Finding> {
    let losses = measured.losses.iter().map(of_loss);
    let all = [
        swapped(measured),
        impossible(measured),
        measured.first_row_left_out.then_some(CaptureFinding::FirstRowNoSample {}),
    ];
    let parts = measured.missing_chunks.clone();
    let chunks = (!parts.is_empty()).then_some(CaptureFinding::ChunkMissing { parts });
    let wires = measured.wires.iter().flat_map(of_wire);
    let notes = measured.notes.iter().cloned();
    let notes = notes.map(|note| CaptureFinding::CaptureNote { note });
    let all = losses.chain(all.into_iter().flatten());
    all.chain(chunks).chain(wires).chain(notes).map(Finding::new).collect()
}

/// The finding for a gap in the capture, which may hide an edge or a reading.
fn of_loss(loss: &Loss) -> CaptureFinding {
    let Loss { kind, count, first, .. } = loss;
    match kind {
        LossKind::Missing => {
            CaptureFinding::CaptureIncomplete { places: *count, missing: first.in_words() }
        }
        LossKind::Rows | LossKind::Values | LossKind::Changes => CaptureFinding::CaptureLeftOut {
            count: *count,
            items: kind.items().to_string(),
            first: first.in_words(),
        },
    }
}

/// Doubts about the levels of a channel.
fn of_wire(wire: &WireLevels) -> Vec<CaptureFinding> {
    let WireLevels { channel, pair, rule, passed_over, .. } = wire;
    let (low, high) = (pair.low, pair.high);
    let mut found = Vec::new();
    match rule {
        None if pair.is_noise.is_some() => {
            let why = pair.is_noise.map(|reason| pair.noise_in_words(reason)).unwrap_or_default();
            let channel = channel.clone();
            found.push(CaptureFinding::ChannelNoise { channel, low, high, why });
        }
        Some(rule) if wire.is_in_doubt() => {
            found.push(CaptureFinding::LevelsInDoubt {
                channel: channel.clone(),
                levels: pair.all(),
                used: rule.threshold,
                thresholds: pair.thresholds(),
                rare: pair.rare,
                wanders: pair.wanders,
            });
        }
        _ => {}
    }
    if *passed_over > 0 {
        let (channel, count) = (channel.clone(), *passed_over);
        found.push(CaptureFinding::ValuesOutside { channel, count, low, high });
    }
    found
}

fn time(picoseconds: i64) -> Nanos {
    Nanos((picoseconds + NANO_PS / 2).div_euclid(NANO_PS))
}

fn swapped(measured: &CaptureResult) -> Option<CaptureFinding> {
    Some(CaptureFinding::ProbesSwapped {
        median_ns: time(measured.swapped_ps? as i64),
        stimulus: measured.stimulus.clone()?,
        response: measured.response.clone()?,
    })
}

fn impossible(measured: &CaptureResult) -> Option<CaptureFinding> {
    let (_, first) = *measured.impossible.first()?;
    let reading = |(number, value): &(u64, i64)| ImpossibleReading {
        number: *number,
        value_ns: Nanos(value.div_euclid(NANO_PS)),
    };
    Some(CaptureFinding::ResponseImpossible {
        count: measured.counts.impossible,
        readings: measured.impossible.iter().map(reading).collect(),
        first_meant_ns: correct_reading(measured, first),
    })
}

/// The correct reading, if a program's mistake is recognised in its results.
fn correct_reading(measured: &CaptureResult, value: i64) -> Option<Nanos> {
    let meant = value.checked_add(SECOND_TAKEN_FOR_A_MILLISECOND)?;
    let (min, max) = (measured.figures.min_ps()?, measured.figures.max_ps()?);
    let fits = meant >= min / 2 && meant <= max.saturating_mul(2);
    fits.then(|| Nanos(meant.div_euclid(NANO_PS)))
}
