//! Who follows which run: one reader of a journal for all who watch, and none when nobody does.

use super::event_log::EventLog;
use crate::state::run_blocking;
use latlab_model::harmless::visible;
use latlab_store::{Follow, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch::{Receiver, Sender};

/// How often a journal is looked at.
const EVERY: Duration = Duration::from_millis(500);

/// The runs that somebody follows.
pub struct Hub {
    store: Store,
    watched: Mutex<HashMap<String, Weak<Watch>>>,
}

/// A run that is followed, as long as somebody holds this.
pub struct Watch {
    log: Mutex<EventLog>,
    looks: Sender<u64>,
}

impl Hub {
    /// For the runs of this folder.
    pub fn new(store: Store) -> Hub {
        Hub { store, watched: Mutex::default() }
    }

    /// Follows a run, together with all others who do.
    pub fn watch(&self, id: &str) -> Arc<Watch> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|_, watch| watch.strong_count() > 0);
        if let Some(watch) = watched.get(id).and_then(Weak::upgrade) {
            return watch;
        }
        let watch = Arc::new(Watch { log: Mutex::default(), looks: Sender::new(0) });
        let weak = Arc::downgrade(&watch);
        watched.insert(id.to_string(), weak.clone());
        tokio::spawn(keep_looking(Follow::new(self.store.clone(), id), weak));
        watch
    }
}

impl Watch {
    /// What was seen so far.
    pub fn log(&self) -> MutexGuard<'_, EventLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of every look; the number is zero before the first.
    pub fn looks(&self) -> Receiver<u64> {
        self.looks.subscribe()
    }

    fn look(&self, follow: &mut Follow) {
        let standing = follow.look(|seen| self.log().see(seen));
        let standing = standing.map_err(|error| visible(&error.to_string()));
        self.log().stands(standing);
    }
}

async fn keep_looking(mut follow: Follow, watch: Weak<Watch>) {
    while let Some(watch) = watch.upgrade() {
        let looking = Arc::clone(&watch);
        let looked = run_blocking(move || {
            looking.look(&mut follow);
            follow
        });
        let Some(back) = looked.await else {
            let text = "stopped by a bug in latlab: please report it";
            watch.log().stands(Err(text.to_string()));
            watch.looks.send_modify(|looks| *looks += 1);
            return;
        };
        follow = back;
        watch.looks.send_modify(|looks| *looks += 1);
        if watch.log().is_over() {
            return;
        }
        drop(watch);
        tokio::time::sleep(EVERY).await;
    }
}
