//! Trace events of the measuring threads, packed into about two bytes each.
//!
//! The agent records and sends; the reader later assigns events to cycles. Each thread's events are
//! columns of [`pack`]: kinds as deviations from the usual order, times relative to the event or
//! release that they follow.

use crate::Nanos;
use crate::samples::{pack, unpack};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Most events of one thread in a frame; a larger count is treated as damage.
pub const MOST_EVENTS: u32 = 1 << 18;

text_enum! {
    /// Kind of a row of `trace.parquet`.
    TraceRowKind {
        /// The thread started the timer that is to wake it.
        Armed = "armed",
        /// The interrupt of that timer.
        Expired = "expired",
        /// The thread was switched in.
        SwitchedIn = "switched-in",
        /// Events of this CPU were lost before this time.
        Lost = "lost",
        /// From here on the trace was on.
        On = "trace-on",
        /// From here on the trace was off.
        Off = "trace-off",
        /// From here on the trace was being switched, or its state is unknown.
        Unknown = "trace-unknown",
    }
}

/// Kind of a thread's event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadEventKind {
    /// The thread armed the timer that will wake it.
    Armed {
        /// Expiry time, on CLOCK_MONOTONIC.
        release_ns: Nanos,
    },
    /// The interrupt of that timer.
    Expired,
    /// The thread was switched in.
    SwitchedIn,
}

/// One event of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadEvent {
    /// Kernel timestamp, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// CPU it was recorded on.
    pub cpu: u32,
    /// Kind of event.
    pub kind: ThreadEventKind,
}

/// A time during which the trace was continuously on or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceWindow {
    /// Start, on CLOCK_MONOTONIC.
    pub from_ns: Nanos,
    /// End, on CLOCK_MONOTONIC.
    pub to_ns: Nanos,
    /// Whether events were recorded.
    pub on: bool,
}

/// Events the kernel overwrote before they were read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceLoss {
    /// Time of the event after them, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// The CPU whose events they were.
    pub cpu: u32,
    /// Number of lost events, at least one.
    pub count: u64,
}

/// Recorded events of all threads, from the end of the previous stretch.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TraceStretch {
    /// Everything before this time, on CLOCK_MONOTONIC, is in this stretch or an earlier one.
    pub until_ns: Nanos,
    /// Times with the trace on or off; in between, its state is unknown.
    pub windows: Vec<TraceWindow>,
    /// Lost events, by time.
    pub losses: Vec<TraceLoss>,
    /// Thread numbers with their events by time; threads without events are left out.
    pub threads: Vec<(u32, Vec<ThreadEvent>)>,
}

/// A [`TraceStretch`] as it is sent and stored in the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PackedTrace {
    /// As in the stretch.
    pub until_ns: Nanos,
    /// As in the stretch.
    pub windows: Vec<TraceWindow>,
    /// As in the stretch.
    pub losses: Vec<TraceLoss>,
    /// Packed events of each thread.
    pub threads: Vec<PackedEvents>,
}

/// Events of one thread, each column packed separately.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PackedEvents {
    /// Number of the thread.
    pub thread: u32,
    /// Number of events of each kind.
    pub counts: Counts,
    /// Kinds, as differences from the kind that usually follows the previous one.
    pub kinds: Vec<u8>,
    /// CPUs, as differences from the previous one.
    pub cpus: Vec<u8>,
    /// Expiry times of armed timers, as differences from the prediction of the last two.
    pub releases: Vec<u8>,
    /// Times of arming, from the previous event.
    pub armed: Vec<u8>,
    /// Times of expiry, from the last release.
    pub expired: Vec<u8>,
    /// Times of switches, from the previous event.
    pub switched: Vec<u8>,
}

/// Number of events of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Armed timers.
    pub armed: u32,
    /// Expired timers.
    pub expired: u32,
    /// Switches.
    pub switched: u32,
}

/// Bytes that do not decode to events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("its events cannot be decoded")]
pub struct UnreadableTrace;

impl TraceStretch {
    /// Packs the stretch; [`PackedTrace::unpack`] reverses it.
    pub fn pack(&self) -> PackedTrace {
        PackedTrace {
            until_ns: self.until_ns,
            windows: self.windows.clone(),
            losses: self.losses.clone(),
            threads: self.threads.iter().map(|(one, events)| pack_events(*one, events)).collect(),
        }
    }
}

impl PackedTrace {
    /// Decodes the stretch.
    pub fn unpack(&self) -> Result<TraceStretch, UnreadableTrace> {
        let threads = self.threads.iter();
        let threads = threads.map(|one| Some((one.thread, unpack_events(one)?)));
        Ok(TraceStretch {
            until_ns: self.until_ns,
            windows: self.windows.clone(),
            losses: self.losses.clone(),
            threads: threads.collect::<Option<_>>().ok_or(UnreadableTrace)?,
        })
    }
}

/// Prediction of the next event, shared by packing and unpacking.
#[derive(Default)]
struct Expected {
    /// Kinds cycle by number: armed, expired, switched.
    kind: i64,
    cpu: i64,
    at: i64,
    release: i64,
    step: i64,
}

impl Expected {
    /// Reference point for the time of this kind.
    fn base(&self, kind: i64) -> i64 {
        if kind == EXPIRED { self.release } else { self.at }
    }

    fn next_release(&self) -> i64 {
        self.release.wrapping_add(self.step)
    }

    fn follow(&mut self, kind: i64, cpu: i64, at: i64, release: Option<i64>) {
        (self.kind, self.cpu, self.at) = ((kind + 1) % KINDS, cpu, at);
        if let Some(release) = release {
            (self.step, self.release) = (release.wrapping_sub(self.release), release);
        }
    }
}

const ARMED: i64 = 0;
const EXPIRED: i64 = 1;
const SWITCHED: i64 = 2;
const KINDS: i64 = 3;

fn pack_events(thread: u32, events: &[ThreadEvent]) -> PackedEvents {
    let [mut kinds, mut cpus, mut releases] = [(); 3].map(|()| Vec::new());
    let mut times = [(); KINDS as usize].map(|()| Vec::new());
    let mut expected = Expected::default();
    for event in events {
        let (kind, release) = match event.kind {
            ThreadEventKind::Armed { release_ns } => (ARMED, Some(release_ns.0)),
            ThreadEventKind::Expired => (EXPIRED, None),
            ThreadEventKind::SwitchedIn => (SWITCHED, None),
        };
        let cpu = i64::from(event.cpu);
        kinds.push((kind - expected.kind).rem_euclid(KINDS));
        cpus.push(cpu - expected.cpu);
        releases.extend(release.map(|release| release.wrapping_sub(expected.next_release())));
        times[kind as usize].push(event.at_ns.0.wrapping_sub(expected.base(kind)));
        expected.follow(kind, cpu, event.at_ns.0, release);
    }
    let [armed, expired, switched] = times;
    let count = |times: &[i64]| times.len() as u32;
    PackedEvents {
        thread,
        counts: Counts {
            armed: count(&armed),
            expired: count(&expired),
            switched: count(&switched),
        },
        kinds: pack(&kinds),
        cpus: pack(&cpus),
        releases: pack(&releases),
        armed: pack(&armed),
        expired: pack(&expired),
        switched: pack(&switched),
    }
}

fn unpack_events(packed: &PackedEvents) -> Option<Vec<ThreadEvent>> {
    let Counts { armed, expired, switched } = packed.counts;
    let all = armed.checked_add(expired)?.checked_add(switched)?;
    let count = Some(all).filter(|all| *all <= MOST_EVENTS)? as usize;
    let column = |bytes: &[u8], count: u32| Some(unpack(bytes, count as usize)?.into_iter());
    let mut times = [
        column(&packed.armed, armed)?,
        column(&packed.expired, expired)?,
        column(&packed.switched, switched)?,
    ];
    let mut releases = column(&packed.releases, armed)?;
    let mut expected = Expected::default();
    let mut events = Vec::with_capacity(count);
    for (kind, cpu) in column(&packed.kinds, all)?.zip(column(&packed.cpus, all)?) {
        let kind = Some(kind).filter(|kind| (0..KINDS).contains(kind))?;
        let kind = (expected.kind + kind) % KINDS;
        let cpu = expected.cpu.checked_add(cpu)?;
        let at = times[kind as usize].next()?.wrapping_add(expected.base(kind));
        let release = match kind {
            ARMED => Some(releases.next()?.wrapping_add(expected.next_release())),
            _ => None,
        };
        expected.follow(kind, cpu, at, release);
        let kind = match (kind, release) {
            (_, Some(release)) => ThreadEventKind::Armed { release_ns: Nanos(release) },
            (EXPIRED, _) => ThreadEventKind::Expired,
            _ => ThreadEventKind::SwitchedIn,
        };
        events.push(ThreadEvent { at_ns: Nanos(at), cpu: cpu.try_into().ok()?, kind });
    }
    Some(events)
}
