//! The user's own firmware: checked before the simulator gets it, so that a mistake is a one-line
//! error.

use super::clock::McuClock;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// More than the program memory of any simulated microcontroller.
const LARGEST: usize = 1 << 18;
/// More than any file with such a firmware; ELF files include debug information.
const LARGEST_FILE: u64 = 64 << 20;
/// `e_machine` of AVR.
const ELF_AVR: u16 = 83;
/// The compiler's note about the microcontroller: the length precedes it, the data follows.
const ELF_NOTE: &[u8] = b"\x01\0\0\0AVR\0";
/// Offset in the note of the length of its string table.
const ELF_NAMES: usize = 24;

/// A firmware, and the microcontroller that it is for.
#[derive(Clone, PartialEq, Debug)]
pub struct FirmwareFile {
    /// ELF or Intel HEX.
    pub path: PathBuf,
    /// As avr-gcc calls it: `atmega328p`.
    pub mcu: String,
    pub clock: McuClock,
    pub pins: Pins,
}

/// The pins of stimuli and of responses: `PD2,PD3`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pins {
    /// Stimuli.
    pub input: Pin,
    /// Responses.
    pub output: Pin,
}

impl FromStr for Pins {
    type Err = String;

    fn from_str(text: &str) -> Result<Pins, String> {
        let pair = text.split_once(',');
        let (input, output) = pair.ok_or("expected input and output, such as PD2,PD3")?;
        let pins = Pins { input: input.trim().parse()?, output: output.trim().parse()? };
        match pins.input == pins.output {
            true => Err("expected two pins".to_string()),
            false => Ok(pins),
        }
    }
}

impl fmt::Display for Pins {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{},{}", self.input, self.output)
    }
}

/// A pin by its port: `PD2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pin {
    port: char,
    /// 0 to 7.
    bit: u8,
}

impl FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Pin, String> {
        match text.to_ascii_uppercase().as_bytes() {
            [b'P', port @ b'A'..=b'L', bit @ b'0'..=b'7'] => {
                Ok(Pin { port: char::from(*port), bit: bit - b'0' })
            }
            _ => Err("expected a port and a bit, such as PD2".to_string()),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "P{}{}", self.port, self.bit)
    }
}

impl FirmwareFile {
    /// The input for the simulator: the ELF file, or the content of the program memory. An error is
    /// one line for the user.
    pub fn image(&self) -> Result<Vec<u8>, String> {
        let said = |what: String| format!("{}{what}", self.path.display());
        let bytes = read(&self.path).map_err(|error| said(format!(": {error}")))?;
        if bytes.starts_with(b"\x7fELF") {
            return self.check_elf(&bytes).map_err(said).map(|()| bytes);
        }
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b':') => hex_image(&bytes).map_err(said),
            _ => Err(said(": expected a firmware: an ELF file for AVR, or Intel HEX".into())),
        }
    }

    fn check_elf(&self, bytes: &[u8]) -> Result<(), String> {
        let machine = bytes.get(18..20).map(|two| u16::from_le_bytes([two[0], two[1]]));
        if machine != Some(ELF_AVR) {
            return Err(": an ELF file for another machine, expected one for AVR".to_string());
        }
        match elf_mcu(bytes) {
            Some(built) if built != self.mcu => {
                Err(format!(" was built for {built}, not for {}: give --mcu {built}", self.mcu))
            }
            _ => Ok(()),
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let about = fs::metadata(path).map_err(|error| error.to_string())?;
    match about.is_file() && about.len() <= LARGEST_FILE {
        true => fs::read(path).map_err(|error| error.to_string()),
        false => Err("expected a regular file of a firmware, 64 MiB at most".to_string()),
    }
}

/// The microcontroller that the compiler has noted in an ELF file.
fn elf_mcu(bytes: &[u8]) -> Option<&str> {
    let word = |at: usize| {
        let four = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
    };
    let at = bytes.windows(ELF_NOTE.len()).position(|window| window == ELF_NOTE)?;
    let length = word(at.checked_sub(4)?)?;
    let note = at + ELF_NOTE.len();
    let names = note + ELF_NAMES + word(note + ELF_NAMES)?;
    let name = names + word(note + ELF_NAMES + 4)?;
    let text = bytes.get(name..note.checked_add(length)?)?.split(|&byte| byte == 0).next()?;
    std::str::from_utf8(text).ok().filter(|name| !name.is_empty())
}

/// The program memory that an Intel HEX file describes, erased where nothing is specified.
fn hex_image(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let text = String::from_utf8_lossy(bytes);
    let (mut image, mut base) = (Vec::new(), 0_usize);
    for (number, line) in text.lines().enumerate() {
        let said = |what: &str| format!(", line {}: {what}", number + 1);
        if line.trim().is_empty() {
            continue;
        }
        let record = hex_record(line.trim()).map_err(said)?;
        let two = || Some(usize::from(u16::from_be_bytes(record.data[..].try_into().ok()?)));
        match record.kind {
            0 => {
                let from = base + record.at;
                let to = from + record.data.len();
                if to > LARGEST {
                    return Err(said("the address is above 256 KiB, which no program memory has"));
                }
                if image.len() < to {
                    image.resize(to, 0xff);
                }
                image[from..to].copy_from_slice(&record.data);
            }
            1 if image.is_empty() => return Err(said("the file ends without any data")),
            1 => return Ok(image),
            2 => base = two().ok_or_else(|| said("expected an address of two bytes"))? << 4,
            4 => base = two().ok_or_else(|| said("expected an address of two bytes"))? << 16,
            // The start address, which the chip does not need.
            3 | 5 => {}
            _ => return Err(said("an unknown kind of record, expected Intel HEX")),
        }
    }
    Err(": the last record (:00000001FF) is missing; the file is cut off".to_string())
}

/// A line: length, address, type, data and checksum.
struct HexRecord {
    at: usize,
    kind: u8,
    data: Vec<u8>,
}

fn hex_record(line: &str) -> Result<HexRecord, &'static str> {
    let digits =
        line.strip_prefix(':').ok_or("expected a record of Intel HEX, which begins with ':'")?;
    let byte = |pair: &[u8]| {
        let digit = |c: u8| char::from(c).to_digit(16);
        Some((digit(pair[0])? * 16 + digit(*pair.get(1)?)?) as u8)
    };
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    let bytes = bytes.ok_or("expected pairs of hexadecimal digits")?;
    match &bytes[..] {
        [length, high, low, kind, data @ .., _] if usize::from(*length) == data.len() => {
            let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            let at = usize::from(u16::from_be_bytes([*high, *low]));
            let record = HexRecord { at, kind: *kind, data: data.to_vec() };
            if sum == 0 { Ok(record) } else { Err("the checksum is wrong; the file is damaged") }
        }
        _ => Err("the record is not as long as it says; the file is damaged"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_have_a_port_and_a_bit() {
        assert_eq!("pd2".parse(), Ok(Pin { port: 'D', bit: 2 }));
        assert_eq!(Pin { port: 'B', bit: 5 }.to_string(), "PB5");
        for wrong in ["", "2", "PD8", "D2", "PZ1", "PD22"] {
            assert!(wrong.parse::<Pin>().is_err(), "{wrong}");
        }
        assert!("PB0,PB4".parse::<Pins>().is_ok());
        for wrong in ["PB0", "PB0,PB0", "PB0:PB1"] {
            assert!(wrong.parse::<Pins>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn intel_hex_is_read_and_its_mistakes_have_a_line() {
        let good = ":020000040000FA\n:0400000001020304F2\r\n:02000800AABB91\n:00000001FF\n";
        let expected = [1, 2, 3, 4, 255, 255, 255, 255, 0xaa, 0xbb];
        assert_eq!(hex_image(good.as_bytes()), Ok(expected.to_vec()));
        for (wrong, said) in [
            (":0400000001020304F3\n:00000001FF\n", ", line 1: the checksum"),
            (":0400000001020304F2\nhello\n", ", line 2: expected a record"),
            (":0400000001020304F2\n:0500\n", ", line 2: the record is not as long"),
            (":0400000001020304F2\n:0G\n", ", line 2: expected pairs"),
            (":0400000001020304F2\n", ": the last record"),
            (":00000001FF\n", ", line 1: the file ends"),
            (":020000040100F9\n:0400000001020304F2\n:00000001FF\n", ", line 2: the address"),
        ] {
            let error = hex_image(wrong.as_bytes()).unwrap_err();
            assert!(error.starts_with(said), "{wrong:?}: {error}");
        }
    }

    #[test]
    fn an_elf_file_says_what_it_was_built_for() {
        let mut note = b"before\x04\0\0\0\x2d\0\0\0".to_vec();
        note.extend(ELF_NOTE);
        note.extend([0; ELF_NAMES]);
        note.extend(b"\x08\0\0\0\x01\0\0\0\0atmega328p\0\0");
        assert_eq!(elf_mcu(&note), Some("atmega328p"));
        for end in 0..note.len() - 2 {
            assert_eq!(elf_mcu(&note[..end]), None, "{end}");
        }
    }
}
