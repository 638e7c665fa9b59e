//! `latlab fleet`: tables over many boards and runs, computed by the Python package.
//!
//! This program starts the package and passes it the request as JSON. The package calls back for
//! what only the program knows: `fleet-rows` reads and verifies run folders, `fleet-draw` prints
//! answers.

pub mod args;
mod draw;
mod rows;

pub use draw::draw;
pub use rows::rows;

use crate::exit::ExitError;
use crate::store::open_store;
use anyhow::Context;
use args::{FleetArgs, FleetCommand};
use serde::Serialize;
use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Imports the package and calls it. The first argument is the message if it is not installed.
const LAUNCHER: &str = "\
import sys
from importlib.util import find_spec
# The folder that this was started in may hold anything.
sys.path[:] = [path for path in sys.path if path]
missing = [name for name in ('latlab', 'deltalake', 'duckdb', 'duckdb_extension_delta') if not find_spec(name)]
if missing or not find_spec('latlab.fleet'):
    print(f'latlab: {sys.argv[1]} ({sys.executable} lacks {missing[0] if missing else \"latlab.fleet\"})', file=sys.stderr)
    sys.exit(3)
from latlab.fleet.command import main
sys.exit(main(sys.argv[2]))
";

const MISSING: &str = "`latlab fleet` is a part of the Python package: in a clone of latlab, \
                       pip install './python[fleet]'";

/// The request to the package.
#[derive(Serialize)]
struct Request {
    table: PathBuf,
    #[serde(flatten)]
    command: FleetCommand,
}

/// Runs the package in place of this process (exec).
pub fn fleet(args: FleetArgs) -> anyhow::Result<ExitCode> {
    let by_environment = env::var_os("LATLAB_FLEET").filter(|path| !path.is_empty());
    let table = args.table.or(by_environment.map(PathBuf::from));
    let command = match args.command {
        FleetCommand::Add(add) => {
            FleetCommand::Add(add.with_defaults(open_store(None).root().to_path_buf()))
        }
        FleetCommand::Query(query) => FleetCommand::Query(query.with_format()?),
        other => other,
    };
    let request = Request { table: table.unwrap_or_else(|| PathBuf::from("fleet")), command };
    let request = serde_json::to_string(&request)
        .map_err(|_| ExitError::usage("a name of a folder or file is not UTF-8"))?;
    let program = env::current_exe().context("cannot find this program")?;
    let python = python(&program);
    let error = Command::new(&python)
        .args(["-c", LAUNCHER, MISSING, &request])
        .env("LATLAB_PROGRAM", &program)
        .exec();
    let why = match error.kind() {
        io::ErrorKind::NotFound => format!("{MISSING} (there is no {})", python.display()),
        _ => format!("cannot start {}: {error}", python.display()),
    };
    Err(ExitError::cannot_measure(why).into())
}

/// The Python that the package was installed for: pip puts this program into the same folder.
fn python(program: &Path) -> PathBuf {
    let beside = program.with_file_name("python3");
    if beside.exists() { beside } else { PathBuf::from("python3") }
}
