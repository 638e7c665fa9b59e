//! Pure arithmetic on runs: quantiles, bounds, verdict, sampling phase.

mod any_time;
pub mod builds;
mod bursts;
mod compare;
pub mod comparison;
mod dependence;
mod fourier;
mod growth;
mod joint;
mod limit;
mod newest;
mod omission;
mod optimise;
#[cfg(test)]
mod oracle;
mod periodic;
pub mod phase;
pub mod quantile;
mod quantile_interval;
mod random;
mod rank;
mod repeats;
mod rounds;
mod run_length;
mod scales;
mod screening;
mod series;
pub mod span;
mod special;
pub mod summary;
mod superiority;
mod tail;
#[cfg(test)]
mod testing;
mod trend;
pub mod verdict;

pub use bursts::{
    Burst, Clustering, ENOUGH_BURSTS, ENOUGH_FOR_CLUMPS, LateCycle, LowerLevel, TOGETHER, bursts,
    clump, clustering, lower_level,
};
pub use compare::{MeasuredRun, Tolerance, compare_beside, compare_runs, figure};
pub use dependence::{MissesInTime, begins_at_most, share_at_most};
pub use growth::{TimedEvent, growth_chance, rising_order};
pub use limit::{BurstCount, rejudge};
pub use newest::{FALSE_ALARMS, MOST_NEWEST, NewestStep, Scatter};
pub use omission::{Stall, with_swallowed};
pub use periodic::{Onset, PeriodicEvidence, periodic};
pub use phase::period_aliases_tick;
pub use quantile::{
    latencies_needed, quantile, quantile_of_equal_weight, quantile_of_rows, quantiles,
    quantiles_of_rows,
};
pub use quantile_interval::{QUANTILES, quantile_interval};
pub use rank::{Shift, upper_median};
pub use repeats::{RepeatsVerdict, judge_repeats};
pub use rounds::Rounds;
pub use run_length::{AllowedBursts, RunLength, run_length};
pub use scales::{Durations, FEWEST_SLICES, SliceDependence, dependences, slice_dependence};
pub use screening::{Assignment, Effect, Joint, Screening, coins};
pub use series::{ChangePoint, SeriesChanges, SeriesLimit, change_points};
pub use span::Span;
pub use special::{normal, normal_quantile};
pub use summary::summary;
pub use superiority::{Precedence, Superiority, precedence, superiority};
pub use tail::{TailEvidence, tail_model};
pub use trend::{BuildRun, trend, trend_of_builds};
pub use verdict::{VerdictInput, at_most_share, judge};
