use latlab_model::cpu::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn what_is_printed_is_read_back(cpus in proptest::collection::btree_set(0u32..300, 0..40)) {
        let set: CpuSet = cpus.into_iter().collect();
        prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set);
    }
}

#[test]
fn masks_are_read_and_written_as_the_kernel_does() {
    for (mask, cpus) in [("f", "0-3"), ("8", "3"), ("1,00000003", "0-1,32"), ("c0", "6-7")] {
        let set: CpuSet = cpus.parse().unwrap();
        assert_eq!(CpuSet::from_mask(mask).as_ref(), Some(&set));
        assert_eq!(set.to_mask(), mask);
    }
    assert!(CpuSet::from_mask("x").is_none());
}

#[test]
fn refuses_nonsense() {
    for text in ["a", "3-1", "1-", "-1", "99999", "1;2"] {
        assert!(text.parse::<CpuSet>().is_err(), "{text}");
    }
}
