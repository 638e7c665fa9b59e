//! What threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is shared; a thread that died with it has left it whole.
pub fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
