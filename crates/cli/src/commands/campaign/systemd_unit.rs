//! The systemd unit that resumes a campaign after each boot.

use crate::commands::run::own_program;
use crate::exit::ExitError;
use latlab_store::{Store, calling_user};
use latlab_sys::process::{effective_group, effective_user};
use std::path::{Path, absolute};

/// The unit for this program and this folder, both at their current paths.
pub fn systemd_unit(store: &Store) -> anyhow::Result<String> {
    // systemd expands no variables in the program's path, only in arguments.
    let program = unit_word(&own_program()?)?;
    let folder = unit_word(&absolute(store.root())?)?.replace('$', "$$");
    // The unit runs as root; SUDO_UID makes it continue the campaigns of the user who printed it.
    let own = || (effective_user(), effective_group());
    let user = match calling_user().unwrap_or_else(own) {
        (0, _) => String::new(),
        (user, group) => format!("Environment=SUDO_UID={user} SUDO_GID={group}\n"),
    };
    Ok(format!(
        "# Continues the last incomplete campaign after each boot:\n#   latlab run --print-unit | \
         sudo tee /etc/systemd/system/latlab-campaign.service\n#   sudo systemctl enable \
         latlab-campaign.service\n# and when the campaign is complete: sudo systemctl disable \
         latlab-campaign.service\n[Unit]\nDescription=latlab \
         campaign\nAfter=multi-user.target\n\n[Service]\nType=exec\nExecStart={program} run --resume \
         --keep-going --out {folder}\n{user}# 1 and 4 are answers; 2 says that no campaign is \
         unfinished.\nSuccessExitStatus=1 2 \
         4\nLimitRTPRIO=99\nLimitMEMLOCK=infinity\n\n[Install]\nWantedBy=multi-user.target\n",
    ))
}

/// Quotes a path as a word of `ExecStart=`; the caller escapes `$`.
fn unit_word(path: &Path) -> Result<String, ExitError> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| {
        ExitError::usage(format!(
            "a systemd unit cannot name {}: it has control characters or is not UTF-8",
            path.display()
        ))
    })?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@+".contains(c);
    let mut word = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => word.extend(['\\', c]),
            // `%` starts a systemd specifier.
            '%' => word += "%%",
            c => word.push(c),
        }
    }
    Ok(if text.chars().all(is_plain) { word } else { format!("\"{word}\"") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_unit() {
        let word = |path: &str| unit_word(Path::new(path)).map_err(|error| error.text);
        assert_eq!(word("/srv/runs").unwrap(), "/srv/runs");
        assert_eq!(word("/a b/100%").unwrap(), "\"/a b/100%%\"");
        assert_eq!(word(r#"/a"\;'"#).unwrap(), r#""/a\"\\;'""#);
        assert!(word("/a\nExecStartPre=id").unwrap_err().contains("control characters"));
    }
}
