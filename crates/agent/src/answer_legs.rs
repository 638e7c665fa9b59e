//! Sends the breakdown of each answer over a wire from its ring to the stream.

use crate::outbox::Outbox;
use latlab_measure::gpio::{AnswerLegs, LegDrain};
use latlab_model::frame::Message;
use latlab_model::legs::{CycleLegs, Leg, LegTally, Legs};
use latlab_model::{Histogram, Nanos};

/// Largest number of breakdowns in one frame.
const OF_A_FRAME: usize = 4096;

/// Drains the breakdowns of one thread.
pub struct LegDrainer {
    thread: u32,
    drain: LegDrain,
    /// A frame that the stream has refused so far; the ring is not read until it is taken.
    waiting: Option<Message>,
}

impl LegDrainer {
    pub fn new(thread: u32, drain: LegDrain) -> LegDrainer {
        LegDrainer { thread, drain, waiting: None }
    }

    /// Sends what the ring holds; returns true if nothing is left in it.
    pub fn pass(&mut self, outbox: &Outbox) -> bool {
        loop {
            if let Some(message) = &self.waiting
                && !outbox.offer(message)
            {
                return false;
            }
            let next = std::iter::from_fn(|| self.drain.next_legs());
            let frame: Vec<AnswerLegs> = next.take(OF_A_FRAME).collect();
            self.waiting = (!frame.is_empty()).then(|| legs(self.thread, &frame));
            if self.waiting.is_none() {
                return true;
            }
        }
    }
}

/// Splits the latency of each edge into parts that add up to it.
fn legs(thread: u32, frame: &[AnswerLegs]) -> Message {
    let count = |leg: Leg, of: fn(&AnswerLegs) -> i64| {
        (leg, frame.iter().map(|one| Nanos(of(one))).collect::<Histogram>())
    };
    let cycle = |one: &AnswerLegs| CycleLegs {
        release_ns: Nanos(one.at),
        irq_ns: Nanos(one.event),
        thread_ns: Nanos(one.event + one.wake_up),
    };
    let known = frame.len() as u64;
    Message::Legs(Legs {
        thread,
        counts: vec![
            count(Leg::Irq, |one| one.event),
            count(Leg::Thread, |one| one.event + one.wake_up),
            count(Leg::WakeUp, |one| one.wake_up),
            count(Leg::Answer, |one| one.answer),
            count(Leg::Traced, |one| one.event + one.wake_up + one.answer),
        ],
        largest: frame.iter().map(cycle).collect(),
        tally: LegTally { traced: known, known, ..LegTally::default() },
    })
}

/// Reports answers whose breakdowns were lost.
pub fn lost_legs(thread: u32, lost: u64) -> Message {
    let tally = LegTally { traced: lost, ..LegTally::default() };
    Message::Legs(Legs { thread, counts: Vec::new(), largest: Vec::new(), tally })
}
