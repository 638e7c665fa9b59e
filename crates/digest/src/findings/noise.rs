//! What a spinning thread saw that is not noise of the machine.

use latlab_model::Nanos;
use latlab_model::finding::{Finding, MachineFinding};
use latlab_model::run::{Gaps, KernelReserve, SpinCounts, ThreadEnd};
use latlab_model::units::ratio;

/// A thread that slept for more than this share has not watched the whole time.
const RESTS_UNNOTICED: f64 = 0.01;

/// From this share of the real-time throttling reserve on, what others took may be that reserve.
const LIKE_THE_RESERVE: f64 = 0.5;

/// Findings about the noise of a thread that spun for this long.
pub fn findings(end: &ThreadEnd, spun_for: Nanos) -> Vec<Finding> {
    let Some(spun) = &end.spun else { return Vec::new() };
    [taken_by_kernel(spun, spun_for), rest_finding(spun, spun_for)].into_iter().flatten().collect()
}

/// What the kernel reserves for SCHED_OTHER threads: in gaps as long as its reserve, or, if these
/// threads sleep in between, in shorter ones.
fn taken_by_kernel(spun: &SpinCounts, spun_for: Nanos) -> Option<Finding> {
    let reserve = spun.reserve.as_ref()?;
    if spun.reserve_taken.count > 0 {
        return Some(reserve_finding(spun.reserve_taken, spun_for, false, reserve));
    }
    let share = ratio(spun.preempted.sum_ns, spun_for);
    let like_it = share > ratio(reserve.taken_ns, reserve.period_ns) * LIKE_THE_RESERVE;
    (spun_for >= reserve.period_ns && like_it)
        .then(|| reserve_finding(spun.preempted, spun_for, true, reserve))
}

fn reserve_finding(
    taken: Gaps,
    spun_ns: Nanos,
    in_pieces: bool,
    reserve: &KernelReserve,
) -> Finding {
    Finding::new(MachineFinding::ReserveTaken {
        gaps: taken.count,
        taken_ns: taken.sum_ns,
        spun_ns,
        longest_ns: taken.max_ns,
        in_pieces,
        reserve: reserve.clone(),
    })
}

fn rest_finding(spun: &SpinCounts, spun_ns: Nanos) -> Option<Finding> {
    let rested_ns = spun.rested_ns;
    (ratio(rested_ns, spun_ns) > RESTS_UNNOTICED)
        .then(|| Finding::new(MachineFinding::SpinRested { rested_ns, spun_ns }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::finding::FindingKind;
    use latlab_model::nanos::{MILLISECOND, SECOND};
    use latlab_model::run::{Gaps, KernelReserve};

    /// Gaps, their time, and whether they are shorter than what the kernel takes.
    fn taken(preempted: Gaps, reserve_taken: Gaps) -> Option<(u64, Nanos, bool)> {
        let reserve = KernelReserve {
            by: "the fair server".to_string(),
            taken_ns: Nanos(50_000_000),
            period_ns: SECOND,
        };
        let spun = SpinCounts {
            preempted,
            reserve_taken,
            reserve: Some(reserve),
            ..SpinCounts::default()
        };
        let found = super::taken_by_kernel(&spun, Nanos(10 * SECOND.0))?;
        match found.kind {
            FindingKind::Machine(MachineFinding::ReserveTaken {
                gaps,
                taken_ns,
                in_pieces,
                ..
            }) => Some((gaps, taken_ns, in_pieces)),
            _ => panic!("{found:?}"),
        }
    }

    #[test]
    fn what_the_kernel_takes_back_is_named_whole_or_in_pieces() {
        let gap = |count, length: i64| Gaps {
            count,
            sum_ns: Nanos(count as i64 * length),
            max_ns: Nanos(length),
        };
        let ten = gap(10, 50 * MILLISECOND.0);
        assert_eq!(taken(ten, ten), Some((10, Nanos(500 * MILLISECOND.0), false)));
        let one = gap(1, 50 * MILLISECOND.0);
        assert_eq!(taken(one, one), Some((1, Nanos(50 * MILLISECOND.0), false)));
        let pieces = taken(gap(1_000, 400_000), Gaps::default());
        assert_eq!(pieces, Some((1_000, Nanos(400 * MILLISECOND.0), true)));
        let few = taken(gap(1_000, 100_000), Gaps::default());
        assert_eq!(few, None, "a fifth of it may be noise");
    }
}
