//! The full scheduling state of any thread, so that it can be changed and restored exactly.

use super::{Attributes, RESET_ON_FORK, Scheduling, attributes_of, set_attributes};
use crate::Errno;
use std::fmt;
use std::str::FromStr;

/// Policy with priority or nice value; written `fifo 50`, `other -5`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadScheduling {
    scheduling: Scheduling,
    /// For the non-real-time policies.
    nice: i32,
    /// Whether its children are SCHED_OTHER again.
    resets: bool,
}

/// Suffix in the written form.
const RESETS: &str = "reset-on-fork";

impl ThreadScheduling {
    /// SCHED_FIFO at this priority.
    pub fn fifo(priority: u8) -> ThreadScheduling {
        let scheduling = Scheduling::Fifo(priority.into());
        ThreadScheduling { scheduling, nice: 0, resets: false }
    }

    /// Reads that of a thread, by its id.
    pub fn read(thread: u32) -> Result<ThreadScheduling, Errno> {
        let got = attributes_of(thread)?;
        let resets = got.flags & RESET_ON_FORK != 0;
        Ok(ThreadScheduling { scheduling: got.scheduling(), nice: got.nice, resets })
    }

    /// Its policy, with the priority of a real-time one.
    pub fn scheduling(self) -> Scheduling {
        self.scheduling
    }

    /// Its nice value; 0 if its policy has none.
    pub fn nice(self) -> i32 {
        self.nice
    }

    /// Applies it to a thread, by its id.
    pub fn apply(self, thread: u32) -> Result<(), Errno> {
        let flags = if self.resets { RESET_ON_FORK } else { 0 };
        let attributes = self.scheduling.attributes();
        set_attributes(thread, Attributes { flags, nice: self.nice, ..attributes })
    }
}

impl fmt::Display for ThreadScheduling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheduling {
            Scheduling::Fifo(priority) => write!(f, "fifo {priority}")?,
            Scheduling::Rr(priority) => write!(f, "rr {priority}")?,
            Scheduling::Other => write!(f, "other {}", self.nice)?,
            Scheduling::Batch => write!(f, "batch {}", self.nice)?,
            Scheduling::Idle => write!(f, "idle {}", self.nice)?,
            Scheduling::Deadline { .. } | Scheduling::Unknown(_) => {
                f.write_str("another policy")?
            }
        }
        if self.resets { write!(f, " {RESETS}") } else { Ok(()) }
    }
}

impl FromStr for ThreadScheduling {
    type Err = String;

    fn from_str(text: &str) -> Result<ThreadScheduling, String> {
        let wrong = || format!("'{text}' is not a policy that can be set");
        let mut words = text.split(' ');
        let (policy, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let resets = match words.next() {
            None => false,
            Some(RESETS) => true,
            Some(_) => return Err(wrong()),
        };
        let number: i32 = number.parse().map_err(|_| wrong())?;
        let (scheduling, nice) = match (policy, u32::try_from(number)) {
            ("fifo", Ok(priority)) => (Scheduling::Fifo(priority), 0),
            ("rr", Ok(priority)) => (Scheduling::Rr(priority), 0),
            ("other", _) => (Scheduling::Other, number),
            ("batch", _) => (Scheduling::Batch, number),
            ("idle", _) => (Scheduling::Idle, number),
            _ => return Err(wrong()),
        };
        Ok(ThreadScheduling { scheduling, nice, resets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_what_cannot_be_given_is_refused() {
        for text in ["fifo 50", "rr 1", "other -5", "batch 0", "idle 19", "fifo 7 reset-on-fork"] {
            assert_eq!(text.parse::<ThreadScheduling>().unwrap().to_string(), text);
        }
        for text in ["", "fifo", "fifo -1", "fifo x", "another policy", "fifo 50 x"] {
            assert!(text.parse::<ThreadScheduling>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_thread_stands_as_it_was_told() {
        std::thread::spawn(|| {
            let standing: ThreadScheduling = "batch 5 reset-on-fork".parse().unwrap();
            standing.apply(0).unwrap();
            assert_eq!(ThreadScheduling::read(0), Ok(standing));
        })
        .join()
        .unwrap();
    }
}
