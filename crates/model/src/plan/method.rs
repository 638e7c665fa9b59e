//! The method of a run with its parameters, and queries that apply to any method.

use super::attach::Attach;
use super::cyclic::{Cyclic, Cyclictest, Mechanism, OverrunPolicy, Releases};
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
    /// Name of a method.
    Instrument {
        /// A thread that sleeps until each release and reads the clock.
        Cyclic = "cyclic",
        /// A thread that another one wakes at each release; counted from just before the wake-up
        /// call.
        Handoff = "handoff",
        /// A busy loop that finds the time taken from it.
        Spin = "spin",
        /// The kernel's own tracer: a kernel thread on each CPU, whose records are read.
        Timerlat = "timerlat",
        /// A program's own threads, unmodified.
        Attach = "attach",
        /// Edges on wires: a stimulus, and the pin that answers it.
        Respond = "respond",
        /// A file recorded by another tool.
        Import = "import",
    }
}

/// The method of a run, with only its own parameters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "instrument", rename_all = "lowercase")]
pub enum Method {
    /// A thread sleeps until each release and reads the clock.
    Cyclic(Cyclic),
    /// Another thread wakes the measuring thread at each release.
    Handoff(Handoff),
    /// A busy loop finds the time taken from it.
    Spin(Spin),
    /// The kernel's tracer measures, and its records are read.
    Timerlat(Timerlat),
    /// Cycles of a program's own threads, from kernel events.
    Attach(Box<Attach>),
    /// Responses are found in a capture of wires.
    Respond(Box<Respond>),
    /// A file of another tool is read.
    Import(Box<Import>),
}

/// Quantity that a run records, whatever the method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recorded {
    /// How late a thread started.
    Latency,
    /// Time taken from a busy loop.
    Gap,
    /// Time from a stimulus to its response.
    Response,
}

impl Method {
    /// Name of the method.
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

    /// Quantity that it records.
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

    /// Releases planned by latlab; `None` if something else decides when to measure.
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

    /// Mutable access to [`Method::releases`].
    pub(crate) fn releases_mut(&mut self) -> Option<&mut Releases> {
        match self {
            Method::Cyclic(cyclic) => Some(&mut cyclic.releases),
            Method::Handoff(handoff) => Some(&mut handoff.releases),
            _ => None,
        }
    }

    /// Period of a thread by its number; `None` if there is no period or it is unknown.
    pub fn period_of(&self, thread: u32) -> Option<Nanos> {
        match self {
            Method::Timerlat(timerlat) => Some(timerlat.period_ns),
            other => other.releases().map(|releases| releases.period_of(thread)),
        }
    }

    /// Minimum time between two samples of a thread; `None` if unknown.
    pub fn sample_period_of(&self, thread: u32) -> Option<Nanos> {
        // Stimulus times are those of the calls, which may be slightly closer than planned.
        self.period_of(thread).or_else(|| Some(Nanos(self.gpio()?.from_ns.0 / 2)))
    }

    /// Period of the first thread; `None` if there is no period or it is unknown.
    pub fn period(&self) -> Option<Nanos> {
        self.period_of(0)
    }

    /// Whether cycles have a period; gaps and stimuli have none.
    pub fn is_periodic(&self) -> bool {
        self.records() == Recorded::Latency && !self.is_import()
    }

    /// What happens to overruns; `None` if there can be none.
    pub fn overrun_policy(&self) -> Option<OverrunPolicy> {
        match self {
            Method::Cyclic(cyclic) if cyclic.mechanism == Mechanism::Relative => None,
            Method::Cyclic(cyclic) => Some(cyclic.overruns),
            Method::Handoff(_) | Method::Timerlat(_) | Method::Attach(_) => {
                Some(OverrunPolicy::Skip)
            }
            Method::Spin(_) | Method::Respond(_) | Method::Import(_) => None,
        }
    }

    /// Whether there are releases, and so possible overruns.
    pub fn has_releases(&self) -> bool {
        self.overrun_policy().is_some()
    }

    /// Clock of the run's times; `None` if it is not a clock of the measured machine.
    pub fn clock(&self) -> Option<ClockName> {
        match self {
            Method::Spin(_) | Method::Timerlat(_) | Method::Attach(_) => Some(ClockName::Monotonic),
            Method::Respond(asked) => asked.is_measured().then_some(ClockName::Monotonic),
            Method::Import(_) => None,
            other => other.releases().map(|releases| releases.clock),
        }
    }

    /// Whether the clock of the run can be set, so that its times jump.
    pub fn clock_can_be_set(&self) -> bool {
        self.clock().is_some_and(|clock| clock != ClockName::Monotonic)
    }

    /// What paces it, in words; `None` if unknown.
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

    /// Whether it records response times.
    pub fn is_response(&self) -> bool {
        self.records() == Recorded::Response
    }

    /// Whether it only reads captures, so no machine was measured.
    pub fn is_capture(&self) -> bool {
        matches!(self, Method::Respond(asked) if !asked.is_measured())
    }

    /// Whether a latlab agent ran on the machine.
    pub fn has_agent(&self) -> bool {
        match self {
            Method::Respond(asked) => asked.has_agent(),
            other => !other.is_import(),
        }
    }

    /// Whether another tool measured, so only the contents of its file are known.
    pub fn is_import(&self) -> bool {
        matches!(self, Method::Import(_))
    }

    /// Data about the import; `None` for other methods.
    pub fn import(&self) -> Option<&Import> {
        match self {
            Method::Import(import) => Some(import),
            _ => None,
        }
    }

    /// Whether `--breakdown` was given.
    pub fn has_breakdown(&self) -> bool {
        matches!(self, Method::Cyclic(cyclic) if cyclic.breakdown)
    }

    /// Parameters of `spin`; `None` for other methods.
    pub fn spin(&self) -> Option<&Spin> {
        match self {
            Method::Spin(spin) => Some(spin),
            _ => None,
        }
    }

    /// Parameters of `attach`; `None` for other methods.
    pub fn attach(&self) -> Option<&Attach> {
        match self {
            Method::Attach(attach) => Some(attach),
            _ => None,
        }
    }

    /// A wire of the measured board; `None` for other methods.
    pub fn gpio(&self) -> Option<&GpioWire> {
        self.respond()?.gpio.as_ref()
    }

    /// Parameters of `respond`; `None` for other methods.
    pub fn respond(&self) -> Option<&Respond> {
        match self {
            Method::Respond(respond) => Some(respond),
            _ => None,
        }
    }

    /// Parameters of `latlab cyclictest`; `None` for other commands.
    pub fn cyclictest(&self) -> Option<&Cyclictest> {
        match self {
            Method::Cyclic(cyclic) => cyclic.cyclictest.as_ref(),
            _ => None,
        }
    }
}

/// The instrument, with its sleep or wake-up mechanism if it has several.
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
