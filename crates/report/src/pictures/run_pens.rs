//! Assigns pens to threads and CPUs, so that each has the same colour in every chart of a run.

use crate::pictures::curve::NAMED_LINES;
use latlab_model::Run;
use std::cmp::Reverse;

/// The pens of a run, by number.
pub struct RunPens {
    /// Threads in the order of their pens, with the CPU of each.
    threads: Vec<(u32, Option<u32>)>,
    /// CPUs on which nothing was measured; their pens follow.
    others: Vec<u32>,
}

impl RunPens {
    /// Threads get pens by thread number; with more threads than pens, those with the largest
    /// maxima get the first ones.
    pub fn new(run: &Run) -> RunPens {
        let mut threads: Vec<_> = run.threads.iter().collect();
        threads.sort_by_key(|one| one.setup.thread);
        if threads.len() > NAMED_LINES {
            threads.sort_by_key(|one| Reverse(one.summary.max_ns));
        }
        let threads: Vec<(u32, Option<u32>)> =
            threads.into_iter().map(|one| (one.setup.thread, one.setup.cpu)).collect();
        let is_measured = |cpu: &u32| threads.iter().any(|(_, own)| *own == Some(*cpu));
        let others = run.machine.cpus_online.iter().filter(|cpu| !is_measured(cpu)).collect();
        RunPens { threads, others }
    }

    pub fn thread(&self, thread: u32) -> usize {
        self.threads.iter().position(|(known, _)| *known == thread).unwrap_or(self.threads.len())
    }

    /// The pen of the first thread on the CPU.
    pub fn cpu(&self, cpu: u32) -> usize {
        let measured = self.threads.iter().position(|(_, own)| *own == Some(cpu));
        let other = || self.others.iter().position(|other| *other == cpu);
        let other = || other().unwrap_or(self.others.len()) + self.threads.len();
        measured.unwrap_or_else(other)
    }
}
