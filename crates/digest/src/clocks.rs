//! Detects suspends and clock steps from simultaneous readings of four clocks.

use latlab_model::finding::{Finding, MachineFinding};
use latlab_model::plan::ClockName;
use latlab_model::run::ClockReading;
use latlab_model::{Nanos, nanos};

/// Largest difference that reading two clocks one after the other can explain.
const READING: Nanos = nanos::MILLISECOND;
/// The kernel slews a clock by at most 500 us per second.
const SLEWED_IN: i64 = 2_000;

/// Checks the readings as they arrive.
#[derive(Default, Debug)]
pub struct ClockDigest {
    ends: Option<(ClockReading, ClockReading)>,
    events: Vec<ClockStep>,
}

#[derive(Debug)]
enum ClockStep {
    Suspended { at: Nanos, length: Nanos },
    RealtimeStepped { at: Nanos, by: Nanos, with_tai: bool },
    TaiOffset { at: Nanos, by: Nanos, by_tai: bool },
}

impl ClockDigest {
    pub fn push(&mut self, now: ClockReading) {
        if let Some((_, last)) = self.ends {
            self.compare(&last, &now);
        }
        self.ends = Some((self.ends.map_or(now, |(first, _)| first), now));
    }

    /// The first and the last reading.
    pub fn first_and_last(&self) -> Option<(ClockReading, ClockReading)> {
        self.ends
    }

    fn compare(&mut self, last: &ClockReading, now: &ClockReading) {
        let at = now.monotonic_ns;
        let elapsed = now.boottime_ns - last.boottime_ns;
        let length = elapsed - (at - last.monotonic_ns);
        if length > READING {
            self.events.push(ClockStep::Suspended { at, length });
        }
        // Boottime is the reference, because it goes on during a suspend.
        let realtime = now.realtime_ns - last.realtime_ns - elapsed;
        let tai = now.tai_ns - last.tai_ns - elapsed;
        let stepped = |by: Nanos| magnitude(by) > READING + Nanos(elapsed.0 / SLEWED_IN);
        if stepped(realtime) {
            self.events.push(ClockStep::RealtimeStepped {
                at,
                by: realtime,
                with_tai: stepped(tai),
            });
        }
        if magnitude(tai - realtime) > READING {
            let by_tai = stepped(tai);
            self.events.push(ClockStep::TaiOffset { at, by: tai - realtime, by_tai });
        }
    }

    pub fn findings(&self, clock: Option<ClockName>) -> impl Iterator<Item = Finding> + '_ {
        self.events.iter().map(move |event| event.finding(clock))
    }
}

impl ClockStep {
    fn finding(&self, clock: Option<ClockName>) -> Finding {
        match *self {
            ClockStep::Suspended { at, length } => {
                Finding::new(MachineFinding::Suspended { length_ns: length }).at(at)
            }
            ClockStep::RealtimeStepped { at, by, with_tai } => {
                let measured_with = match clock {
                    Some(ClockName::Realtime) => true,
                    Some(ClockName::Tai) => with_tai,
                    Some(ClockName::Monotonic) | None => false,
                };
                Finding::new(MachineFinding::ClockStepped { by_ns: by, measured_with }).at(at)
            }
            ClockStep::TaiOffset { at, by, by_tai } => {
                let measured_with = by_tai && clock == Some(ClockName::Tai);
                Finding::new(MachineFinding::TaiOffsetChanged { by_ns: by, measured_with }).at(at)
            }
        }
    }
}

fn magnitude(difference: Nanos) -> Nanos {
    Nanos(difference.0.saturating_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::finding::Severity;
    use latlab_model::nanos::SECOND;

    fn reading(second: i64) -> ClockReading {
        let monotonic_ns = SECOND * second;
        ClockReading {
            monotonic_ns,
            boottime_ns: monotonic_ns + SECOND * 100,
            realtime_ns: monotonic_ns + SECOND * 1_000_000,
            tai_ns: monotonic_ns + SECOND * 1_000_037,
        }
    }

    fn findings_of(readings: &[ClockReading], clock: ClockName) -> Vec<Finding> {
        let mut watch = ClockDigest::default();
        readings.iter().for_each(|&reading| watch.push(reading));
        watch.findings(Some(clock)).collect()
    }

    #[test]
    fn clocks_that_run_and_slew_are_silent() {
        let slewed = |second: i64| {
            let plain = reading(second);
            let slew = Nanos(499_000 * second);
            ClockReading {
                realtime_ns: plain.realtime_ns + slew,
                tai_ns: plain.tai_ns + slew,
                ..plain
            }
        };
        let readings: Vec<ClockReading> = (0..100).map(slewed).collect();
        assert_eq!(findings_of(&readings, ClockName::Realtime), []);
    }

    #[test]
    fn a_suspend_is_no_step() {
        let asleep = SECOND * 3_600;
        let after = reading(2);
        let after = ClockReading {
            boottime_ns: after.boottime_ns + asleep,
            realtime_ns: after.realtime_ns + asleep,
            tai_ns: after.tai_ns + asleep,
            ..after
        };
        let findings = findings_of(&[reading(0), reading(1), after], ClockName::Realtime);
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].code(), findings[0].at_ns), ("suspended", Some(SECOND * 2)));
        let length_ns = Nanos(3_600 * SECOND.0);
        let suspended = Finding::new(MachineFinding::Suspended { length_ns }).at(SECOND * 2);
        assert_eq!(findings[0], suspended);
        assert!(findings[0].invalidates());
    }

    #[test]
    fn a_step_counts_for_the_clock_that_was_used() {
        let after = reading(2);
        let both = ClockReading {
            realtime_ns: after.realtime_ns - SECOND,
            tai_ns: after.tai_ns - SECOND,
            ..after
        };
        for (clock, invalidates) in
            [(ClockName::Monotonic, false), (ClockName::Realtime, true), (ClockName::Tai, true)]
        {
            let findings = findings_of(&[reading(1), both], clock);
            assert_eq!(findings.len(), 1);
            assert_eq!(findings[0].code(), "clock-stepped");
            assert_eq!(findings[0].invalidates(), invalidates, "{clock}");
        }
    }

    #[test]
    fn a_leap_second_leaves_tai_alone() {
        let after = reading(2);
        let leap = ClockReading { realtime_ns: after.realtime_ns - SECOND, ..after };
        let findings = findings_of(&[reading(1), leap], ClockName::Tai);
        assert!(findings.iter().all(|one| !one.invalidates()));
        let codes: Vec<&str> = findings.iter().map(|one| one.code()).collect();
        assert_eq!(codes, ["clock-stepped", "tai-offset-changed"]);
        assert_eq!(findings[1].severity(), Severity::Info);
    }

    #[test]
    fn absurd_readings_do_not_panic() {
        let absurd = |value: i64| ClockReading {
            monotonic_ns: Nanos(value),
            boottime_ns: Nanos(-value),
            realtime_ns: Nanos(value),
            tai_ns: Nanos(-value),
        };
        let _ = findings_of(
            &[absurd(i64::MAX), absurd(i64::MIN + 1), absurd(i64::MAX)],
            ClockName::Tai,
        );
    }
}
