//! Scheduling, affinity and timer slack of threads.

mod thread_scheduling;

pub use thread_scheduling::ThreadScheduling;

use crate::{Errno, checked};
use rustix::thread::CpuSet;
use std::num::NonZeroU64;

/// How the kernel schedules a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduling {
    /// SCHED_OTHER.
    Other,
    /// SCHED_FIFO with its priority.
    Fifo(u32),
    /// SCHED_RR with its priority.
    Rr(u32),
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_DEADLINE, in nanoseconds.
    Deadline {
        /// Budget per period.
        runtime: u64,
        /// Time within which the budget is granted.
        deadline: u64,
        /// Period of the budget.
        period: u64,
    },
    /// A policy with an unknown number.
    Unknown(u32),
}

/// The kernel's structure for `sched_setattr`, in its first version, which every kernel accepts.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

const _: () = assert!(size_of::<Attributes>() == 48);

impl Attributes {
    fn scheduling(&self) -> Scheduling {
        match self.policy {
            OTHER => Scheduling::Other,
            FIFO => Scheduling::Fifo(self.priority),
            RR => Scheduling::Rr(self.priority),
            BATCH => Scheduling::Batch,
            IDLE => Scheduling::Idle,
            DEADLINE => Scheduling::Deadline {
                runtime: self.runtime,
                deadline: self.deadline,
                period: self.period,
            },
            policy => Scheduling::Unknown(policy),
        }
    }
}

const OTHER: u32 = 0;
const FIFO: u32 = 1;
const RR: u32 = 2;
const BATCH: u32 = 3;
const IDLE: u32 = 5;
const DEADLINE: u32 = 6;
/// SCHED_FLAG_RESET_ON_FORK: children of a real-time thread are SCHED_OTHER again.
const RESET_ON_FORK: u64 = 1;

impl Scheduling {
    /// Whether it runs before all SCHED_OTHER threads.
    pub fn is_realtime(self) -> bool {
        matches!(self, Scheduling::Fifo(_) | Scheduling::Rr(_) | Scheduling::Deadline { .. })
    }

    fn attributes(self) -> Attributes {
        let with = |policy, priority| Attributes { policy, priority, ..Attributes::default() };
        match self {
            Scheduling::Other => with(OTHER, 0),
            Scheduling::Fifo(priority) => with(FIFO, priority),
            Scheduling::Rr(priority) => with(RR, priority),
            Scheduling::Batch => with(BATCH, 0),
            Scheduling::Idle => with(IDLE, 0),
            Scheduling::Deadline { runtime, deadline, period } => {
                Attributes { runtime, deadline, period, ..with(DEADLINE, 0) }
            }
            Scheduling::Unknown(policy) => with(policy, 0),
        }
    }
}

/// Sets the scheduling of the calling thread. A raw system call, since musl's function always
/// fails.
pub fn set_scheduling(scheduling: Scheduling) -> Result<(), Errno> {
    set_scheduling_of(0, scheduling)
}

/// Sets the scheduling of another thread, by its id; 0 is the calling one. A SCHED_OTHER thread
/// keeps its nice value, since lowering it needs a privilege.
pub fn set_scheduling_of(thread: u32, scheduling: Scheduling) -> Result<(), Errno> {
    let nice = if scheduling.is_realtime() { 0 } else { attributes_of(thread)?.nice };
    set_attributes(thread, Attributes { flags: RESET_ON_FORK, nice, ..scheduling.attributes() })
}

fn set_attributes(thread: u32, attributes: Attributes) -> Result<(), Errno> {
    let attributes = Attributes { size: size_of::<Attributes>() as u32, ..attributes };
    // SAFETY: the structure has the kernel's layout and holds its own size.
    checked(unsafe { libc::syscall(libc::SYS_sched_setattr, thread, &attributes, 0) }).map(drop)
}

/// The scheduling of the calling thread.
pub fn scheduling() -> Result<Scheduling, Errno> {
    scheduling_of(0)
}

/// The scheduling of a thread, by its id; 0 is the calling one.
pub fn scheduling_of(thread: u32) -> Result<Scheduling, Errno> {
    attributes_of(thread).map(|got| got.scheduling())
}

fn attributes_of(thread: u32) -> Result<Attributes, Errno> {
    let mut got = Attributes::default();
    let size = size_of::<Attributes>();
    // SAFETY: the kernel writes at most `size` bytes to the structure.
    checked(unsafe { libc::syscall(libc::SYS_sched_getattr, thread, &mut got, size, 0) })?;
    Ok(got)
}

/// Restricts the calling thread to these CPUs.
pub fn set_affinity(cpus: impl IntoIterator<Item = u32>) -> Result<(), Errno> {
    set_affinity_at(None, cpus)
}

/// Restricts a thread, by its id, to these CPUs; the id of a process is that of its first thread.
pub fn set_affinity_of(pid: u32, cpus: impl IntoIterator<Item = u32>) -> Result<(), Errno> {
    let pid = rustix::process::Pid::from_raw(pid as i32).ok_or(Errno::SRCH)?;
    set_affinity_at(Some(pid), cpus)
}

fn set_affinity_at(
    process: Option<rustix::process::Pid>,
    cpus: impl IntoIterator<Item = u32>,
) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(Errno::INVAL);
        }
        set.set(cpu as usize);
    }
    rustix::thread::sched_setaffinity(process, &set)
}

/// The CPUs that the calling thread may run on.
pub fn affinity() -> Result<Vec<u32>, Errno> {
    affinity_at(None)
}

/// The CPUs that process 1 may run on: those of the whole system, as far as is visible.
pub fn affinity_of_init() -> Result<Vec<u32>, Errno> {
    affinity_at(Some(rustix::process::Pid::INIT))
}

/// The CPUs that another process may run on.
pub fn affinity_of(pid: u32) -> Result<Vec<u32>, Errno> {
    let pid = rustix::process::Pid::from_raw(pid as i32).ok_or(Errno::SRCH)?;
    affinity_at(Some(pid))
}

fn affinity_at(process: Option<rustix::process::Pid>) -> Result<Vec<u32>, Errno> {
    let set = rustix::thread::sched_getaffinity(process)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

/// Sets how late the kernel may end a SCHED_OTHER thread's sleep, in nanoseconds.
pub fn set_timer_slack(slack: NonZeroU64) -> Result<(), Errno> {
    rustix::thread::set_current_timer_slack(Some(slack))
}

/// How late the kernel may end the calling thread's sleep; 0 for real-time threads.
pub fn timer_slack() -> Result<u64, Errno> {
    rustix::thread::current_timer_slack()
}

/// Names the calling thread, for `top` and traces.
pub fn set_name(name: &str) {
    if let Ok(name) = std::ffi::CString::new(name) {
        // A thread without its name measures as well.
        let _ = rustix::thread::set_name(&name);
    }
}

/// Number of the calling thread.
pub fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// The CPU that the calling thread runs on.
pub fn current_cpu() -> u32 {
    rustix::thread::sched_getcpu() as u32
}

/// Interrupts the sleep of a thread of this process with `EINTR`, if the signal has our handler.
pub fn wake(thread: i32) {
    let process = std::process::id();
    // SAFETY: no memory is passed; a thread that has ended only makes the call fail.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, crate::signal::WAKE) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read_back() {
        std::thread::spawn(|| {
            set_scheduling(Scheduling::Batch).unwrap();
            assert_eq!(scheduling(), Ok(Scheduling::Batch));
            set_timer_slack(NonZeroU64::MIN).unwrap();
            assert_eq!(timer_slack(), Ok(1));
            let first = affinity().unwrap()[0];
            set_affinity([first]).unwrap();
            assert_eq!(affinity(), Ok(vec![first]));
            assert_eq!(set_affinity([5000]), Err(Errno::INVAL));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn an_ordinary_thread_keeps_its_nice_value() {
        std::thread::spawn(|| {
            let nicer = attributes_of(0).unwrap().nice.min(14) + 5;
            set_attributes(0, Attributes { nice: nicer, ..Attributes::default() }).unwrap();
            set_scheduling(Scheduling::Batch).unwrap();
            assert_eq!(attributes_of(0).unwrap().nice, nicer);
        })
        .join()
        .unwrap();
    }
}
