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
