//! A local web server over the stored runs and those being measured. It only reads.
//!
//! `guard.rs` examines every request first: GET or HEAD, a `Host` of this server, the token. The list
//! of runs keeps a line for each, renewed when its `run.json` changes. `reports.rs` makes pages and
//! pictures, one at a time, and keeps the last ones.
//!
//! A run that is being measured is followed through its journal: whole frames from a remembered
//! offset, twice a second, one reader for all clients of a run and none when nobody watches. What was
//! read becomes numbered events, the newest whole and the older joined. Each client asks for what
//! comes after the last number it was sent, so a slow client delays nobody.

#![forbid(unsafe_code)]

mod guard;
mod list;
mod live;
mod reports;
mod response;
mod routes;
mod run_index;
mod state;

pub use guard::{Token, TokenError};
pub use routes::{Setup, router};

use std::io;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// Threads that read and draw; pages wait for one another rather than take the machine.
const WORKERS: usize = 4;

/// Listens at an address, tells which one it is, and answers until Ctrl-C or SIGTERM.
pub fn serve(
    listen: SocketAddr,
    setup: Setup,
    ready: impl FnOnce(SocketAddr) -> io::Result<()>,
) -> io::Result<()> {
    let runtime =
        Builder::new_current_thread().enable_all().max_blocking_threads(WORKERS).build()?;
    let served = runtime.block_on(async {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        ready(address)?;
        tokio::select! {
            ended = axum::serve(listener, router(setup, address)).into_future() => ended,
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    });
    // Whoever still follows a run would be waited for.
    runtime.shutdown_background();
    served
}
