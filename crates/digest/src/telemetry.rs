//! From the readings of the telemetry to the rows of its table.
//!
//! An unchanged series has a row at both ends of that time and none between, so that linear
//! interpolation gives what was read.

use latlab_model::Nanos;
use latlab_model::telemetry::{Reading, Series};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A row of `telemetry.parquet`.
#[derive(Clone, PartialEq, Debug)]
pub struct TelemetryRow {
    /// On CLOCK_MONOTONIC.
    pub time_ns: Nanos,
    pub series: Arc<Series>,
    /// `None` when the value disappeared.
    pub value: Option<i64>,
}

/// A row, and the time of the reading that it belongs to.
#[derive(Clone, PartialEq, Debug)]
pub struct ReadRow {
    /// The time of the reading, which all its rows share.
    pub reading_ns: Nanos,
    pub row: TelemetryRow,
}

/// When a value was read.
#[derive(Clone, Copy)]
struct ReadTime {
    /// The time of its reading …
    reading: Nanos,
    /// … and of its file.
    file: Nanos,
}

/// All series of one stream.
#[derive(Default)]
pub struct TelemetryDigest {
    lines: BTreeMap<u32, StoredSeries>,
    next: u64,
    taken: u64,
}

struct StoredSeries {
    series: Arc<Series>,
    /// What was written last; `None` if nothing is known.
    written: Option<Option<i64>>,
    /// When it was last read unchanged, after the row that was written.
    unchanged: Option<ReadTime>,
}

/// The rows from one reading.
#[derive(Default, Debug)]
pub struct NewRows {
    /// In order for each series.
    pub rows: Vec<ReadRow>,
    /// Readings before it that did not arrive.
    pub lost: u64,
}

impl TelemetryDigest {
    /// Announces a series; repeating it has no effect.
    pub fn announce(&mut self, series: Series) {
        let number = series.number;
        let line = StoredSeries { series: Arc::new(series), written: None, unchanged: None };
        self.lines.entry(number).or_insert(line);
    }

    /// Adds the next reading; a repeated one adds nothing.
    pub fn push(&mut self, reading: &Reading) -> NewRows {
        let mut taken = NewRows::default();
        if reading.sequence < self.next && self.taken > 0 {
            return taken;
        }
        taken.lost = reading.sequence - self.next;
        self.next = reading.sequence.saturating_add(1);
        self.taken += 1;
        if taken.lost > 0 {
            // The values in between are unknown.
            self.lines.values_mut().for_each(|line| line.forget(&mut taken.rows));
        }
        for &(at, number, value) in &reading.earlier {
            if let Some(line) = self.lines.get_mut(&number) {
                line.write(ReadTime { reading: at, file: at }, Some(value), &mut taken.rows);
            }
        }
        let mut values: BTreeMap<u32, Option<i64>> = reading.values.iter().copied().collect();
        for (number, line) in &mut self.lines {
            let at = ReadTime { reading: reading.at_ns, file: reading.read_at(*number) };
            match values.remove(number) {
                Some(value) => line.read(at, value, &mut taken.rows),
                None if line.series.steady && line.written.is_some() => match reading.whole {
                    true => line.read(at, None, &mut taken.rows),
                    false => line.unchanged = Some(at),
                },
                None => {}
            }
        }
        taken
    }

    /// The rows that are only known at the end.
    pub fn end(&mut self) -> Vec<ReadRow> {
        let mut rows = Vec::new();
        self.lines.values_mut().for_each(|line| line.forget(&mut rows));
        rows
    }
}

impl StoredSeries {
    fn read(&mut self, at: ReadTime, value: Option<i64>, rows: &mut Vec<ReadRow>) {
        if self.series.steady && self.written == Some(value) {
            self.unchanged = Some(at);
            return;
        }
        if let (Some(until), Some(value)) = (self.unchanged.take(), self.written) {
            self.push(until, value, rows);
        }
        self.write(at, value, rows);
    }

    fn write(&mut self, at: ReadTime, value: Option<i64>, rows: &mut Vec<ReadRow>) {
        self.written = Some(value);
        self.push(at, value, rows);
    }

    fn push(&self, at: ReadTime, value: Option<i64>, rows: &mut Vec<ReadRow>) {
        let row = TelemetryRow { time_ns: at.file, series: Arc::clone(&self.series), value };
        rows.push(ReadRow { reading_ns: at.reading, row });
    }

    /// Ends the known stretch of a series.
    fn forget(&mut self, rows: &mut Vec<ReadRow>) {
        if let (Some(until), Some(Some(value))) = (self.unchanged.take(), self.written.take()) {
            self.push(until, Some(value), rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings() -> TelemetryDigest {
        let mut readings = TelemetryDigest::default();
        for (number, subject, steady) in [(0, "cpu0", true), (1, "yes/7", false)] {
            let (metric, unit) = ("m".to_string(), "1".to_string());
            let subject = subject.to_string();
            readings.announce(Series { number, metric, subject, unit, counter: true, steady });
        }
        readings
    }

    fn reading(at: i64, sequence: u64, values: &[(u32, Option<i64>)]) -> Reading {
        let (at_ns, whole) = (Nanos(at), sequence == 0);
        let (values, earlier, instants) = (values.to_vec(), Vec::new(), Vec::new());
        Reading { at_ns, sequence, whole, values, earlier, instants }
    }

    fn plain(rows: Vec<ReadRow>) -> Vec<(i64, u32, Option<i64>)> {
        let plain = |row: TelemetryRow| (row.time_ns.0, row.series.number, row.value);
        rows.into_iter().map(|read| plain(read.row)).collect()
    }

    /// Invariant (conditions): Absent values have no row, lost readings are counted, nothing is interpolated wrongly.
    #[test]
    fn a_straight_line_from_row_to_row_is_what_was_read() {
        let mut readings = readings();
        let mut rows = Vec::new();
        for (at, values) in [
            (10, vec![(0, Some(5)), (1, Some(1))]),
            (20, vec![]),
            (30, vec![]),
            (40, vec![(0, Some(9))]),
            (50, vec![(0, None)]),
            (60, vec![]),
        ] {
            let sequence = at as u64 / 10 - 1;
            rows.extend(readings.push(&reading(at, sequence, &values)).rows);
        }
        rows.extend(readings.end());
        let expected =
            [(10, 0, Some(5)), (10, 1, Some(1)), (30, 0, Some(5)), (40, 0, Some(9)), (50, 0, None)];
        assert_eq!(plain(rows), expected);
    }

    /// Invariant (conditions): Absent values have no row, lost readings are counted, nothing is interpolated wrongly.
    #[test]
    fn a_reading_that_is_missing_is_counted_and_nothing_is_made_up() {
        let mut readings = readings();
        readings.push(&reading(10, 0, &[(0, Some(5))]));
        readings.push(&reading(20, 1, &[]));
        let taken = readings.push(&reading(50, 4, &[]));
        assert_eq!(taken.lost, 2);
        assert_eq!(plain(taken.rows), [(20, 0, Some(5))]);
        assert_eq!(plain(readings.end()), []);
        let whole = Reading { whole: true, ..reading(60, 5, &[(0, Some(6))]) };
        assert_eq!(plain(readings.push(&whole).rows), [(60, 0, Some(6))]);
        assert_eq!(plain(readings.push(&whole).rows), [], "it came twice");
    }

    /// Invariant (conditions): Each file of a reading has the time at which it was read.
    #[test]
    fn each_row_has_the_time_of_its_file() {
        let mut readings = readings();
        let at = |since: [i64; 2], reading| Reading {
            instants: vec![(0, Nanos(since[0])), (1, Nanos(since[1]))],
            ..reading
        };
        let both = [(0, Some(5)), (1, Some(1))];
        let first = readings.push(&at([-7, -2], reading(100, 0, &both))).rows;
        assert!(first.iter().all(|read| read.reading_ns == Nanos(100)));
        assert_eq!(plain(first), [(93, 0, Some(5)), (98, 1, Some(1))]);
        readings.push(&at([-4, -1], reading(200, 1, &[])));
        let third = readings.push(&at([-5, -3], reading(300, 2, &[(0, Some(9))]))).rows;
        assert_eq!(plain(third), [(196, 0, Some(5)), (295, 0, Some(9))], "also where unchanged");
    }

    #[test]
    fn what_was_read_before_comes_first() {
        let mut readings = readings();
        let late = Reading { earlier: vec![(Nanos(5), 1, 0)], ..reading(10, 0, &[(1, Some(8))]) };
        assert_eq!(plain(readings.push(&late).rows), [(5, 1, Some(0)), (10, 1, Some(8))]);
        // A series that is read occasionally is not interpolated.
        assert_eq!(plain(readings.push(&reading(20, 1, &[(1, Some(8))])).rows), [(20, 1, Some(8))]);
        assert_eq!(plain(readings.end()), []);
    }

    #[test]
    fn numbers_that_nobody_announced_are_left_out() {
        let mut readings = readings();
        assert_eq!(plain(readings.push(&reading(10, 0, &[(7, Some(5))])).rows), []);
    }
}
