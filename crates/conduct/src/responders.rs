//! Where the sources of the responders are, which are built where they are used.

use std::path::PathBuf;

/// Names the folder of the responders' sources, if not in a usual place.
const FOLDER: &str = "LATLAB_RESPONDERS";

#[derive(Debug, thiserror::Error)]
#[error(
    "cannot find the sources of the responders: run this in latlab's source folder, or set {FOLDER} to its folder \
     'responders'"
)]
pub struct NoSources;

/// The folder of the responders: as configured, next to the program, or in the current directory,
/// last because what is found there is executed.
pub fn sources() -> Result<PathBuf, NoSources> {
    let named = std::env::var_os(FOLDER).map(PathBuf::from);
    let program = std::env::current_exe().ok();
    let above = program.iter().flat_map(|program| program.ancestors());
    let near_program = above
        .flat_map(|folder| [folder.join("responders"), folder.join("share/latlab/responders")]);
    let all = named.into_iter().chain(near_program).chain([PathBuf::from("responders")]);
    let mut all = all.into_iter();
    all.find(|folder| folder.join("arduino/Makefile").is_file()).ok_or(NoSources)
}
