//! Packs columns of numbers into few characters; the scripts of the page unpack them. Each column
//! is the number of its values, followed by the difference of each value from the one before as a
//! zigzag varint plus one; zero stands for a missing value. All columns together are deflated and
//! encoded in base64.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write;

#[derive(Default)]
pub struct Columns {
    names: Vec<String>,
    bytes: Vec<u8>,
}

impl Columns {
    pub fn add(&mut self, name: String, values: impl IntoIterator<Item = Option<i64>>) {
        self.names.push(name);
        let (mut packed, mut number, mut last) = (Vec::new(), 0, 0_i64);
        for value in values {
            number += 1;
            match value {
                None => packed.push(0),
                Some(value) => {
                    let difference = i128::from(value) - i128::from(last);
                    varint(&mut packed, zigzag(difference) + 1);
                    last = value;
                }
            }
        }
        varint(&mut self.bytes, number);
        self.bytes.extend(packed);
    }

    /// The names of the columns in order, and all packed numbers.
    pub fn finish(self) -> (Vec<String>, String) {
        let mut deflated = ZlibEncoder::new(Vec::new(), Compression::default());
        // Writing to a vector cannot fail.
        let written = deflated.write_all(&self.bytes).and_then(|()| deflated.finish());
        (self.names, BASE64_STANDARD.encode(written.unwrap_or_default()))
    }
}

fn zigzag(value: i128) -> u128 {
    let twice = value.unsigned_abs() * 2;
    if value < 0 { twice - 1 } else { twice }
}

fn varint(bytes: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `web/test/data.test.js` unpacks the same file, so that both sides agree on the format.
    const FIXTURE: &str = include_str!("../../../../web/test/packed.json");

    /// Invariant (page and server): Packed columns are unpacked unchanged; charts lose no latency.
    #[test]
    fn the_columns_that_the_scripts_unpack_are_packed_so() {
        let mut columns = Columns::default();
        columns.add("rising".into(), (0..20).map(|n| Some(n * n * 1_000)));
        columns.add("gaps".into(), [None, Some(-5), None, Some(7), Some(7), None]);
        columns.add("empty".into(), []);
        let large = [3_600_000_000_000, -3_600_000_000_000, 4_000_000_000_000_000, 0];
        columns.add("large".into(), large.map(Some));
        let bytes = BASE64_STANDARD.encode(&columns.bytes);
        let fixture: serde_json::Value = serde_json::from_str(FIXTURE).unwrap();
        assert_eq!(fixture["names"], serde_json::json!(columns.names));
        assert_eq!(fixture["bytes"], bytes, "web/test/packed.json is to hold this");
    }

    #[test]
    fn the_ends_of_the_range_are_packed_without_a_crash() {
        let mut columns = Columns::default();
        columns.add("ends".into(), [i64::MIN, i64::MAX, i64::MIN].map(Some));
        assert_eq!(columns.names, ["ends"]);
    }
}
