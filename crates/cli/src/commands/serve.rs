//! `latlab serve`: the runs in a browser.

pub mod args;

use crate::exit::ExitError;
use crate::output::{print, warn};
use crate::store::open_store;
use anyhow::{Context, anyhow, bail};
use args::ServeArgs;
use latlab_serve::{Setup, Token};
use latlab_sys::process::uname;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

/// `latlab serve`.
pub fn serve(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    let token = match &args.token_file {
        Some(path) => Some(read_token(path)?),
        None => args.token.clone(),
    };
    let (address, any_port) = args.address(token.is_some()).map_err(|text| anyhow!(text))?;
    let folder = open_store(args.folder.as_deref());
    // One that is made later is noticed; a mistyped one would be waited for in vain.
    if args.folder.is_some() && !folder.root().is_dir() {
        bail!("{} is not a folder", folder.root().display());
    }
    let setup =
        || Setup { store: folder.clone(), token: token.clone(), hostname: uname().hostname };
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

/// The first line of a file.
fn read_token(path: &Path) -> anyhow::Result<Token> {
    let text = fs::read_to_string(path);
    let text = text.with_context(|| format!("cannot read the token in {}", path.display()))?;
    text.trim().parse().with_context(|| format!("{} holds no token", path.display()))
}
