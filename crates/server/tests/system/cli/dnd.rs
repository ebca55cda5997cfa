//! Numbers on DND.

use crate::installation::Installation;
use serde_json::json;
use std::fs;

#[test]
fn a_file_of_numbers_is_added_once() {
    let ogene = Installation::new();
    ogene.json(&["migrate"]);
    let file = ogene.path().join("dnd.csv");
    fs::write(
        &file,
        "msisdn;network\n0803 123 4567;mtn\n08051234568;glo\n",
    )
    .expect("a file");
    let file = file.to_str().expect("a path");
    let import = ["dnd", "import", file];
    let added = json!({"added": 2, "known": 0, "skipped": 1});
    assert_eq!(ogene.json(&import), added);
    let known = json!({"added": 0, "known": 2, "skipped": 1});
    assert_eq!(ogene.json(&import), known);
    let add = ["dnd", "add", "+2348090000000"];
    assert_eq!(ogene.json(&add)["added"], true);
    assert_eq!(ogene.json(&add)["added"], false);
    assert_eq!(ogene.json(&["dnd", "count"])["count"], 3);
    let remove = ["dnd", "remove", "08090000000"];
    assert_eq!(ogene.json(&remove)["removed"], 1);
    assert_eq!(ogene.json(&["dnd", "count"])["count"], 2);
    for (line, named) in [
        (&remove[..], "not on DND"),
        (&["dnd", "add", "12"], "Nigerian mobile number"),
        (&["dnd", "import", "not-there.csv"], "cannot be read"),
    ] {
        let (status, text) = ogene.failure(line);
        assert_eq!(status, Some(1));
        assert!(text.contains(named), "{text}");
    }
}

#[test]
fn a_large_import_is_many_short_commits() {
    let ogene = Installation::new();
    ogene.json(&["migrate"]);
    // Each number lies in a block of its own, and a commit has 500 blocks.
    let numbers = (0..1_001).map(|block| format!("0{}\n", 8_030_000_000_u64 + 8_192 * block));
    let file = ogene.path().join("dnd.txt");
    fs::write(&file, numbers.collect::<String>()).expect("a file");
    let import = ["dnd", "import", file.to_str().expect("a path")];
    assert_eq!(ogene.json(&import)["added"], 1_001);
    let entries = ogene.rows(&["audit"]);
    let parts = entries.iter().map(|entry| {
        let part = (&entry["what"], &entry["object"], &entry["after"]["numbers"]);
        json!(part)
    });
    let expected = [("part 3", 1), ("part 2", 500), ("part 1", 500)];
    let expected = expected.map(|(object, numbers)| json!(("dnd.import", object, numbers)));
    assert_eq!(parts.collect::<Vec<_>>(), expected);
}
