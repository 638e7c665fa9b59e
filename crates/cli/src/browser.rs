//! The browser that shows a page.

use crate::output::warn;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Starts a browser and leaves it to itself; the page is there without one.
pub fn open(page: &Path) {
    let browser = std::env::var("BROWSER").unwrap_or_default();
    // Several may be named, the best first.
    let browser = browser.split(':').find(|name| !name.is_empty()).unwrap_or("xdg-open");
    if let Err(reason) = start_browser(browser, page) {
        warn(format_args!("cannot open the page with {browser} ({reason}): open it by hand"));
    }
}

/// Starts a program that opens the page; what fails to open it mostly says so at once.
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
