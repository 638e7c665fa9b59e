//! A campaign as a table: in the terminal, as Markdown and CSV, as tests, and as a page.

mod comparisons;
mod conditions;
mod format;
mod list;
mod multiples;
mod page;
mod plan;
mod repeats;
mod result;
mod sections;
mod table;
mod test_suite;
mod text;
mod variants;

pub use list::{CampaignEntry, SheetEntry, campaigns, sheets};
pub use multiples::multiples;
pub use page::{CampaignRun, campaign_page};
pub use plan::planned;
pub use result::{
    CampaignCell, CampaignRow, CampaignTable, CellAttempt, PooledRow, PooledThread,
    VariantComparison,
};
pub use table::{PlannedResult, table};
pub use test_suite::test_suite;
pub use text::{csv, markdown, show};
