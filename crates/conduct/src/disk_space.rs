//! Checks whether the disk can hold a run before it starts.

use crate::Failure;
use latlab_model::nanos::SECOND;
use latlab_model::units::grouped;
use latlab_model::{Nanos, Plan};
use latlab_store::{SpaceNeeded, Store};
use latlab_sys::{disk, sched};

const DAY: Nanos = Nanos(SECOND.0 * 86_400);

/// Refuses a run that the disk cannot hold; for one with samples, returns the estimate.
pub fn check_disk_space(plan: &Plan, store: &Store) -> Result<Option<String>, Failure> {
    let usable = || sched::affinity().map_or(1, |cpus| cpus.len()) as u32;
    let cpus = plan.who.cpus.as_ref().map(|cpus| cpus.len() as u32);
    let threads = plan.who.threads.or(cpus).unwrap_or_else(usable);
    let Some(free) = disk::free_bytes(store.root()) else { return Ok(None) };
    let place = store.root().display();
    let Some(room) = SpaceNeeded::of_run(plan, threads, None) else {
        let Some(day) = SpaceNeeded::of_run(plan, threads, Some(DAY))
            .filter(|_| plan.keep.samples || plan.method.has_breakdown())
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
            "{} samples take up to {}: a journal of {} and, at the end, tables of {} \
             next to it",
            grouped(samples),
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

/// Refuses a stream that does not fit here together with the tables made from it.
pub fn check_room_here(store: &Store, needed: u64) -> Result<(), Failure> {
    let place = store.root().display();
    match disk::free_bytes(store.root()) {
        Some(free) if free < needed => Err(Failure::NoRoom(format!(
            "the run takes up to {} here, but only {} are free in {place}: free some space, or use \
             --out on a larger disk",
            bytes(needed),
            bytes(free)
        ))),
        _ => Ok(()),
    }
}

/// The folder on a board for the stream of a detached run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoardFolder {
    pub free_bytes: u64,
    /// Whether it is a tmpfs or similar.
    pub in_memory: bool,
    /// CPUs of the board.
    pub cpus: u32,
    pub path: String,
}

/// Share of the free space that a detached run may use, on a disk and in memory.
const USABLE_OF_DISK: f64 = 0.75;
const USABLE_OF_MEMORY: f64 = 0.5;

/// Size of the stream at which a detached run must end, and the calculation in words; the error
/// says why there is no room.
pub fn room_on_board(plan: &Plan, folder: &BoardFolder) -> Result<(u64, String), String> {
    let cpus = plan.who.cpus.as_ref().map(|cpus| cpus.len() as u32);
    let threads = plan.who.threads.or(cpus).unwrap_or(folder.cpus.max(1));
    let usable = if folder.in_memory { USABLE_OF_MEMORY } else { USABLE_OF_DISK };
    let usable = (folder.free_bytes as f64 * usable) as u64;
    let kind = if folder.in_memory { "memory, which a restart empties" } else { "disk" };
    let path = &folder.path;
    let of_free =
        format!("{} of the {} free in {path} ({kind})", bytes(usable), bytes(folder.free_bytes));
    let remedy = "make room there, name a larger folder with --board-folder, measure for a \
                  shorter time, or use a longer --period";
    // Still written after the limit is reached.
    let last = SpaceNeeded::at_end(threads);
    let Some(most) = usable.checked_sub(last).filter(|most| *most > 0) else {
        return Err(format!(
            "a run takes at least {}, but may use {of_free}: {remedy}",
            bytes(last)
        ));
    };
    let Some(room) = SpaceNeeded::of_run(plan, threads, None) else {
        let day = SpaceNeeded::of_run(plan, threads, Some(DAY)).map_or(0, |room| room.journal);
        let lasts = DAY.as_secs_f64() * most as f64 / day.max(1) as f64;
        let lasts = Nanos((lasts.min(1e9) * 1e9) as i64);
        return Ok((
            most,
            format!(
                "a day takes up to {}; the run ends when it has used {of_free}, after {lasts} \
                     or more",
                bytes(day)
            ),
        ));
    };
    let needs = match room.samples {
        0 => format!("the run takes up to {}", bytes(room.journal)),
        samples => format!("{} samples take up to {}", grouped(samples), bytes(room.journal)),
    };
    match room.journal > usable {
        true => Err(format!("{needs}, but may use {of_free}: {remedy}")),
        false => Ok((most, format!("{needs}; it may use {of_free}"))),
    }
}

/// Decimal units, as for disks.
fn bytes(count: u64) -> String {
    let (unit, scale) = match count {
        0..1_000_000 => ("kB", 1e3),
        1_000_000..1_000_000_000 => ("MB", 1e6),
        1_000_000_000..1_000_000_000_000 => ("GB", 1e9),
        _ => ("TB", 1e12),
    };
    format!("{:.1} {unit}", count as f64 / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::plan::{Cyclic, Method};
    use latlab_model::plan::{Keep, Until};

    fn folder(megabytes: u64, in_memory: bool) -> BoardFolder {
        let (free_bytes, path) = (megabytes * 1_000_000, "/x".to_string());
        BoardFolder { free_bytes, in_memory, cpus: 2, path }
    }

    #[test]
    fn a_detached_run_leaves_room_and_has_a_bound() {
        let night = Plan {
            method: Method::Cyclic(Cyclic::every(Nanos(50_000))),
            keep: Keep { samples: true, ..Keep::default() },
            until: Until { duration_ns: Some(SECOND * 3600), ..Until::default() },
            ..Plan::default()
        };
        // Two threads with 144 million samples.
        let (most, said) = room_on_board(&night, &folder(1000, false)).unwrap();
        assert!(most < 750_000_000 && most > 740_000_000, "{most}");
        assert!(said.contains("144 000 000 samples") && said.contains("(disk)"), "{said}");
        let error = room_on_board(&night, &folder(400, false)).unwrap_err();
        assert!(error.contains("300.0 MB of the 400.0 MB free in /x (disk)"), "{error}");
        let error = room_on_board(&night, &folder(500, true)).unwrap_err();
        assert!(error.contains("250.0 MB") && error.contains("memory"), "{error}");

        let open = Plan { until: Until { duration_ns: None, ..night.until }, ..night };
        let (most, said) = room_on_board(&open, &folder(400, false)).unwrap();
        assert!(most < 300_000_000, "{most}");
        assert!(said.contains("the run ends when it has used 300.0 MB"), "{said}");
        // A tiny flash.
        let error = room_on_board(&open, &folder(2, false)).unwrap_err();
        assert!(error.contains("a run takes at least 2.1 MB"), "{error}");
    }
}
