//! A local web server over the stored runs and those being measured. It only reads.
//!
//! `connections.rs` accepts as many clients as the limit of open files allows, and closes connections
//! that idle or read too slowly; where there is no place, the one that waits longest for a whole request gives up its own
//! (`heads.rs`). `guard.rs` examines every request first: GET or HEAD, a `Host` of
//! this server, the token, of which an address may guess ten in a minute. The list
//! of runs keeps a line for each, renewed when its `run.json` changes. `reports.rs` makes pages and
//! pictures, one at a time, and keeps the last ones.
//!
//! A run that is being measured is followed through its journal: whole frames from a remembered
//! offset, twice a second, one reader for all clients of a run and none when nobody watches. What was
//! read becomes numbered events, the newest whole and the older joined. Each client asks for what
//! comes after the last number it was sent, so a slow client delays nobody.

#![forbid(unsafe_code)]

mod campaigns;
mod connections;
mod guard;
mod heads;
mod list;
mod live;
mod log;
mod metrics;
mod reports;
mod response;
mod routes;
mod run_index;
mod state;
mod token_guard;
mod write_timeout;

pub use connections::Limits;
pub use guard::{Token, TokenError};
pub use routes::{Setup, router};

use connections::accept_all;
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
        let (limits, log) = (setup.limits, setup.log);
        tokio::select! {
            never = accept_all(listener, router(setup, address), limits, log) => match never {},
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    });
    // Whoever still follows a run would be waited for.
    runtime.shutdown_background();
    served
}
