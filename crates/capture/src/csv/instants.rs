//! Calendar times: `2026-11-22T10:20:30.123456789+01:00` (ISO 8601), and `10:20:30.5`.

/// An instant, or a time of day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instant {
    /// Seconds since 1970, or since midnight.
    pub seconds: i64,
    /// Picoseconds within the second.
    pub picoseconds: i64,
    /// Number of decimals of the seconds.
    pub digits: usize,
}

impl Instant {
    /// Parses an instant; the zone is UTC if none is given.
    pub fn parse(text: &str) -> Option<Instant> {
        let (days, time) = match text.as_bytes().get(4) {
            Some(b'-') => {
                let number = |at: std::ops::Range<usize>| digits(text.get(at)?);
                let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
                let is_date = text.as_bytes().get(7) == Some(&b'-')
                    && (1..=12).contains(&month)
                    && (1..=31).contains(&day);
                let time = text.get(10..)?.strip_prefix(['T', 't', ' '])?;
                (is_date.then(|| days_since_1970(year, month, day))?, time)
            }
            _ => (0, text),
        };
        let of_day = |at: std::ops::Range<usize>, end: i64| {
            digits(time.get(at)?).filter(|number| *number <= end)
        };
        let is_time = [2, 5].iter().all(|at| time.as_bytes().get(*at) == Some(&b':'));
        let (hour, minute, second) = (of_day(0..2, 24)?, of_day(3..5, 59)?, of_day(6..8, 60)?);
        let rest = is_time.then(|| &time[8..])?;
        let (fraction, zone) = match rest.strip_prefix(['.', ',']) {
            Some(rest) => {
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest.split_at(end)
            }
            None => ("", rest),
        };
        let picoseconds = (0..12).fold(0, |all, at| {
            let digit = fraction.as_bytes().get(at).map_or(0, |byte| i64::from(byte - b'0'));
            all * 10 + digit
        });
        let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - offset(zone.trim())?;
        Some(Instant { seconds, picoseconds, digits: fraction.len() })
    }
}

fn digits(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Offset of a zone from UTC in seconds: `Z`, `+01:00`, `-0530`, `+02`.
fn offset(zone: &str) -> Option<i64> {
    let (sign, digits_of_zone) = match zone {
        "" | "Z" | "z" | "UTC" => return Some(0),
        zone => match (zone.strip_prefix('+'), zone.strip_prefix('-')) {
            (Some(rest), _) => (1, rest),
            (_, Some(rest)) => (-1, rest),
            _ => return None,
        },
    };
    let number = digits_of_zone.replace(':', "");
    let (hours, minutes) = match number.len() {
        2 => (digits(&number)?, 0),
        4 => (digits(&number[..2])?, digits(&number[2..])?),
        _ => return None,
    };
    Some(sign * (hours * 60 + minutes) * 60)
}

/// Days from the start of 1970 to this day, computed with years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_those_of_the_calendar() {
        let at = |text: &str| Instant::parse(text).map(|one| (one.seconds, one.picoseconds));
        assert_eq!(at("1970-01-01T00:00:00Z"), Some((0, 0)));
        assert_eq!(at("2026-11-22T10:20:30.5Z"), Some((1_795_342_830, 500_000_000_000)));
        assert_eq!(at("2026-11-22 11:20:30,000000001+01:00"), Some((1_795_342_830, 1_000)));
        assert_eq!(at("2000-03-01T00:00:00-0530"), Some((951_868_800 + 19_800, 0)));
        assert_eq!(at("10:20:30.25"), Some((37_230, 250_000_000_000)));
        for wrong in
            ["", "2026-11-22", "2026-13-22T10:20:30", "10:20", "1.5", "2026-11-22T10h20:30"]
        {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
