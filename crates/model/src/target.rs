//! Where a run is measured: this machine, a machine of the laboratory, or a board.

use crate::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The text of [`Target::Local`].
pub const LOCAL: &str = "local";
/// What the text of a lab target begins with.
const LAB: &str = "lab:";
/// What the text of a board begins with.
const SSH: &str = "ssh://";
/// What the text of a place of labgrid begins with.
const LABGRID: &str = "labgrid:";

/// The conductor gives the agent of a board a sign of life this often: another [`Message::Hello`].
///
/// [`Message::Hello`]: crate::frame::Message::Hello
pub const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// A conductor that was silent for so long is taken for lost, since a dead link may have no end.
pub const SILENCE: Duration = Duration::from_secs(20);

/// What is measured; its text is `local`, `lab:MACHINE/KERNEL[,OPTION]...`, `ssh://[USER@]HOST[:PORT]`,
/// `labgrid:PLACE` or `labgrid:TAG=VALUE[,TAG=VALUE]...`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Target {
    /// The machine that the program runs on.
    #[default]
    Local,
    /// A virtual machine of the laboratory.
    Lab(LabTarget),
    /// Another machine, reached by ssh.
    Board(BoardTarget),
    /// A place of labgrid, which is held for each run and whose board is reached by ssh.
    Labgrid(LabgridTarget),
}

/// The place of labgrid that is asked for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LabgridTarget {
    /// The one of this name.
    Place(String),
    /// Any one with these tags.
    Tags(BTreeMap<String, String>),
}

/// The place of labgrid that was held for a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldPlace {
    /// Its name.
    pub name: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// How its board is reached: `ssh://[USER@]HOST[:PORT]`.
    pub board: String,
}

/// A machine as `ssh` is asked for it; what the name means is known to its configuration alone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BoardTarget {
    /// The user there; none means what ssh takes.
    pub user: Option<String>,
    /// The host, without the brackets of an address.
    pub host: String,
    /// The port; none means what ssh takes.
    pub port: Option<u16>,
}

/// What a board is, and what latlab does there.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardState {
    /// Its machine, by `uname -m`.
    pub machine: String,
    /// The release of its kernel.
    pub kernel: String,
    /// Its CPUs.
    pub cpus: u32,
    /// With which rights an agent runs there, in words.
    pub right: String,
    /// How far its clock is ahead of ours.
    pub clock_off_ns: Nanos,
    /// Whether an agent lies there, of whichever version.
    pub has_agent: bool,
    /// Ids of the runs that are measured there now.
    pub runs: Vec<String>,
    /// The runs that go on, or went on, without the link to them.
    pub detached: Vec<DetachedRun>,
}

/// A run that a board measures, or has measured, without the link, and that was not collected yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DetachedRun {
    /// Its id.
    pub id: String,
    /// How far it is.
    pub state: DetachedState,
    /// Length of its stream so far.
    pub bytes: u64,
    /// The folder on the board in which that of the run lies.
    pub folder: String,
}

/// How far a detached run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DetachedState {
    /// Its agent measures.
    Measures,
    /// Its agent has ended.
    Ended,
    /// Its agent is gone without an end: it was killed, or the board went down.
    Cut,
}

impl FromStr for DetachedState {
    type Err = ();

    fn from_str(text: &str) -> Result<DetachedState, ()> {
        match text {
            "measures" => Ok(DetachedState::Measures),
            "ended" => Ok(DetachedState::Ended),
            "cut" => Ok(DetachedState::Cut),
            _ => Err(()),
        }
    }
}

/// A virtual machine of the laboratory as it was asked for; which machines and kernels there are
/// is known to the laboratory alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabTarget {
    /// Name of the machine: `x86-64`.
    pub machine: String,
    /// Its kernel.
    pub kernel: LabKernel,
    /// Memory in MiB; none means that of the machine.
    pub memory: Option<u32>,
    /// Number of CPUs; none means that of the machine.
    pub cpus: Option<u32>,
    /// Whether its time is that of the host, and not virtual.
    pub realtime: bool,
    /// Whether it runs on the newer QEMU of Debian's backports, whatever the host has.
    pub new_qemu: bool,
}

/// The kernel of a lab target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LabKernel {
    /// A kernel that the laboratory fetches, by its name: `rt-6.1`.
    Named(String),
    /// A kernel of one's own.
    Files(KernelFiles),
}

/// The files of a kernel.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct KernelFiles {
    /// Its image.
    pub image: PathBuf,
    /// The folder below which its modules are.
    pub modules: Option<PathBuf>,
    /// Device tree, for machines without one in QEMU.
    pub dtb: Option<PathBuf>,
}

/// The options of a lab target: those behind its name, or the flags of a command.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LabOptions {
    /// Image of a kernel of one's own.
    pub image: Option<PathBuf>,
    /// Folder of its modules.
    pub modules: Option<PathBuf>,
    /// Its device tree.
    pub dtb: Option<PathBuf>,
    /// Memory in MiB.
    pub memory: Option<u32>,
    /// Number of CPUs.
    pub cpus: Option<u32>,
    /// The time of the host.
    pub realtime: bool,
    /// The newer QEMU.
    pub new_qemu: bool,
}

/// What a target has in common with the machine that the program runs on.
impl Target {
    /// Whether the measured CPUs are CPUs of this machine, which helpers must leave.
    pub fn shares_cpus(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// Whether its times are times of this machine's clocks.
    pub fn shares_clock(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// Whether it runs the kernel that this machine runs.
    pub fn shares_kernel(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// Whether the programs of loads are those that are installed on this machine.
    pub fn shares_packages(&self) -> bool {
        matches!(self, Target::Local)
    }

    /// Whether each run boots a machine of its own, so that several can run side by side.
    pub fn boots_for_each_run(&self) -> bool {
        matches!(self, Target::Lab(_))
    }

    /// Whether a link lies before it that can break while its agent goes on.
    pub fn is_behind_a_link(&self) -> bool {
        matches!(self, Target::Board(_) | Target::Labgrid(_))
    }

    /// Whether its time advances by executed instructions, so that one seed gives one result.
    pub fn has_virtual_time(&self) -> bool {
        matches!(self, Target::Lab(target) if !target.realtime)
    }

    /// Whether the plan's seed also seeds the machine itself, whatever is measured.
    pub fn is_seeded(&self) -> bool {
        matches!(self, Target::Lab(_))
    }

    /// The target of a text, with options that were given beside it; these win.
    ///
    /// `lab:` may be left out, as in `x86-64/rt`. An error is one line.
    pub fn with_options(text: &str, options: LabOptions) -> Result<Target, String> {
        match text.split_once(':') {
            _ if text == LOCAL && options == LabOptions::default() => Ok(Target::Local),
            _ if options != LabOptions::default()
                && (text == LOCAL || text.starts_with(SSH) || text.starts_with(LABGRID)) =>
            {
                Err("options of a lab target require lab:MACHINE".to_string())
            }
            _ if text.starts_with(SSH) => BoardTarget::read(text).map(Target::Board),
            _ if text.starts_with(LABGRID) => LabgridTarget::read(text).map(Target::Labgrid),
            Some((kind, _)) if !kind.contains(['/', ',', '=']) && kind != "lab" => Err(format!(
                "unknown kind of target '{kind}:': expected local, lab:MACHINE/KERNEL, ssh://HOST or \
                 labgrid:PLACE"
            )),
            _ => {
                let wrong = |reason| format!("'{text}': {reason}");
                LabTarget::with_options(text, options).map(Target::Lab).map_err(wrong)
            }
        }
    }
}

impl LabTarget {
    fn with_options(text: &str, options: LabOptions) -> Result<LabTarget, String> {
        let mut words = text.strip_prefix(LAB).unwrap_or(text).split(',');
        let name = words.next().unwrap_or_default();
        let (machine, kernel) = match name.split_once('/') {
            Some((machine, kernel)) => (machine, Some(kernel)),
            None => (name, None),
        };
        let LabOptions { image, modules, dtb, memory, cpus, realtime, new_qemu } =
            LabOptions::read(words)?.replaced_by(options);
        for path in [&image, &modules, &dtb].into_iter().flatten() {
            if path.to_str().is_none_or(|path| path.is_empty() || path.contains(',')) {
                let path = path.display();
                return Err(format!("'{path}': expected a path in UTF-8 without a comma"));
            }
        }
        let kernel = match (kernel, image) {
            (None, Some(image)) => LabKernel::Files(KernelFiles { image, modules, dtb }),
            (Some(_), None) if modules.is_some() || dtb.is_some() => {
                return Err("--modules and --dtb need --kernel".to_string());
            }
            (Some(name), None) => LabKernel::Named(name.to_string()),
            (Some(name), Some(_)) => {
                return Err(format!("two kernels: omit '/{name}' or --kernel"));
            }
            (None, None) => {
                return Err("no kernel: expected lab:MACHINE/KERNEL, such as lab:x86-64/rt, or \
                            your own kernel with --kernel IMAGE"
                    .to_string());
            }
        };
        Ok(LabTarget { machine: machine.to_string(), kernel, memory, cpus, realtime, new_qemu })
    }
}

impl BoardTarget {
    /// Reads a text that begins as one; neither part can be taken for an option of ssh.
    fn read(text: &str) -> Result<BoardTarget, String> {
        let wrong = || format!("'{text}': expected ssh://[USER@]HOST[:PORT]");
        let place = text.strip_prefix(SSH).unwrap_or(text).trim_end_matches('/');
        let (user, place) = match place.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, place),
        };
        let (host, port) = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, "")) => (address, None),
            Some((address, port)) => (address, Some(port.strip_prefix(':').ok_or_else(wrong)?)),
            None => match place.rsplit_once(':') {
                Some((host, port)) if !host.contains(':') => (host, Some(port)),
                _ => (place, None),
            },
        };
        let is_name = |name: &str, marks: &str| {
            let is_known = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
            !name.is_empty() && !name.starts_with('-') && name.chars().all(is_known)
        };
        if !is_name(host, "-._:%") || user.is_some_and(|user| !is_name(user, "-._+")) {
            return Err(wrong());
        }
        let port = match port.map(str::parse) {
            Some(Ok(0) | Err(_)) => return Err(wrong()),
            Some(Ok(port)) => Some(port),
            None => None,
        };
        Ok(BoardTarget { user: user.map(str::to_string), host: host.to_string(), port })
    }
}

impl LabgridTarget {
    /// Reads a text that begins as one; no part of it can be taken for an option of a program.
    fn read(text: &str) -> Result<LabgridTarget, String> {
        let wrong =
            || format!("'{text}': expected labgrid:PLACE or labgrid:TAG=VALUE[,TAG=VALUE]...");
        let is_word = |word: &str| {
            let is_known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !word.is_empty() && !word.starts_with('-') && word.chars().all(is_known)
        };
        let asked = text.strip_prefix(LABGRID).unwrap_or(text);
        if is_word(asked) {
            return Ok(LabgridTarget::Place(asked.to_string()));
        }
        let tag = |pair: &str| {
            let (name, value) = pair.split_once('=').filter(|(a, b)| is_word(a) && is_word(b))?;
            Some((name.to_string(), value.to_string()))
        };
        asked.split(',').map(tag).collect::<Option<_>>().map(LabgridTarget::Tags).ok_or_else(wrong)
    }
}

impl Display for LabgridTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(LABGRID)?;
        match self {
            LabgridTarget::Place(name) => f.write_str(name),
            LabgridTarget::Tags(tags) => {
                tags.iter().enumerate().try_for_each(|(at, (tag, value))| {
                    write!(f, "{}{tag}={value}", if at > 0 { "," } else { "" })
                })
            }
        }
    }
}

impl Display for BoardTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(SSH)?;
        self.user.iter().try_for_each(|user| write!(f, "{user}@"))?;
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        self.port.iter().try_for_each(|port| write!(f, ":{port}"))
    }
}

impl LabOptions {
    fn read<'a>(words: impl Iterator<Item = &'a str>) -> Result<LabOptions, String> {
        let mut options = LabOptions::default();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let path = || Some(PathBuf::from(value));
            let number = || {
                let number: Result<u32, _> = value.parse();
                number.map(Some).map_err(|_| format!("'{word}': expected a whole number"))
            };
            match key {
                "kernel" => options.image = path(),
                "modules" => options.modules = path(),
                "dtb" => options.dtb = path(),
                "memory" => options.memory = number()?,
                "smp" => options.cpus = number()?,
                "realtime" => options.realtime = true,
                "new-qemu" => options.new_qemu = true,
                _ => {
                    return Err(format!(
                        "unknown option '{word}': expected memory=MIB, new-qemu, realtime, smp=N, \
                         kernel=IMAGE, modules=DIR or dtb=FILE"
                    ));
                }
            }
        }
        Ok(options)
    }

    fn replaced_by(self, other: LabOptions) -> LabOptions {
        LabOptions {
            image: other.image.or(self.image),
            modules: other.modules.or(self.modules),
            dtb: other.dtb.or(self.dtb),
            memory: other.memory.or(self.memory),
            cpus: other.cpus.or(self.cpus),
            realtime: other.realtime || self.realtime,
            new_qemu: other.new_qemu || self.new_qemu,
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        Target::with_options(text, LabOptions::default())
    }
}

impl FromStr for LabTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<LabTarget, String> {
        match text.parse()? {
            Target::Lab(target) => Ok(target),
            Target::Local | Target::Board(_) | Target::Labgrid(_) => {
                Err("expected MACHINE/KERNEL, such as x86-64/rt".to_string())
            }
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Target::Local => f.pad(LOCAL),
            Target::Lab(target) => target.fmt(f),
            Target::Board(target) => target.fmt(f),
            Target::Labgrid(target) => target.fmt(f),
        }
    }
}

impl Display for LabTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{LAB}{}", self.machine)?;
        match &self.kernel {
            LabKernel::Named(kernel) => write!(f, "/{kernel}")?,
            LabKernel::Files(KernelFiles { image, modules, dtb }) => {
                write!(f, ",kernel={}", image.display())?;
                for (key, path) in [("modules", modules), ("dtb", dtb)] {
                    path.iter().try_for_each(|path| write!(f, ",{key}={}", path.display()))?;
                }
            }
        }
        self.memory.iter().try_for_each(|memory| write!(f, ",memory={memory}"))?;
        for (option, is_set) in [("new-qemu", self.new_qemu), ("realtime", self.realtime)] {
            if is_set {
                write!(f, ",{option}")?;
            }
        }
        self.cpus.iter().try_for_each(|cpus| write!(f, ",smp={cpus}"))
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Target {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "What is measured: `local`, `lab:MACHINE/KERNEL` with options after \
                            commas, `ssh://[USER@]HOST[:PORT]`, `labgrid:PLACE` or \
                            `labgrid:TAG=VALUE[,TAG=VALUE]...`.",
            "pattern": "^(local|lab:.+|ssh://.+|labgrid:.+)$",
        })
    }
}
