//! Sends the breakdown of each answer over a wire from its ring to the stream.

use crate::outbox::Outbox;
use latlab_measure::gpio::{AnswerBreakdown, BreakdownDrain};
use latlab_model::breakdown::{Breakdown, BreakdownTally, CycleBreakdown, Part};
use latlab_model::frame::Message;
use latlab_model::{Histogram, Nanos};

/// Largest number of breakdowns in one frame.
const OF_A_FRAME: usize = 4096;

/// Drains the breakdowns of one thread.
pub struct BreakdownDrainer {
    thread: u32,
    drain: BreakdownDrain,
    /// A frame that the stream has refused so far; the ring is not read until it is taken.
    waiting: Option<Message>,
}

impl BreakdownDrainer {
    pub fn new(thread: u32, drain: BreakdownDrain) -> BreakdownDrainer {
        BreakdownDrainer { thread, drain, waiting: None }
    }

    /// Sends what the ring holds; returns true if nothing is left in it.
    pub fn pass(&mut self, outbox: &Outbox) -> bool {
        loop {
            if let Some(message) = &self.waiting
                && !outbox.offer(message)
            {
                return false;
            }
            let next = std::iter::from_fn(|| self.drain.next_breakdown());
            let frame: Vec<AnswerBreakdown> = next.take(OF_A_FRAME).collect();
            self.waiting = (!frame.is_empty()).then(|| breakdown(self.thread, &frame));
            if self.waiting.is_none() {
                return true;
            }
        }
    }
}

/// Splits the latency of each edge into parts that add up to it.
fn breakdown(thread: u32, frame: &[AnswerBreakdown]) -> Message {
    let count = |part: Part, of: fn(&AnswerBreakdown) -> i64| {
        (part, frame.iter().map(|one| Nanos(of(one))).collect::<Histogram>())
    };
    let cycle = |one: &AnswerBreakdown| CycleBreakdown {
        release_ns: Nanos(one.at),
        irq_ns: Nanos(one.event),
        thread_ns: Nanos(one.event + one.wake_up),
    };
    let known = frame.len() as u64;
    Message::Breakdown(Breakdown {
        thread,
        counts: vec![
            count(Part::Irq, |one| one.event),
            count(Part::Thread, |one| one.event + one.wake_up),
            count(Part::WakeUp, |one| one.wake_up),
            count(Part::Answer, |one| one.answer),
            count(Part::Traced, |one| one.event + one.wake_up + one.answer),
        ],
        largest: frame.iter().map(cycle).collect(),
        tally: BreakdownTally { traced: known, known, ..BreakdownTally::default() },
    })
}

/// Reports answers whose breakdowns were lost.
pub fn lost_breakdown(thread: u32, lost: u64) -> Message {
    let tally = BreakdownTally { traced: lost, ..BreakdownTally::default() };
    Message::Breakdown(Breakdown { thread, counts: Vec::new(), largest: Vec::new(), tally })
}
