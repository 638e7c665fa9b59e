//! Turns the tracer's events of one CPU into activations with their releases. Pure.

/// Values of the field `context`.
const IRQ: i64 = 0;
const THREAD: i64 = 1;
const USER: i64 = 2;

/// One event of the tracer.
#[derive(Clone, Copy)]
pub struct TimerlatEvent {
    /// When it was written.
    pub at: i64,
    /// Number of the activation.
    pub sequence: i64,
    /// Where it was measured.
    pub context: i64,
    /// The measured latency.
    pub latency: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activation {
    pub release: i64,
    /// Latency of the interrupt, if it was reported.
    pub irq: Option<i64>,
    /// Latency of the thread on its CPU, if it was reported.
    pub thread: Option<i64>,
    /// The last latency: of the thread in user space, or of the kernel's own thread.
    pub latency: i64,
}

/// The activations of one CPU.
pub struct ActivationSequence {
    period: i64,
    /// The context of the event that completes an activation.
    last_part: i64,
    /// The first release seen; all others are whole periods away from it.
    origin: Option<i64>,
    irq: Option<TimerlatEvent>,
    thread: Option<TimerlatEvent>,
    last: Option<i64>,
    /// Activations that are missing by their numbers.
    pub lost: u64,
}

impl ActivationSequence {
    /// For a kernel thread, or for one in user space.
    pub fn new(period: i64, user: bool) -> ActivationSequence {
        let last_part = if user { USER } else { THREAD };
        ActivationSequence {
            period,
            last_part,
            origin: None,
            irq: None,
            thread: None,
            last: None,
            lost: 0,
        }
    }

    pub fn period(&self) -> i64 {
        self.period
    }

    /// Takes an event; the last one of an activation completes it.
    pub fn push(&mut self, sample: TimerlatEvent) -> Option<Activation> {
        match sample.context {
            IRQ => self.irq = Some(sample),
            THREAD => self.thread = Some(sample),
            _ => {}
        }
        if sample.context != self.last_part {
            return None;
        }
        let TimerlatEvent { at, sequence, latency, .. } = sample;
        if let Some(last) = self.last.replace(sequence) {
            self.lost += (sequence - last - 1).max(0) as u64;
        }
        let of_this = |part: Option<TimerlatEvent>| {
            part.filter(|part| part.sequence == sequence).map(|part| part.latency)
        };
        let (irq, thread) = (of_this(self.irq.take()), of_this(self.thread.take()));
        Some(Activation { release: self.release(at - latency), irq, thread, latency })
    }

    /// The event is written a little after the clock was read, so the release is the timer's
    /// nearest one.
    fn release(&mut self, about: i64) -> i64 {
        let origin = *self.origin.get_or_insert(about);
        let periods = (about - origin + self.period / 2).div_euclid(self.period);
        origin + periods * self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: i64 = 1_000_000;

    fn sample(at: i64, sequence: i64, context: i64, latency: i64) -> TimerlatEvent {
        TimerlatEvent { at, sequence, context, latency }
    }

    #[test]
    fn activations_are_whole_periods_apart_and_what_is_missing_is_counted() {
        let mut series = ActivationSequence::new(PERIOD, false);
        // In the kernel's order: the interrupt's event, then the thread's, each a little late.
        let mut activation = |sequence, release: i64, irq, thread| {
            series.push(sample(release + irq + 150, sequence, IRQ, irq));
            series.push(sample(release + thread + 90 + sequence, sequence, THREAD, thread))
        };
        let first = activation(7, 0, 900, 4_000).unwrap();
        assert_eq!((first.irq, first.thread, first.latency), (Some(900), Some(4_000), 4_000));
        let next = activation(8, PERIOD, 800, 5_000).unwrap();
        assert_eq!(next.release, first.release + PERIOD);
        let skipped = activation(9, 4 * PERIOD, 700, 5_000).unwrap();
        assert_eq!(skipped.release, first.release + 4 * PERIOD);
        assert_eq!(series.lost, 0, "a release that was skipped is no lost event");
        series.push(sample(0, 11, IRQ, 1));
        let alone = series.push(sample(6 * PERIOD, 12, THREAD, 4_000)).unwrap();
        assert_eq!((alone.irq, series.lost), (None, 2));
    }

    #[test]
    fn three_legs_of_one_number_are_one_activation_of_a_thread_in_user_space() {
        let mut series = ActivationSequence::new(PERIOD, true);
        let mut told = |sequence, release: i64, breakdown: &[(i64, i64)]| {
            let events = breakdown.iter().map(|&(context, latency)| {
                series.push(sample(release + latency + 90, sequence, context, latency))
            });
            events.collect::<Vec<_>>()
        };
        let whole = told(1, 0, &[(IRQ, 900), (THREAD, 4_000), (USER, 6_000)]);
        assert_eq!(whole[..2], [None, None], "the user part completes it");
        let first = whole[2].unwrap();
        assert_eq!((first.irq, first.thread, first.latency), (Some(900), Some(4_000), 6_000));
        // A signal came instead of the timer: the kernel then reports no thread latency.
        let cut = told(2, PERIOD, &[(IRQ, 800), (USER, 7_000)])[1].unwrap();
        assert_eq!((cut.irq, cut.thread, cut.latency), (Some(800), None, 7_000));
        assert_eq!(cut.release, first.release + PERIOD);
        assert_eq!(told(3, 2 * PERIOD, &[(IRQ, 800), (THREAD, 4_000)]), [None, None]);
        let late = told(4, 3 * PERIOD, &[(USER, 5_000)])[0].unwrap();
        assert_eq!((late.irq, late.thread), (None, None), "the parts before are of another one");
        assert_eq!(series.lost, 1);
    }
}
