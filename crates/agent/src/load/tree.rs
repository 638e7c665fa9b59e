//! The processes of a load: all descendants of its supervisor.

use latlab_model::Nanos;
use latlab_sys::child::{Descendant, descendants, kill, signal};
use latlab_sys::files::Root;
use latlab_sys::process::KillSignal;
use latlab_sys::{clock, memory};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A tick of the kernel's CPU accounting, in nanoseconds.
const TICK: i64 = 10_000_000;
/// Time between two checks while something is being ended.
const LOOK: Duration = Duration::from_millis(20);

pub fn living(root: &Root) -> Vec<Descendant> {
    let mut all = descendants(root, std::process::id(), || ());
    all.retain(|one| one.stat.state != 'Z');
    all
}

/// The processes, and the CPU time of all so far. Parts are read one after another, so a process
/// that ends meanwhile may be missing once; `between` is called before each.
pub fn cpu_time(root: &Root, mut between: impl FnMut()) -> (Vec<Descendant>, Nanos) {
    // First, or a process reaped between the two would be counted twice.
    let buried = memory::children_cpu_time();
    let all = descendants(root, std::process::id(), &mut between);
    let own = |one: &Descendant| {
        between();
        let known = clock::cpu_time_of_process(one.pid);
        known.unwrap_or_else(|| one.stat.cpu_ticks as i64 * TICK)
            + one.stat.waited_ticks as i64 * TICK
    };
    let living: i64 = all.iter().map(own).sum();
    (all, Nanos(living + buried))
}

/// Asks all processes to end.
pub fn ask_all(root: &Root) {
    for one in living(root) {
        signal(one.pid, KillSignal::TERM);
        signal(one.pid, KillSignal::CONT);
    }
}

/// Waits until none lives.
pub fn wait_for_none(root: &Root, until: Instant) -> bool {
    loop {
        match (living(root).is_empty(), Instant::now() < until) {
            (true, _) => return true,
            (false, false) => return false,
            (false, true) => std::thread::sleep(LOOK),
        }
    }
}

/// Kills until none lives; returns how many were killed and how many survived.
pub fn kill_all(root: &Root, until: Instant) -> (u32, u32) {
    let mut killed = BTreeSet::new();
    loop {
        let living = living(root);
        if living.is_empty() || Instant::now() >= until {
            return (killed.len() as u32, living.len() as u32);
        }
        for one in &living {
            kill(root, one.pid, one.stat.started);
            killed.insert(one.pid);
        }
        std::thread::sleep(LOOK);
    }
}
