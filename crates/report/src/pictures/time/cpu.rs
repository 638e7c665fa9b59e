//! What each CPU did, from the kernel's CPU time counters.

use super::track::Track;
use latlab_model::Nanos;
use latlab_stats::span::Grid;
use std::collections::BTreeMap;

/// The kinds of CPU time; user time includes that of guests.
const KINDS: [&str; 8] = ["user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal"];
/// The first ones are work.
const WORK: usize = 5;
/// Those of interrupts.
const INTERRUPTS: std::ops::Range<usize> = 3..5;
/// Time that the hypervisor gave to another guest.
const STEAL: usize = 7;

type Ticks = [Option<i64>; KINDS.len()];

#[derive(Clone, Debug)]
pub struct Cpu {
    now: Ticks,
    before: Option<(Nanos, Ticks)>,
    /// Percent of the time that it worked.
    pub busy: Track,
    /// Percent of the time in interrupts.
    pub interrupts: Track,
    /// Percent of the time that was stolen.
    pub stolen: Track,
}

/// All CPUs, whose counters are read together.
#[derive(Clone, Debug)]
pub struct Cpus {
    grid: Grid,
    at: Option<Nanos>,
    all: BTreeMap<u32, Cpu>,
}

impl Cpus {
    pub fn new(grid: Grid) -> Cpus {
        Cpus { grid, at: None, all: BTreeMap::new() }
    }

    /// Adds a row of a series such as `cpu3 user`. A row with a later time completes the previous
    /// reading: a counter without a row in it has not changed.
    pub fn push(&mut self, subject: &str, at: Nanos, value: Option<i64>) {
        let Some((cpu, kind)) = parsed(subject) else { return };
        match self.at {
            Some(reading) if at > reading => {
                self.all.values_mut().for_each(|cpu| cpu.read(reading));
                self.at = Some(at);
            }
            None => self.at = Some(at),
            // The row that ends a period without changes adds nothing new.
            Some(reading) if at < reading => return,
            Some(_) => {}
        }
        let grid = self.grid;
        let cpu = self.all.entry(cpu).or_insert_with(|| Cpu {
            now: Ticks::default(),
            before: None,
            busy: Track::new(grid),
            interrupts: Track::new(grid),
            stolen: Track::new(grid),
        });
        cpu.now[kind] = value;
    }

    /// The tracks of every CPU, including the last reading.
    pub fn tracks(&self) -> BTreeMap<u32, Cpu> {
        let mut all = self.all.clone();
        if let Some(at) = self.at {
            all.values_mut().for_each(|cpu| cpu.read(at));
        }
        all
    }
}

fn parsed(subject: &str) -> Option<(u32, usize)> {
    let (cpu, kind) = subject.strip_prefix("cpu")?.split_once(' ')?;
    Some((cpu.parse().ok()?, KINDS.iter().position(|known| *known == kind)?))
}

impl Cpu {
    fn read(&mut self, at: Nanos) {
        if let Some((then, before)) = self.before
            && let Some(shares) = CpuShares::shares_between(&before, &self.now)
        {
            self.busy.line((then, shares.busy), (at, shares.busy));
            self.interrupts.line((then, shares.interrupts), (at, shares.interrupts));
            self.stolen.line((then, shares.stolen), (at, shares.stolen));
        }
        self.before = Some((at, self.now));
    }
}

/// Percent of the time between two readings.
struct CpuShares {
    busy: f64,
    interrupts: f64,
    stolen: f64,
}

impl CpuShares {
    /// `None` if the CPU was offline.
    fn shares_between(before: &Ticks, after: &Ticks) -> Option<CpuShares> {
        let mut growth = [0.0; KINDS.len()];
        for (kind, growth) in growth.iter_mut().enumerate() {
            match (before[kind], after[kind]) {
                (Some(before), Some(after)) if after >= before => *growth = (after - before) as f64,
                // A kernel may not have every kind.
                (None, None) => {}
                _ => return None,
            }
        }
        let all: f64 = growth.iter().sum();
        let percent = |kinds: &[f64]| 100.0 * kinds.iter().sum::<f64>() / all;
        (all > 0.0).then(|| CpuShares {
            busy: percent(&growth[..WORK]),
            interrupts: percent(&growth[INTERRUPTS]),
            stolen: percent(&growth[STEAL..=STEAL]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_row_has_not_changed() {
        let mut cpus = Cpus::new(Grid::new(&(Nanos(0)..Nanos(4)), 4, Nanos(1)));
        for (at, kind, value) in [
            (0, "user", 10),
            (0, "idle", 50),
            (0, "steal", 0),
            (0, "softirq", 0),
            (1, "idle", 150),
            // User time is unchanged in the second reading, as its next row shows.
            (1, "user", 10),
            (2, "user", 60),
            (2, "steal", 25),
            (2, "softirq", 25),
            (2, "idle", 150),
            (3, "idle", 250),
        ] {
            cpus.push(&format!("cpu3 {kind}"), Nanos(at), Some(value));
        }
        cpus.push("cpu3 user", Nanos(4), None);
        let cpu = &cpus.tracks()[&3];
        let means = |track: &Track| -> Vec<_> {
            track.steps().iter().map(|step| step.map(|step| step.mean)).collect()
        };
        assert_eq!(means(&cpu.busy), [Some(0.0), Some(75.0), Some(0.0), None]);
        assert_eq!(means(&cpu.interrupts), [Some(0.0), Some(25.0), Some(0.0), None]);
        assert_eq!(means(&cpu.stolen), [Some(0.0), Some(25.0), Some(0.0), None]);
    }
}
