//! Reads members of a ZIP archive, several at a time, since sigrok stores channels in separate
//! members.

use crate::error::ParseError;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use rawzip::{
    CompressionMethod, FileReader, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, RangeReader, ZipArchive,
    ZipArchiveEntryWayfinder, ZipFileHeaderRecord, ZipLocator,
};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// More members than a capture has, and no more than fit into memory.
const MOST_MEMBERS: usize = 1 << 20;
/// Largest member that is read whole, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;
/// Compressed bytes read per call.
const BUFFER_BYTES: usize = 1 << 16;

/// A member of an archive.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: String,
    is_stored: bool,
    entry: ZipArchiveEntryWayfinder,
    checksum: u32,
}

impl Member {
    /// Its size in bytes, as the archive states.
    pub fn size(&self) -> u64 {
        self.entry.uncompressed_size_hint()
    }
}

/// An archive whose table of members has been read.
#[derive(Clone, Debug)]
pub struct Archive {
    zip: ZipArchive<Arc<FileReader>>,
    pub members: Vec<Member>,
}

impl Archive {
    pub fn open(path: &Path) -> Result<Archive, ParseError> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let file = Arc::new(FileReader::from(file));
        let zip = ZipLocator::new().locate_in_reader(file, &mut buffer, length);
        let zip = zip.map_err(|(_, error)| damaged(&error))?;
        let (mut members, mut entries) = (Vec::new(), zip.entries(&mut buffer));
        while let Some(entry) = entries.next_entry().map_err(|error| damaged(&error))? {
            if members.len() >= MOST_MEMBERS {
                return Err(ParseError::whole("the ZIP archive has more than a million members"));
            }
            members.push(Member::from_record(&entry)?);
        }
        Ok(Archive { zip, members })
    }

    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// A small member as text.
    pub fn text(&self, name: &str) -> Result<Option<String>, ParseError> {
        let Some(member) = self.member(name) else { return Ok(None) };
        let mut text = Vec::new();
        self.reader(member)?
            .take(LONGEST_TEXT)
            .read_to_end(&mut text)
            .map_err(|error| cannot_unpack(name, &error))?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Reads a member from its start.
    pub fn reader(&self, member: &Member) -> Result<MemberReader, ParseError> {
        let entry = self.zip.get_entry(member.entry);
        let entry = entry.map_err(|error| ParseError::member(&member.name, error.to_string()))?;
        let (from, to) = entry.compressed_data_range();
        let packed = RangeReader::new(Arc::clone(self.zip.get_ref()), from..to);
        let packed = BufReader::with_capacity(BUFFER_BYTES, packed);
        let bytes: Box<dyn Read> = match member.is_stored {
            true => Box::new(packed),
            false => Box::new(DeflateDecoder::new(packed)),
        };
        let (left, checksum) = (member.entry.uncompressed_size_hint(), member.checksum);
        Ok(MemberReader { bytes, left, checksum, seen: Crc::new() })
    }
}

impl Member {
    fn from_record(entry: &ZipFileHeaderRecord) -> Result<Member, ParseError> {
        let name = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
        if entry.flags().is_encrypted() {
            return Err(ParseError::member(&name, "is encrypted"));
        }
        let is_stored = match entry.compression_method() {
            CompressionMethod::STORE => true,
            CompressionMethod::DEFLATE => false,
            method => {
                let method = method.as_u16();
                return Err(ParseError::member(
                    &name,
                    format!("uses an unknown compression method ({method})"),
                ));
            }
        };
        Ok(Member { name, is_stored, entry: entry.wayfinder(), checksum: entry.crc32() })
    }
}

/// The bytes of a member; their number and checksum must match its table. (The verifier of `rawzip`
/// borrows the archive, and a source of points owns everything that it reads.)
pub struct MemberReader {
    bytes: Box<dyn Read>,
    left: u64,
    checksum: u32,
    seen: Crc,
}

impl Read for MemberReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let more = self.bytes.read(buffer)?;
        self.seen.update(&buffer[..more]);
        let left = self.left.checked_sub(more as u64);
        self.left = left.ok_or_else(|| io::Error::other("it is longer than the archive says"))?;
        match (more, buffer.is_empty()) {
            (0, false) if self.left > 0 => Err(io::Error::other("it is truncated")),
            (0, false) if self.seen.sum() != self.checksum => {
                Err(io::Error::other("wrong checksum: damaged"))
            }
            _ => Ok(more),
        }
    }
}

/// A member that cannot be unpacked.
pub fn cannot_unpack(name: &str, error: &io::Error) -> ParseError {
    ParseError::member(name, format!("cannot be decompressed: {error}"))
}

fn damaged(error: &rawzip::Error) -> ParseError {
    ParseError::whole(format!("the ZIP archive is damaged or truncated: {error}"))
}
