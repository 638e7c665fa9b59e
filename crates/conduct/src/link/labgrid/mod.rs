//! A labgrid place, held for one run: a shell that outlives us calls `labgrid-client`, so that the
//! place is released however we end.

mod places;

use crate::{Failure, StopFlag};
use latlab_model::sanitize::escape_controls;
use latlab_model::target::{BoardTarget, HeldPlace, LabgridTarget};
use latlab_model::{Nanos, Target};
use places::{Place, board_of, last_line, parse_places};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write, stderr};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The script of the shell.
const HOLD: &str = include_str!("hold.sh");
/// The command and options for labgrid, if not `labgrid-client`.
const COMMAND: &str = "LATLAB_LABGRID";
/// How long to wait for an occupied place, if not an hour.
const WAIT: &str = "LATLAB_LABGRID_WAIT";
const HOUR: Duration = Duration::from_secs(3600);
/// How long we wait for a place to be released; the shell goes on trying.
const RELEASE: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(20);
/// Longest output of a call.
const LONGEST_LINE: u64 = 2 << 20;

/// A place that is ours until this is dropped.
pub struct Held {
    /// What is known of the place.
    pub place: HeldPlace,
    pub board: BoardTarget,
    _shell: Shell,
}

/// Reserves a place, waits for it and acquires it; prints on standard error who has it meanwhile.
pub fn hold(asked: &LabgridTarget, stop: &'static StopFlag) -> Result<Held, Failure> {
    let target = Target::Labgrid(asked.clone());
    let failed = |why: &str| Failure::Board(format!("{target}: {why}"));
    let limit = limit().map_err(Failure::wrong_plan)?;
    let mut shell = Shell::start(&target, stop)?;

    let places = parse_places(&shell.call("places")?);
    let asked_for: Vec<&Place> = places.iter().filter(|place| place.is(asked)).collect();
    if asked_for.is_empty() {
        let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
        let known = match names.as_slice() {
            [] => "the coordinator has none".to_string(),
            [few @ .., _] if few.len() < 12 => format!("there are {}", names.join(", ")),
            _ => format!("there are {}; see `labgrid-client -v places`", names.len()),
        };
        return Err(failed(&format!("labgrid has no such place: {known}")));
    }
    let takers = || {
        let taker = |place: &&Place| {
            let holder =
                place.acquired.as_ref().map(|holder| format!("{holder} has {}", place.name));
            holder.or_else(|| place.is_reserved.then(|| format!("{} is reserved", place.name)))
        };
        asked_for.iter().filter_map(taker).collect::<Vec<_>>()
    };
    let takers = takers();
    let all_are_taken = takers.len() == asked_for.len();
    let takers = takers.join(", ");

    let reserve = format!("reserve {}", filters(asked, &asked_for));
    shell.call(&reserve)?;
    let since = Instant::now();
    let mut told = !all_are_taken;
    let name = loop {
        if stop.is_set() {
            return Err(Failure::Nothing);
        }
        let (code, said) = shell.ask("wait")?;
        match (code, places::allocated(&said)) {
            (0, Some(name)) => break name,
            // The call timed out without an allocation.
            (124 | 137, _) => {}
            // labgrid deletes a reservation if no client waits for it for a minute.
            _ if said.contains("does not exist") => {
                shell.call(&reserve)?;
            }
            _ => return Err(failed(&last_line(&said))),
        }
        if since.elapsed() > limit {
            let limit = Nanos(limit.as_nanos() as i64);
            return Err(failed(&format!(
                "nothing was measured: waited for {limit} ({takers}); wait longer with {WAIT}=TIME"
            )));
        }
        if !std::mem::replace(&mut told, true) {
            tell(&format!("{target}: waiting for labgrid: {takers}"));
        }
    };
    shell.has_acquired = true;
    shell.call(&format!("acquire {name}"))?;
    let shown = shell.call("show")?;
    let board = board_of(&shown).map_err(|why| failed(&format!("place {name}: {why}")))?;
    let tags = parse_places(&shown).into_iter().next().map(|place| place.tags).unwrap_or_default();
    let place = HeldPlace { name, tags, board: board.to_string() };
    Ok(Held { place, board, _shell: shell })
}

/// The filters of a reservation.
fn filters(asked: &LabgridTarget, asked_for: &[&Place]) -> String {
    match asked {
        // By its own name, even if the user gave an alias.
        LabgridTarget::Place(name) => {
            format!("name={}", asked_for.first().map_or(name.as_str(), |place| &place.name))
        }
        LabgridTarget::Tags(tags) => {
            let tags: Vec<String> =
                tags.iter().map(|(tag, value)| format!("{tag}={value}")).collect();
            tags.join(" ")
        }
    }
}

fn limit() -> Result<Duration, String> {
    let Ok(text) = std::env::var(WAIT) else { return Ok(HOUR) };
    let time: Result<Nanos, _> = text.parse();
    time.map(Nanos::duration).map_err(|error| format!("{WAIT}: {error}"))
}

fn tell(text: &str) {
    // Standard error may be closed.
    let _ = writeln!(stderr(), "latlab: {}", escape_controls(text));
}

/// The shell that calls labgrid-client, and that releases what it has acquired once its input ends.
struct Shell {
    target: String,
    child: Child,
    input: Option<ChildStdin>,
    /// Its output lines, read by a thread so that waiting for them can be interrupted.
    lines: Receiver<String>,
    stop: &'static StopFlag,
    /// Whether it may hold a place.
    has_acquired: bool,
}

impl Shell {
    fn start(target: &Target, stop: &'static StopFlag) -> Result<Shell, Failure> {
        let own = std::env::var_os(COMMAND).filter(|words| !words.is_empty());
        let words = own.unwrap_or_else(|| OsString::from("labgrid-client"));
        let words = words.to_string_lossy().into_owned();
        let mut command = Command::new("sh");
        command.args(["-c", HOLD, "latlab-hold"]).args(words.split_whitespace());
        // Otherwise places configured in the environment would be acquired too.
        command.env_remove("LG_ENV").env_remove("LG_PLACE").env_remove("LG_TOKEN");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C and hangups of the terminal must not reach it.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| {
            Failure::Board(format!("{target}: cannot start a shell for labgrid-client: {error}"))
        })?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = output.ok_or(io::Error::from(io::ErrorKind::BrokenPipe))?;
        let (to, lines) = sync_channel(1);
        let read = move || read_lines(output, &to);
        std::thread::Builder::new().spawn(read).map_err(Failure::Thread)?;
        Ok(Shell { target: target.to_string(), child, input, lines, stop, has_acquired: false })
    }

    /// A call that must succeed; returns its output.
    fn call(&mut self, call: &str) -> Result<String, Failure> {
        let (code, said) = self.ask(call)?;
        let why = match code {
            0 => return Ok(said),
            127 => format!(
                "there is no program `labgrid-client` here: install labgrid (`pipx install labgrid`), \
                 or name the command in {COMMAND}"
            ),
            124 | 137 => "the coordinator of labgrid does not answer".to_string(),
            _ if said.contains("Could not connect to coordinator") => {
                let place = std::env::var("LG_COORDINATOR");
                let place = place.unwrap_or_else(|_| "127.0.0.1:20408".to_string());
                format!(
                    "the coordinator of labgrid cannot be reached at {place}: set \
                     LG_COORDINATOR=HOST:PORT"
                )
            }
            _ => format!("labgrid-client: {}", last_line(&said)),
        };
        Err(Failure::Board(format!("{}: {}", self.target, escape_controls(&why))))
    }

    /// A call; returns its exit code and output.
    fn ask(&mut self, call: &str) -> Result<(i32, String), Failure> {
        let input = self.input.as_mut().ok_or(io::Error::from(io::ErrorKind::BrokenPipe))?;
        input.write_all(format!("{call}\n").as_bytes())?;
        let mut said = String::new();
        loop {
            let line = match self.lines.recv_timeout(LOOK) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if self.stop.is_set() => {
                    return Err(Failure::Nothing);
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Board(format!(
                        "{}: the shell that calls labgrid-client has died",
                        self.target
                    )));
                }
            };
            match line.strip_prefix('|') {
                Some(line) => said += line,
                None => return Ok((line[1..].trim().parse().unwrap_or(-1), said)),
            }
        }
    }
}

/// Reads lines of the shell; a line or output beyond the limit ends it.
fn read_lines(output: ChildStdout, to: &SyncSender<String>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = String::new();
        match (&mut output).take(LONGEST_LINE).read_line(&mut line) {
            Ok(1..) if line.ends_with('\n') && to.send(line).is_ok() => {}
            _ => return,
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.input = None;
        if !self.has_acquired {
            // Its reservation expires by itself.
            return;
        }
        let until = Instant::now() + RELEASE;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > until {
                tell(&format!(
                    "{}: labgrid has not taken the place back yet; process {} goes on trying for ten \
                     minutes",
                    self.target,
                    self.child.id()
                ));
                return;
            }
            sleep(LOOK);
        }
    }
}
