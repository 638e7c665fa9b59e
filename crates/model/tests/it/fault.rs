use latlab_model::fault::*;
use latlab_model::nanos::{MILLISECOND, SECOND};

#[test]
fn faults_are_read_as_people_write_them() {
    let fault = |text: &str| text.parse::<Fault>();
    let hog = fault("fifo-hog@2s:500ms:prio95").unwrap();
    assert_eq!((hog.kind, hog.priority), (InjectedFault::FifoHog, 95));
    assert_eq!((hog.at_ns, hog.length_ns), (SECOND * 2, MILLISECOND * 500));
    assert_eq!(fault("irqs-off").unwrap().length_ns, MILLISECOND * 2);
    for (text, says) in [
        ("earthquake", "expected irqs-off, printk-storm"),
        ("irqs-off@5", "has no unit"),
        ("irqs-off:prio9", "requires fifo-hog"),
        ("fifo-hog:prio100", "expected prio1 to prio99"),
        ("cpu-offline:20ms", "expected the number of a CPU"),
    ] {
        let error = fault(text).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_cpu_stands_where_others_have_a_length() {
    let fault: Fault = "cpu-offline@4s:3".parse().unwrap();
    assert_eq!((fault.at_ns, fault.cpu), (SECOND * 4, 3));
    assert_eq!(fault.to_string().parse(), Ok(fault));
}

#[test]
fn its_load_begins_before_the_measuring_and_says_so() {
    let fault: Fault = "irqs-off@5s:2ms".parse().unwrap();
    let load = fault.load("irqs-off@5s:2ms", SECOND);
    let word = load.processes[0].argv.last().unwrap().clone();
    assert_eq!(word.parse(), Ok(Fault { at_ns: SECOND * 6, ..fault }));
    assert_eq!(Fault::among(&[load]).collect::<Vec<_>>(), [fault]);
}
