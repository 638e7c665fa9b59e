//! What all requests share.

use crate::catalogue::Catalogue;
use crate::live::Hub;
use crate::reports::Reports;

/// What all requests share.
pub struct Shared {
    /// The runs.
    pub catalogue: Catalogue,
    /// Their pages and pictures.
    pub reports: Reports,
    /// The runs that are followed.
    pub hub: Hub,
}
