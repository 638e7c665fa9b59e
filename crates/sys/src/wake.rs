//! The ways in which one thread wakes another.

use crate::{Errno, checked};
use rustix::event::EventfdFlags;
use rustix::fd::OwnedFd;
use rustix::pipe::PipeFlags;
use rustix::thread::futex;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// A way to wake a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WakeMethod {
    /// A futex: a word in memory.
    Futex,
    /// A byte through a pipe.
    Pipe,
    /// A real-time signal that the thread waits for.
    Signal,
    /// An eventfd counter.
    Eventfd,
    /// A message in a POSIX queue.
    Mq,
    /// A System V semaphore.
    Sysv,
}

/// A channel between a waiting thread and one that wakes it.
pub enum Channel {
    /// See [`WakeMethod::Futex`].
    Futex(AtomicU32),
    /// See [`WakeMethod::Pipe`]: the read end and the write end.
    Pipe(OwnedFd, OwnedFd),
    /// See [`WakeMethod::Signal`]: the waiting thread.
    Signal(AtomicI32),
    /// See [`WakeMethod::Eventfd`].
    Eventfd(OwnedFd),
    /// See [`WakeMethod::Mq`].
    Mq(Queue),
    /// See [`WakeMethod::Sysv`].
    Sysv(Semaphore),
}

impl Channel {
    /// Opens a channel to the calling thread, for threads that it starts later.
    pub fn open(way: WakeMethod) -> Result<Channel, Errno> {
        Ok(match way {
            WakeMethod::Futex => Channel::Futex(AtomicU32::new(0)),
            WakeMethod::Pipe => {
                let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
                Channel::Pipe(read, write)
            }
            WakeMethod::Signal => {
                block(signal())?;
                Channel::Signal(AtomicI32::new(crate::sched::thread_id()))
            }
            WakeMethod::Eventfd => {
                Channel::Eventfd(rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?)
            }
            WakeMethod::Mq => Channel::Mq(Queue::open()?),
            WakeMethod::Sysv => Channel::Sysv(Semaphore::open()?),
        })
    }

    /// Sleeps until woken; `EINTR` if a signal came first.
    #[inline]
    pub fn wait(&self) -> Result<(), Errno> {
        match self {
            Channel::Futex(word) => {
                while word.swap(0, Ordering::Acquire) == 0 {
                    match futex::wait(word, futex::Flags::PRIVATE, 0, None) {
                        // It was woken in between, as the word shows.
                        Ok(()) | Err(Errno::AGAIN) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            }
            Channel::Pipe(read, _) => rustix::io::read(read, &mut [0; 1]).map(drop),
            Channel::Signal(_) => wait_for(signal()),
            Channel::Eventfd(counter) => rustix::io::read(counter, &mut [0; 8]).map(drop),
            Channel::Mq(queue) => queue.receive(),
            Channel::Sysv(semaphore) => semaphore.change(-1),
        }
    }

    /// Wakes the waiting thread, or keeps it from going to sleep.
    #[inline]
    pub fn wake(&self) -> Result<(), Errno> {
        match self {
            Channel::Futex(word) => {
                word.store(1, Ordering::Release);
                futex::wake(word, futex::Flags::PRIVATE, 1).map(drop)
            }
            Channel::Pipe(_, write) => rustix::io::write(write, &[1]).map(drop),
            Channel::Signal(thread) => send(signal(), thread.load(Ordering::Relaxed)),
            Channel::Eventfd(counter) => rustix::io::write(counter, &1_u64.to_ne_bytes()).map(drop),
            Channel::Mq(queue) => queue.send(),
            Channel::Sysv(semaphore) => semaphore.change(1),
        }
    }
}

/// The signal of [`WakeMethod::Signal`]; the first real-time signal is used by POSIX timers.
fn signal() -> libc::c_int {
    libc::SIGRTMIN() + 1
}

fn set_of(signal: libc::c_int) -> u64 {
    1 << (signal - 1)
}

/// Blocks a signal in the calling thread for good, since only [`wait_for`] may take it.
pub(crate) fn block(signal: libc::c_int) -> Result<(), Errno> {
    let (set, none) = (set_of(signal), std::ptr::null_mut::<u64>());
    // SAFETY: the set is 8 bytes as the kernel expects, the old set may be null.
    checked(unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK, &set, none, 8_usize)
    })
    .map(drop)
}

fn wait_for(signal: libc::c_int) -> Result<(), Errno> {
    let (information, for_ever) =
        (std::ptr::null_mut::<libc::siginfo_t>(), std::ptr::null::<libc::timespec>());
    // SAFETY: the set is 8 bytes; nothing is written, since no information is requested.
    checked(unsafe {
        let set = set_of(signal);
        libc::syscall(libc::SYS_rt_sigtimedwait, &set, information, for_ever, 8_usize)
    })
    .map(drop)
}

fn send(signal: libc::c_int, thread: i32) -> Result<(), Errno> {
    // SAFETY: only numbers are passed.
    checked(unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal) }).map(drop)
}

/// An unnamed POSIX message queue.
pub struct Queue(libc::mqd_t);

impl Queue {
    fn open() -> Result<Queue, Errno> {
        let name = format!("/latlab-{}\0", crate::sched::thread_id());
        let mode: libc::mode_t = 0o600;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: an all-zero mq_attr is a valid value of that plain structure.
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        attributes.mq_maxmsg = 1;
        attributes.mq_msgsize = 1;
        let name = name.as_ptr().cast::<libc::c_char>();
        // SAFETY: the name ends with a zero byte, and name and attributes outlive the call.
        let opened = unsafe { libc::mq_open(name, flags, mode, &raw mut attributes) };
        let queue = Queue(checked(opened.into())? as libc::mqd_t);
        // SAFETY: the name ends with a zero byte. Unlinked, the queue leaves nothing behind after a
        // kill.
        checked(unsafe { libc::mq_unlink(name) }.into())?;
        Ok(queue)
    }

    #[inline]
    fn send(&self) -> Result<(), Errno> {
        // SAFETY: one byte is read, and the string has it.
        checked(unsafe { libc::mq_send(self.0, c"w".as_ptr(), 1, 0) }.into()).map(drop)
    }

    #[inline]
    fn receive(&self) -> Result<(), Errno> {
        let mut byte: libc::c_char = 0;
        let priority = std::ptr::null_mut();
        // SAFETY: a message has one byte, and there is room for it.
        checked(unsafe { libc::mq_receive(self.0, &raw mut byte, 1, priority) } as libc::c_long)
            .map(drop)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the descriptor is that of this queue, which nothing else closes.
        unsafe { libc::mq_close(self.0) };
    }
}

/// A System V semaphore.
pub struct Semaphore(libc::c_int);

impl Semaphore {
    fn open() -> Result<Semaphore, Errno> {
        // In a private namespace, if permitted, it disappears with this thread even after a kill;
        // otherwise a kill leaves it to `ipcrm`.
        // SAFETY: this thread and those that it starts get another namespace, nothing else.
        let _ = unsafe { libc::unshare(libc::CLONE_NEWIPC) };
        // SAFETY: only numbers are passed.
        let id = unsafe { libc::semget(libc::IPC_PRIVATE, 1, 0o600) };
        checked(id.into()).map(|_| Semaphore(id))
    }

    #[inline]
    fn change(&self, by: i16) -> Result<(), Errno> {
        let mut change = libc::sembuf { sem_num: 0, sem_op: by, sem_flg: 0 };
        // SAFETY: the kernel reads one sembuf.
        checked(unsafe { libc::semop(self.0, &raw mut change, 1) }.into()).map(drop)
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: the id is that of this semaphore, which nothing else removes.
        unsafe { libc::semctl(self.0, 0, libc::IPC_RMID) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_wakes_once_and_not_before() {
        for way in [
            WakeMethod::Futex,
            WakeMethod::Pipe,
            WakeMethod::Signal,
            WakeMethod::Eventfd,
            WakeMethod::Mq,
            WakeMethod::Sysv,
        ] {
            let channel = Channel::open(way).unwrap();
            let woken = AtomicU32::new(0);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for count in 0..3 {
                        std::thread::sleep(std::time::Duration::from_millis(5));
                        assert_eq!(woken.load(Ordering::SeqCst), count, "{way:?}");
                        channel.wake().unwrap();
                        while woken.load(Ordering::SeqCst) == count {
                            std::thread::yield_now();
                        }
                    }
                });
                for _ in 0..3 {
                    channel.wait().unwrap();
                    woken.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    }
}
