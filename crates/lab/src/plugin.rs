//! The QEMU plugin that records what runs in a guest: built for the version of QEMU, and cached.

use crate::cache::{Cache, hex, make_whole};
use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const SOURCES: [(&str, &str); 2] = [
    ("plugin.c", include_str!("../replay/plugin.c")),
    ("plugin.h", include_str!("../replay/plugin.h")),
];
const OPTIONS: &str = "-std=gnu11 -O2 -ffreestanding -fno-builtin -fno-stack-protector \
                       -fvisibility=hidden -fPIC -nostdlib -shared";
const COMPILER: &str = "gcc";

/// The plugin for an emulator with this version text.
pub(crate) fn build(emulator: &str, cache: &Cache) -> Result<PathBuf> {
    let interface =
        interface(emulator).ok_or_else(|| Error::NoPlugin { emulator: emulator.to_string() })?;
    let mut sum = Sha256::new();
    SOURCES.iter().for_each(|(_, text)| sum.update(text));
    let sum = hex(&sum.finalize());
    let folder = cache.folder().join(format!("replay/interface-{interface}-{}", &sum[..16]));
    let plugin = folder.join("replay.so");
    if plugin.exists() {
        return Ok(plugin);
    }
    make_whole(&folder, |beside| {
        for (name, text) in SOURCES {
            let file = beside.join(name);
            fs::write(&file, text).map_err(Error::io("write", &file))?;
        }
        let mut compiler = Command::new(COMPILER);
        compiler.args(OPTIONS.split_whitespace()).arg(format!("-DINTERFACE={interface}"));
        let output = compiler.current_dir(beside).args(["-o", "replay.so", "plugin.c"]).output();
        let not_built = |said: &str| Error::NotBuilt {
            what: "the plugin for QEMU".to_string(),
            said: said.to_string(),
            compiler: COMPILER.to_string(),
        };
        let output = output.map_err(|error| not_built(&error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let mistake = said.lines().find(|line| line.contains("rror")).or(said.lines().next());
        match output.status.success() {
            true => Ok(()),
            false => Err(not_built(mistake.unwrap_or("gcc printed nothing"))),
        }
    })?;
    Ok(plugin)
}

/// The version of the plugin interface to build for. QEMU accepts older ones, but some functions
/// have changed their signature, so interfaces 2 and 3 would need their own source.
fn interface(emulator: &str) -> Option<u32> {
    let version = emulator.split("version ").nth(1)?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().ok());
    match (numbers.next()??, numbers.next()??) {
        (6..=7, _) | (8, 0..=2) => Some(1),
        (10.., _) => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_is_that_of_the_version() {
        let of = |version: &str| interface(&format!("QEMU emulator version {version}"));
        assert_eq!(of("7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)"), Some(1));
        assert_eq!(of("8.2.0"), Some(1));
        assert_eq!(of("9.1.2"), None);
        assert_eq!(of("10.0.2 (Debian 1:10.0.2+ds-2)"), Some(4));
        assert_eq!(interface("another emulator"), None);
    }
}
