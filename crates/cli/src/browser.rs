//! Opens a page in the user's browser.

use crate::output::warn;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Starts a browser without waiting for it. The page exists whether or not this works.
pub fn open(page: &Path) {
    let browser = std::env::var("BROWSER").unwrap_or_default();
    // `BROWSER` may name several, separated by colons; the first is preferred.
    let browser = browser.split(':').find(|name| !name.is_empty()).unwrap_or("xdg-open");
    if let Err(reason) = start_browser(browser, page) {
        warn(format_args!("cannot open the page with {browser} ({reason}): open it by hand"));
    }
}

/// Starts the opener and reports an early failure; most fail at once or not at all.
fn start_browser(browser: &str, page: &Path) -> Result<(), String> {
    let mut child = Command::new(browser)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    for _ in 0..20 {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(status.to_string()),
            _ => thread::sleep(Duration::from_millis(100)),
        }
    }
    Ok(())
}
