//! Groups of contacts.

use domain::contacts::{Contact, MAX_CONTACTS, MAX_GROUPS};
use domain::{AccountId, Recipient};
use store::{ContactsAdded, GroupCreated};
use storekit::{Kit, NOW, number, twins};

twins!(
    a_group_belongs_to_its_account_alone,
    a_contact_is_in_a_group_once,
    groups_and_contacts_have_limits,
);

fn contact(index: usize, name: &str) -> Contact {
    Contact {
        recipient: number(index),
        name: name.to_owned(),
    }
}

async fn create(kit: &Kit, account: AccountId, id: i64, name: &str) -> GroupCreated {
    let created = kit
        .store
        .contacts()
        .create(account, (id, name.to_owned()), NOW);
    created.await.unwrap()
}

async fn numbers(kit: &Kit, id: i64) -> Vec<(Recipient, String)> {
    let all = kit.store.contacts().list(id, None, 9).await.unwrap();
    all.into_iter()
        .map(|one| (one.recipient, one.name))
        .collect()
}

async fn a_group_belongs_to_its_account_alone(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let contacts = kit.store.contacts();
    assert_eq!(create(kit, one, 1, "Kano").await, GroupCreated::Created);
    assert_eq!(create(kit, one, 2, "Kano").await, GroupCreated::NameTaken);
    assert_eq!(create(kit, two, 3, "Kano").await, GroupCreated::Created);
    let ada = vec![contact(1, "Ada")];
    let added = contacts.add(one, 1, ada.clone(), NOW).await.unwrap();
    assert_eq!(added, ContactsAdded::Added(1));
    assert_eq!(
        contacts.add(two, 1, ada, NOW).await.unwrap(),
        ContactsAdded::NoGroup
    );
    assert_eq!(contacts.group(two, 1).await.unwrap(), None);
    assert!(!contacts.remove_contact(two, 1, number(1)).await.unwrap());
    assert!(!contacts.remove(two, 1).await.unwrap());
    let groups = contacts.groups(one).await.unwrap();
    assert_eq!((groups.len(), groups[0].contacts), (1, 1));
    assert!(contacts.remove(one, 1).await.unwrap());
    assert_eq!(numbers(kit, 1).await, []);
    assert_eq!(contacts.groups(one).await.unwrap(), []);
    assert_eq!(contacts.groups(two).await.unwrap().len(), 1);
}

async fn a_contact_is_in_a_group_once(kit: &Kit) {
    let one = kit.account(0).await;
    let contacts = kit.store.contacts();
    create(kit, one, 1, "Kano").await;
    let all = vec![contact(2, "Bola"), contact(1, "Ada")];
    contacts.add(one, 1, all, NOW).await.unwrap();
    let again = vec![contact(1, "Another"), contact(3, "")];
    let added = contacts.add(one, 1, again, NOW + 1).await.unwrap();
    assert_eq!(added, ContactsAdded::Added(1));
    let [ada, bola, third] =
        [(1, "Ada"), (2, "Bola"), (3, "")].map(|(index, name)| (number(index), name.to_owned()));
    assert_eq!(numbers(kit, 1).await, [ada, bola.clone(), third]);
    assert!(contacts.remove_contact(one, 1, number(1)).await.unwrap());
    assert!(!contacts.remove_contact(one, 1, number(1)).await.unwrap());
    let behind = i64::try_from(number(2).digits()).ok();
    let rest = contacts.list(1, behind, 9).await.unwrap();
    assert_eq!(rest, [contact(3, "")]);
    assert_eq!(numbers(kit, 1).await[0], bola);
}

async fn groups_and_contacts_have_limits(kit: &Kit) {
    let one = kit.account(0).await;
    for id in 1..=MAX_GROUPS {
        let created = create(kit, one, id, &id.to_string()).await;
        assert_eq!(created, GroupCreated::Created);
    }
    assert_eq!(create(kit, one, 1_000, "more").await, GroupCreated::Full);
    let contacts = kit.store.contacts();
    let most = MAX_CONTACTS;
    let all = (0..most).map(|index| contact(index, "")).collect();
    let added = contacts.add(one, 1, all, NOW).await.unwrap();
    assert_eq!(added, ContactsAdded::Added(most as u64));
    let more = vec![contact(most, "")];
    assert_eq!(
        contacts.add(one, 1, more, NOW).await.unwrap(),
        ContactsAdded::Full
    );
    let known = vec![contact(0, "")];
    assert_eq!(
        contacts.add(one, 1, known, NOW).await.unwrap(),
        ContactsAdded::Added(0)
    );
}
