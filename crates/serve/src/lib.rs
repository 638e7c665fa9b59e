//! A local web server over stored runs and those being measured. It only reads.
//!
//! `connections.rs` accepts as many clients as the limit of open files allows, and closes
//! connections that idle or read too slowly; at the limit, the one that has waited longest for a
//! complete request is closed (`heads.rs`). `guard.rs` examines every request first: GET or HEAD, a
//! `Host` of this server, the token. The list of
//! runs caches an entry for each, renewed when its `run.json` changes. `reports.rs` makes pages and
//! plots, one at a time, and caches the latest.
//!
//! A run that is being measured is followed through its journal: whole frames from a remembered
//! offset, twice a second, one reader for all clients of a run and none without clients. What was
//! read becomes numbered events, the newest complete and the older merged. Each client asks for
//! what comes after the last number it was sent, so a slow client delays no other.

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

/// Threads that read and draw; pages queue rather than overload the machine.
const WORKERS: usize = 4;

/// Listens at an address, reports it, and answers until Ctrl-C or SIGTERM.
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
    // Do not wait for clients that still follow a run.
    runtime.shutdown_background();
    served
}
