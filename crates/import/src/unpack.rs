//! Compressed files, by their first bytes.

use crate::input::Fault;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::io::{Cursor, Read};

const GZIP: &[u8] = b"\x1f\x8b";
const XZ: &[u8] = b"\xfd7zXZ\0";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The source without its compression, if it has one that latlab knows.
pub fn unpacked(mut source: Box<dyn Read>) -> Result<Box<dyn Read>, Fault> {
    let mut first = Vec::new();
    source.by_ref().take(XZ.len() as u64).read_to_end(&mut first)?;
    let is = |magic: &[u8]| first.starts_with(magic);
    let (gzip, xz, zstd) = (is(GZIP), is(XZ), is(ZSTD));
    let whole = Cursor::new(first).chain(source);
    Ok(match () {
        () if gzip => Box::new(MultiGzDecoder::new(whole)),
        () if xz => Box::new(XzReader::new(whole, true)),
        () if zstd => Box::new(zstd_reader(whole)?),
        () => Box::new(whole),
    })
}

fn zstd_reader(source: impl Read + 'static) -> Result<impl Read, Fault> {
    ruzstd::decoding::StreamingDecoder::new(source)
        .map_err(|error| Fault::Malformed(format!("not a zstd file: {error}")))
}
