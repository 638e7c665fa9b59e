use latlab_model::Nanos;
use latlab_model::gpio::*;

#[test]
fn lines_are_named_by_their_chip() {
    let line: GpioLine = "gpiochip0:17".parse().unwrap();
    assert_eq!((line.path().as_str(), line.offset), ("/dev/gpiochip0", 17));
    assert_eq!("/dev/gpiochip4:2".parse::<GpioLine>().unwrap().to_string(), "gpiochip4:2");
    for wrong in ["17", "gpiochip0", "gpiochip0:", "gpiochip0:x", ":3", "../gpiochip0:3"] {
        assert!(wrong.parse::<GpioLine>().unwrap_err().contains("gpiochip0:17"), "{wrong}");
    }
}

#[test]
fn a_wire_has_two_ends() {
    let line = |offset| GpioLine { chip: "gpiochip0".to_string(), offset };
    let wire = GpioWire {
        stimulus: line(1),
        loopback: line(2),
        answer: None,
        external: false,
        from_ns: Nanos(1_000_000),
        to_ns: Nanos(2_000_000),
    };
    assert_eq!(wire.check(), Ok(()));
    let twice = GpioWire { loopback: line(1), ..wire.clone() };
    assert!(twice.check().unwrap_err().contains("gpiochip0:1 cannot be two"));
    let fast = GpioWire { from_ns: Nanos(10), ..wire.clone() };
    assert!(fast.check().unwrap_err().contains("expected 50us"));
    let both = GpioWire { external: true, answer: Some(line(3)), ..wire };
    assert!(both.check().unwrap_err().contains("--external"));
}
