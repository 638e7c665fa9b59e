//! Parses numbers in columns of eight characters, right-aligned, with one 64-bit operation per
//! step.

/// A one in each of eight bytes.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Seven blanks before the digit.
const SEVEN_BLANKS: u64 = 0x2020_2020_2020_2000;

/// Eight characters, the first in the lowest byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Columns(u64);

impl Columns {
    /// The next characters of a line; `None` beyond its end.
    #[inline]
    pub fn of(line: &[u8]) -> Option<Columns> {
        line.first_chunk().copied().map(u64::from_le_bytes).map(Columns)
    }

    /// Zero if the characters are blanks followed by at least one digit.
    #[inline]
    pub fn flaws(self) -> u64 {
        // A digit becomes 0 to 9, and a blank 0x10; anything else may affect its neighbour as well.
        let bytes = self.0 ^ (ONES * 0x30);
        let blanks = bytes & (ONES * 0x10);
        let beyond_nine = (bytes.wrapping_add(ONES * 6) & (ONES * 0xf0)) ^ blanks;
        let no_blank = bytes & (blanks - (blanks >> 4));
        let blank_behind_digit = (blanks >> 8) & !blanks;
        beyond_nine | no_blank | blank_behind_digit | (blanks >> 60)
    }

    /// The number, if there are no flaws: sums neighbours, then pairs, then fours.
    #[inline]
    pub fn number(self) -> u64 {
        let pairs = (self.0 & (ONES * 0x0f)).wrapping_mul(10 << 8 | 1) >> 8;
        let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 << 16 | 1) >> 16;
        (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 << 32 | 1) >> 32
    }

    /// The number of a single digit after blanks; `None` for anything else.
    #[inline]
    pub fn digit(self) -> Option<u64> {
        let digit = (self.0 >> 56) ^ 0x30;
        (self.0 << 8 == SEVEN_BLANKS && digit <= 9).then_some(digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &[u8; 8]) -> Option<u64> {
        let columns = Columns::of(text).unwrap();
        let number = (columns.flaws() == 0).then(|| columns.number());
        assert!(columns.digit().is_none_or(|digit| Some(digit) == number), "{text:?}");
        number
    }

    #[test]
    fn a_number_stands_behind_blanks() {
        for (text, expected) in [
            (b"       0", Some(0)),
            (b"       9", Some(9)),
            (b"  120345", Some(120_345)),
            (b"98765432", Some(98_765_432)),
            (b"00000007", Some(7)),
            (b"        ", None),
            (b"1 2     ", None),
            (b" 123 456", None),
            (b"      1\t", None),
            (b"      -1", None),
            (b"   12.50", None),
        ] {
            assert_eq!(number(text), expected, "{text:?}");
        }
        assert_eq!(Columns::of(b"1234567"), None);
    }

    #[test]
    fn no_byte_but_a_blank_or_a_digit_in_its_place_is_taken() {
        for byte in 0..=255 {
            for at in 0..8 {
                let mut text = *b"   45678";
                text[at] = byte;
                let fits = match byte {
                    b'0'..=b'9' => at >= 2,
                    b' ' => at <= 3,
                    _ => false,
                };
                assert_eq!(number(&text).is_some(), fits, "{byte} at {at}");
            }
        }
    }
}
