//! `latlab respond --simulate published`: the five responders of a published experiment, one after the
//! other, idle and busy, as near to what was published as a simulation comes.

use super::args::{LinuxArgs, RespondArgs, Simulated};
use crate::flags::FileRuns;
use crate::flags::guest::GuestArgs;
use latlab_conduct::respond::simulate::SimulatedResponder;
use latlab_model::respond::LinuxResponderName;

/// The guest, unless another one is asked for: the experiment had a stock kernel.
const TARGET: &str = "lab:x86-64/stock";
/// Stimuli as far from each other as they were, but at no fixed phase to a tick.
const UNO_STIMULI: &str = "random:80us..120us";
const LINUX_STIMULI: &str = "random:9ms..11ms";
/// What kept the board busy.
const BUSY: &str = "command,run=while :; do :; done";

/// A series of the experiment.
struct Series {
    name: &'static str,
    responder: Simulated,
    is_busy: bool,
}

const SERIES: [Series; 8] = [
    Series::new("uno_polling", Simulated::Uno(SimulatedResponder::Polling), false),
    Series::new("uno_irq", Simulated::Uno(SimulatedResponder::Irq), false),
    Series::new("kmod", MODULE, false),
    Series::new("c_sysfs", PROGRAM, false),
    Series::new("python", PYTHON, false),
    Series::new("kmod_busy", MODULE, true),
    Series::new("c_sysfs_busy", PROGRAM, true),
    Series::new("python_busy", PYTHON, true),
];

const MODULE: Simulated = Simulated::Linux(LinuxResponderName::KmodPlain);
const PROGRAM: Simulated = Simulated::Linux(LinuxResponderName::Sysfs);
const PYTHON: Simulated = Simulated::Linux(LinuxResponderName::Python);

impl Series {
    const fn new(name: &'static str, responder: Simulated, is_busy: bool) -> Series {
        Series { name, responder, is_busy }
    }

    /// The command that makes this series alone.
    fn command(&self, asked: &RespondArgs) -> RespondArgs {
        let linux = &asked.linux;
        let own = match self.responder {
            Simulated::Linux(name) => LinuxArgs {
                guest: GuestArgs {
                    target: linux.guest.target.clone().or(Some(TARGET.to_string())),
                    ..linux.guest.clone()
                },
                // Nobody gave the programs a priority.
                policy: name.is_program().then(|| "other".to_string()),
                load: if self.is_busy { vec![BUSY.to_string()] } else { Vec::new() },
                ..linux.clone()
            },
            _ => LinuxArgs::default(),
        };
        let stimuli = match self.responder {
            Simulated::Linux(_) => LINUX_STIMULI,
            _ => UNO_STIMULI,
        };
        RespondArgs {
            simulate: Some(self.responder),
            stimulus: Some(stimuli.to_string()),
            linux: own,
            runs: FileRuns { name: Some(self.name.to_string()), ..asked.runs.clone() },
            ..asked.clone()
        }
    }
}

/// The commands whose runs are the experiment.
pub fn commands(asked: &RespondArgs) -> Vec<RespondArgs> {
    SERIES.iter().map(|series| series.command(asked)).collect()
}
