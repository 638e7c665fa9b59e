use latlab_model::shell::*;

#[test]
fn nothing_in_a_word_is_run() {
    assert_eq!(quoted("schedutil"), "schedutil");
    assert_eq!(quoted(""), "''");
    assert_eq!(quoted("$(reboot)"), "'$(reboot)'");
    assert_eq!(quoted("a'; reboot; '"), r"'a'\''; reboot; '\'''");
}
