//! The method of a run, with its own parameters, and what other parts ask of any method.

use super::attach::Attach;
use super::cyclic::{Cyclic, Cyclictest, Mechanism, MissedPolicy, Releases};
use super::handoff::Handoff;
use super::timerlat::Timerlat;
use super::{ClockName, Spin};
use crate::Nanos;
use crate::gpio::GpioWire;
use crate::import::Import;
use crate::respond::Respond;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// The name of a method.
    Instrument {
        /// A thread that sleeps until each release and reads the clock.
        Cyclic = "cyclic",
        /// A thread that another one wakes at each release, counted from just before the call.
        Handoff = "handoff",
        /// A busy loop that finds the time taken from it.
        Spin = "spin",
        /// The kernel's own tracer: a thread of the kernel on each CPU, which we only read.
        Timerlat = "timerlat",
        /// A program's own threads, as they are.
        Attach = "attach",
        /// Edges on wires: a stimulus, and the pin that answers it.
        Respond = "respond",
        /// Another tool has measured, and its file is read.
        Import = "import",
    }
}

/// How a run measures, with the parameters of that method alone.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "instrument", rename_all = "lowercase")]
pub enum Method {
    /// A thread sleeps until each release and reads the clock.
    Cyclic(Cyclic),
    /// Another thread wakes it at each release.
    Handoff(Handoff),
    /// A busy loop finds the time taken from it.
    Spin(Spin),
    /// The kernel's tracer measures, and its records are read.
    Timerlat(Timerlat),
    /// The cycles of a program's own threads are told by the kernel's events.
    Attach(Box<Attach>),
    /// Responses are found in a capture of wires.
    Respond(Box<Respond>),
    /// A file of another tool is read.
    Import(Box<Import>),
}

/// What a run records, whatever the method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded {
    /// How late a thread began.
    Latency,
    /// Time that was taken from a busy loop.
    Gap,
    /// Time from a stimulus to its response.
    Response,
}

impl Method {
    /// The name of the method.
    pub fn instrument(&self) -> Instrument {
        match self {
            Method::Cyclic(_) => Instrument::Cyclic,
            Method::Handoff(_) => Instrument::Handoff,
            Method::Spin(_) => Instrument::Spin,
            Method::Timerlat(_) => Instrument::Timerlat,
            Method::Attach(_) => Instrument::Attach,
            Method::Respond(_) => Instrument::Respond,
            Method::Import(_) => Instrument::Import,
        }
    }

    /// What it records.
    pub fn records(&self) -> Recorded {
        match self {
            Method::Import(import) if import.gaps.is_some() => Recorded::Gap,
            Method::Cyclic(_)
            | Method::Handoff(_)
            | Method::Timerlat(_)
            | Method::Attach(_)
            | Method::Import(_) => Recorded::Latency,
            Method::Spin(_) => Recorded::Gap,
            Method::Respond(_) => Recorded::Response,
        }
    }

    /// The releases that latlab plans; none where something else decides when it measures.
    pub fn releases(&self) -> Option<&Releases> {
        match self {
            Method::Cyclic(cyclic) => Some(&cyclic.releases),
            Method::Handoff(handoff) => Some(&handoff.releases),
            Method::Spin(_)
            | Method::Timerlat(_)
            | Method::Attach(_)
            | Method::Respond(_)
            | Method::Import(_) => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn releases_mut(&mut self) -> Option<&mut Releases> {
        match self {
            Method::Cyclic(cyclic) => Some(&mut cyclic.releases),
            Method::Handoff(handoff) => Some(&mut handoff.releases),
            _ => None,
        }
    }

    /// Period of a thread by its number; none where nothing has a period, or nobody knows it.
    pub fn period_of(&self, thread: u32) -> Option<Nanos> {
        match self {
            Method::Timerlat(timerlat) => Some(timerlat.period_ns),
            other => other.releases().map(|releases| releases.period_of(thread)),
        }
    }

    /// A distance that two samples of a thread keep at least; none where nobody knows one.
    pub fn sample_period_of(&self, thread: u32) -> Option<Nanos> {
        // The instants of stimuli are those of calls, which may come a little closer than planned.
        self.period_of(thread).or_else(|| Some(Nanos(self.gpio()?.from_ns.0 / 2)))
    }

    /// Period of the first thread; none where nothing has a period, or nobody knows it.
    pub fn period(&self) -> Option<Nanos> {
        self.period_of(0)
    }

    /// Whether cycles come with a period; otherwise gaps or stimuli come by themselves.
    pub fn is_periodic(&self) -> bool {
        self.records() == Recorded::Latency && !self.is_import()
    }

    /// What becomes of missed releases; none where no release can be missed.
    pub fn missed_policy(&self) -> Option<MissedPolicy> {
        match self {
            Method::Cyclic(cyclic) if cyclic.mechanism == Mechanism::Relative => None,
            Method::Cyclic(cyclic) => Some(cyclic.missed),
            Method::Handoff(_) | Method::Timerlat(_) | Method::Attach(_) => {
                Some(MissedPolicy::Skip)
            }
            Method::Spin(_) | Method::Respond(_) | Method::Import(_) => None,
        }
    }

    /// Whether releases exist that can be missed.
    pub fn has_releases(&self) -> bool {
        self.missed_policy().is_some()
    }

    /// The clock of the times of the run; none where it is not one of the measured machine.
    pub fn clock(&self) -> Option<ClockName> {
        match self {
            Method::Spin(_) | Method::Timerlat(_) | Method::Attach(_) => Some(ClockName::Monotonic),
            Method::Respond(asked) => asked.is_measured().then_some(ClockName::Monotonic),
            Method::Import(_) => None,
            other => other.releases().map(|releases| releases.clock),
        }
    }

    /// Whether somebody may set the clock of the run, so that its times jump.
    pub fn clock_can_be_set(&self) -> bool {
        self.clock().is_some_and(|clock| clock != ClockName::Monotonic)
    }

    /// What paces it, in words; none where nobody knows.
    pub fn rhythm(&self) -> Option<String> {
        match self {
            Method::Spin(spin) => Some(format!("gaps above {}", spin.gap_above_ns)),
            Method::Import(import) => {
                let above = import.gaps.and_then(|gaps| gaps.above_ns);
                above.map(|above| format!("gaps above {above}"))
            }
            other => other.period().map(|period| format!("period {period}")),
        }
    }

    /// Whether it records how fast something answers.
    pub fn is_response(&self) -> bool {
        self.records() == Recorded::Response
    }

    /// Whether it only reads captures, so that no machine was measured.
    pub fn is_capture(&self) -> bool {
        matches!(self, Method::Respond(asked) if !asked.is_measured())
    }

    /// Whether an agent of latlab was on the machine of the run.
    pub fn has_agent(&self) -> bool {
        match self {
            Method::Respond(asked) => asked.has_agent(),
            other => !other.is_import(),
        }
    }

    /// Whether another tool has measured, so that latlab knows no more than its file says.
    pub fn is_import(&self) -> bool {
        matches!(self, Method::Import(_))
    }

    /// What was imported; none of another method.
    pub fn import(&self) -> Option<&Import> {
        match self {
            Method::Import(import) => Some(import),
            _ => None,
        }
    }

    /// Whether `--legs` was asked for.
    pub fn has_legs(&self) -> bool {
        matches!(self, Method::Cyclic(cyclic) if cyclic.legs)
    }

    /// How it spins; none of another method.
    pub fn spin(&self) -> Option<&Spin> {
        match self {
            Method::Spin(spin) => Some(spin),
            _ => None,
        }
    }

    /// Which program it attaches to; `None` for another method.
    pub fn attach(&self) -> Option<&Attach> {
        match self {
            Method::Attach(attach) => Some(attach),
            _ => None,
        }
    }

    /// A wire of the measured board; none of another method.
    pub fn gpio(&self) -> Option<&GpioWire> {
        self.respond()?.gpio.as_ref()
    }

    /// How responses are found; none of another method.
    pub fn respond(&self) -> Option<&Respond> {
        match self {
            Method::Respond(respond) => Some(respond),
            _ => None,
        }
    }

    /// What only `latlab cyclictest` asks; none of a run of another command.
    pub fn cyclictest(&self) -> Option<&Cyclictest> {
        match self {
            Method::Cyclic(cyclic) => cyclic.cyclictest.as_ref(),
            _ => None,
        }
    }
}

/// The instrument, with its way to sleep or to be woken where it has several.
impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instrument = self.instrument();
        match self {
            Method::Cyclic(cyclic) => write!(f, "{instrument}, {}", cyclic.mechanism),
            Method::Handoff(handoff) => write!(f, "{instrument} by {}", handoff.wake),
            Method::Import(import) => write!(f, "{instrument} of {}", import.format),
            Method::Respond(asked) => match &asked.linux {
                Some(linux) => write!(f, "{instrument}, linux:{}", linux.name),
                None => write!(f, "{instrument}"),
            },
            Method::Attach(attach) => write!(f, "{instrument} to {}", attach.target),
            Method::Spin(_) | Method::Timerlat(_) => write!(f, "{instrument}"),
        }
    }
}
