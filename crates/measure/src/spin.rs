//! The spin instrument: read a counter again and again; where a reading comes late, something
//! else had the CPU.

use crate::counter::Host;
use crate::cyclic::{Ending, Stop};
use crate::recorder::Recorder;
use latlab_model::Nanos;
use latlab_model::run::Spun;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// What one thread is to do, in nanoseconds; times are of CLOCK_MONOTONIC.
#[derive(Clone, Debug)]
pub struct Spins {
    /// The first counted instant.
    pub from: i64,
    /// When it ends; `i64::MAX` for never.
    pub until: i64,
    /// A pass longer than the usual one by more than this is a gap.
    pub gap_above: i64,
    /// A gap above this is a miss; `i64::MAX` for no deadline.
    pub deadline: i64,
    /// A gap above this ends the run; `i64::MAX` for none.
    pub stop_above: i64,
    /// When it sleeps of its own will, so that it cannot hang the machine.
    pub rest: Option<Rest>,
    /// Lengths of gaps by which the kernel takes back what it reserves for ordinary threads.
    pub reserve: Range<i64>,
}

/// A sleep after each stretch of spinning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rest {
    /// The stretch, in nanoseconds.
    pub after: i64,
    /// How long it sleeps, in nanoseconds.
    pub length: i64,
}

/// What a loop says when it ends.
#[derive(Clone, PartialEq, Debug)]
pub struct Ended {
    /// Why it ended.
    pub ending: Ending,
    /// When it ended.
    pub at: i64,
    /// What it saw.
    pub spun: Spun,
}

/// Passes of which the median is the usual pass.
const LEARNT_FROM: usize = 1023;

/// Spins until this time; the median of the last passes, in ticks.
///
/// The last ones, because by then the CPU has its frequency and the workload its cache.
pub fn learn(host: &mut impl Host, work: &mut impl FnMut(), until: i64, stop: &Stop) -> i64 {
    let mut passes = [0_i64; LEARNT_FROM];
    let end = host.reading_at(until);
    let mut last = host.read();
    let mut count = 0;
    while count == 0 || (last < end && asked(stop) == 0) {
        work();
        let now = host.read();
        passes[count % LEARNT_FROM] = now - last;
        last = now;
        count += 1;
    }
    let passes = &mut passes[..count.min(LEARNT_FROM)];
    passes.sort_unstable();
    passes[passes.len() / 2]
}

/// Spins, with this usual pass.
///
/// Per pass: the work, one reading, four comparisons. What is rare costs the next pass nothing,
/// since that begins with a reading of its own.
pub fn spin(
    host: &mut impl Host,
    work: &mut impl FnMut(),
    usual: i64,
    spins: &Spins,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Ended {
    let usual_pass_ns = host.nanos_of(usual);
    let mut spinner = Spinner { host, spins, recorder, switches: 0, rest_at: i64::MAX, usual };
    let mut spun = Spun { usual_pass_ns, ..Spun::default() };
    let limit = spinner.begin();
    // What was taken since the first counted instant is seen in the first pass.
    let mut last = spinner.host.reading_at(spins.from);
    let mut pause = last;
    let ending = loop {
        work();
        let mut now = spinner.host.read();
        spun.passes += 1;
        if now - last > limit {
            if let Err(ending) = spinner.gap(last, now, &mut spun) {
                break ending;
            }
            now = spinner.host.read();
        }
        if now >= pause {
            pause = match spinner.look_around(now, &mut spun) {
                Ok(pause) => pause,
                Err(ending) => break ending,
            };
            now = spinner.host.read();
        }
        let asked = asked(stop);
        if asked != 0 {
            break Ending::Stopped(asked);
        }
        last = now;
    };
    let now = spinner.host.read();
    Ended { ending, at: spinner.host.time_of(now), spun }
}

#[inline]
fn asked(stop: &Stop) -> u8 {
    stop.all.load(Ordering::Relaxed) | stop.own.load(Ordering::Relaxed)
}

/// What the loop needs when something rare happens.
struct Spinner<'a, H> {
    host: &'a mut H,
    spins: &'a Spins,
    recorder: &'a mut Recorder,
    /// Switches by others up to the last gap.
    switches: u64,
    /// When to sleep next.
    rest_at: i64,
    usual: i64,
}

impl<H: Host> Spinner<'_, H> {
    /// Gives back the longest pass that is no gap, in ticks.
    fn begin(&mut self) -> i64 {
        self.switches = self.host.switches();
        self.rest_at = self.next_rest(self.spins.from);
        let from = self.host.reading_at(self.spins.from);
        let gap = self.host.reading_at(self.spins.from + self.spins.gap_above) - from;
        self.usual + gap
    }

    fn next_rest(&self, time: i64) -> i64 {
        self.spins.rest.map_or(i64::MAX, |rest| time + rest.after)
    }

    /// Records the time between two readings that was not ours.
    #[cold]
    #[inline(never)]
    fn gap(&mut self, last: i64, now: i64, spun: &mut Spun) -> Result<(), Ending> {
        let length = self.host.nanos_of(now - last - self.usual).round() as i64;
        self.recorder.record(self.host.time_of(last), length);
        if length > self.spins.deadline {
            self.recorder.count_late(0, 1);
        }
        let switches = self.host.switches();
        let another_ran = switches > self.switches;
        self.switches = switches;
        match another_ran {
            true => spun.preempted.add(Nanos(length)),
            false => spun.interrupted.add(Nanos(length)),
        }
        if another_ran && self.spins.reserve.contains(&length) {
            spun.taken_back.add(Nanos(length));
        }
        match length > self.spins.stop_above {
            true => Err(Ending::StopAbove),
            false => Ok(()),
        }
    }

    /// At an interval's end, at a rest or at the end: does what is due, and gives back the reading
    /// at which to look again, or why the loop is to end.
    #[cold]
    #[inline(never)]
    fn look_around(&mut self, now: i64, spun: &mut Spun) -> Result<i64, Ending> {
        let time = self.host.time_of(now);
        if time >= self.spins.until {
            return Err(Ending::Finished);
        }
        if time >= self.recorder.interval_end {
            if !self.recorder.next_interval(time) {
                return Err(Ending::RecorderFull);
            }
            self.host.align();
        }
        if time >= self.rest_at {
            self.rest(spun);
        }
        let next = self.recorder.interval_end.min(self.spins.until).min(self.rest_at);
        Ok(self.host.reading_at(next))
    }

    fn rest(&mut self, spun: &mut Spun) {
        let Some(rest) = self.spins.rest else { return };
        let before = self.host.read();
        self.host.sleep(rest.length);
        let after = self.host.read();
        spun.rested_ns += Nanos(self.host.nanos_of(after - before).round() as i64);
        // Whoever ran meanwhile took nothing.
        self.switches = self.host.switches();
        self.rest_at = self.next_rest(self.host.time_of(after));
    }
}
