//! Short-lived threads and programs are reported as one cause, namely the thread that starts them:
//! each alone is gone before a user can act on it.

use crate::kernel_events::{EventKind, Task};
use crate::points::CpuEvents;
use crate::timeline::Tasks;
use latlab_model::Nanos;
use latlab_model::explanation::{BlamePart, CauseKind, StartedThreads, Starter};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Largest number of ancestors examined.
const DEEPEST: usize = 64;
/// A thread is merged with what it starts if its own time is at most this many times theirs.
const OWN_SHARE: i64 = 3;
/// Largest number of names of started threads that are shown.
const NAMED: usize = 3;

/// Names the starter in each part of a short-lived thread. If its parents have ended as well, that
/// is the first ancestor that still lives.
pub fn group_starts(
    parts: &mut [BlamePart],
    cpus: &[CpuEvents],
    tasks: &Tasks,
    lives: &dyn Fn(i32) -> bool,
) {
    let mut parents: HashMap<i32, i32> = HashMap::new();
    for moment in cpus.iter().flat_map(|one| &one.moments) {
        if let EventKind::Fork(Task { id, .. }) = moment.kind {
            parents.insert(id, moment.thread);
        }
    }
    if parents.is_empty() {
        return;
    }
    let starter = |child: i32| -> Option<i32> {
        let ended = |id: &i32| !lives(*id);
        let mut at = parents.get(&Some(child).filter(ended)?)?;
        for _ in 0..DEEPEST {
            match parents.get(at).filter(|_| ended(at)) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        // init and kthreadd start programs on behalf of everything else.
        (*at > 2).then_some(*at)
    };
    let (mut of_children, mut of_own) = (BTreeMap::<i32, i64>::new(), BTreeMap::<i32, i64>::new());
    let belongs = |part: &BlamePart| {
        let is_thread = matches!(part.cause.kind, CauseKind::Thread | CauseKind::PageFaults);
        part.thread.as_ref().filter(|_| is_thread).map(|thread| thread.id)
    };
    for part in parts.iter() {
        let Some(id) = belongs(part) else { continue };
        let Nanos(length) = part.length();
        *of_own.entry(id).or_default() += length;
        if let Some(starter) = starter(id) {
            *of_children.entry(starter).or_default() += length;
        }
    }
    let starts_mostly = |id: i32| {
        let own = of_own.get(&id).copied().unwrap_or(0);
        of_children.get(&id).is_some_and(|children| own <= children.saturating_mul(OWN_SHARE))
    };
    for part in parts {
        let Some(id) = belongs(part) else { continue };
        let Some(starter) = starter(id).or(starts_mostly(id).then_some(id)) else { continue };
        let name = match tasks.get(&starter) {
            Some(task) => task.name.clone(),
            None => format!("thread {starter}"),
        };
        part.thread.iter_mut().for_each(|thread| {
            thread.started_by = Some(Starter { id: starter, name: name.clone() });
        });
    }
}

/// Names of the threads that a thread has started, with how many of each had the CPU, by time.
pub fn started_threads(parts: &[BlamePart], starter: i32) -> Vec<StartedThreads> {
    let mut each: Vec<(&str, BTreeSet<i32>, i64)> = Vec::new();
    for part in parts {
        let Some(thread) = &part.thread else { continue };
        let is_started = thread.started_by.as_ref().is_some_and(|one| one.id == starter);
        if !is_started || thread.id == starter {
            continue;
        }
        let (name, length) = (part.cause.name.as_str(), part.length().0);
        match each.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, ids, total)) => {
                ids.insert(thread.id);
                *total += length;
            }
            None => each.push((name, [thread.id].into(), length)),
        }
    }
    each.sort_by_key(|(.., total)| Reverse(*total));
    let named = each.into_iter().take(NAMED);
    named
        .map(|(name, ids, _)| StartedThreads { name: name.to_string(), threads: ids.len() as u64 })
        .collect()
}
