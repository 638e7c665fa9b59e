use latlab_model::doctor::*;

#[test]
fn a_command_is_told_from_a_sentence() {
    for remedy in ["sysctl -w vm.swappiness=1", "echo 1 | tee {file}", "/sbin/x", "swapoff -a"] {
        assert!(is_command(remedy), "{remedy}");
    }
    for remedy in ["take a supply that is strong enough", "Boot another kernel.", ""] {
        assert!(!is_command(remedy), "{remedy}");
    }
}
