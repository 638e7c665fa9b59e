use latlab_model::snapshot::*;

#[test]
fn a_star_stands_within_one_name() {
    assert!(matches_pattern("sys/cpu*/state*/name", "sys/cpu10/state2/name"));
    assert!(!matches_pattern("sys/cpu*/name", "sys/cpu1/state2/name"));
    assert!(!matches_pattern("sys/cpu*", "sys"));
    assert!(matches_pattern("sys/trip_*_temp", "sys/trip_point_0_temp"));
    assert!(!matches_pattern("sys/trip_*_temp", "sys/trip_point_0_type"));
    assert!(matches_pattern("sys/bus/", "sys/bus/") && !matches_pattern("sys/bus/", "sys/bus"));
}

#[test]
fn files_come_in_the_order_of_their_numbers() {
    let mut snapshot = Snapshot::default();
    for cpu in [10, 9, 2] {
        let text = Content::Text(cpu.to_string());
        snapshot.files.insert(format!("cpu{cpu}/value"), text);
    }
    let unreadable = Content::Unreadable { unreadable: "it hangs".into() };
    snapshot.files.insert("cpu3/value".into(), unreadable);
    let found = snapshot.matching("cpu*/value");
    assert_eq!(found, [("cpu2/value", "2"), ("cpu9/value", "9"), ("cpu10/value", "10")]);
    assert!(snapshot.has("cpu3/value") && snapshot.text("cpu3/value").is_none());
}

#[test]
fn what_is_no_snapshot_says_where_and_a_later_one_is_refused() {
    let error = |text: &str| Snapshot::from_json(text.as_bytes()).unwrap_err().to_string();
    let cut = error("{\"snapshot\": 1,\n \"files\": {\"a\": \"1\",");
    assert!(cut.starts_with("line 2 is not part of a snapshot: EOF"), "{cut}");
    assert!(error("{}").contains("missing field `snapshot`"));
    let number = error("{\"snapshot\": 1,\n\n \"files\": {\"a\": 1}}");
    assert!(number.starts_with("line 3 is not part of a snapshot: a file is neither"), "{number}");
    let newer = error("{\"snapshot\": 2, \"files\": []}");
    assert!(
        newer.contains("version 2") && newer.contains("use the latlab that wrote it"),
        "{newer}"
    );
    assert!(Snapshot::from_json(b"{\"snapshot\": 1, \"files\": {}}").is_ok());
}

#[test]
fn the_document_is_plain() {
    let text = r#"{"snapshot":1,"files":{"a":"1","b":{"unreadable":"no"},"c/":"d\ne"}}"#;
    let snapshot: Snapshot = serde_json::from_str(text).unwrap();
    assert_eq!(snapshot.value::<u8>("a"), Some(1));
    assert_eq!(snapshot.names("c/").collect::<Vec<_>>(), ["d", "e"]);
    assert_eq!(serde_json::to_string(&snapshot).unwrap(), text);
}
