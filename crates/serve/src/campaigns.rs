//! The campaigns of the folder: their entries in the list, and the paths of campaigns and their
//! runs.

use crate::run_index::{Lookup, RunIndex, Stamp, link_outside, stamp_of};
use latlab_model::sanitize::escape_controls;
use latlab_store::CampaignSummary;
use latlab_store::{CampaignFolder, Store};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A campaign in the list.
#[derive(Clone, Debug)]
pub struct CampaignLine {
    pub id: String,
    /// Name of its sheet, and the question that it answers; `None` if unreadable.
    pub sheet: Option<(String, Option<String>)>,
    /// Counts of its runs by state and verdict; or why it cannot be read.
    pub summary: Result<CampaignSummary, String>,
}

impl CampaignLine {
    /// Whether its id, name or question contain all words.
    pub fn has(&self, words: &str) -> bool {
        let (name, about) = self.sheet.clone().unwrap_or_default();
        let text = [&self.id, &name, &about.unwrap_or_default()].map(|text| text.to_lowercase());
        let holds = |word: &str| text.iter().any(|text| text.contains(word));
        words.to_lowercase().split_whitespace().all(holds)
    }

    /// Whether one of its runs has this verdict.
    pub fn has_verdict(&self, word: &str) -> bool {
        let has = |summary: &CampaignSummary| {
            summary.verdicts.iter().any(|(verdict, _)| verdict.as_str() == word)
        };
        self.summary.as_ref().is_ok_and(has)
    }
}

/// Changes whenever the campaign does: stamps of its plan, runs and failures.
pub type CampaignStamp = [Option<Stamp>; 3];

pub fn campaign_stamp(folder: &Path) -> CampaignStamp {
    ["campaign.json", "runs", "failures.jsonl"].map(|name| stamp_of(&folder.join(name)))
}

/// All campaigns of one folder.
pub struct CampaignIndex {
    store: Store,
    known: Mutex<HashMap<String, (CampaignStamp, CampaignLine)>>,
}

/// What an id resolves to.
pub enum CampaignLookup {
    Found(Box<CampaignFolder>),
    /// Exists but cannot be shown, for this reason.
    Damaged(String),
    Nothing,
}

impl CampaignIndex {
    pub fn new(store: Store) -> CampaignIndex {
        CampaignIndex { store, known: Mutex::default() }
    }

    /// Every campaign, newest first; unchanged ones are not read again.
    pub fn lines(&self) -> latlab_store::Result<Vec<CampaignLine>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let campaigns = self.store.campaigns()?.into_iter().map(|(id, opened)| {
            let stamp = campaign_stamp(&self.store.root().join(&id));
            let kept = known.remove(&id).filter(|(then, _)| *then == stamp);
            let line = kept.map(|(_, line)| line).unwrap_or_else(|| self.line(&id, opened));
            (id, (stamp, line))
        });
        let campaigns: Vec<(String, (CampaignStamp, CampaignLine))> = campaigns.collect();
        let lines = campaigns.iter().map(|(_, (_, line))| line.clone()).collect();
        *known = campaigns.into_iter().collect();
        Ok(lines)
    }

    fn line(&self, id: &str, opened: latlab_store::Result<CampaignFolder>) -> CampaignLine {
        let outside = link_outside(&self.store, &self.store.root().join(id));
        let (sheet, summary) = match (outside, opened) {
            (Some(reason), _) => (None, Err(reason)),
            (None, Err(error)) => (None, Err(escape_controls(&error.to_string()))),
            (None, Ok(folder)) => {
                let campaign = &folder.campaign;
                let about = campaign.about.as_deref().map(escape_controls);
                let summary = folder.progress().map(|tried| tried.summary(campaign));
                let summary = summary.map_err(|error| escape_controls(&error.to_string()));
                (Some((escape_controls(&campaign.name), about)), summary)
            }
        };
        CampaignLine { id: id.to_string(), sheet, summary }
    }

    /// The campaign with exactly this id.
    pub fn find(&self, id: &str) -> CampaignLookup {
        let Ok(campaigns) = self.store.campaigns() else { return CampaignLookup::Nothing };
        let Some((_, opened)) = campaigns.into_iter().find(|(known, _)| known == id) else {
            return CampaignLookup::Nothing;
        };
        if let Some(reason) = link_outside(&self.store, &self.store.root().join(id)) {
            return CampaignLookup::Damaged(reason);
        }
        match opened {
            Ok(folder) => CampaignLookup::Found(Box::new(folder)),
            Err(error) => CampaignLookup::Damaged(escape_controls(&error.to_string())),
        }
    }

    /// The finished run with exactly this id in a campaign.
    pub fn run(&self, id: &str, run: &str) -> Lookup {
        match self.find(id) {
            CampaignLookup::Found(folder) => RunIndex::new(folder.runs().clone()).folder(run),
            CampaignLookup::Damaged(reason) => Lookup::Damaged(reason),
            CampaignLookup::Nothing => Lookup::Nothing,
        }
    }
}
