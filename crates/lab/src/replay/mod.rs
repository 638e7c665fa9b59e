//! A guest that was replayed with a plugin of its emulator: what it executed before its wake-ups,
//! as parts of each latency that are exact to the nanosecond.
//!
//! `records.rs` reads what the plugin writes, `code.rs` knows the few instructions that matter,
//! `walk.rs` follows calls, interrupts and switches through them, `tell.rs` cuts a wake-up into its
//! parts, `context.rs` says in words what ran, and `tree.rs` shows it over time.

mod code;
mod context;
mod long;
mod paths;
mod records;
mod result;
mod symbols;
mod tally;
mod tell;
mod tree;
mod walk;

use code::Code;
use context::Contexts;
pub use long::LongPaths;
use records::{Item, RecordReader, Task, Window};
pub use result::{
    Activity, GuestThread, LongPath, OffKind, ReplayCause, ReplayPart, ReplayPartFigures,
    ReplayTable, ReplayedLatency, TimedPart,
};
use std::io::{self, Read};
use symbols::Symbols;
pub use tally::ReplayTally;
use walk::{Walked, Walker};

/// What has to be known of a guest's kernel.
#[derive(Clone, Copy, Debug)]
pub struct GuestKernel<'a> {
    /// Its processor, as `uname -m` names it.
    pub architecture: &'a str,
    /// Its `/proc/kallsyms`.
    pub symbols: &'a str,
    /// Where it keeps its preemption count.
    pub preempt_count: Option<u64>,
    /// Whether it is preemptible.
    pub preempts: bool,
}

/// Calls back for each recorded wake-up in order; returns the number of instructions that the guest
/// executed. Neither this nor any other code that handles each block is generic, so that all of it
/// is compiled with this crate's optimisation level.
pub fn tell_replay(
    kernel: GuestKernel<'_>,
    records: &mut dyn Read,
    each: &mut dyn FnMut(ReplayedLatency),
) -> io::Result<u64> {
    walk_replay(kernel, records, &mut |window, walked, contexts, task| {
        each(tell::tell(window, walked, contexts, task));
    })
}

/// Finds the longest paths of a guest of this seed with interrupts or preemption disabled.
pub fn find_long_paths(
    kernel: GuestKernel<'_>,
    records: &mut dyn Read,
    seed: u64,
    paths: &mut LongPaths,
) -> io::Result<u64> {
    walk_replay(kernel, records, &mut |_, walked, contexts, task| {
        paths.push(seed, walked, contexts, task);
    })
}

type NameTask<'a> = &'a dyn Fn(u32) -> Option<Task>;

fn walk_replay(
    kernel: GuestKernel<'_>,
    records: &mut dyn Read,
    each: &mut dyn FnMut(&Window, &Walked, &Contexts<'_>, NameTask<'_>),
) -> io::Result<u64> {
    let symbols = Symbols::parse(kernel.symbols);
    let mut reader = RecordReader::new(records)?;
    let code = Code::new(kernel.architecture, kernel.preempt_count);
    let mut walker = Walker::new(code, &symbols);
    while let Some(item) = reader.next_item()? {
        if let Item::Totals(totals) = item {
            return Ok(totals.instructions);
        }
        let window = reader.window();
        walker.walk(&reader, window);
        let contexts =
            Contexts { paths: &walker.paths, symbols: &symbols, preempts: kernel.preempts };
        each(window, &walker.walked, &contexts, &|number| reader.task(number).cloned());
    }
    Err(io::Error::other("the plugin's output ends before the guest did"))
}

#[cfg(test)]
mod tests;
