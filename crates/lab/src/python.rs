//! Python in a guest: Debian's interpreter, with either of the packages `gpiod`.

use crate::archive::Archive;
use crate::cache::{Apt, Cache, Package, find, make_whole, output_of};
use crate::error::{Error, Result};
use crate::machine::EmulatedMachine;
use crate::program::{LIBC, cache_name, loader};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's interpreter, with what it is linked with and a minimal standard library.
const INTERPRETER: [&str; 4] =
    ["python3.11-minimal", "libpython3.11-minimal", "libexpat1", "zlib1g"];
/// Debian's package for the GPIO character device.
const GPIOD_1: [&str; 2] = ["python3-libgpiod", "libgpiod2"];
/// The rest of the standard library, of which the current `gpiod` needs one file.
const STANDARD: (&str, &str) = ("libpython3.11-stdlib", "dataclasses.py");
/// The current `gpiod`, which Debian does not package.
const GPIOD_2: &str = "gpiod==2.5.0";
/// Files of the C library that either is linked with.
const LIBRARIES: [&str; 3] = ["/libc.so.6", "/libm.so.6", "/libpthread.so.0"];
/// Where Python looks for packages.
const PACKAGES: &str = "usr/lib/python3/dist-packages";

/// The version of `gpiod` that a program is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gpiod {
    /// 1.6, as in Debian 12.
    One,
    /// 2.x, as in the package index.
    Two,
}

/// Adds the interpreter at its paths in its packages, which are downloaded if they are not cached.
pub fn add_python(
    files: &mut Archive,
    cache: &Cache,
    machine: &EmulatedMachine,
    gpiod: Gpiod,
) -> Result<()> {
    let mut packages = DebianPackages { cache, architecture: machine.debian, apt: None };
    for package in INTERPRETER {
        files.folder(&packages.get(package)?.folder, &is_used)?;
    }
    match gpiod {
        Gpiod::One => {
            for package in GPIOD_1 {
                files.folder(&packages.get(package)?.folder, &is_used)?;
            }
        }
        Gpiod::Two => {
            let (package, file) = STANDARD;
            files.folder(&packages.get(package)?.folder, &|path| path.ends_with(file))?;
            files.folder(&gpiod_2(cache, machine)?, &|path| path.starts_with(PACKAGES))?;
        }
    }
    let libc = packages.get(LIBC)?;
    let is_library = |path: &str| LIBRARIES.iter().any(|library| path.ends_with(library));
    files.folder(&libc.folder, &is_library)?;
    let loader = loader(machine.debian);
    let file = loader.rsplit('/').next().unwrap_or(loader);
    let found = find(&libc.folder, &|name| name == file);
    let found = found.ok_or_else(|| Error::NoFile { package: LIBC.into(), file: file.into() })?;
    files.program(loader, fs::read(&found).map_err(Error::io("read", &found))?);
    Ok(())
}

/// Manuals and the like are of no use in a guest.
fn is_used(path: &str) -> bool {
    !path.starts_with("usr/share") && path.contains('/')
}

/// Debian's packages for a machine.
struct DebianPackages<'a> {
    cache: &'a Cache,
    architecture: &'a str,
    apt: Option<Apt>,
}

impl DebianPackages<'_> {
    fn get(&mut self, package: &str) -> Result<Package> {
        let name = cache_name(self.architecture, package);
        if let Some(kept) = self.cache.cached(&name) {
            return Ok(kept);
        }
        let apt = match &mut self.apt {
            Some(apt) => apt,
            none => none.insert(Apt::prepare(self.cache, self.architecture)?),
        };
        self.cache.fetch(apt, &name, &|name| name == package)
    }
}

/// The folder with the current package, which pip downloads if it is not cached.
fn gpiod_2(cache: &Cache, machine: &EmulatedMachine) -> Result<PathBuf> {
    let folder = cache.folder().join("responders").join(machine.debian).join(GPIOD_2);
    if folder.exists() {
        return Ok(folder);
    }
    make_whole(&folder, |beside| {
        let place = beside.join(PACKAGES);
        fs::create_dir_all(&place).map_err(Error::io("create", &place))?;
        download(beside, &place, machine)
    })?;
    Ok(folder)
}

fn download(folder: &Path, place: &Path, machine: &EmulatedMachine) -> Result<()> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps"]);
    pip.args(["--only-binary=:all:", "--implementation=cp", "--python-version=3.11"]);
    pip.arg(format!("--platform=manylinux2014_{}", machine.architecture));
    output_of(pip.arg("--dest").arg(folder).arg(GPIOD_2))?;
    let missing = || Error::NoFile { package: GPIOD_2.into(), file: "*.whl".into() };
    let wheel = find(folder, &|name| name.ends_with(".whl")).ok_or_else(missing)?;
    let mut unpack = Command::new("python3");
    output_of(unpack.args(["-m", "zipfile", "-e"]).arg(&wheel).arg(place))?;
    fs::remove_file(&wheel).map_err(Error::io("remove", &wheel))
}
