//! What all requests share, and work beside the one thread that answers.

use crate::campaigns::CampaignIndex;
use crate::live::Watchers;
use crate::metrics::Metrics;
use crate::reports::Reports;
use crate::run_index::RunIndex;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What all requests share.
pub struct ServerState {
    /// The runs.
    pub catalogue: RunIndex,
    /// The campaigns.
    pub campaigns: CampaignIndex,
    /// Their pages and pictures.
    pub reports: Reports,
    /// What is told to Prometheus.
    pub metrics: Metrics,
    /// The runs that are followed.
    pub hub: Watchers,
    /// A place for each client that may follow one.
    pub followers: Arc<Semaphore>,
}

/// Runs in another thread what waits for a disk or draws; none where that thread has died.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
