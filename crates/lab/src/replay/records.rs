//! The output of the plugin in `replay/`: blocks of instructions, threads, and the windows of
//! wake-ups.

use std::collections::HashMap;
use std::io::{self, BufReader, Read};

/// The supported version of the plugin's output.
const VERSION: u32 = 2;
/// Longer items count as damage.
const LONGEST: u32 = 256 << 20;
/// The record type of a block that begins where the previous one ended.
const FOLLOWS: u32 = 3;

/// A block of instructions that ran, with its bytes at that time.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Block {
    pub address: u64,
    /// The length of each instruction.
    pub sizes: Vec<u8>,
    pub bytes: Vec<u8>,
}

/// A thread of the guest.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Task {
    pub pid: u32,
    /// Its process.
    pub tgid: u32,
    pub name: String,
}

/// What happened at a count of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordKind {
    /// A block began, and was repeated.
    Ran {
        block: u32,
        /// Repetitions after the first.
        repeats: u32,
    },
    /// Another thread has the CPU.
    Switched(u32),
    /// A program read the clock.
    ReadClock(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Instructions executed before it.
    pub count: u64,
    pub kind: RecordKind,
}

/// A wake-up, with what ran from before its release.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Window {
    pub release: i64,
    /// The clock, as the measured thread read it.
    pub clock: i64,
    /// Instruction count at the end.
    pub end: u64,
    /// The thread on the CPU at the beginning; `None` if it is not known.
    pub first_task: Option<u32>,
    /// The measured thread.
    pub task: u32,
    /// What happened, in order.
    pub records: Vec<Record>,
}

/// The plugin's totals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Totals {
    /// Instructions executed.
    pub instructions: u64,
    /// Wake-ups of measured threads.
    pub wake_ups: u64,
    /// Those that were written.
    pub written: u64,
    /// Blocks for which there was no room.
    pub unknown_blocks: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A wake-up, now in [`RecordReader::window`].
    WakeUp,
    /// The end.
    Totals(Totals),
}

/// Reads the plugin's output, and keeps the blocks and threads that it defines.
pub struct RecordReader<'a> {
    source: BufReader<&'a mut (dyn Read + 'a)>,
    blocks: Vec<Block>,
    tasks: HashMap<u32, Task>,
    // Items are up to some megabytes long, so the buffer is reused.
    item: Vec<u8>,
    window: Window,
}

impl<'a> RecordReader<'a> {
    /// Reads from the start; fails if it is not of this version.
    pub fn new(source: &'a mut (dyn Read + 'a)) -> io::Result<RecordReader<'a>> {
        let mut reader = RecordReader {
            source: BufReader::new(source),
            blocks: Vec::new(),
            tasks: HashMap::new(),
            item: Vec::new(),
            window: Window::default(),
        };
        let first = reader.read_item()?;
        match first.map(|kind| (kind, LittleEndian(&reader.item).u32(0))) {
            Some((1, Some(VERSION))) => Ok(reader),
            _ => Err(damaged("it does not begin as the plugin's output does")),
        }
    }

    pub fn block(&self, number: u32) -> Option<&Block> {
        self.blocks.get(number as usize).filter(|block| !block.sizes.is_empty())
    }

    pub fn task(&self, number: u32) -> Option<&Task> {
        self.tasks.get(&number)
    }

    /// The wake-up that was read last.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The next wake-up, or the end; `None` if the output is truncated.
    pub fn next_item(&mut self) -> io::Result<Option<Item>> {
        while let Some(kind) = self.read_item()? {
            let bytes = std::mem::take(&mut self.item);
            let words = LittleEndian(&bytes);
            let item = match kind {
                2 => self.keep_block(&words).map(|()| None),
                3 => self.keep_task(&words).map(|()| None),
                4 => self.window.read(&words, &self.blocks).map(|()| Some(Item::WakeUp)),
                5 => totals(&words).map(Item::Totals).map(Some),
                _ => None,
            };
            self.item = bytes;
            match item {
                None => return Err(damaged("an item of it is not what its kind says")),
                Some(Some(item)) => return Ok(Some(item)),
                Some(None) => {}
            }
        }
        Ok(None)
    }

    fn keep_block(&mut self, words: &LittleEndian<'_>) -> Option<()> {
        let (number, count) = (words.u32(0)? as usize, words.u32(4)? as usize);
        let sizes = words.0.get(16..16 + count)?.to_vec();
        let bytes = words.0.get(16 + count..)?.to_vec();
        if sizes.iter().map(|size| usize::from(*size)).sum::<usize>() != bytes.len()
            || number > 1 << 28
        {
            return None;
        }
        if self.blocks.len() <= number {
            self.blocks.resize(number + 1, Block::default());
        }
        self.blocks[number] = Block { address: words.u64(8)?, sizes, bytes };
        Some(())
    }

    fn keep_task(&mut self, words: &LittleEndian<'_>) -> Option<()> {
        let (number, pid, tgid) = (words.u32(0)?, words.u32(4)?, words.u32(8)?);
        let name = words.0.get(24..40)?.split(|byte| *byte == 0).next()?;
        let name = String::from_utf8_lossy(name).into_owned();
        self.tasks.insert(number, Task { pid, tgid, name });
        Some(())
    }

    /// Its kind; `None` at the end.
    fn read_item(&mut self) -> io::Result<Option<u32>> {
        let mut head = [0; 8];
        match self.source.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let words = LittleEndian(&head);
        let (kind, size) = (words.u32(0).unwrap_or(0), words.u32(4).unwrap_or(0));
        if size > LONGEST {
            return Err(damaged("an item of it is impossibly long"));
        }
        self.item.resize(size as usize, 0);
        self.source.read_exact(&mut self.item)?;
        Ok(Some(kind))
    }
}

impl Window {
    fn read(&mut self, words: &LittleEndian<'_>, blocks: &[Block]) -> Option<()> {
        self.release = words.u64(0)? as i64;
        self.clock = words.u64(8)? as i64;
        self.end = words.u64(16)?;
        self.first_task = words.u32(24).filter(|task| *task != 0);
        self.task = words.u32(28)?;
        self.records.clear();
        // Where the previous block ended.
        let mut next = None;
        let mut at = 32;
        while at < words.0.len() {
            let word = words.u32(at)?;
            let (kind, value) = (word >> 28, word & 0x0fff_ffff);
            let (count, repeats, size) = match kind {
                FOLLOWS => (next?, 0, 4),
                _ => (words.u64(at + 8)?, words.u32(at + 4)?, 16),
            };
            at += size;
            let kind = match kind {
                0 | FOLLOWS => {
                    let length = blocks.get(value as usize).map_or(0, |block| block.sizes.len());
                    next = count.checked_add(length as u64 * (u64::from(repeats) + 1));
                    RecordKind::Ran { block: value, repeats }
                }
                1 => RecordKind::Switched(value),
                2 => RecordKind::ReadClock(value),
                _ => return None,
            };
            self.records.push(Record { count, kind });
        }
        Some(())
    }
}

fn damaged(why: &str) -> io::Error {
    io::Error::other(format!("the plugin's output cannot be read: {why}"))
}

fn totals(words: &LittleEndian<'_>) -> Option<Totals> {
    Some(Totals {
        instructions: words.u64(0)?,
        wake_ups: words.u64(8)?,
        written: words.u64(16)?,
        unknown_blocks: words.u64(24)?,
    })
}

/// Little-endian numbers in bytes.
struct LittleEndian<'a>(&'a [u8]);

impl LittleEndian<'_> {
    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    fn u64(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.0.get(at..at + 8)?.try_into().ok()?))
    }
}
