//! Edits the device tree of a board to use its serial interfaces differently: some are off because
//! nothing is connected to them on the board, some are reserved for a device that no guest has.

use crate::cache::write_whole;
use crate::error::{Error, Result};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Tokens of the structure block, as in the Devicetree Specification 0.4 (section 5.4).
const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROPERTY: u32 = 3;
const NOTHING: u32 = 4;
/// The first bytes of the file.
pub(crate) const MAGIC: u32 = 0xd00d_feed;
const OKAY: &[u8] = b"okay\0";

/// A change of a device tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceTreeEdit {
    /// Switch this device on.
    On(&'static str),
    /// Hide this device.
    Away(&'static str),
}

impl DeviceTreeEdit {
    fn device(self) -> &'static str {
        match self {
            DeviceTreeEdit::On(device) | DeviceTreeEdit::Away(device) => device,
        }
    }
}

/// An edited copy next to the file.
pub fn edit(file: &Path, change: DeviceTreeEdit) -> Result<PathBuf> {
    let kept = file.with_extension("lab.dtb");
    if kept.exists() {
        return Ok(kept);
    }
    let mut tree = fs::read(file).map_err(Error::io("read", file))?;
    let missing = || Error::NoFile {
        package: file.display().to_string(),
        file: format!("device '{}' that can be changed", change.device()),
    };
    apply(&mut tree, change).ok_or_else(missing)?;
    write_whole(&kept, &tree)?;
    Ok(kept)
}

/// Edits in place: `okay` is no longer than `disabled`, and what follows its end is not read; the
/// kernel ignores a device without `compatible`.
fn apply(tree: &mut [u8], change: DeviceTreeEdit) -> Option<()> {
    match change {
        DeviceTreeEdit::On(device) => {
            let (_, value) = property(tree, device, "status")?;
            let value = tree.get_mut(value)?;
            value.fill(0);
            value.get_mut(..OKAY.len())?.copy_from_slice(OKAY);
        }
        DeviceTreeEdit::Away(device) => {
            let (begin, value) = property(tree, device, "compatible")?;
            let all = tree.get_mut(begin..value.end.next_multiple_of(4))?;
            all.chunks_exact_mut(4).for_each(|word| word.copy_from_slice(&NOTHING.to_be_bytes()));
        }
    }
    Some(())
}

/// Where a property of a device begins, and where its value is.
fn property(tree: &[u8], device: &str, property: &str) -> Option<(usize, Range<usize>)> {
    let structure = word(tree, 8)? as usize;
    let strings = word(tree, 12)? as usize;
    if word(tree, 0)? != MAGIC {
        return None;
    }
    let (mut at, mut path) = (structure, Vec::new());
    loop {
        let begin = at;
        let token = word(tree, at)?;
        at += 4;
        match token {
            BEGIN_NODE => {
                let name = text(tree, at)?;
                at = (at + name.len() + 1).next_multiple_of(4);
                path.push(name);
            }
            END_NODE => drop(path.pop()?),
            PROPERTY => {
                let length = word(tree, at)? as usize;
                let name = text(tree, strings + word(tree, at + 4)? as usize)?;
                let value = at + 8..at + 8 + length;
                at = value.end.next_multiple_of(4);
                if name == property && path.join("/") == device {
                    return Some((begin, value));
                }
            }
            NOTHING => {}
            _ => return None,
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn text(bytes: &[u8], at: usize) -> Option<&str> {
    let text = bytes.get(at..)?;
    std::str::from_utf8(&text[..text.iter().position(|byte| *byte == 0)?]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with two devices, of which the second is off.
    fn tree() -> Vec<u8> {
        let mut structure = Vec::new();
        let mut put = |words: &[u32], text: &[u8]| {
            words.iter().for_each(|word| structure.extend(word.to_be_bytes()));
            structure.extend(text);
            structure.resize(structure.len().next_multiple_of(4), 0);
        };
        put(&[BEGIN_NODE], b"\0");
        for (name, status) in [("one@1", &b"okay\0"[..]), ("two@2", b"disabled\0")] {
            put(&[BEGIN_NODE], &[name.as_bytes(), b"\0"].concat());
            put(&[NOTHING, PROPERTY, status.len() as u32, 0], status);
            put(&[PROPERTY, 3, 7], b"ab\0");
            put(&[END_NODE], b"");
        }
        put(&[END_NODE, 9], b"");
        let strings = 16 + structure.len() as u32;
        let head = [MAGIC, 0, 16, strings].map(u32::to_be_bytes).concat();
        [head, structure, b"status\0compatible\0".to_vec()].concat()
    }

    #[test]
    fn a_device_that_is_off_is_turned_on_and_nothing_else_changes() {
        let before = tree();
        let mut after = before.clone();
        assert_eq!(apply(&mut after, DeviceTreeEdit::On("/two@2")), Some(()));
        let differ: Vec<usize> = (0..before.len()).filter(|at| before[*at] != after[*at]).collect();
        assert!(differ.len() <= b"disabled".len(), "{differ:?}");
        assert!(after[differ[0]..].starts_with(b"okay\0\0\0\0\0"));
        assert_eq!(apply(&mut after, DeviceTreeEdit::On("/three@3")), None);
    }

    #[test]
    fn a_device_that_is_away_has_no_kind_and_the_others_are_found() {
        let mut tree = tree();
        assert_eq!(apply(&mut tree, DeviceTreeEdit::Away("/one@1")), Some(()));
        assert_eq!(property(&tree, "/one@1", "compatible"), None);
        assert!(property(&tree, "/one@1", "status").is_some());
        assert!(property(&tree, "/two@2", "compatible").is_some());
    }

    #[test]
    fn damaged_descriptions_are_refused() {
        let whole = tree();
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            let _ = apply(&mut cut, DeviceTreeEdit::On("/two@2"));
            let _ = apply(&mut cut, DeviceTreeEdit::Away("/two@2"));
            assert_eq!(apply(&mut cut, DeviceTreeEdit::On("/three@3")), None);
        }
        assert_eq!(apply(&mut [0xff; 64], DeviceTreeEdit::On("/two@2")), None);
    }
}
