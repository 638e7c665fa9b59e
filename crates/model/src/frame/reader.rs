//! Reads the frames of a stream, and finds the next whole frame after damage.

use super::{Damage, HEADER_BYTES, LARGEST_PAYLOAD, Mark, Message, checksum_of};
use std::io::{self, Read, Seek};

/// A decoded frame: its message, and the raw bytes to append to a journal.
#[derive(Clone, PartialEq, Debug)]
pub struct Frame {
    /// The decoded message.
    pub message: Message,
    /// The raw bytes, unchanged.
    pub bytes: Vec<u8>,
}

/// The first frame of some bytes, undecoded and unchecked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawFrame<'a> {
    /// Header and payload.
    pub bytes: &'a [u8],
    /// Whether it contains something measured.
    pub is_measured: bool,
}

impl RawFrame<'_> {
    /// `None` if the frame is not whole.
    pub fn first_of(bytes: &[u8]) -> Option<RawFrame<'_>> {
        let header = Header::parse(bytes.get(..HEADER_BYTES)?);
        let bytes = bytes.get(..HEADER_BYTES + header.length as usize)?;
        Some(RawFrame { bytes, is_measured: Message::has_mark(header.kind, Mark::Measured) })
    }
}

/// Result of reading the next frame.
#[derive(Debug)]
pub enum ReadResult {
    /// A whole frame.
    Frame(Box<Frame>),
    /// The stream ends after a whole frame.
    End,
    /// The stream is damaged here; nothing after this point can be trusted.
    Damaged(Damage),
}

/// Reads frames from a pipe or a journal and counts the bytes of whole frames.
pub struct FrameReader<R> {
    source: R,
    whole_bytes: u64,
}

impl<R: Read> FrameReader<R> {
    /// The source should be buffered.
    pub fn new(source: R) -> FrameReader<R> {
        FrameReader { source, whole_bytes: 0 }
    }

    /// Bytes up to the end of the last whole frame.
    pub fn whole_bytes(&self) -> u64 {
        self.whole_bytes
    }

    /// Reads the next frame; an error is an I/O error, never damaged content.
    pub fn next_frame(&mut self) -> io::Result<ReadResult> {
        self.next_with(Message::decode_payload)
    }

    /// Like [`FrameReader::next_frame`] for frames an agent receives; all others count as unknown,
    /// so that the agent carries no code to decode what it only writes.
    pub fn next_for_agent(&mut self) -> io::Result<ReadResult> {
        self.next_with(Message::decode_for_agent)
    }

    fn next_with(
        &mut self,
        decode: impl Fn(u32, &[u8]) -> Result<Message, Damage>,
    ) -> io::Result<ReadResult> {
        let mut bytes = vec![0; HEADER_BYTES];
        match read_up_to(&mut self.source, &mut bytes)? {
            0 => return Ok(ReadResult::End),
            HEADER_BYTES => {}
            _ => return Ok(ReadResult::Damaged(Damage::CutOff)),
        }
        let Header { length, kind, checksum } = Header::parse(&bytes);
        if length as usize > LARGEST_PAYLOAD {
            return Ok(ReadResult::Damaged(Damage::ImpossibleLength(length)));
        }
        bytes.resize(HEADER_BYTES + length as usize, 0);
        let payload = &mut bytes[HEADER_BYTES..];
        if read_up_to(&mut self.source, payload)? < payload.len() {
            return Ok(ReadResult::Damaged(Damage::CutOff));
        }
        if checksum != checksum_of(length, kind, payload) {
            return Ok(ReadResult::Damaged(Damage::Checksum));
        }
        Ok(match decode(kind, payload) {
            Ok(message) => {
                self.whole_bytes += bytes.len() as u64;
                ReadResult::Frame(Box::new(Frame { message, bytes }))
            }
            Err(damage) => ReadResult::Damaged(damage),
        })
    }
}

impl<R: Read + Seek> FrameReader<R> {
    /// Skips samples and trace frames, the bulk of streams that have them, by length only. A frame
    /// that extends beyond `end` is not skipped.
    pub fn skip_bulk(&mut self, end: u64) -> io::Result<()> {
        loop {
            let mut bytes = [0; HEADER_BYTES];
            let read = read_up_to(&mut self.source, &mut bytes)?;
            let Header { length, kind, .. } = Header::parse(&bytes);
            let next = self.whole_bytes + HEADER_BYTES as u64 + u64::from(length);
            if read < HEADER_BYTES
                || !Message::has_mark(kind, Mark::Bulk)
                || length as usize > LARGEST_PAYLOAD
                || next > end
            {
                return self.source.seek_relative(-(read as i64));
            }
            self.source.seek_relative(length.into())?;
            self.whole_bytes = next;
        }
    }
}

struct Header {
    length: u32,
    kind: u32,
    checksum: u32,
}

impl Header {
    fn parse(bytes: &[u8]) -> Header {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Header { length: word(0), kind: word(4), checksum: word(8) }
    }
}

/// Number of bytes up to the next whole frame of a damaged stream; `None` if there is none.
///
/// Only frames with a payload of at most [`FOUND_PAYLOAD`] are found: all but a stream's first
/// frames are far smaller, and the search stays cheap.
pub fn skip_damage(source: &mut impl Read) -> io::Result<Option<u64>> {
    let (mut window, mut skipped, mut ended) = (Vec::new(), 0_u64, false);
    loop {
        if !ended {
            let wanted = 2 * FOUND_PAYLOAD;
            ended = source.take(wanted as u64).read_to_end(&mut window)? < wanted;
        }
        // Unless the source has ended, a frame of any findable size fits behind each candidate
        // position.
        let look_ahead = if ended { 0 } else { HEADER_BYTES + FOUND_PAYLOAD };
        let places = window.len() - look_ahead;
        // A power cut leaves runs of zeros, which contain no frame.
        let zeros = window.iter().take_while(|byte| **byte == 0).count();
        let from = zeros.saturating_sub(HEADER_BYTES).min(places);
        if let Some(at) = (from..places).find(|&at| starts_a_frame(&window[at..])) {
            return Ok(Some(skipped + at as u64));
        }
        if ended {
            return Ok(None);
        }
        skipped += places as u64;
        window.drain(..places);
    }
}

/// Largest payload searched for after damage.
pub const FOUND_PAYLOAD: usize = 1 << 20;

fn starts_a_frame(bytes: &[u8]) -> bool {
    if bytes.len() < HEADER_BYTES {
        return false;
    }
    let Header { length, kind, checksum } = Header::parse(bytes);
    let end = HEADER_BYTES + (length as usize).min(FOUND_PAYLOAD);
    length as usize <= FOUND_PAYLOAD
        && kind <= Message::LAST_KIND
        && bytes
            .get(HEADER_BYTES..end)
            .is_some_and(|payload| checksum == checksum_of(length, kind, payload))
}

fn read_up_to(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
