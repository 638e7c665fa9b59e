//! Faults that are planted in a guest on purpose, to be found again in its run.

use crate::Nanos;
use crate::load::{Load, LoadProcess};
use crate::nanos::{MICROSECOND, MILLISECOND, SECOND};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

text_enum! {
    /// What goes wrong.
    FaultKind {
        /// A kernel module keeps interrupts off.
        IrqsOff = "irqs-off",
        /// The kernel prints line after line on its console.
        PrintkStorm = "printk-storm",
        /// A thread of high priority does not sleep.
        FifoHog = "fifo-hog",
        /// Packets over the loop-back interface keep softirqs busy.
        SoftirqFlood = "softirq-flood",
        /// CLOCK_REALTIME is set forward.
        ClockStep = "clock-step",
        /// A CPU is taken away from the system.
        CpuOffline = "cpu-offline",
        /// The host does not let the guest run.
        HypervisorPause = "hypervisor-pause",
    }
}

/// A fault, and when: `irqs-off@5s:2ms`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// When, from the first counted release on.
    pub at_ns: Nanos,
    /// For how long; by how much, where a clock is set.
    pub length_ns: Nanos,
    /// Priority of a thread that does not sleep.
    pub priority: u8,
    /// The CPU that is taken away.
    pub cpu: u32,
}

/// Name of the load that a fault is, and the first word of its program.
pub const FAULT: &str = "fault";
/// The agent, as a guest has it.
const PROGRAM: &str = "/init";
/// When, unless somebody says otherwise.
const AT: Nanos = Nanos(2 * SECOND.0);
/// Above that of the measuring threads.
const PRIORITY: u8 = 95;
/// Which CPU, since the first one cannot go everywhere.
const CPU: u32 = 1;

impl FaultKind {
    fn usual_length(self) -> Nanos {
        match self {
            FaultKind::IrqsOff => MILLISECOND * 2,
            FaultKind::ClockStep => SECOND * 3600,
            FaultKind::PrintkStorm | FaultKind::FifoHog | FaultKind::SoftirqFlood => {
                MILLISECOND * 500
            }
            FaultKind::CpuOffline => Nanos::ZERO,
            FaultKind::HypervisorPause => MILLISECOND * 20,
        }
    }

    /// Whether it makes sense in the host's time only: in virtual time there is one CPU, and a guest
    /// does not see that it was stopped.
    pub fn of_hosts_time(self) -> bool {
        matches!(self, FaultKind::CpuOffline | FaultKind::HypervisorPause)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let whole = |time: Nanos| format!("{}us", time.0 / MICROSECOND.0);
        write!(f, "{}@{}", self.kind, whole(self.at_ns))?;
        match self.kind {
            FaultKind::FifoHog => write!(f, ":{}:prio{}", whole(self.length_ns), self.priority),
            FaultKind::CpuOffline => write!(f, ":{}", self.cpu),
            _ => write!(f, ":{}", whole(self.length_ns)),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let mut parts = text.split(':');
        let head = parts.next().unwrap_or_default();
        let (name, at) = head.split_once('@').unwrap_or((head, ""));
        let kind = FaultKind::ALL.iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
            let known: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.as_str()).collect();
            format!("unknown fault '{name}': expected {} or tiny-memory", known.join(", "))
        })?;
        let time = |text: &str| text.parse::<Nanos>().map_err(|error| error.to_string());
        let at_ns = if at.is_empty() { AT } else { time(at)? };
        let length_ns = kind.usual_length();
        let mut fault = Fault { kind: *kind, at_ns, length_ns, priority: PRIORITY, cpu: CPU };
        for part in parts {
            match part.strip_prefix("prio") {
                Some(number) if *kind == FaultKind::FifoHog => {
                    let priority = number.parse().ok().filter(|number| (1..=99).contains(number));
                    fault.priority =
                        priority.ok_or_else(|| format!("'{part}': expected prio1 to prio99"))?;
                }
                Some(_) => return Err(format!("'{part}' requires fifo-hog")),
                None if *kind == FaultKind::CpuOffline => {
                    let cpu = part.parse();
                    fault.cpu =
                        cpu.map_err(|_| format!("'{part}': expected the number of a CPU"))?;
                }
                None => fault.length_ns = time(part)?,
            }
        }
        Ok(fault)
    }
}

impl Fault {
    /// The load that plants it, whose clock begins so long before the first counted release.
    pub fn load(self, words: &str, before: Nanos) -> Load {
        let planted = Fault { at_ns: self.at_ns + before, ..self };
        let argv = [PROGRAM, FAULT, &planted.to_string()].map(str::to_string).to_vec();
        let about = format!("{}, injected on purpose", self.kind);
        let processes = vec![LoadProcess { argv, ready: None }];
        Load { processes, ..Load::new(words, FAULT, &about) }
    }

    /// The faults that these loads plant.
    pub fn among(loads: &[Load]) -> impl Iterator<Item = Fault> {
        let faults = loads.iter().filter(|load| load.name == FAULT);
        faults.filter_map(|load| load.words.parse().ok())
    }
}
