//! An interval of a run as its user specifies it, converted to CLOCK_MONOTONIC.

use crate::wall::WallClock;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use latlab_model::{Nanos, Run};
use std::ops::Range;
use std::str::FromStr;

/// `FROM..TO`, each optional.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowSpec {
    from: Option<Point>,
    to: Option<Point>,
}

/// One side of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Point {
    /// Offset from the first release.
    After(Nanos),
    /// Date and time in UTC.
    At(Timestamp),
    /// Time of day within the run, in UTC.
    OfDay(Time),
}

/// Not a valid window.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{0}: expected FROM..TO, each a time in UTC (14:03:00, 2026-11-21T14:03:00Z) or a time since \
     the first release (+10s)"
)]
pub struct ParseWindowError(String);

impl WindowSpec {
    /// All of a run.
    pub fn whole() -> WindowSpec {
        WindowSpec { from: None, to: None }
    }
}

impl FromStr for WindowSpec {
    type Err = ParseWindowError;

    fn from_str(text: &str) -> Result<WindowSpec, ParseWindowError> {
        let (from, to) = text
            .split_once("..")
            .ok_or_else(|| ParseWindowError(format!("'{text}' has no '..'")))?;
        let point = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse().map(Some),
        };
        Ok(WindowSpec { from: point(from)?, to: point(to)? })
    }
}

impl FromStr for Point {
    type Err = ParseWindowError;

    fn from_str(text: &str) -> Result<Point, ParseWindowError> {
        let wrong = |reason: String| ParseWindowError(reason);
        if let Some(offset) = text.strip_prefix('+') {
            return offset.parse().map(Point::After).map_err(|error| wrong(format!("{error}")));
        }
        let no_time = || wrong(format!("'{text}' is not a time"));
        match text {
            _ if text.contains('-') => text.parse().map(Point::At).map_err(|_| no_time()),
            _ if text.contains(':') => text.parse().map(Point::OfDay).map_err(|_| no_time()),
            _ => Err(no_time()),
        }
    }
}

/// A window that is not within the run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct WindowError(pub String);

/// The times of a run that a window may refer to.
struct RunTimes<'a> {
    /// Origin of offsets.
    first_release: Nanos,
    /// The largest possible window.
    whole: Range<Nanos>,
    /// Between its clock and UTC.
    wall: &'a WallClock,
}

impl WindowSpec {
    /// The part of the window within the run: between the first and the last release, or sample if
    /// there are any. `samples` are the releases of the first and last one.
    pub fn within(
        &self,
        run: &Run,
        samples: Option<(Nanos, Nanos)>,
        wall: &WallClock,
    ) -> Result<Range<Nanos>, WindowError> {
        let first_release = run.first_release().unwrap_or_default();
        let (first, last) = samples.unwrap_or((first_release, first_release));
        let end = (first_release + run.measured_ns).max(last + Nanos(1));
        let whole = first.min(first_release)..end;
        self.resolve(&RunTimes { first_release, whole, wall })
    }

    fn resolve(&self, times: &RunTimes) -> Result<Range<Nanos>, WindowError> {
        let (from, to) = times.on_days(self.from, self.to)?;
        let side = |point: Option<Point>, open: Nanos| {
            point.map_or(Ok(open), |point| times.instant(point))
        };
        let (from, to) = (side(from, times.whole.start)?, side(to, times.whole.end)?);
        if from >= to && self.from.is_some() && self.to.is_some() {
            return Err(WindowError("the window ends before it begins".to_string()));
        }
        let within = from.max(times.whole.start)..to.min(times.whole.end);
        if within.start >= within.end { Err(times.outside()) } else { Ok(within) }
    }
}

impl RunTimes<'_> {
    fn instant(&self, point: Point) -> Result<Nanos, WindowError> {
        let time = match point {
            Point::After(offset) => return Ok(self.first_release + offset),
            Point::At(time) => time,
            Point::OfDay(time) => return Err(self.needs_date(time)),
        };
        let realtime = i64::try_from(time.as_nanosecond()).map_or(Nanos::MAX, Nanos);
        self.wall.monotonic(realtime).map_err(|_| {
            WindowError(format!(
                "{time} occurred twice, because the clock was set back during the run: use a time \
                 since the first release, such as +10s"
            ))
        })
    }

    /// Both sides with their dates.
    fn on_days(
        &self,
        from: Option<Point>,
        to: Option<Point>,
    ) -> Result<(Option<Point>, Option<Point>), WindowError> {
        let (Some(Point::OfDay(first)), Some(Point::OfDay(last))) = (from, to) else {
            let day = |point: Option<Point>| match point {
                Some(Point::OfDay(time)) => self.nearest(time).map(|at| Some(Point::At(at))),
                other => Ok(other),
            };
            return Ok((day(from)?, day(to)?));
        };
        // A time of day outside the run is before its start or after its end, whichever makes a
        // window of less than a day.
        let before = |time, end| self.occurrences(time).into_iter().rev().find(|at| *at < end);
        let after = |time, start| self.occurrences(time).into_iter().find(|at| *at > start);
        let (start, end) = self.wall_times()?;
        let (from, to) = match (self.within(first)?, self.within(last)?) {
            (Some(from), Some(to)) => (Some(from), Some(to)),
            (None, Some(to)) => (before(first, start), Some(to)),
            (Some(from), None) => (Some(from), after(last, end)),
            (None, None) => {
                let from = before(first, start);
                (from, from.and_then(|from| after(last, from)))
            }
        };
        Ok((from.map(Point::At), to.map(Point::At)))
    }

    /// The only occurrence of this time of day within the run; `None` if there is none.
    fn within(&self, time: Time) -> Result<Option<Timestamp>, WindowError> {
        let (start, end) = self.wall_times()?;
        let occurrences = self.occurrences(time).into_iter();
        let within: Vec<_> = occurrences.filter(|at| (start..=end).contains(at)).collect();
        match within[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => Err(self.needs_date(time)),
        }
    }

    fn nearest(&self, time: Time) -> Result<Timestamp, WindowError> {
        if let Some(within) = self.within(time)? {
            return Ok(within);
        }
        let (start, end) = self.wall_times()?;
        let distance = |at: &Timestamp| {
            let early = start.as_nanosecond() - at.as_nanosecond();
            early.max(at.as_nanosecond() - end.as_nanosecond())
        };
        let nearest = self.occurrences(time).into_iter().min_by_key(distance);
        nearest.ok_or_else(|| self.needs_date(time))
    }

    /// This time of day on each day of the run, of the day before and of the day after.
    fn occurrences(&self, time: Time) -> Vec<Timestamp> {
        let Ok((start, end)) = self.wall_times() else { return Vec::new() };
        let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).date();
        let (first, last) = (day(start).yesterday(), day(end).tomorrow());
        let (Ok(first), Ok(last)) = (first, last) else { return Vec::new() };
        let days = first.series(jiff::Span::new().days(1)).take_while(|day: &Date| *day <= last);
        days.filter_map(|day| day.to_datetime(time).to_zoned(TimeZone::UTC).ok())
            .map(|at| at.timestamp())
            .collect()
    }

    fn wall_times(&self) -> Result<(Timestamp, Timestamp), WindowError> {
        let at = |instant| Timestamp::from_nanosecond(self.wall.realtime(instant).0.into());
        at(self.whole.start).and_then(|start| Ok((start, at(self.whole.end)?))).map_err(|error| {
            WindowError(format!(
                "the clock readings of the run are inconsistent: \
                                                  {error}"
            ))
        })
    }

    fn needs_date(&self, time: Time) -> WindowError {
        WindowError(format!(
            "{time} occurred on several days of this run: add the date, such as {}",
            self.wall.utc(self.whole.start, 0)
        ))
    }

    fn outside(&self) -> WindowError {
        let Range { start, end } = self.whole;
        WindowError(format!(
            "the window does not overlap the run, which goes from {} to {}, that is +0s..+{:.3}s",
            self.wall.utc(start, 3),
            self.wall.utc(end, 3),
            (end - self.first_release).as_secs_f64(),
        ))
    }
}
