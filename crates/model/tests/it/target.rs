use latlab_model::target::*;

#[test]
fn a_target_reads_back_as_it_is_written() {
    for text in [
        "local",
        "lab:x86-64/stock-6.12,memory=96",
        "lab:x86-64/rt-6.1,realtime,smp=2",
        "lab:x86-64/rt-6.1,new-qemu,realtime",
        "lab:arm,kernel=/boot/zImage,modules=/lib/modules,dtb=board.dtb,memory=128",
        "ssh://pi",
        "ssh://root@board-7.lab.example:2222",
        "ssh://[fe80::1%eth0]:22",
        "ssh://me@[::1]",
        "labgrid:board-7",
        "labgrid:arch=arm64,rack=2",
    ] {
        let target: Target = text.parse().unwrap();
        assert_eq!(target.to_string(), text);
        let json = serde_json::to_string(&target).unwrap();
        assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), target);
    }
    assert_eq!("arm64/rt".parse::<Target>(), "lab:arm64/rt".parse());
    assert_eq!("ssh://pi:22/".parse::<Target>(), "ssh://pi:22".parse());
}

#[test]
fn no_part_of_a_board_can_be_an_option_or_a_command() {
    for text in [
        "ssh://",
        "ssh://-oProxyCommand=reboot",
        "ssh://-l@pi",
        "ssh://@pi",
        "ssh://pi:port",
        "ssh://pi:70000",
        "ssh://pi:0",
        "ssh://pi;reboot",
        "ssh://pi board",
        "ssh://pi/path",
        "ssh://[::1]22",
    ] {
        let error = text.parse::<Target>().unwrap_err();
        assert!(error.ends_with("expected ssh://[USER@]HOST[:PORT]"), "{text}: {error}");
    }
}

#[test]
fn what_is_no_target_is_refused_with_what_was_expected() {
    for (text, expected) in [
        ("scp://pi", "unknown kind of target 'scp:': expected local, lab:MACHINE/KERNEL, ssh"),
        ("labgrid:", "expected labgrid:PLACE or labgrid:TAG=VALUE"),
        ("labgrid:-x", "expected labgrid:PLACE"),
        ("labgrid:a b", "expected labgrid:PLACE"),
        ("labgrid:arch=arm64,,", "expected labgrid:PLACE"),
        ("lab:x86-64", "expected lab:MACHINE/KERNEL"),
        ("lab:arm64/rt,memory=x", "'memory=x': expected a whole number"),
        ("lab:arm64/rt,colour=red", "expected memory=MIB, new-qemu"),
        ("lab:arm64/rt,kernel=/boot/Image", "two kernels"),
        ("lab:arm64/rt,dtb=board.dtb", "need --kernel"),
        ("lab:arm64,kernel=", "expected a path"),
    ] {
        let error = text.parse::<Target>().unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn flags_win_over_the_options_in_the_text() {
    let flags = LabOptions {
        image: Some("/boot/Image".into()),
        cpus: Some(4),
        realtime: true,
        ..LabOptions::default()
    };
    let target = Target::with_options("lab:arm64,smp=2,memory=128", flags.clone()).unwrap();
    assert_eq!(target.to_string(), "lab:arm64,kernel=/boot/Image,memory=128,realtime,smp=4");
    for text in ["local", "ssh://pi", "labgrid:pi"] {
        let error = Target::with_options(text, flags.clone()).unwrap_err();
        assert!(error.contains("require lab:MACHINE"), "{error}");
    }
    let comma = LabOptions { image: Some("/a,b".into()), ..LabOptions::default() };
    let error = Target::with_options("lab:arm64", comma).unwrap_err();
    assert!(error.contains("without a comma"), "{error}");
}

#[test]
fn a_target_has_a_short_name_and_a_file_name() {
    for (text, short) in [
        ("lab:x86-64/rt-6.1,smp=2,realtime", "x86-64/rt-6.1,realtime,smp=2"),
        ("ssh://root@pi", "ssh://root@pi"),
        ("local", "local"),
    ] {
        let target: Target = text.parse().unwrap();
        assert_eq!(target.short_name(), short);
    }
    assert_eq!(short_name("pi"), "pi");
    let lab: LabTarget = "lab:arm64/rt-6.1,memory=128".parse().unwrap();
    assert_eq!(lab.file_name(), "arm64-rt-6.1-memory=128");
    for (text, name) in [("ssh://root@pi:22", "pi:22"), ("ssh://me@[::1]:22", "::1:22")] {
        let target: Target = text.parse().unwrap();
        assert_eq!(target.board().unwrap().file_name(), name);
    }
    assert!(matches!("labgrid:pi".parse::<Target>(), Ok(target) if target.board().is_none()));
}
