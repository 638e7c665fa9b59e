//! What the files of sigrok need of ZIP: a table of members, each of which is read by itself.
//!
//! Members are opened side by side, since channels lie in members of their own.

use crate::fault::Fault;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// More members than a capture has, and no more than fit into memory.
const MOST_MEMBERS: usize = 1 << 20;
/// A longer table of members is damage.
const LONGEST_TABLE: u64 = 256 << 20;
const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const END64: &[u8] = b"PK\x06\x06";
const END64_LOCATOR: &[u8] = b"PK\x06\x07";
const END64_LOCATOR_BYTES: usize = 20;
const ENTRY: &[u8] = b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
const LOCAL: &[u8] = b"PK\x03\x04";
const LOCAL_BYTES: usize = 30;
/// What a comment at the end may take at most.
const LONGEST_COMMENT: usize = 0xffff;

/// A member of an archive.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: String,
    stored: bool,
    offset: u64,
    packed: u64,
    size: u64,
    checksum: u32,
}

/// An archive whose table has been read.
#[derive(Clone, Debug)]
pub struct Archive {
    path: PathBuf,
    pub members: Vec<Member>,
}

impl Archive {
    pub fn open(path: &Path) -> Result<Archive, Fault> {
        let mut file = BufReader::new(File::open(path)?);
        let (offset, bytes) = table_of(&mut file)?;
        if bytes > LONGEST_TABLE {
            return Err(damaged("its table of members is too long"));
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut table = Vec::new();
        file.take(bytes).read_to_end(&mut table)?;
        Ok(Archive { path: path.into(), members: members(&table)? })
    }

    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// A small member as text.
    pub fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        let Some(member) = self.member(name) else { return Ok(None) };
        let mut text = Vec::new();
        self.reader(member)?
            .take(1 << 20)
            .read_to_end(&mut text)
            .map_err(|e| unpacked(name, &e))?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Reads a member from its start.
    pub fn reader(&self, member: &Member) -> Result<MemberReader, Fault> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(member.offset))?;
        let mut head = [0; LOCAL_BYTES];
        let cut = |_| damaged(&format!("the member {} is cut off", member.name));
        file.read_exact(&mut head).map_err(cut)?;
        if &head[..4] != LOCAL {
            return Err(damaged(&format!("the member {} is not where it should be", member.name)));
        }
        let skipped = u64::from(u16_at(&head, 26)) + u64::from(u16_at(&head, 28));
        file.seek(SeekFrom::Current(skipped as i64))?;
        let packed = BufReader::with_capacity(1 << 16, file).take(member.packed);
        let bytes: Box<dyn Read> = match member.stored {
            true => Box::new(packed),
            false => Box::new(DeflateDecoder::new(packed)),
        };
        let Member { size, checksum, .. } = *member;
        Ok(MemberReader { bytes, left: size, checksum, seen: Crc::new() })
    }
}

/// The bytes of a member, which must be as many as its table says, and the same.
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
        self.left = left.ok_or_else(|| io::Error::other("it is longer than its table says"))?;
        match (more, buffer.is_empty()) {
            (0, false) if self.left > 0 => Err(io::Error::other("it is cut off")),
            (0, false) if self.seen.sum() != self.checksum => {
                Err(io::Error::other("its checksum does not fit, it is damaged"))
            }
            _ => Ok(more),
        }
    }
}

/// A member that cannot be unpacked.
pub fn unpacked(name: &str, error: &io::Error) -> Fault {
    Fault::member(name, format!("cannot be unpacked: {error}"))
}

fn damaged(what: &str) -> Fault {
    Fault::whole(format!("the ZIP archive is damaged: {what}"))
}

/// Where the table of members begins, and how long it is.
fn table_of(file: &mut (impl Read + Seek)) -> Result<(u64, u64), Fault> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail = length.min((END_BYTES + LONGEST_COMMENT + END64_LOCATOR_BYTES) as u64);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut bytes = Vec::new();
    file.take(tail).read_to_end(&mut bytes)?;
    let end = bytes.windows(END.len()).rposition(|window| window == END);
    let end = end.filter(|end| bytes.len() - end >= END_BYTES);
    let end = end.ok_or_else(|| damaged("its end is missing, the file is cut off"))?;
    let (table, offset) = (u32_at(&bytes, end + 12), u32_at(&bytes, end + 16));
    if table != u32::MAX && offset != u32::MAX {
        return Ok((offset.into(), table.into()));
    }
    let locator =
        end.checked_sub(END64_LOCATOR_BYTES).filter(|at| bytes[*at..].starts_with(END64_LOCATOR));
    let locator = locator.ok_or_else(|| damaged("its large end is missing"))?;
    file.seek(SeekFrom::Start(u64_at(&bytes, locator + 8)))?;
    let mut large = [0; 56];
    file.read_exact(&mut large).map_err(|_| damaged("its large end is cut off"))?;
    match &large[..4] == END64 {
        true => Ok((u64_at(&large, 48), u64_at(&large, 40))),
        false => Err(damaged("its large end is not where it should be")),
    }
}

fn members(table: &[u8]) -> Result<Vec<Member>, Fault> {
    let mut members = Vec::new();
    let mut rest = table;
    while rest.len() >= ENTRY_BYTES && rest.starts_with(ENTRY) {
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(rest, at)));
        let length = ENTRY_BYTES + name + extra + comment;
        if rest.len() < length || members.len() >= MOST_MEMBERS {
            return Err(damaged("its table of members is cut off"));
        }
        let text = String::from_utf8_lossy(&rest[ENTRY_BYTES..ENTRY_BYTES + name]).into_owned();
        members.push(member(rest, text, &rest[ENTRY_BYTES + name..ENTRY_BYTES + name + extra])?);
        rest = &rest[length..];
    }
    Ok(members)
}

fn member(entry: &[u8], name: String, extra: &[u8]) -> Result<Member, Fault> {
    let stored = match (u16_at(entry, 8) & 1, u16_at(entry, 10)) {
        (0, 0) => true,
        (0, 8) => false,
        (1, _) => return Err(Fault::member(&name, "is encrypted")),
        (_, method) => {
            return Err(Fault::member(&name, format!("is packed by the unknown method {method}")));
        }
    };
    let mut sizes = [24, 20, 42].map(|at| u64::from(u32_at(entry, at)));
    // Numbers that are too large for the table follow in the same order.
    let mut large = large_numbers(extra);
    for size in &mut sizes {
        if *size == u64::from(u32::MAX) {
            *size =
                large.next().ok_or_else(|| damaged(&format!("the size of {name} is missing")))?;
        }
    }
    let [size, packed, offset] = sizes;
    let checksum = u32_at(entry, 16);
    Ok(Member { name, stored, offset, packed, size, checksum })
}

fn large_numbers(extra: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut rest = extra;
    let mut found: &[u8] = &[];
    while rest.len() >= 4 {
        let length = usize::from(u16_at(rest, 2)).min(rest.len() - 4);
        if u16_at(rest, 0) == 1 {
            found = &rest[4..4 + length];
        }
        rest = &rest[4 + length..];
    }
    found.chunks_exact(8).map(|bytes| u64_at(bytes, 0))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
