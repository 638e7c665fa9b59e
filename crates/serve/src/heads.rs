//! Connections without a complete request: at the connection limit, the one that has waited longest
//! is closed.

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::Notify;

/// The waiting connections, in the order in which they began to wait.
#[derive(Default)]
pub struct WaitingConnections(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    begun: u64,
    ends: BTreeMap<u64, Arc<Notify>>,
}

impl WaitingConnections {
    /// Ends the connection that has waited longest; returns whether there was one.
    pub fn end_oldest(&self) -> bool {
        let oldest = self.lock().ends.pop_first();
        oldest.inspect(|(_, end)| end.notify_one()).is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// State of a connection: waiting for a request, or answering one.
pub struct RequestHead {
    all: Arc<WaitingConnections>,
    end: Arc<Notify>,
    number: Mutex<Option<u64>>,
}

impl RequestHead {
    /// For a connection that waits for its first request.
    pub fn new(all: Arc<WaitingConnections>) -> Arc<RequestHead> {
        let head = RequestHead { all, end: Arc::default(), number: Mutex::new(None) };
        head.wait();
        Arc::new(head)
    }

    /// Resolves when the connection must be closed.
    pub async fn ended(&self) {
        self.end.notified().await;
    }

    /// Marks the request as complete.
    pub fn complete(&self) {
        let number = self.number.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(number) = number {
            self.all.lock().ends.remove(&number);
        }
    }

    fn wait(&self) {
        let mut waiting = self.all.lock();
        waiting.begun += 1;
        let number = waiting.begun;
        waiting.ends.insert(number, Arc::clone(&self.end));
        *self.number.lock().unwrap_or_else(PoisonError::into_inner) = Some(number);
    }
}

impl Drop for RequestHead {
    fn drop(&mut self) {
        self.complete();
    }
}

/// The body of an answer; after it was sent, the connection waits for the next request.
pub struct Answer {
    body: Body,
    head: Arc<RequestHead>,
}

impl Answer {
    pub fn new(body: Body, head: Arc<RequestHead>) -> Answer {
        Answer { body, head }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.head.wait();
    }
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_waits_longest_makes_room_and_one_that_is_answered_never_does() {
        let all = Arc::new(WaitingConnections::default());
        let [first, second, third] = std::array::from_fn(|_| RequestHead::new(Arc::clone(&all)));
        let is_ended = |head: &RequestHead| {
            let mut ended = std::pin::pin!(head.ended());
            ended.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready()
        };
        first.complete();
        assert!(all.end_oldest());
        assert_eq!([&first, &second, &third].map(|head| is_ended(head)), [false, true, false]);
        // It was answered, so it waits again, after the third.
        drop(Answer::new(Body::empty(), Arc::clone(&first)));
        drop(second);
        assert!(all.end_oldest() && is_ended(&third) && !is_ended(&first));
        assert!(all.end_oldest() && is_ended(&first) && !all.end_oldest());
    }
}
