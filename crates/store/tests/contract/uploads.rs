//! Uploads of recipients.

use domain::AccountId;
use domain::upload::{KEPT_MS, MAX_UPLOADS};
use store::Upload;
use storekit::{Kit, NOW, fresh, twins};

twins!(
    an_upload_is_found_by_its_account_once_it_is_complete,
    an_account_has_as_many_uploads_as_it_may_have,
    an_upload_that_has_ended_is_removed_with_its_parts,
);

fn upload(account: AccountId) -> Upload {
    Upload {
        id: fresh(),
        account,
        name: "guests.xlsx".to_owned(),
        form: "XLSX".to_owned(),
        rows: 3,
        columns: 2,
        parts: 2,
        created_at_ms: NOW,
        expires_at_ms: NOW + KEPT_MS,
    }
}

/// An upload with two parts.
async fn complete(kit: &Kit, account: AccountId) -> Upload {
    let (uploads, one) = (kit.store.uploads(), upload(account));
    assert!(uploads.begin(one.clone(), MAX_UPLOADS).await.unwrap());
    for (part, octets) in [(0, vec![0, 255]), (1, Vec::new())] {
        uploads.add_part(one.id, part, octets).await.unwrap();
    }
    assert!(uploads.complete(one.clone()).await.unwrap());
    one
}

async fn an_upload_is_found_by_its_account_once_it_is_complete(kit: &Kit) {
    let (account, other) = (kit.account(0).await, kit.account(0).await);
    let (uploads, begun) = (kit.store.uploads(), upload(account));
    assert!(uploads.begin(begun.clone(), MAX_UPLOADS).await.unwrap());
    let find = async |account, id, at_ms| uploads.find(account, id, at_ms).await.unwrap();
    assert_eq!(find(account, begun.id, NOW).await, None);
    let one = complete(kit, account).await;
    assert_eq!(find(account, one.id, NOW).await, Some(one.clone()));
    assert_eq!(find(other, one.id, NOW).await, None);
    assert_eq!(find(account, one.id, NOW + KEPT_MS).await, None);
    let listed = uploads.list(account, NOW).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&one));
    assert_eq!(uploads.list(other, NOW).await.unwrap(), []);
    let parts = [Some(vec![0, 255]), Some(Vec::new()), None];
    for (part, octets) in (0..).zip(parts) {
        assert_eq!(uploads.part(one.id, part).await.unwrap(), octets);
    }
    assert!(!uploads.remove(other, one.id).await.unwrap());
    assert!(uploads.remove(account, one.id).await.unwrap());
    assert!(!uploads.remove(account, one.id).await.unwrap());
    assert_eq!(uploads.part(one.id, 0).await.unwrap(), None);
    assert!(!uploads.complete(one).await.unwrap());
}

async fn an_account_has_as_many_uploads_as_it_may_have(kit: &Kit) {
    let account = kit.account(0).await;
    let uploads = kit.store.uploads();
    for _ in 0..MAX_UPLOADS {
        assert!(uploads.begin(upload(account), MAX_UPLOADS).await.unwrap());
    }
    assert!(!uploads.begin(upload(account), MAX_UPLOADS).await.unwrap());
    let later = Upload {
        created_at_ms: NOW + KEPT_MS,
        ..upload(account)
    };
    assert!(uploads.begin(later, MAX_UPLOADS).await.unwrap());
    let other = upload(kit.account(0).await);
    assert!(uploads.begin(other, MAX_UPLOADS).await.unwrap());
}

async fn an_upload_that_has_ended_is_removed_with_its_parts(kit: &Kit) {
    let accounts = [kit.account(0).await, kit.account(0).await];
    for account in accounts {
        for _ in 0..MAX_UPLOADS {
            complete(kit, account).await;
        }
    }
    let counts = async || {
        kit.numbers(
            "select (select count(*) from uploads) * 100 + (select count(*) from upload_parts)",
        )
        .await[0]
    };
    for (at_ms, expected) in [(NOW + KEPT_MS - 1, 1_020), (NOW + KEPT_MS, 0)] {
        while kit.store.uploads().remove_ended(at_ms).await.unwrap() {}
        assert_eq!(counts().await, expected);
    }
}
