//! Flags of `latlab serve`, and what they mean.

use clap::Args;
use latlab_serve::Token;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Default port.
pub const PORT: u16 = 8137;

/// Flags of `latlab serve`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Folder of the runs [default: $LATLAB_RUNS, else ./runs]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Folder of the runs; the same as DIR
    #[arg(long, value_name = "DIR", conflicts_with = "folder")]
    pub out: Option<PathBuf>,
    /// Port to listen on, 0 for any free one [default: 8137, else any free one]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Address to listen on; other than loopback it requires a token [default: 127.0.0.1]
    #[arg(long, value_name = "ADDR[:PORT]")]
    pub listen: Option<Listen>,
    /// Secret that clients must send; other users see it in the list of processes
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_file")]
    pub token: Option<Token>,
    /// File with the secret: one line, at most 4 KiB
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  latlab serve                                      serve ./runs at http://127.0.0.1:8137/
  latlab serve /var/lib/latlab/runs --port 0
  ssh -L 8137:localhost:8137 board latlab serve     runs of a board, through ssh
  latlab serve --listen 192.168.1.7 --token-file token
  curl -H \"Authorization: Bearer $(cat token)\" http://192.168.1.7:8137/runs/ID/run.json

A browser gets access once through /?token=TOKEN, and keeps a cookie. There is no encryption: use
ssh or a proxy between machines. Ctrl-C ends the server. It never changes a run.";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listen {
    address: IpAddr,
    port: Option<u16>,
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        let numbers = text.replacen("localhost", "127.0.0.1", 1);
        if let Ok(both) = numbers.parse::<SocketAddr>() {
            return Ok(Listen { address: both.ip(), port: Some(both.port()) });
        }
        let inner = numbers.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let address = inner.unwrap_or(&numbers).parse();
        let address = address.map_err(|_| {
            format!("'{text}' is not an address: expected for example 192.168.1.7 or [::1]:8137")
        })?;
        Ok(Listen { address, port: None })
    }
}

impl ServeArgs {
    /// The address to listen on, and whether another port will do; an error is one line.
    pub fn address(&self, has_token: bool) -> Result<(SocketAddr, bool), String> {
        let listen = self.listen;
        let address = listen.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |listen| listen.address);
        let port = match (self.port, listen.and_then(|listen| listen.port)) {
            (Some(_), Some(_)) => {
                return Err("the port is given in --port and in --listen".to_string());
            }
            (one, other) => one.or(other),
        };
        if !address.is_loopback() && !has_token {
            return Err(format!(
                "--listen {address} is reachable from other machines: set a secret with \
                 --token-file FILE, or use ssh -L {PORT}:localhost:{PORT}"
            ));
        }
        Ok((SocketAddr::new(address, port.unwrap_or(PORT)), port.is_none()))
    }
}

#[cfg(test)]
mod tests {
    use super::ServeArgs;
    use crate::flags::parse;

    fn address(flags: &str) -> Result<(String, bool), String> {
        let args: ServeArgs = parse(flags.split_whitespace()).map_err(|error| error.to_string())?;
        args.address(args.token.is_some()).map(|(address, any)| (address.to_string(), any))
    }

    #[test]
    fn flags_make_the_address() {
        let at = |text: &str, any| Ok((text.to_string(), any));
        assert_eq!(address(""), at("127.0.0.1:8137", true));
        assert_eq!(address("--port 0"), at("127.0.0.1:0", false));
        assert_eq!(address("--listen localhost:99"), at("127.0.0.1:99", false));
        assert_eq!(address("--listen ::1"), at("[::1]:8137", true));
        let token = "--token 0123456789abcdef";
        assert_eq!(address(&format!("--listen 0.0.0.0 {token}")), at("0.0.0.0:8137", true));
        assert_eq!(address(&format!("--listen [fe80::1]:9 {token}")), at("[fe80::1]:9", false));
    }

    #[test]
    fn mistakes_are_told() {
        for (flags, expected) in [
            ("--listen 0.0.0.0", "--token-file FILE"),
            ("--listen :: --port 9", "--token-file FILE"),
            ("--listen board.example", "expected for example"),
            ("--listen 127.0.0.1:9 --port 9", "--port and in --listen"),
            ("--token short", "16 to 256 letters"),
            ("--port 70000", "65535"),
            ("--token 0123456789abcdef --token-file x", "cannot be used with"),
        ] {
            let error = address(flags).unwrap_err();
            assert!(error.contains(expected), "{flags}: {error}");
        }
    }
}
