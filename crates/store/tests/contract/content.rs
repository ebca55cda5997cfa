//! Prohibited phrases.

use storekit::{Kit, NOW, by, twins};

twins!(
    a_phrase_is_added_once_and_removed_once,
    editing_raises_the_revision_and_is_in_the_audit,
);

async fn add(kit: &Kit, phrase: &str) -> bool {
    let added = kit.store.content_rules().add(phrase.to_owned(), by(NOW));
    added.await.unwrap()
}

async fn remove(kit: &Kit, phrase: &str) -> bool {
    let removed = kit.store.content_rules().remove(phrase.to_owned(), by(NOW));
    removed.await.unwrap()
}

async fn a_phrase_is_added_once_and_removed_once(kit: &Kit) {
    assert!(add(kit, "ọjà ọfẹ").await);
    assert!(add(kit, "casino").await);
    assert!(!add(kit, "casino").await);
    let phrases = async || -> Vec<String> {
        let rules = kit.store.content_rules().all().await.unwrap();
        assert!(rules.iter().all(|rule| rule.added_at_ms == NOW));
        rules.into_iter().map(|rule| rule.phrase).collect()
    };
    assert_eq!(phrases().await, ["casino", "ọjà ọfẹ"]);
    assert!(remove(kit, "casino").await);
    assert!(!remove(kit, "casino").await);
    assert_eq!(phrases().await, ["ọjà ọfẹ"]);
}

async fn editing_raises_the_revision_and_is_in_the_audit(kit: &Kit) {
    let revision = async || kit.store.revisions().current().await.unwrap();
    let first = revision().await;
    assert!(add(kit, "call 08031234567").await);
    let second = revision().await;
    assert!(remove(kit, "call 08031234567").await);
    let third = revision().await;
    for (then, now) in [(first, second), (second, third)] {
        assert!(now.number > then.number);
        let changed = kit
            .store
            .revisions()
            .changed_accounts(then, now)
            .await
            .unwrap();
        assert_eq!(changed, Some([].into()), "they are nobody's");
    }
    let entries = kit.store.audit().list(None, None, 9).await.unwrap();
    let told: Vec<_> = entries
        .iter()
        .map(|entry| format!("{} {} {}", entry.verb, entry.before, entry.after))
        .collect();
    let rule = r#"{"phrase":"call 0803123****"}"#;
    assert_eq!(
        told,
        [
            format!("content.remove {rule} null"),
            format!("content.add null {rule}"),
        ]
    );
}
