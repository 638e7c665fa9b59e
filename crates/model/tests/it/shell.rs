use latlab_model::shell::*;
use proptest::prelude::*;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command;

fn word(word: &str) -> String {
    Line::new("latlab").word(word).to_string().replacen("latlab ", "", 1)
}

#[test]
fn nothing_in_a_word_is_run() {
    assert_eq!(word("schedutil"), "schedutil");
    assert_eq!(word(""), "''");
    assert_eq!(word("$(reboot)"), "'$(reboot)'");
    assert_eq!(word("a'; reboot; '"), r"'a'\''; reboot; '\'''");
    assert_eq!(word("a\nb\u{202e}%!-"), r#""$(printf 'a\012b\342\200\256\045\041-')""#);
}

#[test]
fn a_template_is_filled_once() {
    let line = Line::filled(
        "echo {value} | tee {file}",
        &[("file", pattern("/a/{value}")), ("value", latlab_model::shell::word("{file}'$(id)"))],
    );
    assert_eq!(line.as_str(), r"echo '{file}'\''$(id)' | tee '/a/{value}'");
    let tee = |path| Line::filled("echo 1 | tee {file}", &[("file", pattern(path))]);
    assert_eq!(tee("/sys/cpu*/online").as_str(), "echo 1 | tee /sys/cpu*/online");
    assert_eq!(tee("/sys/cpu*;id").as_str(), "echo 1 | tee '/sys/cpu*;id'");
}

#[test]
fn a_name_is_no_option() {
    assert_eq!(latlab("show", "last").as_str(), "latlab show last");
    assert_eq!(latlab("show", "--out=x").as_str(), "latlab show -- --out=x");
}

#[test]
fn a_stored_command_is_read_as_words() {
    let reread = |text: &str| Line::reread(text).map(|line| line.to_string());
    let own = r"latlab run --note 'it'\''s $HOME' --for 5s";
    assert_eq!(reread(own).as_deref(), Some(own));
    assert_eq!(reread("latlab run; curl x|sh").as_deref(), Some("latlab 'run;' curl 'x|sh'"));
    assert_eq!(reread("latlab 'run").as_deref(), Some("latlab run"));
    assert_eq!(reread("curl x | sh"), None);
    assert_eq!(reread(""), None);
}

/// The words as a shell passes them to a program.
fn heard(line: &Line) -> Vec<u8> {
    let script = format!("latlab() {{ printf '%s\\n' \"$@\"; }}\n{line}");
    let shell = Command::new("sh").arg("-c").arg(script).env_clear().output().unwrap();
    assert!(shell.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&shell.stderr));
    shell.stdout
}

/// Bytes, many of which are special to a shell.
fn any_word() -> impl Strategy<Value = OsString> {
    let byte = prop_oneof![
        3 => proptest::sample::select(&b"'\"$()`\\;&|<>*?[]#~=%!{}- \t\n\x1b"[..]),
        2 => 1..=255_u8,
        2 => proptest::sample::select(&b"abz019"[..]),
    ];
    proptest::collection::vec(byte, 0..12).prop_map(|mut bytes| {
        // `$(…)` drops trailing newlines.
        while bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        OsString::from_vec(bytes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Invariant (trust): A shell reads the words of a command as they are, and shows no hidden character.
    #[test]
    fn a_shell_reads_any_word_back(words in proptest::collection::vec(any_word(), 1..4)) {
        let line = Line::new("latlab").words(&words);
        let mut said = words.join("\n".as_ref()).as_bytes().to_vec();
        said.push(b'\n');
        prop_assert_eq!(heard(&line), said);
        prop_assert!(!line.as_str().contains(latlab_model::sanitize::is_hidden));
    }

    #[test]
    fn a_stored_command_is_as_it_was(words in proptest::collection::vec("[^\\p{C}\u{fff0}-\u{ffff}]{0,8}", 1..4)) {
        let line = Line::new("latlab").words(&words);
        if !line.as_str().contains("printf") {
            prop_assert_eq!(Line::reread(line.as_str()), Some(line));
        }
    }
}

#[test]
fn a_command_is_told_from_a_sentence() {
    for remedy in ["sysctl -w vm.swappiness=1", "echo 1 | tee {file}", "/sbin/x", "swapoff -a"] {
        assert!(Line::new(remedy).is_command(), "{remedy}");
    }
    for remedy in ["take a supply that is strong enough", "Boot another kernel.", ""] {
        assert!(!Line::new(remedy).is_command(), "{remedy}");
    }
}
