//! What can go wrong before a guest runs.

use latlab_model::shell::Line;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no guest.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the cache or the archive.
    #[error("cannot {doing} {}: {error}", .path.display())]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A program of the host.
    #[error(
        "cannot run {program} ({error}): on a host without Debian packages use your own kernel \
         with --kernel IMAGE"
    )]
    Missing {
        /// Its name.
        program: String,
        /// What the system said.
        error: io::Error,
    },
    /// The emulator.
    #[error("cannot run {program} ({error}): install the package {package} or its equivalent")]
    NoEmulator {
        /// Its name.
        program: String,
        /// Debian's package with it.
        package: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// A newer emulator than that of the host.
    #[error("{machine} needs a newer QEMU: run `{}`", Line::new("latlab lab fetch --qemu").word(format!("{machine}/rt")))]
    NoNewEmulator {
        /// The machine.
        machine: &'static str,
    },
    /// A program of the host that failed.
    #[error("{program} failed: {said}")]
    Failed {
        /// Its name.
        program: String,
        /// The last line that it said.
        said: String,
    },
    /// No package fits.
    #[error("Debian's archive has no package for {what} ({architecture})")]
    NoPackage {
        /// What was looked for.
        what: String,
        /// For which architecture.
        architecture: String,
    },
    /// A kernel whose headers nobody knows.
    #[error("{module} is a kernel module, which latlab builds for Debian's kernels only")]
    NoHeaders {
        /// Its name.
        module: String,
    },
    /// A module or a responder that cannot be built.
    #[error("cannot build {what}: {said} (requires make and {compiler}, for linux:rust rustc)")]
    NotBuilt {
        /// Its name.
        what: String,
        /// The first mistake.
        said: String,
        /// Debian's package of the compiler.
        compiler: String,
    },
    /// An emulator whose plugins are made in another way.
    #[error(
        "a replay needs QEMU 6.0 to 8.2, or 10: the run was made with '{emulator}'; repeat it with \
         one of them, or with new-qemu in its target"
    )]
    NoPlugin {
        /// As it names itself.
        emulator: String,
    },
    /// A guest that did not say the addresses of its kernel.
    #[error(
        "the guest did not send the addresses of its kernel ({length} bytes came): it needs \
         CONFIG_KALLSYMS and CONFIG_DEBUG_INFO_BTF"
    )]
    NoSymbols {
        /// What it has sent.
        length: usize,
    },
    /// A function that a replay needs to know is not among the kernel's.
    #[error("the kernel of the guest does not list its symbol {symbol}, which a replay needs")]
    NoSymbol {
        /// Its name.
        symbol: &'static str,
    },
    /// A machine whose instructions the replay does not know.
    #[error("a replay knows the processors x86-64 and arm64, and not that of {machine}")]
    NoReplay {
        /// The machine.
        machine: &'static str,
    },
    /// The host does not know where packages come from.
    #[error("apt has no Debian mirror: use your own kernel with --kernel IMAGE")]
    NoMirror,
    /// A kernel that is not kept.
    #[error(
        "the kernel {kernel} for {machine} is missing: run `{}`",
        Line::new("latlab lab fetch").word(format!("{machine}/{kernel}"))
    )]
    NotFetched {
        /// Its machine.
        machine: &'static str,
        /// Its name.
        kernel: String,
    },
    /// No program of the lab.
    #[error("'{program}' is not available in guests; available: {known}")]
    NoProgram {
        /// What was asked for.
        program: String,
        /// What there is.
        known: String,
    },
    /// A program that is not kept.
    #[error("{program} for guests is missing: run `{}`", Line::new("latlab lab fetch").word(format!("{machine}/rt")))]
    ProgramNotFetched {
        /// Its name.
        program: String,
        /// The machine that it is for.
        machine: &'static str,
    },
    /// A package that is another one than it was.
    #[error("the package {package} has no {file}")]
    NoFile {
        /// Its name.
        package: String,
        /// What should be in it.
        file: String,
    },
    /// The kernel's package holds no image.
    #[error("{} has no kernel", .0.display())]
    NoImage(PathBuf),
}

/// A result with that error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wraps what the system said, for `map_err`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |error| Error::Io { doing, path, error }
    }
}
