use latlab_model::Nanos;
use latlab_model::edges::*;

#[test]
fn the_text_of_the_module_is_read_and_another_one_is_not() {
    let text = "1 2 300 4 500 5\n1000 1900\n3000 0\n";
    let edges = Edges::parse(0, text).unwrap();
    assert_eq!((edges.double, edges.spurious), (1, 2));
    assert_eq!(edges.interrupts.each_ns(), Some(75.0));
    assert_eq!(edges.threads, CpuUse { used_ns: Nanos(500), edges: 5 });
    let answered: Vec<_> = edges.edges.iter().map(|edge| edge.answered_ns).collect();
    assert_eq!(answered, [Some(Nanos(1900)), None]);
    for damaged in ["", "1 2 3 4 5\n", "1 2 3 4 5 6\n7\n", "1 2 3 4 5 6\nx 8\n"] {
        assert_eq!(Edges::parse(0, damaged), None, "{damaged}");
    }
}
