//! All series seen so far, and which of them have to be sent.

use latlab_model::Nanos;
use latlab_model::telemetry::{Reading, Series, WHOLE_EVERY};
use std::collections::HashMap;

/// What all series of a metric have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    pub name: &'static str,
    pub unit: &'static str,
    /// Whether it only ever grows.
    pub counter: bool,
}

impl Metric {
    /// A value that rises and falls.
    pub const fn gauge(name: &'static str, unit: &'static str) -> Metric {
        Metric { name, unit, counter: false }
    }

    /// A value that only ever grows.
    pub const fn counter(name: &'static str, unit: &'static str) -> Metric {
        Metric { name, unit, counter: true }
    }
}

struct SeriesState {
    steady: bool,
    /// The current value.
    now: Option<i64>,
    /// Whether it was read this time, …
    read: bool,
    /// … and when that was.
    read_at: Nanos,
    /// The value sent last; `None` before the first time.
    sent: Option<Option<i64>>,
}

/// All series, and the reading in progress.
#[derive(Default)]
pub struct Register {
    numbers: HashMap<&'static str, HashMap<String, u32>>,
    lines: Vec<SeriesState>,
    announce: Vec<Series>,
    earlier: Vec<(Nanos, u32, i64)>,
    sequence: u64,
    /// The last reading was lost, so the next one holds everything.
    lost: bool,
    /// When the values now being put were read.
    instant: Nanos,
    /// Whether [`Register::put`] currently puts values that are not read each time.
    pub is_occasional: bool,
}

impl Register {
    /// Sets the time at which the following values were read.
    pub fn set_instant(&mut self, instant: Nanos) {
        self.instant = instant;
    }

    /// Puts a value that is read each time.
    pub fn put(&mut self, metric: Metric, subject: &str, value: i64) {
        self.set(metric, subject, true, value);
    }

    /// Puts a value that is read now and then.
    pub fn put_now(&mut self, metric: Metric, subject: &str, value: i64) {
        self.set(metric, subject, false, value);
    }

    /// Adds the earlier value of a series that was not reported then.
    pub fn put_earlier(&mut self, metric: Metric, subject: &str, time: Nanos, value: i64) {
        let number = self.number(metric, subject, false);
        self.earlier.push((time, number, value));
    }

    /// Ends a series that is read now and then.
    pub fn end(&mut self, metric: Metric, subject: &str) {
        let number = self.number(metric, subject, false);
        let line = &mut self.lines[number as usize];
        (line.now, line.read, line.read_at) = (None, true, self.instant);
    }

    fn set(&mut self, metric: Metric, subject: &str, steady: bool, value: i64) {
        let number = self.number(metric, subject, steady && !self.is_occasional);
        let line = &mut self.lines[number as usize];
        (line.now, line.read, line.read_at) = (Some(value), true, self.instant);
    }

    fn number(&mut self, metric: Metric, subject: &str, steady: bool) -> u32 {
        let subjects = self.numbers.entry(metric.name).or_default();
        if let Some(&number) = subjects.get(subject) {
            return number;
        }
        let number = self.lines.len() as u32;
        subjects.insert(subject.to_string(), number);
        let read_at = Nanos::ZERO;
        self.lines.push(SeriesState { steady, now: None, read: false, read_at, sent: None });
        self.announce.push(Series {
            number,
            metric: metric.name.to_string(),
            subject: subject.to_string(),
            unit: metric.unit.to_string(),
            counter: metric.counter,
            steady,
        });
        number
    }

    /// The new series, and the reading; a series read each time that is missing now has ended.
    pub fn reading(&mut self, at_ns: Nanos) -> (Vec<Series>, Reading) {
        let whole = self.lost || self.sequence.is_multiple_of(WHOLE_EVERY);
        let (mut values, mut instants) = (Vec::new(), Vec::new());
        let mut since = Nanos::ZERO;
        for (number, line) in (0..).zip(&mut self.lines) {
            let read = std::mem::take(&mut line.read);
            // Series of one file follow each other and share one entry.
            if read && line.read_at - at_ns != since {
                since = line.read_at - at_ns;
                instants.push((number, since));
            }
            if line.steady && !read {
                line.now = None;
            }
            let changed = line.sent != Some(line.now);
            let wanted = if line.steady { changed || whole } else { read };
            // A series that never had a value is not repeated each minute.
            if wanted && (line.now.is_some() || line.sent.flatten().is_some()) {
                values.push((number, line.now));
                line.sent = Some(line.now);
            }
        }
        let earlier = std::mem::take(&mut self.earlier);
        let reading = Reading { at_ns, sequence: self.sequence, whole, values, earlier, instants };
        self.sequence += 1;
        self.lost = false;
        (std::mem::take(&mut self.announce), reading)
    }

    /// Counts readings that were not taken because the machine left no time for them.
    pub fn skip(&mut self, readings: u64) {
        self.sequence += readings;
        self.lost |= readings > 0;
    }

    /// Marks the last reading as lost.
    pub fn lost(&mut self) {
        self.lost = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAT: Metric = Metric::gauge("temperature", "mC");
    const TIME: Metric = Metric::counter("thread_cpu_time", "ns");

    #[test]
    fn only_what_has_changed_is_sent() {
        let mut register = Register::default();
        register.put(HEAT, "a", 50);
        register.put(HEAT, "b", 60);
        let (series, first) = register.reading(Nanos(1));
        assert_eq!(series.iter().map(|one| one.subject.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(first.whole);
        assert_eq!(first.values, [(0, Some(50)), (1, Some(60))]);
        register.put(HEAT, "a", 50);
        register.put(HEAT, "b", 61);
        let (series, second) = register.reading(Nanos(2));
        assert_eq!((series.len(), second.whole, second.sequence), (0, false, 1));
        assert_eq!(second.values, [(1, Some(61))]);
    }

    /// Invariant (conditions): Absent values have no row, lost readings are counted, nothing is interpolated wrongly.
    #[test]
    fn what_is_not_there_any_more_is_told_once() {
        let mut register = Register::default();
        register.put(HEAT, "a", 50);
        register.reading(Nanos(1));
        assert_eq!(register.reading(Nanos(2)).1.values, [(0, None)]);
        assert_eq!(register.reading(Nanos(3)).1.values, []);
        register.put(HEAT, "a", 50);
        assert_eq!(register.reading(Nanos(4)).1.values, [(0, Some(50))]);
    }

    /// Invariant (conditions): Each file of a reading has the time at which it was read.
    #[test]
    fn each_file_of_a_reading_has_its_own_time() {
        let mut register = Register::default();
        let mut read = |at: [i64; 2], end| {
            register.set_instant(Nanos(at[0]));
            register.put(HEAT, "a", at[0]);
            register.put(HEAT, "b", 60);
            register.set_instant(Nanos(at[1]));
            register.put(TIME, "c", 70);
            register.reading(Nanos(end)).1
        };
        let at = |reading: &Reading| [0, 1, 2].map(|number| reading.read_at(number).0);
        assert_eq!(at(&read([100, 900], 1_000)), [100, 100, 900]);
        let second = read([2_100, 2_950], 3_000);
        assert_eq!((at(&second), second.values.len()), ([2_100, 2_100, 2_950], 1));
        assert_eq!(second.instants.len(), 2, "one for each file");
        assert!(read([4_000, 4_000], 4_000).instants.is_empty());
    }

    #[test]
    fn after_a_loss_everything_comes_again() {
        let mut register = Register::default();
        register.put(HEAT, "a", 50);
        register.reading(Nanos(1));
        register.lost();
        register.put(HEAT, "a", 50);
        let (_, reading) = register.reading(Nanos(2));
        assert!(reading.whole);
        assert_eq!(reading.values, [(0, Some(50))]);
    }

    /// Invariant (conditions): Absent values have no row, lost readings are counted, nothing is interpolated wrongly.
    #[test]
    fn readings_that_were_not_taken_have_numbers_and_everything_comes_again() {
        let mut register = Register::default();
        register.put(HEAT, "a", 50);
        register.reading(Nanos(1));
        register.skip(0);
        register.put(HEAT, "a", 50);
        assert!(!register.reading(Nanos(2)).1.whole);
        register.skip(3);
        register.put(HEAT, "a", 50);
        let (_, reading) = register.reading(Nanos(6));
        assert_eq!((reading.sequence, reading.whole), (5, true));
    }

    #[test]
    fn what_is_read_now_and_then_is_sent_when_it_was_read() {
        let mut register = Register::default();
        register.put_earlier(TIME, "yes/7", Nanos(1), 10);
        register.put_now(TIME, "yes/7", 10);
        let (series, first) = register.reading(Nanos(2));
        assert!(!series[0].steady);
        assert_eq!((first.values, first.earlier), (vec![(0, Some(10))], vec![(Nanos(1), 0, 10)]));
        assert_eq!(register.reading(Nanos(3)).1.values, []);
        register.put_now(TIME, "yes/7", 10);
        assert_eq!(register.reading(Nanos(4)).1.values, [(0, Some(10))]);
        register.end(TIME, "yes/7");
        assert_eq!(register.reading(Nanos(5)).1.values, [(0, None)]);
    }
}
