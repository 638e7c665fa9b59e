//! Numbers in lines, as the tools write them.

/// A cursor over the bytes of a line.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub fn new(line: &'a [u8]) -> Cursor<'a> {
        Cursor { rest: line }
    }

    /// The remaining bytes.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Skips blanks.
    pub fn skip_blanks(&mut self) {
        while let Some((b' ' | b'\t', rest)) = self.rest.split_first() {
            self.rest = rest;
        }
    }

    /// Skips blanks and column separators.
    pub fn skip_separators(&mut self) {
        while let Some((b' ' | b'\t' | b',' | b';' | b'|', rest)) = self.rest.split_first() {
            self.rest = rest;
        }
    }

    /// Skips this text, if it is next.
    pub fn take(&mut self, text: &[u8]) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Skips columns of cyclictest with a count of zero, six zeros and a tab each; returns how
    /// many.
    #[inline]
    pub fn take_zero_columns(&mut self) -> usize {
        const ZEROS: &[u8; 7] = b"000000\t";
        let (columns, _) = self.rest.as_chunks();
        let count = columns.iter().take_while(|column| *column == ZEROS).count();
        self.rest = &self.rest[count * ZEROS.len()..];
        count
    }

    /// Takes digits; `None` if there are none, or too many for any count.
    pub fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0u64;
        let mut taken = 0;
        for byte in self.rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            taken += 1;
        }
        if taken == 0 {
            return None;
        }
        let digits = &self.rest[..taken];
        self.rest = &self.rest[taken..];
        match taken <= 18 {
            true => Some(value),
            false => std::str::from_utf8(digits).ok()?.parse().ok(),
        }
    }

    /// Takes a whole number with an optional sign.
    pub fn signed(&mut self) -> Option<i64> {
        let negative = self.take(b"-");
        let value = i64::try_from(self.unsigned()?).ok()?;
        Some(if negative { -value } else { value })
    }

    /// Takes everything up to the next blank or separator.
    pub fn word(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| b" \t,;|".contains(byte));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }
}

/// A number with optional decimals, after a point or a comma.
pub fn decimal(word: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(word).ok()?.trim();
    let value: f64 = match text.contains(',') && !text.contains('.') {
        true => text.replacen(',', ".", 1).parse().ok()?,
        false => text.parse().ok()?,
    };
    value.is_finite().then_some(value)
}

/// A whole number as tools print it: only digits, and no leading zeros.
pub fn whole(word: &str) -> Option<u64> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_filled = word.len() > 1 && word.starts_with('0');
    if is_plain && !is_filled { word.parse().ok() } else { None }
}

/// A number as `printf` prints it: digits, with or without a point between them.
pub fn printed(word: &str) -> Option<f64> {
    let (units, decimals) = word.split_once('.').unwrap_or((word, "0"));
    let is_decimals = !decimals.is_empty() && decimals.bytes().all(|byte| byte.is_ascii_digit());
    whole(units).filter(|_| is_decimals)?;
    word.parse().ok()
}

/// A time in these units as nanoseconds; `None` beyond 292 years.
pub fn nanos(value: f64, unit: i64) -> Option<i64> {
    let nanos = (value * unit as f64).round();
    (nanos.abs() < 9.0e18).then_some(nanos as i64)
}

/// The bytes of a line as printable text.
pub fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(60)]);
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_or_refused_whole() {
        let mut cursor = Cursor::new(b"  000012 -7,99999999999999999999");
        cursor.skip_blanks();
        assert_eq!(cursor.unsigned(), Some(12));
        cursor.skip_separators();
        assert_eq!(cursor.signed(), Some(-7));
        cursor.skip_separators();
        assert_eq!((cursor.unsigned(), cursor.rest()), (None, &b""[..]));
        assert_eq!(Cursor::new(b"18446744073709551615").unsigned(), Some(u64::MAX));
        assert_eq!(Cursor::new(b"x").unsigned(), None);
    }

    #[test]
    fn what_no_tool_prints_is_no_number() {
        assert_eq!((whole("0"), whole("120"), printed("0.50")), (Some(0), Some(120), Some(0.5)));
        for word in ["", "+5", "-5", "05", "5x", "0x5", "1e3", "99999999999999999999", "5 5"] {
            assert_eq!((whole(word), printed(word)), (None, None), "{word}");
        }
        for word in ["5.", ".5", "1.2.3", "5.-1", "nan", "inf", "5,5"] {
            assert_eq!(printed(word), None, "{word}");
        }
    }

    #[test]
    fn columns_that_count_nothing_are_passed_over_at_once() {
        let mut cursor = Cursor::new(b"000000\t000000\t000001\t000000");
        assert_eq!((cursor.take_zero_columns(), cursor.unsigned()), (2, Some(1)));
        cursor.skip_separators();
        assert_eq!((cursor.take_zero_columns(), cursor.unsigned()), (0, Some(0)));
    }

    #[test]
    fn a_comma_may_stand_for_the_point() {
        assert_eq!(decimal(b"2,302"), Some(2.302));
        assert_eq!((decimal(b"nan"), decimal(b"1,2,3")), (None, None));
        assert_eq!((nanos(9.9e37, 1_000), nanos(0.723, 1_000)), (None, Some(723)));
    }
}
