//! The user stack of a thread at its system calls and page faults, sampled by perf.

use crate::{Errno, checked};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that are kept of a stack: enough for the frames of a C library's call.
pub const STACK_BYTES: usize = 2048;
/// Size of a thread's ring buffer, besides its first page. A power of two.
const RING: usize = 128 * 1024;
/// Positions of the two ends in that page.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// `perf_event_attr` of Linux 4.1.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branches: u64,
    registers: u64,
    stack: u32,
    clock: i32,
}

const SOFTWARE: u32 = 1;
const TRACEPOINT: u32 = 2;
const PAGE_FAULTS: u64 = 2;
const RECORD_SAMPLE: u32 = 9;
/// Time, registers and stack.
const SAMPLE: u64 = 1 << 2 | 1 << 12 | 1 << 13;
/// The clock is given; the reader is never woken.
const FLAGS: u64 = 1 << 25 | 1 << 14;
const FLAG_CLOEXEC: libc::c_ulong = 1 << 3;
const SET_OUTPUT: libc::c_ulong = 0x2405;
const SET_FILTER: libc::c_ulong = 0x4000_2406 | (size_of::<usize>() as libc::c_ulong) << 16;

/// The registers as perf numbers them, and the positions of instruction, stack, frame and link among
/// them. x86 has no link register.
#[cfg(target_arch = "x86_64")]
const REGISTERS: (u64, [usize; 4]) = (1 << 6 | 1 << 7 | 1 << 8, [2, 1, 0, 2]);
#[cfg(target_arch = "aarch64")]
const REGISTERS: (u64, [usize; 4]) = (0xf << 29, [3, 2, 0, 1]);
#[cfg(target_arch = "riscv64")]
const REGISTERS: (u64, [usize; 4]) = (1 | 1 << 1 | 1 << 2 | 1 << 8, [0, 2, 3, 1]);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const REGISTERS: (u64, [usize; 4]) = (0, [0; 4]);

/// A thread's registers and the top of its stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserStack {
    /// Time on CLOCK_MONOTONIC.
    pub at: i64,
    /// The instruction pointer.
    pub instruction: u64,
    /// The stack pointer, where `stack` begins.
    pub pointer: u64,
    /// The frame pointer, if the program uses that register as one.
    pub frame: u64,
    /// The return address, on machines that have a register for it.
    pub link: u64,
    /// Memory from the stack pointer on.
    pub stack: Vec<u8>,
}

/// Samples the stack of one thread.
#[derive(Debug)]
pub struct UserStacks {
    calls: OwnedFd,
    /// Open for as long as they are sampled.
    faults: OwnedFd,
    page: *mut u8,
    page_size: usize,
}

impl UserStacks {
    /// Begins with the system calls that a filter of the tracepoint `raw_syscalls/sys_enter`, which
    /// has this number, lets through, and with page faults.
    pub fn open(thread: i32, tracepoint: u64, filter: &str) -> Result<UserStacks, Errno> {
        let calls = open(thread, TRACEPOINT, tracepoint)?;
        let faults = open(thread, SOFTWARE, PAGE_FAULTS)?;
        let page_size = crate::memory::page_size();
        let (access, shared) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        let anywhere = std::ptr::null_mut();
        // SAFETY: a new mapping, which nothing else knows.
        let page = unsafe { mmap(anywhere, page_size + RING, access, shared, &calls, 0) }?;
        let stacks = UserStacks { calls, faults, page: page.cast(), page_size };
        let (faults, calls) = (stacks.faults.as_raw_fd(), stacks.calls.as_raw_fd());
        let filter = CString::new(filter).map_err(|_| Errno::INVAL)?;
        // SAFETY: both are open; the kernel copies the text during the call, and keeps what it needs
        // of the others.
        unsafe {
            checked(libc::ioctl(calls, SET_FILTER as _, filter.as_ptr()).into())?;
            checked(libc::ioctl(faults, SET_OUTPUT as _, calls).into())?;
        }
        Ok(stacks)
    }

    fn end(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: an aligned counter in the first page of the mapping, which lives as long as self.
        unsafe { AtomicU64::from_ptr(self.page.add(offset).cast()) }
    }

    /// Calls `on_stack` for each sample since the last call.
    pub fn read(&mut self, mut on_stack: impl FnMut(UserStack)) {
        let head = self.end(DATA_HEAD).load(Ordering::Acquire);
        let mut tail = self.end(DATA_TAIL).load(Ordering::Relaxed);
        while tail < head {
            let word = self.word(tail);
            let (kind, size) = (word as u32, word >> 48);
            if size < 8 {
                break;
            }
            if kind == RECORD_SAMPLE {
                on_stack(self.sample(tail + 8));
            }
            tail += size;
        }
        self.end(DATA_TAIL).store(head, Ordering::Release);
    }

    fn word(&self, at: u64) -> u64 {
        let offset = self.page_size + (at as usize & (RING - 8));
        // SAFETY: within the mapping and aligned; the kernel writes only beyond the head.
        unsafe { self.page.add(offset).cast::<u64>().read() }
    }

    fn sample(&self, at: u64) -> UserStack {
        let (mask, order) = REGISTERS;
        let has_registers = self.word(at + 8) != 0;
        let count = if has_registers { u64::from(mask.count_ones()) } else { 0 };
        let register = |which: usize| match has_registers {
            true => self.word(at + 16 + order[which] as u64 * 8),
            false => 0,
        };
        let stack = at + 16 + count * 8;
        let size = self.word(stack).min(STACK_BYTES as u64);
        let filled = if size > 0 { self.word(stack + 8 + size).min(size) } else { 0 };
        let words = (0..filled / 8).map(|word| self.word(stack + 8 + word * 8));
        UserStack {
            at: self.word(at) as i64,
            instruction: register(0),
            pointer: register(1),
            frame: register(2),
            link: register(3),
            stack: words.flat_map(u64::to_le_bytes).collect(),
        }
    }
}

impl Drop for UserStacks {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the mapping any more.
        let _ = unsafe { munmap(self.page.cast(), self.page_size + RING) };
    }
}

fn open(thread: i32, kind: u32, config: u64) -> Result<OwnedFd, Errno> {
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        sample_period: 1,
        sample_type: SAMPLE,
        flags: FLAGS,
        wakeup: u32::MAX,
        registers: REGISTERS.0,
        stack: STACK_BYTES as u32,
        clock: libc::CLOCK_MONOTONIC,
        ..Attributes::default()
    };
    // SAFETY: the kernel reads as many bytes of the structure as that says.
    let file = checked(unsafe {
        libc::syscall(libc::SYS_perf_event_open, &attributes, thread, -1, -1, FLAG_CLOEXEC)
    })?;
    // SAFETY: a new descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(file as i32) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_are_those_of_the_kernel() {
        assert_eq!(size_of::<Attributes>(), 96);
    }
}
