//! Errors before a guest runs.

use latlab_model::shell::Line;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no guest.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the cache or the archive.
    #[error("cannot {doing} {}: {error}", .path.display())]
    Io {
        /// The failed operation.
        doing: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// A program of the host cannot be run.
    #[error(
        "cannot run {program} ({error}): on a host without Debian packages use your own kernel \
         with --kernel IMAGE"
    )]
    Missing { program: String, error: io::Error },
    /// The emulator is missing.
    #[error("cannot run {program} ({error}): install the package {package} or its equivalent")]
    NoEmulator {
        program: String,
        /// Debian's package that has it.
        package: &'static str,
        error: io::Error,
    },
    /// The machine needs a newer emulator than the host's.
    #[error("{machine} needs a newer QEMU: run `{}`", Line::new("latlab lab fetch --qemu").word(format!("{machine}/rt")))]
    NoNewEmulator { machine: &'static str },
    /// A program of the host failed.
    #[error("{program} failed: {said}")]
    Failed {
        program: String,
        /// The last line of its output.
        said: String,
    },
    /// No package matches.
    #[error("Debian's archive has no package for {what} ({architecture})")]
    NoPackage {
        /// What was searched for.
        what: String,
        /// For which architecture.
        architecture: String,
    },
    /// The headers of a kernel are unknown.
    #[error("{module} is a kernel module, which latlab builds for Debian's kernels only")]
    NoHeaders { module: String },
    /// A module or a responder cannot be built.
    #[error("cannot build {what}: {said} (requires make and {compiler}, for linux:rust rustc)")]
    NotBuilt {
        what: String,
        /// The first error of the compiler.
        said: String,
        /// Debian's package of the compiler.
        compiler: String,
    },
    /// The plugin interface of this emulator is not supported.
    #[error(
        "a replay needs QEMU 6.0 to 8.2, or 10: the run was made with '{emulator}'; repeat it with \
         one of them, or with new-qemu in its target"
    )]
    NoPlugin {
        /// The emulator's name for itself.
        emulator: String,
    },
    /// A guest did not send its kernel's addresses.
    #[error(
        "the guest did not send the addresses of its kernel ({length} bytes came): it needs \
         CONFIG_KALLSYMS and CONFIG_DEBUG_INFO_BTF"
    )]
    NoSymbols {
        /// Number of bytes it has sent.
        length: usize,
    },
    /// The kernel lacks a function that a replay needs.
    #[error("the kernel of the guest does not list its symbol {symbol}, which a replay needs")]
    NoSymbol { symbol: &'static str },
    /// The replay does not support this machine's instructions.
    #[error("a replay knows the processors x86-64 and arm64, and not that of {machine}")]
    NoReplay { machine: &'static str },
    /// The host's package mirror is unknown.
    #[error("apt has no Debian mirror: use your own kernel with --kernel IMAGE")]
    NoMirror,
    /// The kernel is not in the cache.
    #[error(
        "the kernel {kernel} for {machine} is missing: run `{}`",
        Line::new("latlab lab fetch").word(format!("{machine}/{kernel}"))
    )]
    NotFetched { machine: &'static str, kernel: String },
    /// Not a program of the lab.
    #[error("'{program}' is not available in guests; available: {known}")]
    NoProgram {
        /// The requested program.
        program: String,
        /// The known programs.
        known: String,
    },
    /// The program is not in the cache.
    #[error("{program} for guests is missing: run `{}`", Line::new("latlab lab fetch").word(format!("{machine}/rt")))]
    ProgramNotFetched {
        program: String,
        /// The machine that it is for.
        machine: &'static str,
    },
    /// A package lacks a file that it used to have.
    #[error("the package {package} has no {file}")]
    NoFile {
        package: String,
        /// The missing file.
        file: String,
    },
    /// The kernel's package has no image.
    #[error("{} has no kernel", .0.display())]
    NoImage(PathBuf),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wraps an I/O error, for `map_err`.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |error| Error::Io { doing, path, error }
    }
}
