//! Remote commands of oscilloscopes: built-in definitions, and a file of the user's.

use latlab_model::respond::ScopeCommands;
use std::path::Path;

/// The built-in definitions, by maker.
const KNOWN: &[(&str, &str)] = &[
    ("keysight", include_str!("../../../scopes/keysight.toml")),
    ("rigol", include_str!("../../../scopes/rigol.toml")),
    ("rohde-schwarz", include_str!("../../../scopes/rohde-schwarz.toml")),
    ("tektronix", include_str!("../../../scopes/tektronix.toml")),
];

/// The commands for an instrument with this identity: from the file, if one is given. An error is
/// one line.
pub fn commands_for(identity: &str, file: Option<&Path>) -> Result<ScopeCommands, String> {
    if let Some(path) = file {
        let place = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read {place}: {error}"))?;
        let commands = parse(&place.to_string(), &text)?;
        return match fits(&commands, identity) {
            true => Ok(commands),
            false => Err(format!(
                "the instrument is '{identity}', and {place} is for {}",
                commands.identities.join(", ")
            )),
        };
    }
    for (name, text) in KNOWN {
        let commands = parse(name, text)?;
        if fits(&commands, identity) {
            return Ok(commands);
        }
    }
    Err(format!(
        "latlab has no commands for '{identity}': write them into a file and give it with \
         --scope-commands (see the guide 'Pin to pin')"
    ))
}

fn fits(commands: &ScopeCommands, identity: &str) -> bool {
    let identity = identity.to_ascii_uppercase();
    let begins = |known: &String| identity.starts_with(&known.to_ascii_uppercase());
    commands.identities.is_empty() || commands.identities.iter().any(begins)
}

fn parse(place: &str, text: &str) -> Result<ScopeCommands, String> {
    let commands: ScopeCommands = toml::from_str(text).map_err(|error| {
        let before = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text[..before].matches('\n').count() + 1;
        format!("{place}:{line}: {}", error.message().lines().collect::<Vec<_>>().join(" "))
    })?;
    match commands.done.is_empty() {
        true => Err(format!("{place}: 'done' lists no answer to '{}'", commands.state)),
        false => Ok(commands),
    }
}

/// Fills in the words for channels and edges; an error is one line.
pub fn filled(
    commands: ScopeCommands,
    (stimulus, response): (&str, &str),
    (rising, response_rising): (bool, bool),
) -> Result<ScopeCommands, String> {
    let edge = |rising: bool| match rising {
        true => commands.rising.as_str(),
        false => commands.falling.as_str(),
    };
    let words = [
        ("{stimulus}", stimulus),
        ("{response}", response),
        ("{edge}", edge(rising)),
        ("{response-edge}", edge(response_rising)),
    ];
    let mut all = commands.setup.iter().chain([&commands.arm, &commands.read]);
    if rising != response_rising && !all.any(|text| text.contains("{response-edge}")) {
        return Err("this oscilloscope measures between edges of one kind only: give --edge and \
                    --response-edge the same word"
            .to_string());
    }
    let fill = |text: &String| {
        words.iter().fold(text.clone(), |text, (word, value)| text.replace(word, value))
    };
    Ok(ScopeCommands {
        setup: commands.setup.iter().map(fill).collect(),
        arm: fill(&commands.arm),
        state: fill(&commands.state),
        read: fill(&commands.read),
        halt: fill(&commands.halt),
        ..commands
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oscilloscope_is_known_by_what_it_says_of_itself() {
        for (identity, read) in [
            ("KEYSIGHT TECHNOLOGIES,MSO-X 3024T,MY1,07.50", ":MEASure:DELay? CHANnel1,CHANnel3"),
            ("Agilent Technologies,DSO6014A,MY2,06.16", ":MEASure:DELay? CHANnel1,CHANnel3"),
            ("RIGOL TECHNOLOGIES,DS1054Z,DS1Z,00.04", ":MEASure:ITEM? RDELay,CHANnel1,CHANnel3"),
            ("TEKTRONIX,MDO3024,C01,CF:91.1CT", "MEASUrement:IMMed:VALue?"),
            ("Rohde&Schwarz,RTB2004,1333,02.4", "MEASurement1:RESult?"),
        ] {
            let commands = commands_for(identity, None).unwrap();
            let filled = filled(commands, ("1", "3"), (true, true)).unwrap();
            assert_eq!(filled.read, read);
            let all = filled.setup.iter().chain([&filled.arm, &filled.state, &filled.halt]);
            assert!(all.into_iter().all(|text| !text.contains('{')), "{filled:?}");
        }
        let unknown = commands_for("ACME,Scope 1,0,1.0", None).unwrap_err();
        assert!(unknown.contains("no commands for 'ACME,Scope 1,0,1.0'"));
    }

    #[test]
    fn edges_are_told_in_the_words_of_the_maker() {
        let keysight = commands_for("KEYSIGHT,X,1,1", None).unwrap();
        let mixed = filled(keysight, ("1", "2"), (true, false)).unwrap();
        assert_eq!(mixed.setup, [":MEASure:DEFine DELay,+1,-1"]);
        let rigol = commands_for("RIGOL TECHNOLOGIES,DS1104Z,1,1", None).unwrap();
        let falling = filled(rigol.clone(), ("1", "2"), (false, false)).unwrap();
        assert_eq!(falling.read, ":MEASure:ITEM? FDELay,CHANnel1,CHANnel2");
        assert!(filled(rigol, ("1", "2"), (true, false)).unwrap_err().contains("one kind only"));
    }

    #[test]
    fn a_file_with_a_mistake_is_refused_with_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let refused = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            commands_for("ACME,S,0,1", Some(file.path())).unwrap_err()
        };
        let whole = "arm = 'A'\nstate = 'S?'\ndone = ['1']\nread = 'R?'\nhalt = 'H'\n";
        assert!(refused(&format!("{whole}color = 3\n")).contains(":6: unknown field `color`"));
        assert!(refused("arm = 'A'\n").contains("missing field"));
        assert!(refused(&whole.replace("['1']", "[]")).contains("'done' lists no answer"));
        let other = refused(&format!("{whole}identities = ['OTHER']\n"));
        assert!(other.contains("the instrument is 'ACME,S,0,1', and"), "{other}");
        std::fs::write(file.path(), whole).unwrap();
        assert_eq!(commands_for("ACME,S,0,1", Some(file.path())).unwrap().read, "R?");
    }
}
