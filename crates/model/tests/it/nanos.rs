use latlab_model::nanos::*;

#[test]
fn reads_what_people_write() {
    let ok = |text: &str| text.parse::<Nanos>().unwrap().0;
    assert_eq!(ok("200us"), 200_000);
    assert_eq!(ok("1.5ms"), 1_500_000);
    assert_eq!(ok("1h30min"), 5_400_000_000_000);
    assert_eq!(ok("30 s"), 30_000_000_000);
    assert_eq!(ok("0"), 0);
    assert_eq!(ok("7µs"), 7_000);
}

#[test]
fn refuses_with_the_remedy() {
    let err = |text: &str| text.parse::<Nanos>().unwrap_err().to_string();
    assert!(err("abc").contains("expected a number"));
    assert!(err("200").contains("200us"));
    assert!(err("5 fortnights").contains("unknown unit"));
    assert!(err("").contains("not a duration"));
    assert!(err("-5us").contains("not a duration"));
    assert!(err("9999999d").contains("too long"));
}

#[test]
fn prints_the_unit_that_fits() {
    assert_eq!(Nanos(997_000).to_string(), "997 us");
    assert_eq!(Nanos(1_250_000).to_string(), "1.25 ms");
    assert_eq!(Nanos(-300).to_string(), "-300 ns");
    assert_eq!(Nanos(90_000_000_000).to_string(), "90 s");
    assert_eq!(Nanos(3_600_000_000_000 * 8).to_string(), "8 h");
    assert_eq!(Nanos(0).to_string(), "0 ns");
    assert_eq!(Nanos(3_600_000_000_000).to_string(), "1 h");
    assert_eq!(Nanos(5_400_000_000_000).to_string(), "90 min");
}

#[test]
fn durations_read_back_as_they_were() {
    for time in [0, 1, 997_000, 1_500_000, 1_234_567, 60_000_000_000, 18_000_000_000_000] {
        let text = duration(Nanos(time));
        assert_eq!(text.parse::<Nanos>().unwrap(), Nanos(time), "{text}");
    }
    assert_eq!(duration(Nanos::ZERO), "0");
    assert_eq!(duration(Nanos(60_000_000_000)), "60s");
    assert_eq!(duration(Nanos(18_000_000_000_000)), "5h");
}
