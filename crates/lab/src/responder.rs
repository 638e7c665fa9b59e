//! What answers edges in a guest: built from the responders' sources, or taken from Debian's
//! packages, and added to the guest together with the pin pair that makes the edges.

use crate::cache::{Cache, hex, make_whole};
use crate::config::GuestConfig;
use crate::error::{Error, Result};
use crate::guest::GuestImage;
use crate::machine::EmulatedMachine;
use crate::module::{Module, make, run_make};
use crate::python::{self, Gpiod};
use crate::wire::BoardWire;
use latlab_model::respond::{LinuxResponder, LinuxResponderName};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Number of the pin pair's first line in the GPIO sysfs, which no other chip uses.
const BASE: u32 = 400;
/// The lines of the pin pair.
const LINES: [u32; 2] = [0, 1];
/// Path of a program in a guest.
const PLACE: &str = "/usr/bin/responder";
/// Debian's interpreter.
const PYTHON: &str = "/usr/bin/python3.11";
/// Digits of a checksum that identify a build.
const SHORT: usize = 16;

/// The command of a responder in a guest of this machine, on lines of the board or of the pin pair;
/// empty if the kernel answers.
pub fn command(
    name: LinuxResponderName,
    machine: &EmulatedMachine,
    board_pins: bool,
) -> Vec<String> {
    use LinuxResponderName::{Gpiochip, Polling, Python, PythonGpiod1, Rust, Sysfs};
    // The board's first chip is also the kernel's first.
    let (chip, base, lines) = match board_pins {
        true => (0, 0, BoardWire::RESPONDER),
        false => (machine.gpio_chips, BASE, LINES),
    };
    let (chip, numbers) =
        (format!("/dev/gpiochip{chip}"), lines.map(|line| (base + line).to_string()));
    let lines = lines.map(|line| line.to_string());
    match name {
        Sysfs => [PLACE.to_string()].into_iter().chain(numbers).collect(),
        Gpiochip | Polling | Rust => [PLACE.into(), chip].into_iter().chain(lines).collect(),
        Python | PythonGpiod1 => {
            [PYTHON.into(), PLACE.into(), chip].into_iter().chain(lines).collect()
        }
        _ => Vec::new(),
    }
}

impl GuestImage {
    /// Adds the pin pair and a responder, from the folder of the responders' sources.
    pub fn add_responder(
        &mut self,
        cache: &Cache,
        sources: &Path,
        asked: &LinuxResponder,
        seed: u64,
    ) -> Result<()> {
        use LinuxResponderName::{
            Gpiochip, Kmod, KmodPlain, KmodThreaded, Polling, Python, PythonGpiod1, Rust, Sysfs,
        };
        let LinuxResponder { edges, from_ns, to_ns, board_pins, .. } = asked;
        let mut pair = format!(
            "edges={edges} from_ns={} to_ns={} seed={seed} base={BASE}",
            from_ns.0, to_ns.0
        );
        let (mut chip, mut lines) = ("pinpair", LINES);
        if *board_pins {
            (chip, lines) = (BoardWire::LABEL, BoardWire::RESPONDER);
            let [raised, watched] = BoardWire::PAIR;
            pair += &format!(" board={chip} raised={raised} watched={watched}");
        }
        self.add_module(cache, sources, ("kmod/pinpair/pinpair.c", "pinpair"), &pair)?;
        let build = |make: &str, target: &str| build(self.config(), cache, sources, make, target);
        let handler = match asked.name {
            Kmod => "hard",
            KmodPlain => "plain",
            KmodThreaded => "threaded",
            Sysfs => return self.add_built(&build("c-sysfs", "responder")?),
            Gpiochip => return self.add_built(&build("c-gpiochip", "blocking")?),
            Polling => return self.add_built(&build("c-gpiochip", "polling")?),
            Rust => return self.add_built(&build("rust", "responder")?),
            Python => return self.add_python(cache, sources, Gpiod::Two),
            PythonGpiod1 => return self.add_python(cache, sources, Gpiod::One),
        };
        let [input, output] = lines;
        let parameters = format!("chip={chip} input={input} output={output} handler={handler}");
        self.add_module(cache, sources, ("kmod/responder.c", "responder"), &parameters)
    }

    /// Adds the pin pair with a wire from line 1 to line 0, and from line 3 to line 2.
    pub fn add_wires(&mut self, cache: &Cache, sources: &Path) -> Result<()> {
        let parameters = format!("wired=1 base={BASE}");
        self.add_module(cache, sources, ("kmod/pinpair/pinpair.c", "pinpair"), &parameters)
    }

    fn add_python(&mut self, cache: &Cache, sources: &Path, gpiod: Gpiod) -> Result<()> {
        let machine = self.config().machine;
        python::add_python(self.files(), cache, machine, gpiod)?;
        let program = if gpiod == Gpiod::One { "gpiod1.py" } else { "gpiod2.py" };
        self.add_built(&sources.join("python").join(program))
    }

    fn add_built(&mut self, program: &Path) -> Result<()> {
        let bytes = fs::read(program).map_err(Error::io("read", program))?;
        self.files().program(PLACE, bytes);
        Ok(())
    }

    fn add_module(
        &mut self,
        cache: &Cache,
        sources: &Path,
        (file, name): (&str, &str),
        parameters: &str,
    ) -> Result<()> {
        let file = sources.join(file);
        let source = fs::read_to_string(&file).map_err(Error::io("read", &file))?;
        let module = Module { name, source: &source }.build(self.config(), cache)?;
        self.load_module(&module, parameters)
    }
}

/// Builds a program from a folder of sources, if it is not cached.
fn build(
    config: &GuestConfig,
    cache: &Cache,
    sources: &Path,
    name: &str,
    target: &str,
) -> Result<PathBuf> {
    let (machine, folder) = (config.machine, sources.join(name));
    let kept = format!("responders/{}/{name}-{}", machine.debian, checksum(&folder)?);
    let build = cache.folder().join(kept);
    let program = build.join(target);
    if program.exists() {
        return Ok(program);
    }
    make_whole(&build, |beside| {
        let mut make = make();
        make.arg("--silent").arg("-C").arg(&folder).arg(format!("BUILD={}", beside.display()));
        if machine.architecture != std::env::consts::ARCH {
            make.arg(format!("CC={}-gcc", machine.compiler.1));
            make.arg(format!("TARGET={}-unknown-linux-musl", machine.architecture));
        }
        run_make(&mut make, name, machine)
    })?;
    Ok(program)
}

/// Checksum of the source files of a program.
fn checksum(folder: &Path) -> Result<String> {
    let failed = || Error::io("read", folder);
    let entries = fs::read_dir(folder).map_err(failed())?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some() || file.ends_with("Makefile"));
    files.sort();
    let mut sum = Sha256::new();
    for file in files {
        sum.update(fs::read(&file).map_err(Error::io("read", &file))?);
    }
    Ok(hex(&sum.finalize())[..SHORT].to_string())
}
