//! The pages of several CPUs as one row of events by time.

use latlab_model::CpuSet;
use latlab_sys::tracefs::{Instance, Pipe};
use latlab_trace::{Event, Layout};

/// Reads the pages of a trace of our own.
pub struct MergedPipes<E> {
    layout: Layout,
    /// The pages of each CPU.
    pipes: Vec<(u32, Pipe)>,
    /// What is too young to be in order with the other CPUs.
    young: Vec<(i64, u32, E)>,
}

impl<E> MergedPipes<E> {
    /// Of a kernel whose pages lie like this; nothing is read yet.
    pub fn new(layout: Layout) -> MergedPipes<E> {
        MergedPipes { layout, pipes: Vec::new(), young: Vec::new() }
    }

    /// Opens the pages of these CPUs.
    pub fn open(&mut self, instance: &Instance, cpus: &CpuSet) -> Result<(), String> {
        let pipes = cpus.iter().map(|cpu| Ok((cpu, instance.pipe(cpu, self.layout.page)?)));
        self.pipes = pipes.collect::<Result<_, String>>()?;
        Ok(())
    }

    /// Gives everything up to this time in its order; what is younger stays for the next reading. Events
    /// that were lost are one of their own before the next one.
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
        // Each CPU's are in order, so that this is little more than to merge them.
        events.sort_by_key(|(at, ..)| *at);
        let young = events.partition_point(|(at, ..)| *at < until);
        self.young = events.split_off(young);
        events.into_iter().for_each(|(at, cpu, event)| on_event(at, cpu, event));
    }
}
