//! State shared by all requests, and blocking work outside of the thread that answers.

use crate::campaigns::CampaignIndex;
use crate::live::Watchers;
use crate::metrics::Metrics;
use crate::reports::Reports;
use crate::run_index::RunIndex;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// State shared by all requests.
pub struct ServerState {
    pub catalogue: RunIndex,
    pub campaigns: CampaignIndex,
    /// Their pages and plots.
    pub reports: Reports,
    /// The Prometheus metrics.
    pub metrics: Metrics,
    /// The followed runs.
    pub hub: Watchers,
    /// A permit for each client that may follow a run.
    pub followers: Arc<Semaphore>,
}

/// Runs blocking work in another thread; `None` if that thread panicked.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
