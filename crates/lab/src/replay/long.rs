//! The longest paths with interrupts or preemption disabled, over many guests of one kernel.

use super::context::Contexts;
use super::records::Task;
use super::result::{Activity, LongPath, OffKind};
use super::walk::{OffSpan, Stretch, Walked};
use latlab_model::Nanos;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Shorter ones are not counted.
const SHORTEST: u64 = 500;
/// Where a non-preemptible kernel checks whether to reschedule.
const LOOKS: [&str; 2] = ["__schedule", "__cond_resched"];

/// The longest path by kind, function that begins it, and activity.
#[derive(Default)]
pub struct LongPaths {
    known: BTreeMap<(OffKind, String, Activity), LongPath>,
    /// The last guest, and the position reached in it: windows of an idle guest overlap.
    seen: (u64, u64),
}

impl LongPaths {
    /// Counts the paths of a window.
    pub(super) fn push(
        &mut self,
        seed: u64,
        walked: &Walked,
        contexts: &Contexts<'_>,
        task: &dyn Fn(u32) -> Option<Task>,
    ) {
        let until = if self.seen.0 == seed { self.seen.1 } else { 0 };
        self.seen = (seed, walked.stretches.last().map_or(until, |last| last.to));
        let in_kernel = match contexts.preempts {
            true => Vec::new(),
            false => in_kernel(walked, contexts),
        };
        for (kind, spans) in [
            (OffKind::Interrupts, &walked.interrupts_off),
            (OffKind::Preemption, &walked.preemption_off),
            (OffKind::Kernel, &in_kernel),
        ] {
            let counted = |span: &&OffSpan| span.to > until && span.to - span.from >= SHORTEST;
            for span in spans.iter().filter(counted) {
                let thread = span.task.and_then(task).unwrap_or_default();
                // The idle thread is not blocked.
                if thread.pid != 0 {
                    self.count(kind, seed, span, walked, contexts, thread.name);
                }
            }
        }
    }

    fn count(
        &mut self,
        kind: OffKind,
        seed: u64,
        span: &OffSpan,
        walked: &Walked,
        contexts: &Contexts<'_>,
        thread: String,
    ) {
        let first = walked.stretches.partition_point(|one| one.to <= span.from);
        let inside = walked.stretches[first..].iter().take_while(|one| one.from < span.to);
        let clipped = inside.map(|one| Stretch {
            from: one.from.max(span.from),
            to: one.to.min(span.to),
            ..*one
        });
        let group: Vec<Stretch> = clipped.collect();
        let Some(one) = group.first() else { return };
        let context = contexts.of(one.path);
        let (by, activity) = (contexts.function(span.path), contexts.activity(context, &group));
        let length = Nanos((span.to - span.from) as i64);
        let entry = self.known.entry((kind, by.clone(), activity.clone()));
        let known = entry.or_insert_with(|| LongPath {
            kind,
            largest_ns: Nanos::ZERO,
            count: 0,
            seed,
            thread: String::new(),
            activity,
            by,
            mostly: Vec::new(),
        });
        known.count += 1;
        if length > known.largest_ns {
            let mostly = contexts.main_path(context, &group);
            (known.largest_ns, known.seed, known.thread, known.mostly) =
                (length, seed, thread, mostly);
        }
    }

    /// The paths, the longest first.
    pub fn finish(self) -> Vec<LongPath> {
        let mut paths: Vec<LongPath> = self.known.into_values().collect();
        paths.sort_by_key(|path| (path.kind, Reverse(path.largest_ns)));
        paths
    }
}

/// Stretches of a thread in the kernel between two preemption points, including interrupts.
fn in_kernel(walked: &Walked, contexts: &Contexts<'_>) -> Vec<OffSpan> {
    let mut spans: Vec<OffSpan> = Vec::new();
    let (mut goes_on, mut known) = (false, HashMap::new());
    for one in &walked.stretches {
        let looks = *known
            .entry(one.path)
            .or_insert_with(|| LOOKS.iter().any(|function| contexts.is_in(one.path, function)));
        let inside = !looks && !contexts.is_user(one.path);
        match spans.last_mut() {
            Some(last) if inside && goes_on && last.to == one.from && last.task == one.task => {
                last.to = one.to;
                last.end_path = one.path;
            }
            _ if inside => {
                let path = contexts.paths.down(one.path)[0];
                spans.push(OffSpan {
                    from: one.from,
                    to: one.to,
                    path,
                    end_path: one.path,
                    task: one.task,
                });
            }
            _ => {}
        }
        goes_on = inside;
    }
    spans
}
