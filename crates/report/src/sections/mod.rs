//! Sections of a report on a run, each for the terminal and for the page.

pub mod attach;
pub mod causes;
pub mod changes;
pub mod conditions;
pub mod explanation;
pub mod kernels;
pub mod legs;
pub mod load;
pub mod noise;
pub mod outliers;
pub mod pairs;
pub mod published;
pub mod replay;
pub mod respond;
pub mod statistics;
