//! What is packed in a kernel's image for PCs: a guest that need not unpack it starts in half the
//! time.

use crate::cache::write_whole;
use crate::error::{Error, Result};
use lzma_rust2::XzReader;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where the boot protocol of Linux keeps the number of sectors before the kernel's own code.
const SETUP_SECTORS: usize = 0x1f1;
const SECTOR: usize = 512;
/// Where it keeps the place of what is packed, from that code on, and its length.
const PAYLOAD: usize = 0x248;
/// The length of what comes out stands behind it.
const TAIL: usize = 4;
/// What the image becomes beside it.
const NAME: &str = "vmlinux";

/// The kernel of this image without its packing, kept beside it; none where it is packed otherwise.
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
