//! Error messages of OpenSSH, with remedies.

use super::ssh::last_line;
use latlab_model::sanitize::escape_controls;
use latlab_model::target::BoardTarget;

/// An ssh error as one line with a remedy.
pub fn remedy(board: &BoardTarget, said: &str) -> String {
    let has = |words: &str| said.contains(words);
    let user = board.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
    let port = board.port.map(|port| format!("-p {port} ")).unwrap_or_default();
    let place = format!("{port}{user}{}", board.host);
    let known = match board.port {
        Some(port) if port != 22 => format!("'[{}]:{port}'", board.host),
        _ => board.host.clone(),
    };
    if has("IDENTIFICATION HAS CHANGED") {
        return format!(
            "its host key has changed: another machine may answer in its place; if it was set up \
             anew, forget the old key with `ssh-keygen -R {known}`"
        );
    }
    if has("Host key verification failed") || has("host key is known") {
        return format!(
            "its host key is not known: connect once with `ssh {place}` and compare it"
        );
    }
    if has("Permission denied") {
        let why = said.lines().rfind(|line| line.contains("Permission denied")).unwrap_or_default();
        return format!(
            "{}: install a key there with `ssh-copy-id {place}`; a password can be asked only in a \
             terminal",
            last_words(why)
        );
    }
    let remedy = if has("Could not resolve hostname") {
        "; is the name right, or in ~/.ssh/config?"
    } else if has("Connection refused") {
        "; does an ssh server run there, on this port?"
    } else if has("not responding") {
        "; the link is dead, and the agent there ends the run by itself"
    } else {
        ""
    };
    match last_line(said) {
        Some(line) => format!("{}{remedy}", last_words(line)),
        None => "the connection was lost".to_string(),
    }
}

/// The last line of ssh without its program name.
fn last_words(line: &str) -> String {
    let line = line.trim();
    escape_controls(line.strip_prefix("ssh: ").unwrap_or(line).trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Target;

    #[test]
    fn each_complaint_is_one_line_with_what_to_do() {
        let Ok(Target::Board(board)) = "ssh://me@pi:2222".parse() else { panic!() };
        for (said, expected) in [
            (
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                "ssh-keygen -R '[pi]:2222'",
            ),
            (
                "No ED25519 host key is known for pi\nHost key verification failed.\r\n",
                "ssh -p 2222 me@pi",
            ),
            (
                "me@pi: Permission denied (publickey,password).\r\n",
                "me@pi: Permission denied (publickey,password): install a key",
            ),
            ("ssh: Could not resolve hostname pi: Name or service not known", "is the name right"),
            (
                "ssh: connect to host pi port 2222: Connection refused",
                "does an ssh server run there",
            ),
            ("Timeout, server pi not responding.", "the link is dead"),
            ("\x1b[2Jkex_exchange_identification: read: reset\n\n", "kex_exchange_identification"),
            ("", "the connection was lost"),
        ] {
            let line = remedy(&board, said);
            assert!(line.contains(expected), "{said}: {line}");
            assert!(!line.contains(['\n', '\r', '\x1b']), "{line:?}");
        }
    }
}
