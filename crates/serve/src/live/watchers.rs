//! Followed runs: one reader of a journal for all clients, and none without clients.

use super::event_log::EventLog;
use crate::state::run_blocking;
use latlab_model::sanitize::escape_controls;
use latlab_store::{JournalFollower, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch::{Receiver, Sender};

/// Polling interval of a journal.
const EVERY: Duration = Duration::from_millis(500);

/// The followed runs.
pub struct Watchers {
    store: Store,
    watched: Mutex<HashMap<String, Weak<Watcher>>>,
}

/// A run is followed as long as this is held.
pub struct Watcher {
    log: Mutex<EventLog>,
    looks: Sender<u64>,
}

impl Watchers {
    pub fn new(store: Store) -> Watchers {
        Watchers { store, watched: Mutex::default() }
    }

    /// Follows a run, together with all other clients that do.
    pub fn watch(&self, id: &str) -> Arc<Watcher> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|_, watch| watch.strong_count() > 0);
        if let Some(watch) = watched.get(id).and_then(Weak::upgrade) {
            return watch;
        }
        let watch = Arc::new(Watcher { log: Mutex::default(), looks: Sender::new(0) });
        let weak = Arc::downgrade(&watch);
        watched.insert(id.to_string(), weak.clone());
        tokio::spawn(poll_regularly(JournalFollower::new(self.store.clone(), id), weak));
        watch
    }
}

impl Watcher {
    /// The events so far.
    pub fn log(&self) -> MutexGuard<'_, EventLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals every poll; the number is zero before the first.
    pub fn updates(&self) -> Receiver<u64> {
        self.looks.subscribe()
    }

    fn poll(&self, follow: &mut JournalFollower) {
        let standing = follow.poll(|seen| self.log().push_journal_event(seen));
        let standing = standing.map_err(|error| escape_controls(&error.to_string()));
        self.log().set_state(standing);
    }
}

async fn poll_regularly(mut follow: JournalFollower, watch: Weak<Watcher>) {
    while let Some(watch) = watch.upgrade() {
        let looking = Arc::clone(&watch);
        let looked = run_blocking(move || {
            looking.poll(&mut follow);
            follow
        });
        let Some(back) = looked.await else {
            let text = "stopped by a bug in latlab: please report it";
            watch.log().set_state(Err(text.to_string()));
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
