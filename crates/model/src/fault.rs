//! Faults injected into a guest on purpose, to be found again in its run.

use crate::Nanos;
use crate::load::{Load, LoadProcess};
use crate::nanos::{MICROSECOND, MILLISECOND, SECOND};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

text_enum! {
    /// Kind of fault.
    InjectedFault {
        /// A kernel module disables interrupts.
        IrqsOff = "irqs-off",
        /// The kernel prints continuously to its console.
        PrintkStorm = "printk-storm",
        /// A high-priority thread does not sleep.
        FifoHog = "fifo-hog",
        /// Packets over the loop-back interface keep softirqs busy.
        SoftirqFlood = "softirq-flood",
        /// CLOCK_REALTIME is set forward.
        ClockStep = "clock-step",
        /// A CPU is taken offline.
        CpuOffline = "cpu-offline",
        /// The host pauses the guest.
        HypervisorPause = "hypervisor-pause",
    }
}

/// A fault and its time: `irqs-off@5s:2ms`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Kind of fault.
    pub kind: InjectedFault,
    /// Start, from the first counted release.
    pub at_ns: Nanos,
    /// Length; for a clock step, the size of the step.
    pub length_ns: Nanos,
    /// Priority of a thread that does not sleep.
    pub priority: u8,
    /// The CPU taken offline.
    pub cpu: u32,
}

/// Name of the load that stands for a fault, and first word of its command.
pub const FAULT: &str = "fault";
/// Path of the agent in a guest.
const PROGRAM: &str = "/init";
/// Default start.
const AT: Nanos = Nanos(2 * SECOND.0);
/// Default priority, above that of the measuring threads.
const PRIORITY: u8 = 95;
/// Default CPU; the first one cannot always be taken offline.
const CPU: u32 = 1;

impl InjectedFault {
    fn usual_length(self) -> Nanos {
        match self {
            InjectedFault::IrqsOff => MILLISECOND * 2,
            InjectedFault::ClockStep => SECOND * 3600,
            InjectedFault::PrintkStorm | InjectedFault::FifoHog | InjectedFault::SoftirqFlood => {
                MILLISECOND * 500
            }
            InjectedFault::CpuOffline => Nanos::ZERO,
            InjectedFault::HypervisorPause => MILLISECOND * 20,
        }
    }

    /// Whether it makes sense in the host's time only: in virtual time there is one CPU, and a
    /// guest cannot see that it was paused.
    pub fn of_hosts_time(self) -> bool {
        matches!(self, InjectedFault::CpuOffline | InjectedFault::HypervisorPause)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let whole = |time: Nanos| format!("{}us", time.0 / MICROSECOND.0);
        write!(f, "{}@{}", self.kind, whole(self.at_ns))?;
        match self.kind {
            InjectedFault::FifoHog => write!(f, ":{}:prio{}", whole(self.length_ns), self.priority),
            InjectedFault::CpuOffline => write!(f, ":{}", self.cpu),
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
        let kind =
            InjectedFault::ALL.iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
                let known: Vec<&str> =
                    InjectedFault::ALL.iter().map(|kind| kind.as_str()).collect();
                format!("unknown fault '{name}': expected {} or tiny-memory", known.join(", "))
            })?;
        let time = |text: &str| text.parse::<Nanos>().map_err(|error| error.to_string());
        let at_ns = if at.is_empty() { AT } else { time(at)? };
        let length_ns = kind.usual_length();
        let mut fault = Fault { kind: *kind, at_ns, length_ns, priority: PRIORITY, cpu: CPU };
        for part in parts {
            match part.strip_prefix("prio") {
                Some(number) if *kind == InjectedFault::FifoHog => {
                    let priority = number.parse().ok().filter(|number| (1..=99).contains(number));
                    fault.priority =
                        priority.ok_or_else(|| format!("'{part}': expected prio1 to prio99"))?;
                }
                Some(_) => return Err(format!("'{part}' requires fifo-hog")),
                None if *kind == InjectedFault::CpuOffline => {
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
    /// The load that injects it; the load's clock starts `before` the first counted release.
    pub fn load(self, words: &str, before: Nanos) -> Load {
        let planted = Fault { at_ns: self.at_ns + before, ..self };
        let argv = [PROGRAM, FAULT, &planted.to_string()].map(str::to_string).to_vec();
        let about = format!("{}, injected on purpose", self.kind);
        let processes = vec![LoadProcess { argv, ready: None }];
        Load { processes, ..Load::new(words, FAULT, &about) }
    }

    /// The faults among these loads.
    pub fn among(loads: &[Load]) -> impl Iterator<Item = Fault> {
        let faults = loads.iter().filter(|load| load.name == FAULT);
        faults.filter_map(|load| load.words.parse().ok())
    }
}
