//! Chooses an output format by a flag or the file's name.

use crate::exit::ExitError;
use clap::ValueEnum;
use std::path::Path;

/// The format from the flag, else from the file's extension, else the default.
pub fn format_of<F: ValueEnum + Default>(
    asked: Option<F>,
    output: Option<&Path>,
) -> anyhow::Result<F> {
    let end = output.and_then(|path| Some((path, path.extension()?.to_str()?)));
    match (asked, end) {
        (Some(format), _) => Ok(format),
        (None, None) => Ok(F::default()),
        (None, Some((path, end))) => F::from_str(end, true).map_err(|_| {
            let known = F::value_variants().iter().filter_map(F::to_possible_value);
            let known: Vec<String> = known.map(|one| format!(".{}", one.get_name())).collect();
            ExitError::usage(format!(
                "{}: '.{end}' is not a format of this command: expected {}, or --format",
                path.display(),
                known.join(" or ")
            ))
            .into()
        }),
    }
}
