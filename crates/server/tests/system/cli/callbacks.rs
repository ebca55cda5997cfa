//! The commands for callbacks.

use crate::customer::Customer;
use crate::installation::Installation;
use serde_json::Value;

/// A command about the secrets of an account.
fn about<'a>(account: &'a str, words: &'a str) -> Vec<&'a str> {
    let mut all = vec!["callback", "secret"];
    all.extend(words.split(' '));
    all.extend(["--account", account]);
    all
}

#[test]
fn a_callback_secret_is_added_replaced_and_revoked() {
    let ogene = Installation::new();
    let account = Customer::new(&ogene, "10.00").account;
    let text = |json: &Value, name: &str| json[name].as_str().map(str::to_owned);
    let first = ogene.json(&about(&account, "create"));
    let secret = text(&first, "secret").expect("it is shown");
    assert!(secret.starts_with("whsec_") && secret.len() == 50);
    assert_eq!(text(&first, "user_id").as_deref(), Some(&*account));
    let (code, sentence) = ogene.failure(&about(&account, "create"));
    assert_eq!(code, Some(1));
    assert!(sentence.contains("callback secret rotate"), "{sentence}");

    let second = ogene.json(&about(&account, "rotate"));
    assert_ne!(text(&second, "secret"), text(&first, "secret"));
    let listed = ogene.rows(&about(&account, "list"));
    let ids = [&first, &second].map(|secret| text(secret, "secret_id"));
    assert_eq!([1, 0].map(|at| text(&listed[at], "secret_id")), ids);
    assert!(text(&listed[1], "ends_at").is_some());
    assert_eq!(text(&listed[0], "ends_at"), None);
    let output = ogene.run(&about(&account, "list"));
    for shown in [Value::from(listed).to_string().into_bytes(), output.stdout] {
        let shown = String::from_utf8(shown).expect("text");
        assert!(!shown.contains("whsec_") && !shown.contains(&secret[6..]));
    }

    let id = ids[0].as_deref().expect("an id");
    let one = [about(&account, "revoke"), vec!["--id", id]].concat();
    assert_eq!(ogene.json(&one)["revoked"], 1);
    let third = ogene.json(&about(&account, "rotate --overlap 0s"));
    let listed = ogene.rows(&about(&account, "list"));
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["secret_id"], third["secret_id"]);
    ogene.json(&about(&account, "revoke"));
    for words in ["revoke", "rotate"] {
        let (code, sentence) = ogene.failure(&about(&account, words));
        assert_eq!(code, Some(1));
        assert!(sentence.contains("are not signed"), "{sentence}");
    }
    let attempts = ogene.rows(&["callback", "attempts", "--account", &account]);
    assert!(attempts.is_empty(), "{attempts:?}");
    for words in ["attempts", "secret create"] {
        let words: Vec<&str> = words.split(' ').collect();
        let unknown = [&["callback"], &words[..], &["--account", "7"]].concat();
        assert!(ogene.failure(&unknown).1.contains("no account 7"));
    }
}
