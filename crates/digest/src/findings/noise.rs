//! What a spinning thread saw that is no noise of the machine.

use latlab_model::Nanos;
use latlab_model::run::{Finding, Severity, Spun, ThreadEnd};
use latlab_stats::units::{grouped, percent};

/// A thread that slept for a larger share of the time has not watched all of it.
const RESTS_UNNOTICED: f64 = 0.01;

/// From this share of the reserve on, what others took may be the reserve.
const LIKE_THE_RESERVE: f64 = 0.5;

const OFF_THIS_CPU: &str = "Keep ordinary threads off this CPU (isolcpus, cpusets), or spin with \
                            --policy other to see them as what they are.";

/// What must be known beside the noise of a thread that spun for this long.
pub fn findings(end: &ThreadEnd, spun_for: Nanos) -> Vec<Finding> {
    let Some(spun) = &end.spun else { return Vec::new() };
    [reserve(spun, spun_for), rested(spun, spun_for)].into_iter().flatten().collect()
}

fn reserve(spun: &Spun, spun_for: Nanos) -> Option<Finding> {
    taken_back(spun, spun_for).or_else(|| taken_in_pieces(spun, spun_for))
}

fn taken_back(spun: &Spun, spun_for: Nanos) -> Option<Finding> {
    let reserve = spun.reserve.as_ref().filter(|_| spun.taken_back.count > 0)?;
    let taken = spun.taken_back;
    let share = share(taken.sum_ns, spun_for);
    let text = format!(
        "{}, together {} of the time or {} of each second, as long as what {} takes from a \
         real-time thread for ordinary ones ({} of each {}): the kernel took the CPU back. That is \
         {} of this thread's noise.",
        gaps(taken.count),
        percent(share),
        Nanos((share * 1e9).round() as i64),
        reserve.by,
        reserve.taken_ns,
        reserve.period_ns,
        taken.sum_ns,
    );
    Some(Finding::new("taken-back", Severity::Warning, text).remedy(OFF_THIS_CPU))
}

/// Ordinary threads that sleep in between take the reserve in shorter gaps.
fn taken_in_pieces(spun: &Spun, spun_for: Nanos) -> Option<Finding> {
    let reserve = spun.reserve.as_ref().filter(|reserve| spun_for >= reserve.period_ns)?;
    let taken = spun.preempted;
    let (share, reserved) =
        (share(taken.sum_ns, spun_for), share(reserve.taken_ns, reserve.period_ns));
    let text = format!(
        "Other threads took {} of the time in {}, the longest of {}: it may be what {} takes from \
         a real-time thread for ordinary ones, {} ({} of each {}), in pieces.",
        percent(share),
        gaps(taken.count),
        taken.max_ns,
        reserve.by,
        percent(reserved),
        reserve.taken_ns,
        reserve.period_ns,
    );
    (share > reserved * LIKE_THE_RESERVE)
        .then(|| Finding::new("taken-back", Severity::Warning, text).remedy(OFF_THIS_CPU))
}

fn gaps(count: u64) -> String {
    if count == 1 { "1 gap".to_string() } else { format!("{} gaps", grouped(count)) }
}

fn rested(spun: &Spun, spun_for: Nanos) -> Option<Finding> {
    let share = share(spun.rested_ns, spun_for);
    let text = format!(
        "It slept for {} of the time, so that the machine is not hung where every CPU spins before \
         all ordinary threads: what happened then was not watched.",
        percent(share)
    );
    let remedy = "Leave a CPU free with --cpus, and it sleeps for 50 us a second only.";
    (share > RESTS_UNNOTICED)
        .then(|| Finding::new("spin-rested", Severity::Info, text).remedy(remedy))
}

fn share(part: Nanos, of: Nanos) -> f64 {
    part.0 as f64 / of.0.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::nanos::{MILLISECOND, SECOND};
    use latlab_model::run::{Gaps, Reserve};

    fn said(preempted: Gaps, taken_back: Gaps) -> Option<String> {
        let reserve = Reserve {
            by: "the fair server".to_string(),
            taken_ns: Nanos(50_000_000),
            period_ns: SECOND,
        };
        let spun = Spun { preempted, taken_back, reserve: Some(reserve), ..Spun::default() };
        super::reserve(&spun, Nanos(10 * SECOND.0)).map(|finding| finding.text)
    }

    #[test]
    fn what_the_kernel_takes_back_is_named_whole_or_in_pieces() {
        let gap = |count, length: i64| Gaps {
            count,
            sum_ns: Nanos(count as i64 * length),
            max_ns: Nanos(length),
        };
        let whole = said(gap(10, 50 * MILLISECOND.0), gap(10, 50 * MILLISECOND.0)).unwrap();
        assert!(whole.starts_with("10 gaps, together 5 % of the time"), "{whole:?}");
        let once = said(gap(1, 50 * MILLISECOND.0), gap(1, 50 * MILLISECOND.0)).unwrap();
        assert!(once.starts_with("1 gap, together"), "{once:?}");
        let pieces = said(gap(1_000, 400_000), Gaps::default()).unwrap();
        assert!(pieces.contains("took 4 % of the time in 1 000 gaps"), "{pieces:?}");
        assert!(
            pieces.contains("the fair server takes from a real-time thread for ordinary ones, 5 %"),
            "{pieces:?}"
        );
        assert_eq!(said(gap(1_000, 100_000), Gaps::default()), None, "a fifth of it may be noise");
    }
}
