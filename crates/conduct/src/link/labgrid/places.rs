//! Parses as little as needed of labgrid-client's output, which has no machine-readable form.

use latlab_model::Target;
use latlab_model::target::{BoardTarget, LabgridTarget};
use std::collections::BTreeMap;

/// A place, as far as latlab needs it.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Place {
    pub name: String,
    pub aliases: Vec<String>,
    pub tags: BTreeMap<String, String>,
    /// Who has it: host and user.
    pub acquired: Option<String>,
    /// Whether another user waits to acquire it, or has it by a reservation.
    pub is_reserved: bool,
}

impl Place {
    /// Whether it is the requested place. labgrid itself would accept a part of a name.
    pub fn is(&self, asked: &LabgridTarget) -> bool {
        match asked {
            LabgridTarget::Place(name) => self.name == *name || self.aliases.contains(name),
            LabgridTarget::Tags(tags) => tags.iter().all(|(tag, value)| {
                self.tags.get(tag) == Some(value) || tag == "name" && self.name == *value
            }),
        }
    }
}

/// Parses the output of `-v places` or `show`.
pub fn parse_places(text: &str) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("Place '").and_then(|rest| rest.strip_suffix("':")) {
            places.push(Place { name: name.to_string(), ..Place::default() });
            continue;
        }
        let (Some(place), Some((key, value))) = (places.last_mut(), line.trim().split_once(": "))
        else {
            continue;
        };
        let parts = || value.split(", ");
        match key {
            "aliases" => place.aliases = parts().map(str::to_string).collect(),
            "tags" => {
                let tag = |pair: &str| {
                    pair.split_once('=').map(|(tag, value)| (tag.to_string(), value.to_string()))
                };
                place.tags = parts().filter_map(tag).collect();
            }
            "acquired" if value != "None" => place.acquired = Some(value.to_string()),
            "reservation" => place.is_reserved = true,
            _ => {}
        }
    }
    places
}

/// The place allocated to a reservation, from the output of `wait`.
pub fn allocated(text: &str) -> Option<String> {
    let (_, last) = text.rsplit_once("state: ")?;
    let (state, rest) = last.split_once('\n')?;
    let (_, rest) = rest.split_once("allocations:\n")?;
    let (_, name) = rest.lines().next()?.split_once(": ")?;
    (state == "allocated").then(|| name.trim().to_string())
}

/// How to reach the board of an acquired place, from its NetworkService in the output of `show`.
pub fn board_of(text: &str) -> Result<BoardTarget, String> {
    let parts = text.split("Acquired resource ").skip(1);
    let services: Vec<&str> = parts
        .filter(|part| part.lines().next().is_some_and(|head| head.contains("/NetworkService/")))
        .collect();
    let service = match services.as_slice() {
        [one] => one,
        [] => return Err("it has no NetworkService, by which its board is reached".to_string()),
        several => {
            return Err(format!(
                "it has {} of NetworkService: keep one with `labgrid-client del-match`",
                several.len()
            ));
        }
    };
    let value = |key: &str| {
        let (_, rest) = service.split_once(&format!("'{key}': "))?;
        let end = rest.find([',', '}', '\n'])?;
        Some(rest[..end].trim_matches(['\'', '"']).to_string())
    };
    let given = |key: &str| value(key).filter(|value| !value.is_empty() && value != "None");
    let address = given("address").ok_or("its NetworkService has no address")?;
    let user = given("username").map(|user| format!("{user}@")).unwrap_or_default();
    let port = given("port").map(|port| format!(":{port}")).unwrap_or_default();
    let host = if address.contains(':') { format!("[{address}]") } else { address };
    match format!("ssh://{user}{host}{port}").parse() {
        Ok(Target::Board(board)) => Ok(board),
        Ok(_) => Err("its NetworkService names no board".to_string()),
        Err(error) => Err(format!("its NetworkService: {error}")),
    }
}

/// The last line that is not blank, without the name of the program.
pub fn last_line(text: &str) -> String {
    let line =
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing");
    line.strip_prefix("labgrid-client: ").unwrap_or(line).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "Place 'board-a':
  aliases: first, me:mine
  tags: arch=x86_64, board=a
  matches:
    lab1/board-a/*
  acquired: vm/root
  acquired resources:
    lab1/board-a/NetworkService/NetworkService
  created: 2026-11-25 17:30:18.150436
  reservation: KZNB2DO2VL
Acquired resource 'USBSerialPort' (lab1/board-a/NetworkSerialPort/USBSerialPort):
  {'acquired': 'board-a',
   'params': {'host': 'x', 'port': 3333}}
Acquired resource 'NetworkService' (lab1/board-a/NetworkService/NetworkService):
  {'acquired': 'board-a',
   'avail': True,
   'cls': 'NetworkService',
   'params': {'address': '127.0.0.1',
              'extra': {'proxy': 'localhost', 'proxy_required': False},
              'port': 2222,
              'username': 'root'}}
";

    #[test]
    fn a_place_its_holder_and_its_board_are_read() {
        let places = parse_places(SHOWN);
        let [place] = places.as_slice() else { panic!("{places:?}") };
        assert_eq!(place.acquired.as_deref(), Some("vm/root"));
        assert!(place.is_reserved);
        let is = |text: &str| match format!("labgrid:{text}").parse() {
            Ok(Target::Labgrid(asked)) => place.is(&asked),
            other => panic!("{other:?}"),
        };
        assert!(is("board-a") && is("first") && is("arch=x86_64,board=a") && is("name=board-a"));
        assert!(!is("board") && !is("arch=x86_64,board=b"));
        assert_eq!(board_of(SHOWN).unwrap().to_string(), "ssh://root@127.0.0.1:2222");
    }

    #[test]
    fn a_board_that_cannot_be_reached_by_ssh_is_told() {
        let without = SHOWN.replace("/NetworkService/", "/NetworkPower/");
        assert!(board_of(&without).unwrap_err().starts_with("it has no NetworkService"));
        let option = SHOWN.replace("127.0.0.1", "-oProxyCommand=x");
        assert!(board_of(&option).unwrap_err().contains("expected ssh://"));
        assert!(board_of(&(SHOWN.to_string() + SHOWN)).unwrap_err().starts_with("it has 2"));
    }

    #[test]
    fn what_was_allocated_is_in_the_last_state_that_was_printed() {
        let waiting = "owner: vm/root\nstate: waiting\nfilters:\n  main: board=b\ntimeout: x\n";
        let allocated_now = "owner: vm/root\nstate: allocated\nfilters:\n  main: board=b\nallocations:\n  main: board-b\n";
        assert_eq!(allocated(waiting), None);
        assert_eq!(allocated(&format!("{waiting}{allocated_now}")).as_deref(), Some("board-b"));
    }
}
