//! What a spinning thread saw that is no noise of the machine.

use latlab_model::Nanos;
use latlab_model::run::{Finding, Severity, Spun, ThreadEnd};
use latlab_stats::units::percent;

/// A thread that slept for a larger share of the time has not watched all of it.
const RESTS_UNNOTICED: f64 = 0.01;

/// What must be known beside the noise of a thread that spun for this long.
pub fn findings(end: &ThreadEnd, spun_for: Nanos) -> Vec<Finding> {
    let Some(spun) = &end.spun else { return Vec::new() };
    [taken_back(spun, spun_for), rested(spun, spun_for)].into_iter().flatten().collect()
}

fn taken_back(spun: &Spun, spun_for: Nanos) -> Option<Finding> {
    let reserve = spun.reserve.as_ref().filter(|_| spun.taken_back.count > 0)?;
    let taken = spun.taken_back;
    let share = share(taken.sum_ns, spun_for);
    let text = format!(
        "{} gaps, together {} of the time or {} of each second, are as long as what {} takes from \
         a real-time thread for ordinary ones ({} of each {}): the kernel took the CPU back. \
         They are {} of this thread's noise.",
        taken.count,
        percent(share),
        Nanos((share * 1e9).round() as i64),
        reserve.by,
        reserve.taken_ns,
        reserve.period_ns,
        taken.sum_ns,
    );
    let remedy = "Keep ordinary threads off this CPU (isolcpus, cpusets), or spin with --policy \
                  other to see them as what they are.";
    Some(Finding::new("taken-back", Severity::Warning, text).remedy(remedy))
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
