//! Extracts the payload of a PC's compressed kernel image: a guest that need not decompress it
//! starts in half the time.

use crate::cache::write_whole;
use crate::error::{Error, Result};
use lzma_rust2::XzReader;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Offset of the number of sectors before the kernel's own code, by the Linux boot protocol.
const SETUP_SECTORS: usize = 0x1f1;
const SECTOR: usize = 512;
/// Offset of the payload's position, relative to that code, and of its length.
const PAYLOAD: usize = 0x248;
/// Length of the decompressed size after the payload.
const TAIL: usize = 4;
/// Name of the extracted file, next to the image.
const NAME: &str = "vmlinux";

/// The extracted kernel, stored next to the image; `None` for another compression.
pub fn decompress(image: &Path) -> Result<Option<PathBuf>> {
    let kept = image.with_file_name(NAME);
    if kept.exists() {
        return Ok(Some(kept));
    }
    let bytes = fs::read(image).map_err(Error::io("read", image))?;
    let Some(kernel) = unpack(&bytes) else { return Ok(None) };
    write_whole(&kept, &kernel)?;
    Ok(Some(kept))
}

fn unpack(image: &[u8]) -> Option<Vec<u8>> {
    let number = |at: usize| {
        let bytes = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let code = (usize::from(*image.get(SETUP_SECTORS)?) + 1) * SECTOR;
    let begin = code.checked_add(number(PAYLOAD)?)?;
    let end = begin.checked_add(number(PAYLOAD + 4)?)?.checked_sub(TAIL)?;
    let mut kernel = Vec::new();
    XzReader::new(image.get(begin..end)?, false).read_to_end(&mut kernel).ok()?;
    kernel.starts_with(b"\x7fELF").then_some(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_image_is_left_as_it_is() {
        for bytes in [&b"short"[..], &[0xff; 4096], &[0; 4096]] {
            assert_eq!(unpack(bytes), None);
        }
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("vmlinuz");
        fs::write(&image, [0; 4096]).unwrap();
        assert_eq!(decompress(&image).unwrap(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
