//! Output: results to standard output or a file, everything else to standard error.

use anyhow::{Context, bail};
pub use latlab_model::sanitize::{escape_controls, escape_lines, sanitize_document};
pub use latlab_report::sanitize_run;
use latlab_report::{Glyphs, Style};
use latlab_store::{calling_user, is_own};
use latlab_sys::folder::Folder;
use latlab_sys::terminal;
use serde::Serialize;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::NamedTempFile;

/// Colours and weights that standard output supports.
pub fn style() -> Style {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Style { colour: wanted && terminal::stdout_is_terminal() }
}

/// The characters that the locale supports.
pub fn glyphs() -> Glyphs {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let set = names.into_iter().filter_map(|name| std::env::var(name).ok());
    let locale = set.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    match locale.contains("utf-8") || locale.contains("utf8") {
        true => Glyphs::Unicode,
        false => Glyphs::Ascii,
    }
}

/// Narrower terminals wrap the lines themselves.
const LEAST_WIDTH: usize = 20;

/// Width of standard output; without a terminal, the value of `COLUMNS`.
pub fn width() -> usize {
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    let wide = terminal::columns().map(usize::from).or_else(asked).filter(|wide| *wide > 0);
    wide.unwrap_or(120).max(LEAST_WIDTH)
}

/// Prints text for people. Only latlab's own colours reach the terminal; other escapes in the text
/// are made harmless.
pub fn print_text(text: &str) -> anyhow::Result<()> {
    match style().colour {
        true => print(&escape_between_colours(text)),
        false => print(&escape_lines(text)),
    }
}

/// Prints a file's content: unchanged to a pipe, escaped on a terminal.
pub fn print_source(text: &str) -> anyhow::Result<()> {
    match terminal::stdout_is_terminal() {
        true => print(&escape_lines(text)),
        false => print(text),
    }
}

/// Keeps escape sequences for colours and weights, and escapes all others.
fn escape_between_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut safe = escape_lines(parts.next().unwrap_or_default());
    for part in parts {
        match Style::sequence_of(part) {
            Some(code) => {
                safe += &format!("\u{1b}[{code}{}", escape_lines(&part[code.len()..]));
            }
            None => safe += &escape_lines(&format!("\u{1b}[{part}")),
        }
    }
    safe
}

/// Set if something was to be printed, but standard output was closed from the start.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// Records that something is to be printed.
pub fn note_print() {
    IS_LOST.fetch_or(terminal::stdout_was_closed(), Ordering::Relaxed);
}

/// Whether output was lost because standard output was closed from the start.
pub fn is_lost() -> bool {
    IS_LOST.load(Ordering::Relaxed)
}

/// Prints text for programs unchanged. A closed pipe (`| head`) or terminal is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// Prints a file's content to standard output.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    note_print();
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if !terminal::has_no_reader(&error) => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Prints a message to standard error, which may be closed.
pub fn warn(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "latlab: {}", escape_controls(&text.to_string()));
}

pub fn print_json(document: &impl Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(document)? + "\n"))
}

/// Writes a file atomically. An existing pipe or device is written into, and so is the nameless
/// target of a link such as /dev/stdout. A dangling link is refused: another user may have chosen
/// its target.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let named = fs::canonicalize(path);
    let leads_nowhere =
        named.is_err() && fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    let path = named.unwrap_or_else(|_| path.to_path_buf());
    let there = fs::metadata(&path);
    if leads_nowhere || there.as_ref().is_ok_and(|there| !there.is_file()) {
        let opened = fs::OpenOptions::new().write(true).open(&path);
        if opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            bail!(
                "{} is a link to a file that is not there: remove it, or name that file",
                path.display()
            );
        }
        return opened.and_then(|mut file| file.write_all(bytes)).with_context(cannot);
    }
    let mut draft = draft_of(&path).with_context(cannot)?;
    draft.write_all(bytes).with_context(cannot)?;
    if let Ok(there) = there {
        fs::set_permissions(draft.path(), there.permissions()).with_context(cannot)?;
    }
    draft.persist(&path).map_err(|error| error.error).with_context(cannot)?;
    Ok(())
}

/// A temporary file in the same folder, owned by the calling user.
fn draft_of(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::metadata(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    if let Some((user, group)) = calling_user() {
        // Fails on file systems without owners; the file is still written.
        let _ = lchown(draft.path(), Some(user), Some(group));
    }
    Ok(draft)
}

/// Creates a file atomically: writes a temporary file in the same folder and renames it. An
/// existing pipe or device is written into.
pub fn write_new<T>(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let cannot = || format!("cannot write {}", path.display());
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => bail!("{} is a folder: name a file", path.display()),
        Ok(there) if there.is_file() => bail!("{} exists: name another file", path.display()),
        Ok(_) => {
            let file = fs::OpenOptions::new().write(true).open(path).with_context(cannot)?;
            let mut out = BufWriter::new(file);
            let written = write(&mut out)?;
            out.flush().with_context(cannot)?;
            return Ok(written);
        }
        Err(_) => {}
    }
    let draft = draft_of(path).with_context(cannot)?;
    let mut out = BufWriter::new(draft);
    let written = write(&mut out).with_context(cannot)?;
    let draft = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(cannot)?;
    draft.persist_noclobber(path).map_err(|error| error.error).with_context(cannot)?;
    Ok(written)
}

/// Writes to standard output. `None` if its reader has closed it, which is no error.
pub fn write_stdout<T>(
    write: impl FnOnce(&mut (dyn Write + Send)) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    note_print();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
    let written = write(&mut out).and_then(|written| {
        out.flush()?;
        Ok(written)
    });
    match written {
        Ok(written) => Ok(Some(written)),
        Err(error) => {
            // Discard the buffer: dropping it would write it.
            let _ = out.into_parts();
            let of_output = error.downcast_ref::<io::Error>();
            match of_output.is_some_and(terminal::has_no_reader) {
                true => Ok(None),
                false => Err(error),
            }
        }
    }
}

/// Whether a path stands for standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes a file with a default name into a run's folder. Replaces a link instead of following it,
/// and refuses a folder of another user.
pub fn write_into(folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    let path = folder.join(name);
    let cannot = || format!("cannot write {}", path.display());
    let opened = Folder::open(folder).with_context(cannot)?;
    let (owner, caller) = (opened.owner().with_context(cannot)?, calling_user());
    if !is_own(owner, caller) {
        bail!("{} belongs to user {owner}: name the file to write with -o", folder.display());
    }
    opened.write_whole(name, bytes, caller).with_context(cannot)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_file_that_is_not_there_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let refused = write_whole(&link, b"page").unwrap_err().to_string();
        assert!(refused.contains("a link to a file that is not there"), "{refused}");
        assert!(!target.exists());
        fs::write(&target, "").unwrap();
        write_whole(&link, b"page").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"page");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn only_our_own_colours_steer_the_terminal() {
        let text =
            "\u{1b}[1;31mfail\u{1b}[0m \u{1b}[8mhidden\u{1b}]0;title\u{7}\u{202e}\n\u{1b}[2J";
        let safe = escape_between_colours(text);
        let shown = r"\u{1b}[8mhidden\u{1b}]0;title\u{7}\u{202e}";
        assert_eq!(safe, format!("\u{1b}[1;31mfail\u{1b}[0m {shown}\n{}", r"\u{1b}[2J"));
    }
}
