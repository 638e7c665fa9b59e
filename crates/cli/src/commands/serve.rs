//! `latlab serve`: shows the runs in a browser.

pub mod args;

use crate::exit::ExitError;
use crate::output::{print, warn};
use crate::store::{open_store, require_folder};
use anyhow::{Context, anyhow, bail};
use args::ServeArgs;
use latlab_serve::{Limits, Setup, Token};
use latlab_sys::files::read_ordinary_file;
use latlab_sys::memory::open_file_limit;
use latlab_sys::process::uname;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

/// A token has at most 256 characters; a larger file is not a token file.
const LARGEST_TOKEN_FILE: u64 = 4096;

pub fn serve(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    let token = match &args.token_file {
        Some(path) => Some(read_token(path)?),
        None => args.token.clone(),
    };
    let (address, any_port) = args.address(token.is_some()).map_err(|text| anyhow!(text))?;
    let named = args.folder.as_deref().or(args.out.as_deref());
    let folder = open_store(named);
    // The default folder may be created later; the server notices.
    if named.is_some() {
        require_folder(&folder)?;
    }
    let limits = limits()?;
    let setup = || Setup {
        store: folder.clone(),
        token: token.clone(),
        hostname: uname().hostname,
        limits,
        log: |text| warn(text),
    };
    let mut served = latlab_serve::serve(address, setup(), ready);
    if any_port && matches!(&served, Err(error) if error.kind() == io::ErrorKind::AddrInUse) {
        warn(format_args!("port {} is in use; using another one", address.port()));
        served = latlab_serve::serve(SocketAddr::new(address.ip(), 0), setup(), ready);
    }
    match served {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            let text = format!("cannot listen on {address}");
            Err(error).context(ExitError::cannot_measure(text))
        }
    }
}

fn ready(address: SocketAddr) -> io::Result<()> {
    print(&format!("http://{address}/\n")).map_err(io::Error::other)
}

/// How many clients this process can serve, by its file limits.
fn limits() -> Result<Limits, ExitError> {
    let most = open_file_limit().unwrap_or(u64::MAX);
    Limits::for_open_files(most).ok_or_else(|| {
        let text = format!(
            "this process may have only {most} files open, too few to serve anyone: raise `ulimit -n`"
        );
        ExitError::cannot_measure(text)
    })
}

/// Reads a token: the file's only line.
fn read_token(path: &Path) -> anyhow::Result<Token> {
    let bytes = read_ordinary_file(path, LARGEST_TOKEN_FILE);
    let bytes = bytes.with_context(|| format!("cannot read the token in {}", path.display()))?;
    let text = String::from_utf8(bytes);
    let text = text.with_context(|| format!("{} holds no token", path.display()))?;
    if text.trim().lines().count() > 1 {
        bail!("{} has several lines: expected a token and nothing else", path.display());
    }
    text.trim().parse().with_context(|| format!("{} holds no token", path.display()))
}
