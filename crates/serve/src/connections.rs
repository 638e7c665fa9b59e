//! Client connections: their number, and how long one may delay others.

use crate::heads::{Answer, RequestHead, WaitingConnections};
use crate::log::RepeatedEvent;
use crate::write_timeout::WriteTimeout;
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// More than the browsers and scrapers of a lab need.
const MOST_CONNECTIONS: u64 = 256;
/// Most files that the server itself has open: its own, and those of runs that it reads.
const OWN_FILES: u64 = 32;
/// Most files per connection: the socket, and the journal that it follows.
const FILES_EACH: u64 = 2;

/// Time limit for a complete request, including the idle time before it.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// Most header lines of a request; browsers send about twenty.
const MOST_HEADERS: usize = 64;
/// Largest request head.
const LARGEST_HEAD: usize = 16 << 10;
/// Read buffer per connection.
const READ_BYTES: usize = 32 << 10;
/// Delay after a failed accept.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The whole answer to a client beyond the limits.
const NO_PLACE: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 48\r\nRetry-After: 5\r\nConnection: close\r\n\r\n\
    too many clients are connected: try again later\n";

/// How many clients are served at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    pub connections: usize,
    /// Connections that may follow runs, which can take hours.
    pub followers: usize,
}

impl Limits {
    /// For a process that may have this many files open; `None` if that is too few to serve anyone.
    pub fn for_open_files(most: u64) -> Option<Limits> {
        let connections = (most.saturating_sub(OWN_FILES) / FILES_EACH).min(MOST_CONNECTIONS);
        let connections = usize::try_from(connections).ok().filter(|count| *count > 1)?;
        Some(Limits { connections, followers: connections / 2 })
    }
}

/// Accepts connections for ever, within the limits.
pub async fn accept_all(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    log: fn(&str),
) -> Infallible {
    let places = Arc::new(Semaphore::new(limits.connections));
    let waiting = Arc::new(WaitingConnections::default());
    let refused = RepeatedEvent::new(log, |count| format!("refused {count} more connections"));
    let ended = RepeatedEvent::new(log, |count| {
        format!("ended {count} more connections that sent no whole request")
    });
    let failed = RepeatedEvent::new(log, |count| format!("could not accept {count} more times"));
    loop {
        let (stream, client) = match listener.accept().await {
            Ok(accepted) => accepted,
            // The client disconnected while it waited.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
            Err(error) => {
                failed.record(|| format!("cannot accept a connection: {error}"));
                tokio::time::sleep(AFTER_FAILURE).await;
                continue;
            }
        };
        let count = limits.connections;
        let mut place = Arc::clone(&places).try_acquire_owned().ok();
        // Clients without a complete request must not keep others from being served.
        if place.is_none() && waiting.end_oldest() {
            ended.record(|| {
                format!("ended a connection that sent no whole request: {count} are open")
            });
            place = Arc::clone(&places).acquire_owned().await.ok();
        }
        match place {
            Some(place) => {
                let head = RequestHead::new(Arc::clone(&waiting));
                drop(tokio::spawn(serve_client(stream, client, router.clone(), head, place)));
            }
            None => {
                refused.record(|| {
                    format!("refused a connection of {}: {count} are open", client.ip())
                });
                refuse(stream);
            }
        }
    }
}

/// Answers the requests of a connection until it ends, idles or stalls.
async fn serve_client(
    stream: TcpStream,
    client: SocketAddr,
    router: Router,
    head: Arc<RequestHead>,
    _place: OwnedSemaphorePermit,
) {
    let asked = Arc::clone(&head);
    let router = TowerToHyperService::new(router);
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(client));
        asked.complete();
        let (answered, head) = (router.call(request), Arc::clone(&asked));
        async move { Ok::<_, Infallible>(answered.await?.map(|body| Answer::new(body, head))) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIME)
        .max_headers(MOST_HEADERS)
        .max_header_size(LARGEST_HEAD)
        .max_buf_size(READ_BYTES)
        .serve_connection(WriteTimeout::new(TokioIo::new(stream)), answer);
    // Errors come from the client or its network; the connection is gone.
    tokio::select! {
        _ = serving => {}
        () = head.ended() => {}
    }
}

/// Refuses and closes, as far as possible without blocking.
fn refuse(stream: TcpStream) {
    let Ok(mut stream) = stream.into_std() else { return };
    // Closing with unread bytes would reset the connection and lose the answer.
    let _ = stream.read(&mut [0; 4096]);
    let _ = stream.write_all(NO_PLACE.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_stay_below_the_limit_of_open_files() {
        for most in [64, 100, 256, 1024, 1 << 20] {
            let Limits { connections, followers } = Limits::for_open_files(most).unwrap();
            let files = OWN_FILES + FILES_EACH * connections as u64;
            assert!(files <= most && connections <= 256 && (1..connections).contains(&followers));
        }
        assert_eq!(Limits::for_open_files(64).unwrap().connections, 16);
        assert_eq!(Limits::for_open_files(1024).unwrap().connections, 256);
        assert_eq!(Limits::for_open_files(35), None);
    }

    #[test]
    fn a_refusal_is_a_whole_answer() {
        let (head, body) = NO_PLACE.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 503 "));
        assert!(
            head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())),
            "{}",
            body.len()
        );
    }
}
