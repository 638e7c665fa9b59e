//! The programs that load a guest, with the libraries that they need.

use crate::archive::Archive;
use crate::cache::{Apt, Cache, Package, find};
use crate::error::{Error, Result};
use crate::machine::EmulatedMachine;
use std::collections::BTreeSet;
use std::fs;

/// A program of a package.
struct Program {
    name: &'static str,
    package: &'static str,
    /// Its file there and its path in a guest, if these differ from its name and the file's path.
    file: Option<(&'static str, &'static str)>,
    /// Files of other packages that it is linked with.
    libraries: &'static [(&'static str, &'static str)],
}

static PROGRAMS: [Program; 4] = [
    Program { name: "hackbench", package: "rt-tests", file: None, libraries: &[] },
    Program {
        name: "cyclictest",
        package: "rt-tests",
        file: None,
        libraries: &[(LIBC, "librt.so.1"), ("libnuma1", "libnuma.so.1")],
    },
    Program {
        name: "stressapptest",
        package: "stressapptest",
        file: None,
        libraries: &[
            (LIBC, "libm.so.6"),
            ("libaio1", "libaio.so.1"),
            ("libstdc++6", "libstdc++.so.6"),
            ("libgcc-s1", "libgcc_s.so.1"),
        ],
    },
    // For the user's own command lines.
    Program {
        name: "sh",
        package: "busybox-static",
        file: Some(("busybox", "bin/sh")),
        libraries: &[],
    },
];

/// The package of the C library.
pub(crate) const LIBC: &str = "libc6";
/// What every program is linked with.
const COMMON: [(&str, &str); 2] = [(LIBC, "libc.so.6"), (LIBC, "libpthread.so.0")];
/// A program without a package for arm64, whose kernel runs the one of armhf as well.
const ONLY_32_BIT: &str = "stressapptest";

/// Path of the dynamic loader, by Debian's name of the architecture.
pub(crate) fn loader(architecture: &str) -> &'static str {
    match architecture {
        "arm64" => "lib/ld-linux-aarch64.so.1",
        "armhf" => "lib/ld-linux-armhf.so.3",
        _ => "lib64/ld-linux-x86-64.so.2",
    }
}

impl Program {
    fn find(name: &str) -> Result<&'static Program> {
        PROGRAMS.iter().find(|program| program.name == name).ok_or_else(|| Error::NoProgram {
            program: name.to_string(),
            known: PROGRAMS.each_ref().map(|program| program.name).join(", "),
        })
    }

    fn architecture(&self, machine: &EmulatedMachine) -> &'static str {
        match (self.name, machine.debian) {
            (ONLY_32_BIT, "arm64") => "armhf",
            (_, own) => own,
        }
    }

    fn libraries(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        COMMON.into_iter().chain(self.libraries.iter().copied())
    }
}

pub(crate) fn cache_name(architecture: &str, package: &str) -> String {
    format!("programs/{architecture}/{package}")
}

/// Downloads the packages of all programs that are not cached.
pub fn fetch(machine: &EmulatedMachine, cache: &Cache) -> Result<()> {
    let mut missing = BTreeSet::new();
    for program in &PROGRAMS {
        let packages = program.libraries().map(|(package, _)| package).chain([program.package]);
        let architecture = program.architecture(machine);
        missing.extend(packages.map(|package| (architecture, package)));
    }
    missing.retain(|(architecture, package)| {
        cache.cached(&cache_name(architecture, package)).is_none()
    });
    let architectures: BTreeSet<&str> = missing.iter().map(|(name, _)| *name).collect();
    for architecture in architectures {
        let apt = Apt::prepare(cache, architecture)?;
        for (_, package) in missing.iter().filter(|(name, _)| *name == architecture) {
            cache.fetch(&apt, &cache_name(architecture, package), &|name| name == *package)?;
        }
    }
    Ok(())
}

/// Adds a program and what it needs at its path in the package.
pub fn add(
    files: &mut Archive,
    machine: &EmulatedMachine,
    cache: &Cache,
    name: &str,
) -> Result<()> {
    let program = Program::find(name)?;
    let architecture = program.architecture(machine);
    let kept = |package: &str| {
        let not_fetched =
            || Error::ProgramNotFetched { program: name.to_string(), machine: machine.name };
        cache.cached(&cache_name(architecture, package)).ok_or_else(not_fetched)
    };
    let loader = loader(architecture);
    let mut put = |package: &str, file: &str, place: Option<&str>| {
        let package: Package = kept(package)?;
        let found = find(&package.folder, &|name| name == file).ok_or_else(|| Error::NoFile {
            package: package.name.clone(),
            file: file.to_string(),
        })?;
        let own = found.strip_prefix(&package.folder).unwrap_or(&found).display().to_string();
        let bytes = fs::read(&found).map_err(Error::io("read", &found))?;
        files.program(place.unwrap_or(&own), bytes);
        Ok::<_, Error>(())
    };
    put(LIBC, loader.rsplit('/').next().unwrap_or(loader), Some(loader))?;
    program.libraries().try_for_each(|(package, file)| put(package, file, None))?;
    match program.file {
        Some((file, place)) => put(program.package, file, Some(place)),
        None => put(program.package, name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::find_machine;

    #[test]
    fn programs_are_named_and_one_of_32_bits_serves_both() {
        let error = Program::find("fio").err().unwrap().to_string();
        assert!(error.contains("'fio'") && error.contains("hackbench"), "{error}");
        let of = |name, on| Program::find(name).unwrap().architecture(find_machine(on).unwrap());
        assert_eq!(of("stressapptest", "arm64"), "armhf");
        assert_eq!(of("hackbench", "arm64"), "arm64");
        assert_eq!(of("stressapptest", "x86-64"), "amd64");
    }
}
