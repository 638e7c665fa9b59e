//! A campaign as a table: in the terminal, as Markdown, CSV and JUnit XML, and as a page.

mod junit;
mod list;
mod make;
mod multiples;
mod page;
mod plan;
mod text;
mod words;

pub use junit::junit;
pub use latlab_model::results::Table;
pub use list::{CampaignEntry, SheetEntry, campaigns, sheets};
pub use make::{Made, table};
pub use multiples::multiples;
pub use page::{CampaignRun, campaign_page};
pub use plan::planned;
pub use text::{csv, markdown, show};
