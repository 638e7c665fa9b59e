//! The values of a page, with bounds checks everywhere: the library's own readers panic on damaged
//! pages.

use parquet::basic::{ConvertedType, Encoding, Type};
use parquet::column::page::Page;
use parquet::schema::types::ColumnDescriptor;

/// More values than any undamaged page has.
const MOST_VALUES: u32 = 1 << 26;

/// How the numbers of a column are stored.
#[derive(Clone, Copy)]
enum Number {
    Int32,
    Int64,
    Float,
    Double,
}

impl Number {
    fn size(self) -> usize {
        match self {
            Number::Int32 | Number::Float => 4,
            Number::Int64 | Number::Double => 8,
        }
    }

    /// The number in these bits.
    fn of(self, bits: u64) -> f64 {
        match self {
            Number::Int32 => f64::from(bits as i32),
            Number::Int64 => bits as i64 as f64,
            Number::Float => f64::from(f32::from_bits(bits as u32)),
            Number::Double => f64::from_bits(bits),
        }
    }
}

/// Reads the values of a column, page by page.
pub struct Values {
    number: Number,
    /// Whether values may be missing.
    may_lack: bool,
    dictionary: Vec<f64>,
}

impl Values {
    /// For a column of numbers; otherwise the error explains why not.
    pub fn new(column: &ColumnDescriptor) -> Result<Values, String> {
        let number = match column.physical_type() {
            Type::INT32 => Number::Int32,
            Type::INT64 => Number::Int64,
            Type::FLOAT => Number::Float,
            Type::DOUBLE => Number::Double,
            _ => return Err(format!("column '{}' holds no numbers", column.path().string())),
        };
        if column.converted_type() == ConvertedType::DECIMAL {
            return Err(format!("column '{}' holds decimal numbers", column.path().string()));
        }
        if column.max_rep_level() > 0 || column.max_def_level() > 1 {
            return Err(format!("column '{}' holds lists", column.path().string()));
        }
        Ok(Values { number, may_lack: column.max_def_level() > 0, dictionary: Vec::new() })
    }

    /// Passes each value of a page to `each`; returns the number of missing ones, or `None` if the
    /// page is damaged or has an unsupported encoding.
    pub fn take(&mut self, page: &Page, each: &mut impl FnMut(f64)) -> Option<u64> {
        if page.num_values() > MOST_VALUES {
            return None;
        }
        let all = page.num_values() as usize;
        match page {
            Page::DictionaryPage { buf, .. } => {
                let mut dictionary = Vec::new();
                plain(buf, self.number, all, &mut |value| dictionary.push(value))?;
                self.dictionary = dictionary;
                Some(0)
            }
            Page::DataPage { buf, encoding, .. } => {
                let (levels, rest) = match self.may_lack {
                    true => {
                        let (length, rest) = buf.split_first_chunk()?;
                        rest.split_at_checked(u32::from_le_bytes(*length) as usize)?
                    }
                    false => (&[][..], &buf[..]),
                };
                self.values(levels, rest, all, *encoding, each)
            }
            Page::DataPageV2 {
                buf, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let (_, rest) = buf.split_at_checked(*rep_levels_byte_len as usize)?;
                let (levels, rest) = rest.split_at_checked(*def_levels_byte_len as usize)?;
                self.values(levels, rest, all, *encoding, each)
            }
        }
    }

    fn values(
        &self,
        levels: &[u8],
        bytes: &[u8],
        all: usize,
        encoding: Encoding,
        each: &mut impl FnMut(f64),
    ) -> Option<u64> {
        let mut present = all;
        if self.may_lack {
            present = 0;
            runs(levels, 1, all, &mut |level| {
                present += level as usize;
                Some(())
            })?;
        }
        let number = self.number;
        match encoding {
            Encoding::PLAIN => plain(bytes, number, present, each)?,
            #[allow(deprecated)]
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY if present > 0 => {
                let (width, bytes) = bytes.split_first()?;
                runs(bytes, *width, present, &mut |index| {
                    each(*self.dictionary.get(usize::try_from(index).ok()?)?);
                    Some(())
                })?;
            }
            #[allow(deprecated)]
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {}
            Encoding::DELTA_BINARY_PACKED => {
                differences(bytes, present, &mut |bits| each(number.of(bits)))?;
            }
            Encoding::BYTE_STREAM_SPLIT => {
                let (size, stride) = (number.size(), bytes.len() / number.size());
                for at in 0..present {
                    let byte = |part: usize| Some(u64::from(*bytes.get(part * stride + at)?));
                    let bits =
                        (0..size).rev().try_fold(0, |bits, part| Some(bits << 8 | byte(part)?));
                    each(number.of(bits.filter(|_| at < stride)?));
                }
            }
            _ => return None,
        }
        Some((all - present) as u64)
    }
}

/// Plain encoding: numbers one after the other.
fn plain(bytes: &[u8], number: Number, count: usize, each: &mut impl FnMut(f64)) -> Option<()> {
    let size = number.size();
    let values = bytes.get(..count.checked_mul(size)?)?;
    values.chunks_exact(size).for_each(|value| each(number.of(little_endian(value))));
    Some(())
}

/// A little-endian number of at most eight bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// RLE and bit-packing hybrid, until `count` values are read.
fn runs(
    mut bytes: &[u8],
    width: u8,
    count: usize,
    each: &mut impl FnMut(u64) -> Option<()>,
) -> Option<()> {
    let mut left = count;
    while left > 0 {
        let head = variable(&mut bytes)?;
        let length = usize::try_from(head >> 1).ok().filter(|length| *length > 0)?;
        if head & 1 == 0 {
            let (value, rest) = bytes.split_at_checked(width.div_ceil(8).into())?;
            bytes = rest;
            let value = little_endian(value.get(..value.len().min(8))?);
            for _ in 0..length.min(left) {
                each(value)?;
            }
            left -= length.min(left);
        } else {
            let values = length.checked_mul(8)?.min(left);
            // The last stretch may end after its last value.
            let size = length.checked_mul(width.into())?.min(bytes.len());
            let (packed, rest) = bytes.split_at(size);
            bytes = rest;
            unpack(packed, width, values, each)?;
            left -= values;
        }
    }
    Some(())
}

/// Unpacks bit-packed values.
fn unpack(
    packed: &[u8],
    width: u8,
    count: usize,
    each: &mut impl FnMut(u64) -> Option<()>,
) -> Option<()> {
    if width > 64 {
        return None;
    }
    let (mut held, mut bits, mut bytes) = (0u128, 0, packed.iter());
    let mask = (1u128 << width) - 1;
    for _ in 0..count {
        while bits < width {
            held |= u128::from(*bytes.next()?) << bits;
            bits += 8;
        }
        each((held & mask) as u64)?;
        held >>= width;
        bits -= width;
    }
    Some(())
}

/// Delta encoding, in bit-packed blocks.
fn differences(mut bytes: &[u8], count: usize, each: &mut impl FnMut(u64)) -> Option<()> {
    let (block, parts) = (variable(&mut bytes)?, variable(&mut bytes)?);
    variable(&mut bytes)?;
    let mut value = zigzag(variable(&mut bytes)?);
    let in_part = usize::try_from(block.checked_div(parts)?).ok().filter(|it| *it > 0)?;
    if count == 0 {
        return Some(());
    }
    each(value);
    let mut left = count - 1;
    while left > 0 {
        let least = zigzag(variable(&mut bytes)?);
        let (widths, rest) = bytes.split_at_checked(usize::try_from(parts).ok()?)?;
        bytes = rest;
        for width in widths {
            if left == 0 {
                break;
            }
            let size = in_part.checked_mul((*width).into())?.div_ceil(8).min(bytes.len());
            let (packed, rest) = bytes.split_at(size);
            bytes = rest;
            let values = in_part.min(left);
            unpack(packed, *width, values, &mut |difference| {
                value = value.wrapping_add(least).wrapping_add(difference);
                each(value);
                Some(())
            })?;
            left -= values;
        }
    }
    Some(())
}

/// A LEB128 number.
fn variable(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// A ZigZag number.
fn zigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_stretches_are_unpacked() {
        let mut all = Vec::new();
        // Three times 4, and then 0 to 7 in three bits each.
        let bytes = [0x06, 0x04, 0x03, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        runs(&bytes, 3, 11, &mut |value| {
            all.push(value);
            Some(())
        })
        .unwrap();
        assert_eq!(all, [4, 4, 4, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(runs(&bytes, 3, 12, &mut |_| Some(())), None, "there are fewer");
    }

    #[test]
    fn differences_are_added_up() {
        // 7, 5, 3, 1, 2, 3, 4, 5: the example in the format's specification.
        let bytes = [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];
        let mut all = Vec::new();
        differences(&bytes, 8, &mut |value| all.push(value as i64)).unwrap();
        assert_eq!(all, [7, 5, 3, 1, 2, 3, 4, 5]);
    }
}
