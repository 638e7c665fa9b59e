//! Whether the disk can hold a run, before it is begun.

use crate::Failure;
use latlab_model::nanos::SECOND;
use latlab_model::{Nanos, Plan};
use latlab_store::{SpaceNeeded, Store};
use latlab_sys::{disk, sched};

/// A day.
const DAY: Nanos = Nanos(SECOND.0 * 86_400);

/// Refuses a run that the disk cannot hold; for one with samples, gives back the arithmetic.
pub fn check_disk_space(plan: &Plan, store: &Store) -> Result<Option<String>, Failure> {
    let usable = || sched::affinity().map_or(1, |cpus| cpus.len()) as u32;
    let cpus = plan.cpus.as_ref().map(|cpus| cpus.len() as u32);
    let threads = plan.threads.or(cpus).unwrap_or_else(usable);
    let Some(free) = disk::free_bytes(store.root()) else { return Ok(None) };
    let place = store.root().display();
    let Some(room) = SpaceNeeded::of_run(plan, threads, None) else {
        let Some(day) = SpaceNeeded::of_run(plan, threads, Some(DAY))
            .filter(|_| plan.samples || plan.method.has_legs())
        else {
            return Ok(None);
        };
        let lasts = DAY.as_secs_f64() * free as f64 / day.bytes() as f64;
        return Ok(Some(format!(
            "a day of samples takes {}; the {} free in {place} last for {}",
            bytes(day.bytes()),
            bytes(free),
            Nanos((lasts * 1e9) as i64),
        )));
    };
    let needs = match room.samples {
        0 => format!("the run takes up to {}", bytes(room.bytes())),
        samples => format!(
            "{:.3} million samples take up to {}: a journal of {} and, at the end, tables of {} \
             beside it",
            samples as f64 / 1e6,
            bytes(room.bytes()),
            bytes(room.journal),
            bytes(room.tables)
        ),
    };
    let free_there = format!("{} are free in {place}", bytes(free));
    if room.bytes() > free {
        return Err(Failure::NoRoom(format!(
            "{needs}, but only {free_there}: free some space, use --out on a larger disk, measure \
             for a shorter time, or use a longer --period"
        )));
    }
    Ok((room.samples > 0).then(|| format!("{needs}; {free_there}")))
}

/// As disks are sold.
fn bytes(count: u64) -> String {
    let (unit, scale) = match count {
        0..1_000_000 => ("kB", 1e3),
        1_000_000..1_000_000_000 => ("MB", 1e6),
        1_000_000_000..1_000_000_000_000 => ("GB", 1e9),
        _ => ("TB", 1e12),
    };
    format!("{:.1} {unit}", count as f64 / scale)
}
