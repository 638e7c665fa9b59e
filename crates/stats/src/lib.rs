//! Pure arithmetic of a run: quantiles, bounds, verdict, sampling phase.

mod bursts;
mod compare;
mod dependence;
mod joint;
mod limit;
pub mod phase;
pub mod quantile;
mod random;
mod rank;
mod run_length;
mod series;
pub mod span;
mod special;
pub mod summary;
mod superiority;
#[cfg(test)]
mod testing;
pub mod verdict;

pub use bursts::{LateCycle, bursts};
pub use compare::{MeasuredRun, Tolerance, compare_runs};
pub use limit::{BurstCount, rejudge};
pub use phase::stroboscope;
pub use quantile::{
    latencies_needed, quantile, quantile_of_equal_weight, quantile_of_rows, quantiles,
};
pub use rank::Shift;
pub use run_length::run_length;
pub use series::{ChangePoint, SeriesChanges, SeriesLimit, change_points};
pub use span::Span;
pub use summary::summary;
pub use superiority::{Precedence, Superiority, precedence, superiority};
pub use verdict::{VerdictInput, at_most_share, judge};
