//! The systemd unit that goes on with a campaign after each boot.

use crate::commands::run::own_program;
use latlab_model::shell::quoted;
use latlab_store::{Store, calling_user};
use latlab_sys::process::{effective_group, effective_user};
use std::path::absolute;

/// The unit, for the program and the folder as they are now.
pub fn systemd_unit(store: &Store) -> anyhow::Result<String> {
    let program = own_program()?;
    let folder = absolute(store.root())?;
    let words = [program.as_path(), folder.as_path()].map(|path| {
        // A percent sign begins a name of systemd's own.
        quoted(&path.display().to_string().replace('%', "%%"))
    });
    // As root, the unit continues the campaigns of whoever has printed it.
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
         campaign\nAfter=multi-user.target\n\n[Service]\nType=exec\nExecStart={} run --resume \
         --keep-going --out {}\n{user}# 1 and 4 are answers; 2 says that no campaign is \
         unfinished.\nSuccessExitStatus=1 2 \
         4\nLimitRTPRIO=99\nLimitMEMLOCK=infinity\n\n[Install]\nWantedBy=multi-user.target\n",
        words[0], words[1]
    ))
}
