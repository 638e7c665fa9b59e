//! VISA resource names of instruments.

use latlab_sys::files::Root;
use latlab_sys::usbtmc;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The error for a text that is not a resource name.
const EXPECTED: &str = "expected TCPIP::HOST::PORT::SOCKET, USB::0xVENDOR::0xPRODUCT::SERIAL::INSTR \
                        or /dev/usbtmc0";
/// The error for an unsupported protocol.
const NO_VXI11: &str = "latlab sends SCPI over a plain socket: write TCPIP::HOST::PORT::SOCKET; the \
                        port is 5025 on most instruments, 5555 on those of Rigol";

/// An instrument that can be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resource {
    /// SCPI over a TCP socket.
    Socket { host: String, port: u16 },
    /// A device file of the kernel's driver.
    File(PathBuf),
    /// An instrument on USB by its ids.
    Usb { vendor: u16, product: u16, serial: Option<String> },
}

impl Resource {
    /// The device file of an instrument; `None` if it is not connected.
    pub(super) fn file(&self) -> Option<PathBuf> {
        match self {
            Resource::Socket { .. } => None,
            Resource::File(path) => Some(path.clone()),
            Resource::Usb { vendor, product, serial } => {
                usbtmc::find(&Root::default(), *vendor, *product, serial.as_deref())
            }
        }
    }
}

impl FromStr for Resource {
    type Err = String;

    fn from_str(text: &str) -> Result<Resource, String> {
        if text.starts_with('/') {
            return Ok(Resource::File(text.into()));
        }
        let parts: Vec<&str> = text.split("::").collect();
        // `TCPIP0` and `USB1` number interfaces that only VISA knows.
        let interface = parts[0].trim_end_matches(|c: char| c.is_ascii_digit());
        let last = parts.last().map_or(String::new(), |last| last.to_ascii_uppercase());
        let number = |text: &str| {
            let hex = text.strip_prefix("0x").or(text.strip_prefix("0X"));
            hex.map_or(text.parse(), |hex| u16::from_str_radix(hex, 16)).map_err(|_| EXPECTED)
        };
        match (interface.to_ascii_uppercase().as_str(), &parts[1..], last.as_str()) {
            ("TCPIP", [host, port, _], "SOCKET") if !host.is_empty() => {
                let port = port.parse().map_err(|_| EXPECTED)?;
                Ok(Resource::Socket { host: host.to_string(), port })
            }
            ("TCPIP", _, _) => Err(NO_VXI11.to_string()),
            ("USB", [vendor, product, _], "INSTR") => Ok(Resource::Usb {
                vendor: number(vendor)?,
                product: number(product)?,
                serial: None,
            }),
            ("USB", [vendor, product, serial, .., _], "INSTR") => Ok(Resource::Usb {
                vendor: number(vendor)?,
                product: number(product)?,
                serial: Some(serial.to_string()),
            }),
            _ => Err(EXPECTED.to_string()),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Socket { host, port } => write!(f, "TCPIP::{host}::{port}::SOCKET"),
            Resource::File(path) => write!(f, "{}", path.display()),
            Resource::Usb { vendor, product, serial } => {
                write!(f, "USB::0x{vendor:04X}::0x{product:04X}")?;
                serial.iter().try_for_each(|serial| write!(f, "::{serial}"))?;
                f.write_str("::INSTR")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_read_as_visa_writes_them() {
        for (text, shown) in [
            ("TCPIP0::scope.lan::5025::SOCKET", "TCPIP::scope.lan::5025::SOCKET"),
            ("tcpip::10.0.0.7::5555::socket", "TCPIP::10.0.0.7::5555::SOCKET"),
            ("USB0::0x1AB1::0x04CE::DS1ZA1::INSTR", "USB::0x1AB1::0x04CE::DS1ZA1::INSTR"),
            ("USB::0x1AB1::0x04CE::DS1ZA1::0::INSTR", "USB::0x1AB1::0x04CE::DS1ZA1::INSTR"),
            ("USB::6833::1230::INSTR", "USB::0x1AB1::0x04CE::INSTR"),
            ("/dev/usbtmc0", "/dev/usbtmc0"),
        ] {
            assert_eq!(text.parse::<Resource>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_names_no_instrument_is_refused_with_what_was_expected() {
        for (text, said) in [
            ("TCPIP::scope::INSTR", "the port is 5025 on most"),
            ("TCPIP::scope::hislip0::INSTR", "the port is 5025 on most"),
            ("TCPIP::scope::70000::SOCKET", "expected TCPIP::HOST::PORT::SOCKET"),
            ("GPIB::7::INSTR", "expected TCPIP::HOST::PORT::SOCKET"),
            ("USB::zz::0x1::INSTR", "expected TCPIP::HOST::PORT::SOCKET"),
            ("", "expected TCPIP::HOST::PORT::SOCKET"),
        ] {
            let refused = text.parse::<Resource>().unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
