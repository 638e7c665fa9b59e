use latlab_model::plan::*;

#[test]
fn what_is_printed_is_read_back() {
    let refused = "".parse::<Tuning>().unwrap_err();
    for text in refused.split_once("expected ").unwrap().1.split(", ") {
        let text = text.replace("NAME", "performance").replace("PRIORITY", "80");
        let text = text.split('|').next().unwrap();
        assert_eq!(text.parse::<Tuning>().unwrap().to_string(), text);
    }
    assert_eq!("irqs".parse(), Ok(Tuning::IrqsAway), "its only value need not be said");
    let thread: Tuning = "irq-thread:a=b=7".parse().unwrap();
    assert_eq!(thread, Tuning::IrqThread { pattern: "a=b".into(), priority: 7 });
    assert_eq!(thread.name(), "irq-thread:a=b");
}

#[test]
fn mistakes_name_what_there_is() {
    for (text, expected) in [
        ("smt=off", "unknown tuning 'smt': expected governor=NAME, irqs=away"),
        ("", "unknown tuning ''"),
        ("irqs=here", "expected irqs=away"),
        ("rt-throttling=on", "expected rt-throttling=off"),
        ("thp=off", "thp=madvise"),
        ("thp", "thp=madvise"),
        ("governor", "governor=NAME"),
        ("governor=../x", "governor=NAME"),
        ("irq-thread:eth0", "irq-thread:PATTERN=PRIORITY"),
        ("irq-thread:=50", "irq-thread:PATTERN=PRIORITY"),
        ("irq-thread:eth0=100", "1 (low) to 99 (high)"),
    ] {
        let error = text.parse::<Tuning>().unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
