//! Merges the pages of several CPUs into one sequence of events.

use latlab_model::CpuSet;
use latlab_sys::tracefs::{Instance, Pipe};
use latlab_trace::{Event, Layout};

/// Reads the pages of a private trace instance.
pub struct MergedPipes<E> {
    layout: Layout,
    pipes: Vec<(u32, Pipe)>,
    /// Events too young to be ordered against other CPUs.
    young: Vec<(i64, u32, E)>,
}

impl<E> MergedPipes<E> {
    /// For a kernel with this page layout; nothing is read yet.
    pub fn new(layout: Layout) -> MergedPipes<E> {
        MergedPipes { layout, pipes: Vec::new(), young: Vec::new() }
    }

    /// Opens the pages of these CPUs.
    pub fn open(&mut self, instance: &Instance, cpus: &CpuSet) -> Result<(), String> {
        let pipes = cpus.iter().map(|cpu| Ok((cpu, instance.pipe(cpu, self.layout.page)?)));
        self.pipes = pipes.collect::<Result<_, String>>()?;
        Ok(())
    }

    /// Calls `on_event` for everything up to this time, in order; younger events stay for the next
    /// call. Lost events appear as an event before the next one.
    pub fn read(
        &mut self,
        until: i64,
        decode: impl Fn(u32, &Event) -> Option<E>,
        lost_events: impl Fn(u64) -> E,
        mut on_event: impl FnMut(i64, u32, E),
    ) {
        let mut events = std::mem::take(&mut self.young);
        let MergedPipes { layout, pipes, .. } = self;
        for (cpu, pipe) in pipes {
            while let Some(page) = pipe.next_page() {
                let mut page = layout.events(page);
                let mut lost = page.lost.map(|lost| lost.max(1));
                for event in &mut page {
                    let at = event.at as i64;
                    if let Some(lost) = lost.take() {
                        events.push((at, *cpu, lost_events(lost)));
                    }
                    events.extend(decode(*cpu, &event).map(|one| (at, *cpu, one)));
                }
            }
        }
        // Each CPU's events are in order, so this is little more than a merge.
        events.sort_by_key(|(at, ..)| *at);
        let young = events.partition_point(|(at, ..)| *at < until);
        self.young = events.split_off(young);
        events.into_iter().for_each(|(at, cpu, event)| on_event(at, cpu, event));
    }
}
