//! Wires between lines of a board's own GPIO controller: QEMU reports each change of one line, and
//! we set the line at the other end to the same level.

use crate::config::GuestConfig;
use latlab_model::gpio::{GpioLine, GpioWire};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

/// Wires between lines of a controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoardWire {
    /// QEMU's name for the controller.
    controller: String,
    /// From which line to which.
    wires: Vec<(u32, u32)>,
}

impl BoardWire {
    /// The kernel's name for the first controller of the board.
    pub(crate) const LABEL: &str = "30200000.gpio";
    /// The lines for stimuli and for responses.
    pub(crate) const PAIR: [u32; 2] = [20, 23];
    /// The lines for a responder's input and output.
    pub(crate) const RESPONDER: [u32; 2] = [21, 22];

    /// Wires from the stimuli to a responder, and back from there.
    pub fn with_responder(config: &GuestConfig) -> Option<BoardWire> {
        let controller = format!("{}1", config.machine.gpio_controllers?);
        let ([raised, watched], [input, output]) = (BoardWire::PAIR, BoardWire::RESPONDER);
        Some(BoardWire { controller, wires: vec![(raised, input), (output, watched)] })
    }

    /// The wires in words.
    pub fn words(&self) -> Vec<String> {
        self.wires.iter().map(|(from, to)| format!("from line {from} to line {to}")).collect()
    }

    /// The wire between two lines of the board itself; `None` if both are on a chip that is added.
    /// An error is one line.
    pub fn of(config: &GuestConfig, asked: &GpioWire) -> Result<Option<BoardWire>, String> {
        let Some(controllers) = config.machine.gpio_controllers else { return Ok(None) };
        let (from, to) = (&asked.stimulus, &asked.loopback);
        let number = |line: &GpioLine| -> Option<u32> {
            line.chip
                .strip_prefix("gpiochip")?
                .parse()
                .ok()
                .filter(|n| *n < config.machine.gpio_chips)
        };
        match (number(from), number(to)) {
            (Some(one), Some(other)) if one == other => {
                let controller = format!("{controllers}{}", one + 1);
                Ok(Some(BoardWire { controller, wires: vec![(from.offset, to.offset)] }))
            }
            (None, None) => Ok(None),
            _ => Err(format!(
                "cannot lead a wire from {from} to {to}: on {} both must be lines of one chip",
                config.machine.name
            )),
        }
    }

    /// Carries changes over QEMU's test protocol until it ends; returns their number.
    pub fn carry(&self, qemu: UnixStream) -> io::Result<u64> {
        let BoardWire { controller, wires } = self;
        let mut commands = qemu.try_clone()?;
        writeln!(commands, "irq_intercept_out {controller}")?;
        let mut carried = 0;
        for line in BufReader::new(qemu).lines() {
            // QEMU also answers each command.
            let Ok(line) = line else { break };
            let words: Vec<&str> = line.split_whitespace().collect();
            let (level, of) = match words[..] {
                ["IRQ", "raise", of] => (1, of),
                ["IRQ", "lower", of] => (0, of),
                _ => continue,
            };
            let Some((_, to)) = wires.iter().find(|(from, _)| of.parse() == Ok(*from)) else {
                continue;
            };
            let command = format!("set_irq_in {controller} unnamed-gpio-in {to} {level}\n");
            if commands.write_all(command.as_bytes()).is_err() {
                break;
            }
            carried += 1;
        }
        Ok(carried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;
    use latlab_model::target::LabTarget;

    fn wire(machine: &str, from: &str, to: &str) -> Result<Option<BoardWire>, String> {
        let target: LabTarget = format!("lab:{machine}/rt").parse().unwrap();
        let config = GuestConfig::resolve(&target).unwrap();
        let line = |text: &str| text.parse().unwrap();
        let (from_ns, to_ns) = (Nanos(1_000_000), Nanos(2_000_000));
        let (stimulus, loopback) = (line(from), line(to));
        let asked = GpioWire { stimulus, loopback, answer: None, external: false, from_ns, to_ns };
        BoardWire::of(&config, &asked)
    }

    #[test]
    fn lines_of_the_board_are_wired_and_those_of_the_pin_pair_are_not() {
        let expected = BoardWire { controller: "/machine/soc/gpio2".into(), wires: vec![(3, 5)] };
        assert_eq!(wire("imx8mp-evk", "gpiochip1:3", "gpiochip1:5"), Ok(Some(expected)));
        assert_eq!(wire("imx8mp-evk", "gpiochip5:1", "gpiochip5:0"), Ok(None));
        assert_eq!(wire("x86-64", "gpiochip0:1", "gpiochip0:0"), Ok(None));
        let error = wire("imx8mp-evk", "gpiochip0:3", "gpiochip1:5").unwrap_err();
        assert!(error.contains("lines of one chip") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn changes_of_the_one_line_are_told_to_the_other() {
        let (ours, qemu) = UnixStream::pair().unwrap();
        let wire = BoardWire { controller: "/c".into(), wires: vec![(7, 8), (3, 5)] };
        let carrier = std::thread::spawn(move || wire.carry(ours));
        let mut tells = qemu.try_clone().unwrap();
        tells.write_all(b"OK\nIRQ raise 3\nIRQ raise 4\nOK\nIRQ lower 3\n").unwrap();
        let told: Vec<String> = BufReader::new(qemu).lines().take(3).map(Result::unwrap).collect();
        drop(tells);
        let set = |level| format!("set_irq_in /c unnamed-gpio-in 5 {level}");
        assert_eq!(told, ["irq_intercept_out /c".to_string(), set(1), set(0)]);
        assert_eq!(carrier.join().unwrap().unwrap(), 2);
    }
}
