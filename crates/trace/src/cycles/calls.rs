//! The system calls that reveal the cycles of a program, with their numbers on each architecture.

macro_rules! calls {
    ($($name:ident $word:literal $x86_64:literal $generic:literal),+ $(,)?) => {
        /// A system call, as far as it matters here.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Call {
            $(#[doc = concat!("`", $word, "`")] $name,)+
            /// Any other, by number.
            Other(i32),
        }

        /// Numbers on x86-64, and on arm64 and riscv64; -1 if it does not exist there.
        const NUMBERS: &[(Call, &str, [i32; 2])] =
            &[$((Call::$name, $word, [$x86_64, $generic])),+];
    };
}

calls! {
    Read "read" 0 63,
    Open "open" 2 -1,
    Pread "pread64" 17 67,
    Madvise "madvise" 28 233,
    Msync "msync" 26 227,
    Connect "connect" 42 203,
    Wait4 "wait4" 61 260,
    Flock "flock" 73 32,
    Ftruncate "ftruncate" 77 46,
    Sync "sync" 162 81,
    Getdents64 "getdents64" 217 61,
    Newfstatat "newfstatat" 262 79,
    Unlinkat "unlinkat" 263 35,
    SyncFileRange "sync_file_range" 277 84,
    Syncfs "syncfs" 306 267,
    Renameat2 "renameat2" 316 276,
    Getrandom "getrandom" 318 278,
    Statx "statx" 332 291,
    Write "write" 1 64,
    Close "close" 3 57,
    Poll "poll" 7 -1,
    Mmap "mmap" 9 222,
    Munmap "munmap" 11 215,
    Brk "brk" 12 214,
    Ioctl "ioctl" 16 29,
    Pwrite "pwrite64" 18 68,
    Readv "readv" 19 65,
    Writev "writev" 20 66,
    Select "select" 23 -1,
    SchedYield "sched_yield" 24 124,
    Mremap "mremap" 25 216,
    Dup2 "dup2" 33 -1,
    Pause "pause" 34 -1,
    Nanosleep "nanosleep" 35 101,
    Sendto "sendto" 44 206,
    Recvfrom "recvfrom" 45 207,
    Sendmsg "sendmsg" 46 211,
    Recvmsg "recvmsg" 47 212,
    Accept "accept" 43 202,
    Semop "semop" 65 193,
    Msgrcv "msgrcv" 70 188,
    Getpid "getpid" 39 172,
    Gettimeofday "gettimeofday" 96 169,
    Gettid "gettid" 186 178,
    ClockGettime "clock_gettime" 228 113,
    Getcpu "getcpu" 309 168,
    Fsync "fsync" 74 82,
    Fdatasync "fdatasync" 75 83,
    RtSigtimedwait "rt_sigtimedwait" 128 137,
    RtSigsuspend "rt_sigsuspend" 130 133,
    Futex "futex" 202 98,
    RestartSyscall "restart_syscall" 219 128,
    Semtimedop "semtimedop" 220 192,
    ClockNanosleep "clock_nanosleep" 230 115,
    EpollWait "epoll_wait" 232 -1,
    MqTimedreceive "mq_timedreceive" 243 183,
    Openat "openat" 257 56,
    Pselect6 "pselect6" 270 72,
    Ppoll "ppoll" 271 73,
    EpollPwait "epoll_pwait" 281 22,
    Dup3 "dup3" 292 24,
    Recvmmsg "recvmmsg" 299 243,
    IoUringEnter "io_uring_enter" 426 426,
    CloseRange "close_range" 436 436,
    EpollPwait2 "epoll_pwait2" 441 441,
}

impl Call {
    /// Its name in the manual; `None` for an unknown call.
    pub fn name(self) -> Option<&'static str> {
        NUMBERS.iter().find(|(call, ..)| *call == self).map(|(_, name, _)| *name)
    }

    /// The call with this name, as a user writes it.
    pub fn named(name: &str) -> Option<Call> {
        NUMBERS.iter().find(|(_, known, _)| *known == name).map(|(call, ..)| *call)
    }

    /// The name, or the number of an unknown call.
    pub fn words(self) -> String {
        match self {
            Call::Other(number) => format!("system call {number}"),
            known => known.name().unwrap_or_default().to_string(),
        }
    }

    /// Whether its first argument is the file descriptor that it waits for or works on.
    pub fn has_descriptor(self) -> bool {
        use Call::*;
        matches!(
            self,
            Read | Readv
                | Recvfrom
                | Recvmsg
                | Recvmmsg
                | Accept
                | Ioctl
                | MqTimedreceive
                | EpollWait
                | EpollPwait
                | EpollPwait2
                | IoUringEnter
                | Write
                | Pwrite
                | Writev
                | Sendto
                | Sendmsg
                | Fsync
                | Fdatasync
                | Close
        )
    }

    /// Whether it sleeps for a time.
    pub fn is_sleep(self) -> bool {
        matches!(self, Call::ClockNanosleep | Call::Nanosleep)
    }

    /// Whether it waits for several files, so that the following calls show what woke it.
    pub fn is_poll(self) -> bool {
        use Call::*;
        matches!(self, EpollWait | EpollPwait | EpollPwait2 | Poll | Ppoll | Select | Pselect6)
    }

    /// Whether it waits for a signal whose handler runs after it has returned.
    pub fn is_signal_wait(self) -> bool {
        matches!(self, Call::Pause | Call::RtSigsuspend)
    }

    /// Whether the timer that ended it is restarted only after it has returned.
    pub fn is_told_later(self) -> bool {
        self.is_poll() || self.is_signal_wait()
    }

    /// Whether a program waits for its next work in it.
    pub fn waits(self) -> bool {
        use Call::*;
        let waits = matches!(
            self,
            Read | Readv
                | Recvfrom
                | Recvmsg
                | Recvmmsg
                | Accept
                | Ioctl
                | MqTimedreceive
                | IoUringEnter
                | Pause
                | RtSigsuspend
                | RtSigtimedwait
                | Futex
                | Semop
                | Semtimedop
                | Msgrcv
                | SchedYield
        );
        waits || self.is_sleep() || self.is_poll()
    }

    /// Whether it never waits, so that a loop may make thousands.
    pub fn is_quick(self) -> bool {
        use Call::*;
        matches!(self, ClockGettime | Gettimeofday | Getpid | Gettid | Getcpu)
    }

    /// Whether it may be a fault in a cycle.
    pub fn may_be_fault(self) -> bool {
        use Call::*;
        let is_one = matches!(
            self,
            Mmap | Munmap | Brk | Mremap | Fsync | Fdatasync | Open | Openat | SchedYield | Futex
        );
        is_one || self.is_sleep() || self.writes()
    }

    /// Whether a socket may limit its time.
    pub fn may_time_out_by_ticks(self) -> bool {
        use Call::*;
        let receives = matches!(self, Read | Readv | Recvfrom | Recvmsg | Recvmmsg | Accept);
        receives || self.writes()
    }

    pub fn writes(self) -> bool {
        matches!(self, Call::Write | Call::Pwrite | Call::Writev | Call::Sendto | Call::Sendmsg)
    }
}

#[derive(Clone, Debug)]
pub struct CallTable {
    by_number: Vec<Call>,
}

impl CallTable {
    /// The table of an architecture by Rust's name; `None` if there is none.
    pub fn of(architecture: &str) -> Option<CallTable> {
        let column = match architecture {
            "x86_64" => 0,
            "aarch64" | "riscv64" => 1,
            _ => return None,
        };
        let mut by_number: Vec<Call> = Vec::new();
        for (call, _, numbers) in NUMBERS {
            let Ok(number) = usize::try_from(numbers[column]) else { continue };
            let known = by_number.len()..=number.max(by_number.len());
            by_number.extend(known.map(|number| Call::Other(number as i32)));
            by_number[number] = *call;
        }
        Some(CallTable { by_number })
    }

    pub fn call(&self, number: i64) -> Call {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.by_number.get(at).copied()).unwrap_or(Call::Other(number as i32))
    }

    /// Numbers of the calls for which this holds.
    pub fn numbers(&self, holds: impl Fn(Call) -> bool) -> Vec<usize> {
        let numbered = self.by_number.iter().enumerate();
        numbered.filter(|(_, call)| holds(**call)).map(|(number, _)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_by_architecture() {
        let [intel, arm] = ["x86_64", "aarch64"].map(|name| CallTable::of(name).unwrap());
        assert_eq!(intel.call(230), Call::ClockNanosleep);
        assert_eq!(arm.call(115), Call::ClockNanosleep);
        assert_eq!((intel.call(115), intel.call(9999)), (Call::Other(115), Call::Other(9999)));
        assert_eq!(intel.call(-1), Call::Other(-1));
        assert!(CallTable::of("sparc64").is_none());
        assert_eq!(arm.numbers(Call::is_quick), [113, 168, 169, 172, 178]);
    }

    #[test]
    fn a_call_is_found_by_its_name() {
        assert_eq!(Call::named("epoll_wait"), Some(Call::EpollWait));
        assert_eq!(Call::named("fork"), None);
        assert_eq!(Call::Other(7).words(), "system call 7");
    }
}
