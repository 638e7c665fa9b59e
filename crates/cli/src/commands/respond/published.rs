//! `latlab respond --simulate published`: the five responders of a published experiment in turn,
//! idle and busy, as closely as a simulation can repeat them.

use super::args::{LinuxArgs, RespondArgs, Simulated};
use crate::flags::FileRuns;
use crate::flags::guest::GuestArgs;
use latlab_conduct::respond::simulate::SimulatedResponder;
use latlab_model::respond::LinuxResponderName;

/// Default guest: the experiment ran on a stock kernel.
const TARGET: &str = "lab:x86-64/stock";
/// The published intervals between stimuli, randomised to avoid a fixed phase to the tick.
const UNO_STIMULI: &str = "random:80us..120us";
const LINUX_STIMULI: &str = "random:9ms..11ms";
/// The experiment's busy load.
const BUSY: &str = "command,run=while :; do :; done";

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

    /// The command that repeats only this series.
    fn command(&self, asked: &RespondArgs) -> RespondArgs {
        let linux = &asked.linux;
        let own = match self.responder {
            Simulated::Linux(name) => LinuxArgs {
                guest: GuestArgs {
                    target: linux.guest.target.clone().or(Some(TARGET.to_string())),
                    ..linux.guest.clone()
                },
                // The experiment set no priority.
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

/// The commands that together make the experiment.
pub fn commands(asked: &RespondArgs) -> Vec<RespondArgs> {
    SERIES.iter().map(|series| series.command(asked)).collect()
}
