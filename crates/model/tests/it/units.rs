use latlab_model::units::*;

#[test]
fn numbers_read_well() {
    let texts = [0, 999, 1_000, 120_361, 12_345_678].map(grouped);
    assert_eq!(texts, ["0", "999", "1 000", "120 361", "12 345 678"]);
    let texts = [0.000_025, 0.5, 1.0, 0.0, 3e-8].map(percent);
    assert_eq!(texts, ["0.0025 %", "50 %", "100 %", "0 %", "0.000003 %"]);
    assert_eq!([1, 1_234].map(|count| counted(count, "page", "pages")), ["1 page", "1 234 pages"]);
    assert_eq!(bytes(9_856_614), "9.4 MiB");
}
