//! Work beside the one thread that answers.

/// What waits for a disk or draws does so in another thread.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
