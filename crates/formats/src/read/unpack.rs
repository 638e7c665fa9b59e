//! Compressed files, detected by their first bytes.

use crate::read::input::InputError;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Cursor, Read};

const GZIP: &[u8] = b"\x1f\x8b";
const XZ: &[u8] = b"\xfd7zXZ\0";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// Start of a frame to skip; `pzstd` begins with one.
const ZSTD_SKIPPED: &[u8] = b"\x2a\x4d\x18";

/// Archives that are not unpacked here: their first bytes, the offset of these, and the program to
/// use.
const ARCHIVES: [(usize, &[u8], &str); 5] = [
    (0, b"BZh", "bunzip2"),
    (0, b"PK\x03\x04", "unzip"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z"),
    (0, b"\x04\x22\x4d\x18", "lz4"),
    (257, b"ustar", "tar"),
];

/// The program that unpacks a file with these first bytes; `None` if it is not an archive.
pub fn archive_of(head: &[u8]) -> Option<&'static str> {
    let is_at = |at: usize, magic: &[u8]| head.get(at..at + magic.len()) == Some(magic);
    ARCHIVES.iter().find(|(at, magic, _)| is_at(*at, magic)).map(|one| one.2)
}

/// The source as plain text or bytes, and whether it was converted: compressed, or UTF-16.
pub fn unpacked(source: Box<dyn Read>) -> Result<(Box<dyn Read>, bool), InputError> {
    let (plain, was_packed) = without_compression(source)?;
    let (text, was_encoded) = as_utf8(plain)?;
    Ok((text, was_packed || was_encoded))
}

fn without_compression(mut source: Box<dyn Read>) -> Result<(Box<dyn Read>, bool), InputError> {
    let mut first = Vec::new();
    source.by_ref().take(XZ.len() as u64).read_to_end(&mut first)?;
    let is = |magic: &[u8]| first.starts_with(magic);
    let (gzip, xz) = (is(GZIP), is(XZ));
    let zstd = is(ZSTD) || (first.get(1..4) == Some(ZSTD_SKIPPED) && first[0] >> 4 == 5);
    let whole = Cursor::new(first).chain(source);
    Ok(match () {
        () if gzip => (Box::new(MultiGzDecoder::new(whole)), true),
        () if xz => (Box::new(XzReader::new(whole, true)), true),
        () if zstd => (Box::new(ZstdReader::new(BufReader::new(whole))), true),
        () => (Box::new(whole), false),
    })
}

/// The source as UTF-8 without a byte order mark: PowerShell writes output as UTF-16.
fn as_utf8(mut source: Box<dyn Read>) -> Result<(Box<dyn Read>, bool), InputError> {
    let mut first = Vec::new();
    source.by_ref().take(3).read_to_end(&mut first)?;
    Ok(match first[..] {
        [0xef, 0xbb, 0xbf] => (source, true),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            let is_big = first[0] == 0xfe;
            let whole = BufReader::new(Cursor::new(first[2..].to_vec()).chain(source));
            (Box::new(Utf16Reader { source: whole, is_big, ready: VecDeque::new() }), true)
        }
        _ => (Box::new(Cursor::new(first).chain(source)), false),
    })
}

/// Decompresses all frames of a zstd file: `cat` and `pzstd` make files of several.
pub struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> ZstdReader<R> {
    pub fn new(source: R) -> ZstdReader<R> {
        ZstdReader { source, decoder: FrameDecoder::new() }
    }

    /// Starts the next frame with content; returns whether there is one.
    fn begin_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut (&mut self.source).take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(damaged(&error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.source, one)
                    .map_err(|error| damaged(&error))?;
            }
            match self.decoder.read(buffer)? {
                0 if self.begin_frame()? => {}
                count => return Ok(count),
            }
        }
    }
}

/// UTF-16 text as UTF-8; an unpaired surrogate becomes a replacement character.
struct Utf16Reader<R> {
    source: R,
    is_big: bool,
    ready: VecDeque<u8>,
}

impl<R: Read> Utf16Reader<R> {
    /// The next code unit; `None` at the end.
    fn unit(&mut self) -> io::Result<Option<u16>> {
        let mut bytes = Vec::with_capacity(2);
        self.source.by_ref().take(2).read_to_end(&mut bytes)?;
        Ok(bytes.first_chunk().map(|pair| match self.is_big {
            true => u16::from_be_bytes(*pair),
            false => u16::from_le_bytes(*pair),
        }))
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.len() < buffer.len() {
            let Some(unit) = self.unit()? else { break };
            // Its low surrogate follows, if there is one.
            let half = (0xd800..0xdc00).contains(&unit);
            let units = [Some(unit), if half { self.unit()? } else { None }];
            for letter in char::decode_utf16(units.into_iter().flatten()) {
                let letter = letter.unwrap_or(char::REPLACEMENT_CHARACTER);
                self.ready.extend(letter.encode_utf8(&mut [0; 4]).bytes());
            }
        }
        self.ready.read(buffer)
    }
}

fn damaged(error: &FrameDecoderError) -> io::Error {
    let text = match error {
        FrameDecoderError::WindowSizeTooBig { .. } => {
            "its zstd window is larger than 100 MiB: unpack it with zstd -d --long=31".to_string()
        }
        error => format!("zstd: {error}"),
    };
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    #[test]
    fn text_of_windows_is_read_as_utf8() {
        let text = "# Histogram\r\n000003 000010 µ😀\r\n";
        let units: Vec<u16> = std::iter::once(0xfeff).chain(text.encode_utf16()).collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for bytes in [little, big, format!("\u{feff}{text}").into_bytes()] {
            assert_eq!(unpack(bytes).unwrap(), text.as_bytes());
        }
    }

    fn unpack(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        let (mut source, packed) = unpacked(Box::new(Cursor::new(bytes))).unwrap();
        assert!(packed);
        source.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    fn all_frames_of_a_zstd_file_are_read() {
        let (one, two) = (b"one ".repeat(100_000), b"two".to_vec());
        let pack = |plain: &[u8]| compress_to_vec(plain, CompressionLevel::Fastest);
        let skipped = [&b"\x50\x2a\x4d\x18\x05\0\0\0"[..], b"12345"].concat();
        let file = [&skipped[..], &pack(&one), &skipped, &pack(&two)].concat();
        assert_eq!(unpack(file.clone()).unwrap(), [one, two].concat());
        assert!(unpack(file[..file.len() - 2].to_vec()).is_err(), "it is cut off");
        assert!(unpack([&file[..], b"more"].concat()).is_err(), "something else follows");
    }
}
