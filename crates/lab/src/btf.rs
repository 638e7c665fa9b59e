//! Offsets of structure members in a kernel, from its type description (BTF,
//! Documentation/bpf/btf.rst).

/// The first bytes: magic number, version, flags, and the length of the header.
pub const MAGIC: [u8; 8] = [0x9f, 0xeb, 1, 0, 24, 0, 0, 0];

const STRUCT: u32 = 4;
const UNION: u32 = 5;

/// The types of a kernel.
pub struct Types<'a> {
    bytes: &'a [u8],
    strings: &'a [u8],
    /// Position of each type; number 0 is void.
    types: Vec<usize>,
}

impl<'a> Types<'a> {
    /// Parses a description; `None` if it is damaged.
    pub fn parse(bytes: &'a [u8]) -> Option<Types<'a>> {
        bytes.strip_prefix(&MAGIC[..])?;
        let section = |at: usize| {
            let (from, length) = (24 + word(bytes, at)? as usize, word(bytes, at + 4)? as usize);
            Some(from..from.checked_add(length)?)
        };
        let (types, strings) = (section(8)?, bytes.get(section(16)?)?);
        let (mut at, mut found) = (types.start, vec![0]);
        while at < types.end {
            found.push(at);
            let info = word(bytes, at + 4)?;
            let (kind, count) = (info >> 24 & 0x1f, (info & 0xffff) as usize);
            at += 12
                + match kind {
                    1 | 14 | 17 => 4,
                    3 => 12,
                    STRUCT | UNION | 15 | 19 => 12 * count,
                    6 | 13 => 8 * count,
                    _ => 0,
                };
        }
        Some(Types { bytes, strings, types: found })
    }

    /// Offset of a structure's member in bytes; nested members are separated by dots.
    pub fn offset(&self, structure: &str, path: &str) -> Option<u64> {
        let is_it = |at: &&usize| {
            let info = word(self.bytes, **at + 4).unwrap_or_default();
            info >> 24 & 0x1f == STRUCT && self.name(**at) == structure.as_bytes()
        };
        let mut at = *self.types.iter().skip(1).find(is_it)?;
        let mut sum = 0;
        for name in path.split('.') {
            let (bits, kind) = self.member(at, name.as_bytes())?;
            sum += bits;
            at = *self.types.get(kind as usize)?;
        }
        Some(sum / 8)
    }

    /// Offset in bits and type of a member, even one within an unnamed member.
    fn member(&self, at: usize, name: &[u8]) -> Option<(u64, u32)> {
        let info = word(self.bytes, at + 4)?;
        if ![STRUCT, UNION].contains(&(info >> 24 & 0x1f)) {
            return None;
        }
        let has_bit_fields = info >> 31 == 1;
        (0..(info & 0xffff) as usize).find_map(|number| {
            let member = at + 12 + 12 * number;
            let kind = word(self.bytes, member + 4)?;
            let bits = u64::from(word(self.bytes, member + 8)?);
            let bits = if has_bit_fields { bits & 0xff_ffff } else { bits };
            match self.name(member) {
                own if own == name => Some((bits, kind)),
                b"" => {
                    let (inner, kind) = self.member(*self.types.get(kind as usize)?, name)?;
                    Some((bits + inner, kind))
                }
                _ => None,
            }
        })
    }

    fn name(&self, at: usize) -> &'a [u8] {
        let from = word(self.bytes, at).unwrap_or_default() as usize;
        let rest = self.strings.get(from..).unwrap_or_default();
        rest.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct task { int; union { struct inner { int pid; }; }; char comm[16] }` in BTF.
    fn described() -> Vec<u8> {
        let strings = b"\0task\0inner\0pid\0comm\0int\0state\0";
        let at = |name: &[u8]| {
            let found = strings.windows(name.len() + 1).position(|w| &w[..name.len()] == name);
            found.unwrap() as u32
        };
        let words = [
            // 1: int
            [at(b"int"), 1 << 24, 4, 0x20].as_slice(),
            // 2: inner
            &[at(b"inner"), STRUCT << 24 | 2, 8, at(b"state"), 1, 0, at(b"pid"), 1, 32],
            // 3: a union without a name
            &[0, UNION << 24 | 1, 8, 0, 2, 0],
            // 4: an array
            &[0, 3 << 24, 0, 1, 1, 16],
            // 5: task
            &[at(b"task"), STRUCT << 24 | 3, 36, at(b"state"), 1, 0, 0, 3, 64, at(b"comm"), 4, 128],
        ]
        .concat();
        let mut bytes = MAGIC.to_vec();
        let length = words.len() as u32 * 4;
        for word in [0, length, length, strings.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn members_are_found_also_in_structures_without_a_name() {
        let bytes = described();
        let types = Types::parse(&bytes).unwrap();
        assert_eq!(types.offset("task", "comm"), Some(16));
        assert_eq!(types.offset("task", "pid"), Some(12));
        assert_eq!(types.offset("inner", "pid"), Some(4));
        assert_eq!(types.offset("task", "tgid"), None);
        assert_eq!(types.offset("tsk", "pid"), None);
        for cut in 0..bytes.len() {
            // A truncated description must not cause a panic.
            let _ = Types::parse(&bytes[..cut]).map(|types| types.offset("task", "pid"));
        }
    }
}
