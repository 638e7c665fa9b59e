//! Pages and plots of finished runs, made on request and cached.

use crate::campaigns::{CampaignStamp, campaign_stamp};
use crate::response::encoded;
use crate::run_index::{Stamp, stamp};
use axum::body::Bytes;
use latlab_report::stored::{LoadedCampaign, LoadedRun};
use latlab_report::time::{self, LatencyScale, TimeOptions};
use latlab_report::{Kind, Options, standalone};
use latlab_store::Store;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Size limit of the cache.
const KEPT_BYTES: usize = 8 << 20;
/// Longer documents are not sent.
const LARGEST_DOCUMENT: usize = 32 << 20;

/// What is made from a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Document {
    Page,
    /// A plot of the latencies.
    Latencies(Kind),
    /// A plot over time.
    OverTime(time::Kind),
    /// The page of a campaign.
    Campaign,
}

impl Document {
    /// The plot with this name, as in `latlab plot --kind`.
    pub fn picture(name: &str) -> Option<Document> {
        let latencies = Kind::ALL.iter().map(|kind| (kind.as_str(), Document::Latencies(*kind)));
        let over_time =
            time::Kind::ALL.iter().map(|kind| (kind.as_str(), Document::OverTime(*kind)));
        latencies.chain(over_time).find(|(word, _)| *word == name).map(|(_, what)| what)
    }
}

/// Source of a page or plot.
type Key = (PathBuf, Version, Document);

/// Version of the source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Run(Option<Stamp>),
    Campaign(CampaignStamp),
}

/// The latest pages and plots, the newest at the end.
#[derive(Default)]
pub struct Reports(Mutex<Vec<(Key, Bytes)>>);

impl Reports {
    /// A page or plot of the run in this folder; only one is made at a time, to limit memory.
    pub fn get(&self, folder: &Path, what: Document) -> latlab_report::stored::Result<Bytes> {
        let version = match what {
            Document::Campaign => Version::Campaign(campaign_stamp(folder)),
            _ => Version::Run(stamp(folder)),
        };
        let key = (folder.to_path_buf(), version, what);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(known, _)| *known == key) {
            let found = kept.remove(at);
            kept.push(found);
        } else {
            let made = Bytes::from(render(folder, what)?);
            kept.push((key, made));
        }
        let bytes = kept.last().map(|(_, bytes)| bytes.clone()).unwrap_or_default();
        let mut total = 0;
        let newest = kept.iter().rev().take_while(|(_, bytes)| {
            total += bytes.len();
            total <= KEPT_BYTES
        });
        let older = kept.len() - newest.count();
        kept.drain(..older);
        Ok(bytes)
    }

    /// The runs of these folders compared, the first one as the baseline; made one at a time, like
    /// all pages.
    pub fn comparison(&self, folders: &[PathBuf]) -> latlab_report::stored::Result<Bytes> {
        let _alone = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs: Vec<LoadedRun> =
            folders.iter().map(|folder| LoadedRun::read(folder)).collect::<Result<_, _>>()?;
        Ok(Bytes::from(latlab_report::stored::page(&runs)))
    }
}

fn render(folder: &Path, what: Document) -> latlab_report::stored::Result<String> {
    match what {
        Document::Page => Ok(latlab_report::stored::page(&[LoadedRun::read(folder)?])),
        Document::Campaign => campaign_page(folder),
        Document::Latencies(kind) => {
            let options = Options { id: kind.as_str().to_string(), ..Options::default() };
            Ok(standalone(&latlab_report::stored::latencies(
                &[folder.to_path_buf()],
                kind,
                &options,
            )?) + "\n")
        }
        Document::OverTime(kind) => {
            let (width, id) = (960, kind.as_str().to_string());
            let options = TimeOptions { width, scale: LatencyScale::Auto, id };
            Ok(standalone(&latlab_report::stored::over_time(folder, kind, None, &options)?.svg)
                + "\n")
        }
    }
}

/// The page of a campaign, with links to the pages of its runs on this server.
fn campaign_page(folder: &Path) -> latlab_report::stored::Result<String> {
    let store = Store::new(folder.parent().unwrap_or(folder));
    let campaign = store.open_campaign(folder)?;
    let name = |path: &Path| encoded(&path.file_name().unwrap_or_default().to_string_lossy());
    let page_of = |run: &Path| Some(format!("/campaigns/{}/runs/{}", name(folder), name(run)));
    Ok(LoadedCampaign::read(&campaign)?.page(page_of))
}

/// The document of a run as stored; `None` if too long to be sent.
pub fn document(folder: &Path) -> latlab_store::Result<Option<Vec<u8>>> {
    let (_, text) = latlab_store::read_run_with_text(folder)?;
    Ok((text.len() <= LARGEST_DOCUMENT).then(|| text.into_bytes()))
}
