//! Log events that clients can cause at will, limited so that the log stays short.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Repetitions within this time are only counted.
const QUIET: Duration = Duration::from_secs(60);

/// A kind of event: the first is logged, and a minute later the number of repetitions.
#[derive(Clone)]
pub struct RepeatedEvent {
    log: fn(&str),
    more: fn(u64) -> String,
    /// Events since the logged one; `None` while not counting.
    following: Arc<Mutex<Option<u64>>>,
}

impl RepeatedEvent {
    /// Writes to `log`; `more` formats the number of repetitions.
    pub fn new(log: fn(&str), more: fn(u64) -> String) -> RepeatedEvent {
        RepeatedEvent { log, more, following: Arc::default() }
    }

    /// Logs or counts an event.
    pub fn record(&self, text: impl FnOnce() -> String) {
        self.record_for(QUIET, text);
    }

    fn record_for(&self, quiet: Duration, text: impl FnOnce() -> String) {
        let mut following = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = following.as_mut() {
            *count += 1;
            return;
        }
        *following = Some(0);
        (self.log)(&text());
        let event = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(quiet).await;
            let following = event.following.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(count) = following.filter(|count| *count > 0) {
                (event.log)(&(event.more)(count));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::Builder;

    static LOGGED: Mutex<Vec<String>> = Mutex::new(Vec::new());

    #[test]
    fn the_first_is_logged_and_the_others_are_counted() {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let log = |text: &str| LOGGED.lock().unwrap().push(text.to_string());
        let event = RepeatedEvent::new(log, |count| format!("{count} more"));
        let quiet = Duration::from_millis(50);
        runtime.block_on(async {
            for number in 0..1000 {
                event.record_for(quiet, || format!("number {number}"));
            }
            tokio::time::sleep(4 * quiet).await;
            event.record_for(quiet, || "again".to_string());
            tokio::time::sleep(4 * quiet).await;
        });
        assert_eq!(*LOGGED.lock().unwrap(), ["number 0", "999 more", "again"]);
    }
}
