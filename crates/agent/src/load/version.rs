//! Which version of its program a load is.

use super::order::Order;
use std::io::Read;
use std::process::{Command, Stdio};

/// Bytes of what a program says of its version.
const VERSION_BYTES: u64 = 4096;

/// Asks the program for its version, before anything loads the machine.
pub fn version(order: &Order) -> String {
    let (Some(rule), Some(program)) = (&order.load.version, order.programs.last()) else {
        return String::new();
    };
    let mut text = Vec::new();
    // Some say it on one of the two, some on the other, and not all end by themselves.
    let asked = std::io::pipe().and_then(|(reader, writer)| {
        let child = Command::new("timeout")
            .args(["-s", "KILL", "2", program])
            .args(&rule.args)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .spawn();
        let mut child = child?;
        reader.take(VERSION_BYTES).read_to_end(&mut text)?;
        child.wait()
    });
    asked.map(|_| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}
