//! The addresses of a guest's kernel: its list of functions, including those of modules, and where
//! a thread's name and numbers are. The guest is booted once to report them, and the result is
//! cached: without address randomisation they are the same at each boot.

use crate::btf::{MAGIC, Types};
use crate::cache::{Cache, make_whole};
use crate::error::{Error, Result};
use std::fs;
use std::path::Path;

/// What a kernel reports of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelMap {
    /// `/proc/kallsyms`.
    pub symbols: String,
    /// Offsets of members, in the order of [`MEMBERS`].
    offsets: Vec<Option<u64>>,
}

/// Structure and member.
const MEMBERS: [(&str, &str); 5] = [
    ("task_struct", "comm"),
    ("task_struct", "pid"),
    ("task_struct", "tgid"),
    ("task_struct", "thread_info.preempt_count"),
    ("pcpu_hot", "preempt_count"),
];
const SYMBOLS: &str = "kallsyms";
const OFFSETS: &str = "offsets";

impl KernelMap {
    /// Parses what the guest has sent: the symbols, followed by the description of its types.
    pub(crate) fn parse(sent: &[u8]) -> Option<KernelMap> {
        let types = sent.windows(MAGIC.len()).position(|bytes| bytes == MAGIC)?;
        let symbols = String::from_utf8(sent[..types].to_vec()).ok()?;
        let types = Types::parse(&sent[types..])?;
        let offsets = MEMBERS.map(|(of, member)| types.offset(of, member)).to_vec();
        Some(KernelMap { symbols, offsets }).filter(|map| map.task().is_some())
    }

    /// The map cached under this name, or else the result of `boot`.
    pub(crate) fn cached(
        cache: &Cache,
        name: &str,
        boot: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<KernelMap> {
        let folder = cache.folder().join("replay").join(name);
        if let Some(map) = KernelMap::read(&folder) {
            return Ok(map);
        }
        let sent = boot()?;
        let missing = || Error::NoSymbols { length: sent.len() };
        let map = KernelMap::parse(&sent).ok_or_else(missing)?;
        make_whole(&folder, |beside| {
            let offsets = map.offsets.iter().map(|one| one.map_or("-".into(), |n| n.to_string()));
            let offsets: Vec<String> = offsets.collect();
            for (name, text) in [(SYMBOLS, &map.symbols), (OFFSETS, &offsets.join("\n"))] {
                let file = beside.join(name);
                fs::write(&file, text).map_err(Error::io("write", &file))?;
            }
            Ok(())
        })?;
        Ok(map)
    }

    fn read(folder: &Path) -> Option<KernelMap> {
        let symbols = fs::read_to_string(folder.join(SYMBOLS)).ok()?;
        let offsets = fs::read_to_string(folder.join(OFFSETS)).ok()?;
        let offsets: Vec<_> = offsets.lines().map(|line| line.parse().ok()).collect();
        Some(KernelMap { symbols, offsets }).filter(|map| map.offsets.len() == MEMBERS.len())
    }

    /// Offsets of name, thread number and process number in a task_struct.
    pub(crate) fn task(&self) -> Option<[u64; 3]> {
        Some([self.offsets[0]?, self.offsets[1]?, self.offsets[2]?])
    }

    /// Where the preemption count is: an offset in task_struct on arm64; on x86-64 from the symbol
    /// `pcpu_hot`, on older kernels at the symbol `__preempt_count`.
    pub fn preempt_count(&self, architecture: &str) -> Option<u64> {
        match architecture {
            "aarch64" => self.offsets[3],
            _ => match self.address("__preempt_count") {
                Some(address) => Some(address),
                None => Some(self.address("pcpu_hot")? + self.offsets[4]?),
            },
        }
    }

    /// Whether its spin locks sleep, so that its own code is preemptible.
    pub fn is_realtime(&self) -> bool {
        self.address("rt_spin_lock").is_some()
    }

    pub(crate) fn address(&self, name: &str) -> Option<u64> {
        self.symbols.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let (address, _, found) = (words.next()?, words.next()?, words.next()?);
            (found == name).then(|| u64::from_str_radix(address, 16).ok())?
        })
    }
}
