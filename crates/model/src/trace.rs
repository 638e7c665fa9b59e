//! What the kernel's trace says of the measuring threads, packed into about two bytes an event.
//!
//! The agent records and sends; which events belong to which cycle is found later, by whoever reads
//! them. Each thread's events are columns of [`pack`]: kinds as they differ from the usual turn,
//! times from the event or the release that they follow.

use crate::Nanos;
use crate::samples::{pack, unpack};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Events of one thread that a frame may hold; more are taken for damage.
pub const MOST_EVENTS: u32 = 1 << 18;

text_enum! {
    /// What a row of `trace.parquet` tells.
    TraceRowKind {
        /// The thread started the timer that is to wake it.
        Armed = "armed",
        /// The interrupt came to that timer.
        Expired = "expired",
        /// The thread was put on its CPU.
        SwitchedIn = "switched-in",
        /// Events of this CPU were lost before this time.
        Lost = "lost",
        /// From here on the trace was on.
        On = "trace-on",
        /// From here on the trace was off.
        Off = "trace-off",
        /// From here on the trace was being switched, or nothing is known of it.
        Unknown = "trace-unknown",
    }
}

/// What happened to a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadEventKind {
    /// It started the timer that is to wake it at this time.
    Armed {
        /// When the timer is to expire, on CLOCK_MONOTONIC.
        release_ns: Nanos,
    },
    /// The interrupt came to that timer.
    Expired,
    /// It was put on its CPU.
    SwitchedIn,
}

/// One event of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadEvent {
    /// When the kernel wrote it, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// The CPU on which it did.
    pub cpu: u32,
    /// What it tells.
    pub kind: ThreadEventKind,
}

/// A time in which the trace was on or off without a break.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceWindow {
    /// Its beginning, on CLOCK_MONOTONIC.
    pub from_ns: Nanos,
    /// Its end.
    pub to_ns: Nanos,
    /// Whether events were recorded.
    pub on: bool,
}

/// Events that the kernel overwrote before anybody read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceLoss {
    /// The event that follows them, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// The CPU whose events they were.
    pub cpu: u32,
    /// How many, at least one.
    pub count: u64,
}

/// What was recorded of all threads, from where the stretch before this one ended.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TraceStretch {
    /// What is before this, on CLOCK_MONOTONIC, is here or was in an earlier one.
    pub until_ns: Nanos,
    /// When the trace was on and off; in between nothing is known.
    pub windows: Vec<TraceWindow>,
    /// What was lost, by time.
    pub losses: Vec<TraceLoss>,
    /// The number of each thread of which there is something, and its events by time.
    pub threads: Vec<(u32, Vec<ThreadEvent>)>,
}

/// A [`TraceStretch`] as it travels and as the journal holds it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PackedTrace {
    /// As in the stretch.
    pub until_ns: Nanos,
    /// As in the stretch.
    pub windows: Vec<TraceWindow>,
    /// As in the stretch.
    pub losses: Vec<TraceLoss>,
    /// The events.
    pub threads: Vec<PackedEvents>,
}

/// The events of one thread, each column packed by itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PackedEvents {
    /// Number of the thread.
    pub thread: u32,
    /// How many events there are, and how many of each kind.
    pub counts: Counts,
    /// How each kind differs from the one that usually follows the kind before.
    pub kinds: Vec<u8>,
    /// CPUs, from the one before.
    pub cpus: Vec<u8>,
    /// Releases of armed timers, from the one that the last two let expect.
    pub releases: Vec<u8>,
    /// Times of armed timers, from the event before.
    pub armed: Vec<u8>,
    /// Times of expired timers, from the last release.
    pub expired: Vec<u8>,
    /// Times of switches, from the event before.
    pub switched: Vec<u8>,
}

/// Events of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Counts {
    /// Timers that were armed.
    pub armed: u32,
    /// Timers that expired.
    pub expired: u32,
    /// Switches.
    pub switched: u32,
}

/// Bytes that are no events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("its events cannot be decoded")]
pub struct UnreadableTrace;

impl TraceStretch {
    /// Packs it; [`PackedTrace::unpack`] is the way back.
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
    /// What was recorded.
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

/// What the next event is expected to be like; both ways of packing follow it alike.
#[derive(Default)]
struct Expected {
    /// Kinds by their number: armed, expired, switched, and from the start again.
    kind: i64,
    cpu: i64,
    at: i64,
    release: i64,
    step: i64,
}

impl Expected {
    /// From what the time of this kind is counted.
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
