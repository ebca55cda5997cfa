//! Prohibited phrases, as an operator adds, removes and tests them.

use crate::installation::Installation;
use serde_json::{Value, json};

#[test]
fn an_operator_edits_phrases_and_tests_texts_against_them() {
    let ogene = Installation::new();
    ogene.configure("[content]\nprohibited = [\"double your money\"]\n");
    ogene.json(&["migrate"]);
    let added = ogene.json(&["content", "add", "Free  CASINO!"]);
    assert_eq!(added["phrase"], "free casino");
    let (code, message) = ogene.failure(&["content", "add", "free casino"]);
    assert_eq!(
        (code, message.contains("already")),
        (Some(1), true),
        "{message}"
    );
    let listed = ogene.rows(&["content", "list"]);
    assert_eq!(
        listed[0],
        json!({ "phrase": "double your money", "added_at": null })
    );
    assert_eq!(listed[1]["phrase"], "free casino");
    assert!(listed[1]["added_at"].is_string());

    for (text, exit, phrase) in [
        ("A free casino for you", 1, json!("free casino")),
        ("DOUBLE your money", 1, json!("double your money")),
        ("Casinos", 0, Value::Null),
    ] {
        let output = ogene.run(&["content", "test", text, "--json"]);
        assert_eq!(output.status.code(), Some(exit), "{text}");
        let told: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
        assert_eq!(told["refused"], exit == 1, "{text}");
        assert_eq!(told.get("phrase").cloned().unwrap_or_default(), phrase);
    }
    let said = ogene.run(&["content", "test", "free casino"]).stdout;
    let said = String::from_utf8(said).expect("text");
    assert!(said.starts_with("Refused for `free casino`"), "{said}");

    ogene.json(&["content", "remove", "FREE casino"]);
    let output = ogene.run(&["content", "test", "free casino"]);
    assert_eq!(output.status.code(), Some(0));
    let (code, message) = ogene.failure(&["content", "remove", "double your money"]);
    assert_eq!(
        (code, message.contains("configuration")),
        (Some(1), true),
        "{message}"
    );
    let what = |entry: &Value| entry["what"].as_str().expect("a verb").to_owned();
    let verbs: Vec<_> = ogene.rows(&["audit"]).iter().map(what).collect();
    assert_eq!(verbs, ["content.remove", "content.add"]);
}
