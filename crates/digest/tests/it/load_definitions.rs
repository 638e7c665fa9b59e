//! The shipped definitions, and the errors for invalid ones.

use latlab_digest::load::{BUILTIN_LOADS, Definition, Kind, resolve};

fn shipped(name: &str) -> Definition {
    let (name, text) =
        BUILTIN_LOADS.iter().find(|(known, _)| *known == name).expect("a shipped one");
    Definition::parse(name, text).unwrap_or_else(|mistake| panic!("{name}: {mistake:?}"))
}

fn argv(words: &str) -> Vec<String> {
    let load = resolve(words, &shipped(latlab_digest::load::name_of(words)), None).unwrap();
    load.processes.last().unwrap().argv.clone()
}

fn refusal(words: &str) -> String {
    resolve(words, &shipped(latlab_digest::load::name_of(words)), None).unwrap_err()
}

#[test]
fn every_shipped_one_is_whole() {
    for (name, _) in BUILTIN_LOADS {
        let definition = shipped(name);
        let given: Vec<String> = definition
            .parameters
            .iter()
            .filter(|(_, parameter)| parameter.default.is_none())
            .map(|(name, parameter)| {
                assert_eq!(parameter.kind, Kind::Text, "{name}");
                format!(",{name}=x")
            })
            .collect();
        let load = resolve(&format!("{name}{}", given.concat()), &definition, None).unwrap();
        assert!(load.end.grace_ns.0 > 0 && !load.about.is_empty(), "{name}");
        let systems: Vec<&str> = load.packages.keys().map(String::as_str).collect();
        if *name != "command" {
            assert_eq!(systems, ["arch", "buildroot", "debian", "fedora", "yocto"], "{name}");
        }
    }
}

#[test]
fn words_become_arguments() {
    let line = |words| argv(words).join(" ");
    assert_eq!(
        line("hackbench,groups=4,options=--pipe -T"),
        "hackbench --groups 4 --fds 20 --loops 1000 --datasize 128 --pipe -T"
    );
    assert_eq!(
        line("stressapptest,memory-threads=8,megabytes=256,io-threads=2,net-threads=1"),
        "stressapptest -s 31536000 -m 8 -M 2048 -f io-0 -f io-1 --listen -n 127.0.0.1"
    );
    assert_eq!(
        argv("stress-ng,stressors=--cpu 2 --taskset 0,1")[5..],
        ["2", "--taskset", "0,1"],
        "a text may hold commas"
    );
    assert_eq!(argv("command,run=make -j4 A=1,B='a b'")[2], "make -j4 A=1,B='a b'");
    assert!(line("fio,block=64k,jobs=2").contains("--bs=65536 --size=67108864 --numjobs=2"));
}

#[test]
fn needs_are_products_of_parameters() {
    let load = resolve("hackbench,groups=4,fds=10", &shipped("hackbench"), None).unwrap();
    assert_eq!(load.needs.processes, 80);
    let words = "stressapptest,memory-threads=8,megabytes=256";
    let load = resolve(words, &shipped("stressapptest"), None).unwrap();
    assert_eq!(load.needs.memory_bytes, (8 * 256) << 20);
}

#[test]
fn mistakes_in_words_say_what_was_expected() {
    for (words, expected) in [
        ("hackbench,grups=4", "no parameter 'grups': takes bytes, fds, groups, loops, options"),
        ("hackbench,groups=many", "groups='many': expected a whole number"),
        ("hackbench,groups=0", "expected 1 or more"),
        ("hackbench,groups", "expected ARG=VALUE"),
        ("hackbench,groups=1,groups=2", "given twice"),
        ("stressapptest,megabytes=64,io=1", "no parameter 'io'"),
        ("stress-ng", "stressors is missing"),
        ("stress-ng,stressors='--cpu", "unmatched quotation mark"),
        ("fio,rw=backwards", "expected read, write"),
        ("hackbench,groups=9999999999999,fds=9999999999999", "too large"),
    ] {
        let error = refusal(words);
        assert!(error.contains(expected) && !error.contains('\n'), "{words}: {error}");
    }
}

#[test]
fn mistakes_in_files_say_where() {
    let about = "about = \"x\"\n";
    for (text, line, expected) in [
        ("about = 3", 1, "expected a string"),
        ("about = \"x\"\nprogam = \"y\"", 2, "unknown field `progam`"),
        ("about = \"x\"", 1, "missing field `process`"),
        (&format!("{about}[[process]]\nprogram = \"a\"\nargs = [\"{{n}}\"]"), 4, "parameter 'n'"),
        (
            &format!("{about}[[process]]\nprogram = \"a\"\nargs = [\"{{n\"]"),
            4,
            "unmatched opening brace",
        ),
        (
            &format!(
                "{about}[[process]]\nprogram = \"a\"\n[[rate]]\nname = \"r\"\nline = \"l\"\n\
                 pattern = '(?<rate>x)'"
            ),
            7,
            "(?<value>…)",
        ),
        (
            &format!(
                "{about}[[process]]\nprogram = \"a\"\n[parameters.n]\ntype = \"count\"\n\
                 about = \"n\"\ndefault = \"three\""
            ),
            4,
            "whole number",
        ),
        (&format!("{about}[[process]]\nprogram = \"a\"\n[end]\ngrace = \"soon\""), 5, "soon"),
    ] {
        let mistake = Definition::parse("x", text).unwrap_err();
        assert!(mistake.text.contains(expected), "{mistake:?}");
        assert_eq!(mistake.line, line, "{mistake:?}");
        assert!(!mistake.text.contains('\n'), "{mistake:?}");
    }
}
