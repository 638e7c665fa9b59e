//! The systemd unit that goes on with a campaign after each boot.

use latlab_model::shell::quoted;
use latlab_store::Store;
use std::path::absolute;

/// The unit, for the program and the folder as they are now.
pub fn unit(store: &Store) -> anyhow::Result<String> {
    let program = std::env::current_exe()?;
    let folder = absolute(store.root())?;
    let words = [program.as_path(), folder.as_path()].map(|path| {
        // A percent sign begins a name of systemd's own.
        quoted(&path.display().to_string().replace('%', "%%"))
    });
    Ok(format!(
        "# Goes on with the last campaign that is not complete, after each boot:\n\
         #   latlab run --print-unit | sudo tee /etc/systemd/system/latlab-campaign.service\n\
         #   sudo systemctl enable latlab-campaign.service\n\
         # and when the table is there: sudo systemctl disable latlab-campaign.service\n\
         [Unit]\n\
         Description=latlab campaign\n\
         After=multi-user.target\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={} run --resume --keep-going --out {}\n\
         # 1 and 4 are answers; 2 says that no campaign is unfinished.\n\
         SuccessExitStatus=1 2 4\n\
         LimitRTPRIO=99\n\
         LimitMEMLOCK=infinity\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        words[0], words[1]
    ))
}
