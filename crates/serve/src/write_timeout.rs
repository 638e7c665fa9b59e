//! Closes a connection whose client stops reading.

use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// In this time a client must take [`LEAST_BYTES`] of the pending data, or all of it.
const TIME: Duration = Duration::from_secs(20);
/// Less than a byte per millisecond is slower than any network.
const LEAST_BYTES: usize = 16 << 10;

/// A connection whose writes fail once the client reads too slowly.
pub struct WriteTimeout<T> {
    stream: T,
    /// Timer since data is pending, and the bytes taken since.
    waiting: Option<(Pin<Box<Sleep>>, usize)>,
    time: Duration,
}

impl<T> WriteTimeout<T> {
    pub fn new(stream: T) -> WriteTimeout<T> {
        WriteTimeout { stream, waiting: None, time: TIME }
    }

    /// Notes the result of a write: a number of bytes, or that the client must read first.
    fn watch(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match (&written, &mut self.waiting) {
            (Poll::Ready(Ok(bytes)), Some((limit, taken))) => {
                *taken += bytes;
                if *taken >= LEAST_BYTES {
                    *taken = 0;
                    limit.as_mut().reset(Instant::now() + self.time);
                }
            }
            (Poll::Pending, waiting) => {
                let (limit, _) = waiting.get_or_insert_with(|| (Box::pin(sleep(self.time)), 0));
                if limit.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
            }
            _ => {}
        }
        written
    }
}

impl<T: Read + Unpin> Read for WriteTimeout<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<T: Write + Unpin> Write for WriteTimeout<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called when everything was taken.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.waiting = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper_util::rt::TokioIo;
    use std::future::poll_fn;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::runtime::Builder;

    async fn write(stream: &mut WriteTimeout<TokioIo<TcpStream>>) -> io::Result<usize> {
        poll_fn(|context| Pin::new(&mut *stream).poll_write(context, &[0; 16 << 10])).await
    }

    #[test]
    fn a_client_that_reads_is_served_and_one_that_stops_is_given_up() {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let time = Duration::from_millis(200);
            let mut stream = WriteTimeout { time, ..WriteTimeout::new(TokioIo::new(stream)) };
            // Far more than fits into the system's buffers.
            let all = 32 << 20;
            let reader = tokio::spawn(async move {
                let mut taken = 0;
                while taken < all {
                    client.readable().await.unwrap();
                    taken += client.try_read(&mut [0; 64 << 10]).unwrap_or(0);
                }
                client
            });
            let mut written = 0;
            while written < all {
                written += write(&mut stream).await.unwrap();
            }
            let _silent = reader.await.unwrap();
            let begun = Instant::now();
            let error = loop {
                if let Err(error) = write(&mut stream).await {
                    break error;
                }
            };
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            assert!(begun.elapsed() >= time && begun.elapsed() < 100 * time);
        });
    }
}
