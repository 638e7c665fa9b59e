//! Signal handlers that only store numbers in flags.

use crate::Errno;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// Signals that this program handles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The request to terminate.
    Terminate,
    /// The terminal was closed.
    HangUp,
    /// A real-time thread ran too long without sleeping.
    CpuLimit,
    /// SIGUSR1, free for any use.
    User1,
    /// SIGUSR2, free for any use.
    User2,
    /// A file would exceed the size limit of this user.
    FileSize,
}

impl Signal {
    fn number(self) -> libc::c_int {
        match self {
            Signal::Interrupt => libc::SIGINT,
            Signal::Terminate => libc::SIGTERM,
            Signal::HangUp => libc::SIGHUP,
            Signal::CpuLimit => libc::SIGXCPU,
            Signal::User1 => libc::SIGUSR1,
            Signal::User2 => libc::SIGUSR2,
            Signal::FileSize => libc::SIGXFSZ,
        }
    }
}

const SIGNALS: usize = 65;
static FLAGS: [AtomicPtr<AtomicU8>; SIGNALS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; SIGNALS];
static VALUES: [AtomicU8; SIGNALS] = [const { AtomicU8::new(0) }; SIGNALS];

extern "C" fn handler(signal: libc::c_int) {
    let flag = FLAGS[signal as usize].load(Ordering::Acquire);
    if !flag.is_null() {
        // SAFETY: only `store_on` writes the pointer, and from a reference that lives for ever.
        unsafe { &*flag }.store(VALUES[signal as usize].load(Ordering::Relaxed), Ordering::Release);
    }
}

/// Stores a value in a flag when the signal comes.
pub fn store_on(signal: Signal, flag: &'static AtomicU8, value: u8) -> Result<(), Errno> {
    let number = signal.number();
    VALUES[number as usize].store(value, Ordering::Relaxed);
    FLAGS[number as usize].store(std::ptr::from_ref(flag).cast_mut(), Ordering::Release);
    install(number, handler as *const () as usize)
}

/// Whether the program was started with this signal ignored, as by `nohup`.
pub fn is_ignored(signal: Signal) -> bool {
    // SAFETY: an all-zero sigaction is a valid value of that plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action the kernel only writes the present one to `action`.
    let asked = unsafe { libc::sigaction(signal.number(), std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Ignores the signal, here and in programs that are started from here.
pub fn ignore(signal: Signal) -> Result<(), Errno> {
    install(signal.number(), libc::SIG_IGN)
}

/// The signal that interrupts sleeps; it has no other use here, and is ignored by default.
pub(crate) const WAKE: libc::c_int = libc::SIGURG;

/// Lets [`crate::sched::wake`] interrupt sleeps of this process's threads.
pub fn accept_wake() -> Result<(), Errno> {
    install(WAKE, handler as *const () as usize)
}

fn install(signal: libc::c_int, handler: usize) -> Result<(), Errno> {
    // SAFETY: an all-zero sigaction is a valid value of that plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    // SAFETY: the action is valid, and its handler only touches atomics.
    crate::checked(libc::c_long::from(unsafe {
        libc::sigaction(signal, &action, std::ptr::null_mut())
    }))
    .map(drop)
}
