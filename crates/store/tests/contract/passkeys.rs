//! Passkeys and their challenges.

use domain::user::UserId;
use domain::user::passkey::{CHALLENGE_MS, MAX_OPEN_OF_CLIENT, MAX_PASSKEYS};
use domain::user::role::Role;
use store::{Challenge, Edit, NewSession, NewUser, Passkey, PasskeyAdded, Store};
use storekit::{Kit, NOW, by, fresh, twins};
use tokio::task::JoinSet;

twins!(
    a_challenge_adds_one_passkey_and_ends_other_sessions,
    a_user_has_as_many_passkeys_as_allowed,
    a_challenge_belongs_to_its_user_and_its_time,
    a_challenge_takes_the_place_of_the_one_before,
    one_address_holds_a_bounded_number_of_challenges,
    a_state_of_a_passkey_is_used_once_whoever_is_first,
    a_removed_passkey_ends_other_sessions,
    the_removal_of_all_passkeys_ends_all_sessions,
    ended_challenges_are_removed,
);

fn hash(number: i64) -> [u8; 32] {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    hash
}

async fn operator(kit: &Kit) -> UserId {
    let user = NewUser {
        id: UserId(fresh()),
        email: format!("u{}@example.ng", fresh()),
        name: "Ada".to_owned(),
        password: None,
    };
    let (id, users) = (user.id, kit.store.users());
    let created = users.create(user, None, Role::Operator, by(NOW));
    assert!(created.await.unwrap());
    id
}

async fn signed_in(kit: &Kit, user: UserId) -> [u8; 32] {
    let session = session();
    let hash = session.hash;
    let added = kit.store.sessions().add(user, None, session, by(NOW));
    added.await.unwrap();
    hash
}

fn session() -> NewSession {
    NewSession {
        hash: hash(fresh()),
        is_signed_in: true,
        expires_at_ms: NOW + 3_600_000,
        client: "203.0.113.9".to_owned(),
        agent: "Firefox on Linux".to_owned(),
    }
}

fn passkey(user: UserId) -> Passkey {
    Passkey {
        credential: fresh().to_be_bytes().to_vec(),
        user,
        name: "Phone 08031234567".to_owned(),
        public_key: vec![1; 40],
        state: vec![2; 7],
        transports: 8,
        created_at_ms: NOW,
        used_at_ms: None,
    }
}

/// A challenge of a browser that has begun.
async fn begun(store: &Store, hash: [u8; 32], user: Option<UserId>) -> Challenge {
    let challenge = Challenge {
        hash,
        user,
        client: format!("198.51.100.{}", fresh() % 250),
        state: fresh().to_be_bytes().to_vec(),
        expires_at_ms: NOW + CHALLENGE_MS,
    };
    let passkeys = store.users().passkeys();
    assert!(passkeys.begin(challenge.clone(), NOW).await.unwrap());
    challenge
}

async fn added(kit: &Kit, challenge: &Challenge, passkey: &Passkey, at_ms: i64) -> PasskeyAdded {
    let passkeys = kit.store.users().passkeys();
    let added = passkeys.add(challenge.clone(), passkey.clone(), by(at_ms));
    added.await.unwrap()
}

/// A user with a passkey, and the session that added it.
async fn with_passkey(kit: &Kit) -> (Passkey, [u8; 32]) {
    let user = operator(kit).await;
    let own = signed_in(kit, user).await;
    let (challenge, passkey) = (begun(&kit.store, own, Some(user)).await, passkey(user));
    assert_eq!(
        added(kit, &challenge, &passkey, NOW).await,
        PasskeyAdded::Yes
    );
    (passkey, own)
}

async fn is_open(store: &Store, session: &[u8; 32]) -> bool {
    let found = store.sessions().find(session, NOW).await.unwrap();
    found.is_some()
}

async fn signs_in(store: &Store, passkey: &Passkey, after: u8) -> bool {
    let challenge = begun(store, hash(fresh()), None).await;
    let moved = (passkey.clone(), vec![after; 7]);
    let passkeys = store.users().passkeys();
    let session = session();
    let opened = session.hash;
    let signed_in = passkeys.sign_in(challenge, moved, None, session, by(NOW));
    let signed_in = signed_in.await.unwrap();
    assert_eq!(is_open(store, &opened).await, signed_in);
    signed_in
}

async fn a_challenge_adds_one_passkey_and_ends_other_sessions(kit: &Kit) {
    let user = operator(kit).await;
    let (own, other) = (signed_in(kit, user).await, signed_in(kit, user).await);
    let challenge = begun(&kit.store, own, Some(user)).await;
    let one = passkey(user);
    assert_eq!(added(kit, &challenge, &one, NOW).await, PasskeyAdded::Yes);
    assert!(is_open(&kit.store, &own).await && !is_open(&kit.store, &other).await);
    let again = added(kit, &challenge, &passkey(user), NOW).await;
    assert_eq!(again, PasskeyAdded::NoChallenge);
    let stranger = operator(kit).await;
    let second = begun(&kit.store, signed_in(kit, stranger).await, Some(stranger)).await;
    let same = Passkey {
        user: stranger,
        ..one.clone()
    };
    assert_eq!(added(kit, &second, &same, NOW).await, PasskeyAdded::Known);
    let passkeys = kit.store.users().passkeys();
    let found = passkeys.find(&one.credential).await.unwrap();
    assert_eq!(found.as_ref(), Some(&one));
    assert_eq!(passkeys.of_user(user).await.unwrap(), [one]);
    assert_eq!(passkeys.of_user(stranger).await.unwrap(), []);
    let verbs = kit.texts("select verb || after from audit order by number");
    let verbs = verbs.await;
    let entries: Vec<_> = verbs.iter().filter(|one| one.contains("passkey")).collect();
    assert_eq!(entries.len(), 1, "{verbs:?}");
    assert!(!entries[0].contains("08031234567"), "{verbs:?}");
}

async fn a_user_has_as_many_passkeys_as_allowed(kit: &Kit) {
    let user = operator(kit).await;
    let own = signed_in(kit, user).await;
    for number in 0..=MAX_PASSKEYS {
        let challenge = begun(&kit.store, own, Some(user)).await;
        let expected = if number < MAX_PASSKEYS {
            PasskeyAdded::Yes
        } else {
            PasskeyAdded::Full
        };
        assert_eq!(added(kit, &challenge, &passkey(user), NOW).await, expected);
    }
}

async fn a_challenge_belongs_to_its_user_and_its_time(kit: &Kit) {
    let (user, other) = (operator(kit).await, operator(kit).await);
    let own = signed_in(kit, user).await;
    let challenge = begun(&kit.store, own, Some(user)).await;
    let passkeys = kit.store.users().passkeys();
    for (now_ms, is_there) in [(NOW, true), (NOW + CHALLENGE_MS, false)] {
        let found = passkeys.challenge(&own, now_ms).await.unwrap();
        assert_eq!(found.is_some(), is_there, "{now_ms}");
    }
    let none = PasskeyAdded::NoChallenge;
    let foreign = added(kit, &challenge, &passkey(other), NOW).await;
    assert_eq!(foreign, none);
    let late = added(kit, &challenge, &passkey(user), NOW + CHALLENGE_MS).await;
    assert_eq!(late, none);
    passkeys.end(own).await.unwrap();
    assert_eq!(added(kit, &challenge, &passkey(user), NOW).await, none);
}

async fn a_challenge_takes_the_place_of_the_one_before(kit: &Kit) {
    let user = operator(kit).await;
    let own = signed_in(kit, user).await;
    let first = begun(&kit.store, own, Some(user)).await;
    let second = begun(&kit.store, own, Some(user)).await;
    let passkeys = kit.store.users().passkeys();
    let found = passkeys.challenge(&own, NOW).await.unwrap();
    assert_eq!(found.as_ref(), Some(&second));
    let old = added(kit, &first, &passkey(user), NOW).await;
    assert_eq!(old, PasskeyAdded::NoChallenge);
    let new = added(kit, &second, &passkey(user), NOW).await;
    assert_eq!(new, PasskeyAdded::Yes);
}

async fn one_address_holds_a_bounded_number_of_challenges(kit: &Kit) {
    let passkeys = kit.store.users().passkeys();
    let challenge = |client: &str, now_ms| Challenge {
        hash: hash(fresh()),
        user: None,
        client: client.to_owned(),
        state: vec![1; 30],
        expires_at_ms: now_ms + CHALLENGE_MS,
    };
    let begin = async |client, now_ms| {
        let begun = passkeys.begin(challenge(client, now_ms), now_ms);
        begun.await.unwrap()
    };
    for _ in 0..MAX_OPEN_OF_CLIENT {
        assert!(begin("203.0.113.7", NOW).await);
    }
    assert!(!begin("203.0.113.7", NOW).await);
    assert!(begin("203.0.113.8", NOW).await);
    assert!(begin("203.0.113.7", NOW + CHALLENGE_MS).await);
}

async fn a_state_of_a_passkey_is_used_once_whoever_is_first(kit: &Kit) {
    let (passkey, _) = with_passkey(kit).await;
    let mut tasks = JoinSet::new();
    for number in 0..6 {
        let (store, passkey) = (kit.store.clone(), passkey.clone());
        tasks.spawn(async move { signs_in(&store, &passkey, 10 + number).await });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|&&done| done).count(), 1);
    let passkeys = kit.store.users().passkeys();
    let now = passkeys.find(&passkey.credential).await.unwrap().unwrap();
    assert_eq!(now.used_at_ms, Some(NOW));
    assert!(!signs_in(&kit.store, &passkey, 3).await);
    assert!(signs_in(&kit.store, &now, 3).await);
    // A challenge is good for one sign-in.
    let challenge = begun(&kit.store, hash(fresh()), None).await;
    let now = passkeys.find(&passkey.credential).await.unwrap().unwrap();
    for expected in [true, false] {
        let moved = (now.clone(), now.state.clone());
        let again = passkeys.sign_in(challenge.clone(), moved, None, session(), by(NOW));
        assert_eq!(again.await.unwrap(), expected);
    }
}

async fn a_removed_passkey_ends_other_sessions(kit: &Kit) {
    let (passkey, own) = with_passkey(kit).await;
    let other = signed_in(kit, passkey.user).await;
    let passkeys = kit.store.users().passkeys();
    let foreign = Passkey {
        user: operator(kit).await,
        ..passkey.clone()
    };
    for (one, expected) in [(&foreign, false), (&passkey, true), (&passkey, false)] {
        let removed = passkeys.remove(one.clone(), own, by(NOW)).await.unwrap();
        assert_eq!(removed, expected);
        assert_eq!(is_open(&kit.store, &other).await, one == &foreign);
    }
    assert!(is_open(&kit.store, &own).await);
    assert!(!signs_in(&kit.store, &passkey, 3).await);
}

async fn the_removal_of_all_passkeys_ends_all_sessions(kit: &Kit) {
    let (passkey, own) = with_passkey(kit).await;
    let users = kit.store.users();
    let edited = users.edit(passkey.user, Edit::RemovePasskeys, None, by(NOW));
    assert!(edited.await.unwrap());
    assert!(!is_open(&kit.store, &own).await);
    assert_eq!(users.passkeys().of_user(passkey.user).await.unwrap(), []);
}

async fn ended_challenges_are_removed(kit: &Kit) {
    begun(&kit.store, hash(fresh()), None).await;
    let count = async || kit.numbers("select count(*) from passkey_challenges").await[0];
    for (now_ms, expected) in [(NOW + CHALLENGE_MS - 1, 1), (NOW + CHALLENGE_MS, 0)] {
        while kit.store.users().remove_ended(now_ms).await.unwrap() {}
        assert_eq!(count().await, expected);
    }
}
