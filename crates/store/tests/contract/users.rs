//! Users of the console: members, sessions, one-time links and failed sign-ins.

use domain::AccountId;
use domain::user::link::{LinkPurpose, LinkState};
use domain::user::role::Role;
use domain::user::session::MAX_SESSIONS;
use domain::user::slowing::{Attempt, FORGOTTEN_AFTER_MS};
use domain::user::{UserId, UserStatus};
use store::{
    Edit, Invited, Link, LinkUse, LinkUsed, MemberChanged, NewSession, NewUser, OpenSession,
};
use storekit::{Kit, NOW, by, fresh, twins};
use tokio::task::JoinSet;

twins!(
    an_address_belongs_to_one_user,
    a_session_is_found_until_it_ends,
    a_session_of_a_disabled_or_removed_user_is_refused,
    a_new_role_ends_the_sessions_in_its_account,
    a_new_password_ends_the_other_sessions,
    a_password_that_was_replaced_begins_no_session,
    a_renewed_session_has_another_secret,
    the_session_unused_longest_gives_way,
    the_last_owner_and_the_last_operator_stay,
    a_link_is_used_once_whoever_is_first,
    a_link_is_refused_after_its_end_and_for_another_purpose,
    one_operator_is_set_up_once,
    an_invitation_makes_a_member_when_it_is_accepted,
    an_account_has_as_many_members_as_allowed,
    a_reset_takes_the_place_of_the_one_before,
    a_step_and_a_recovery_code_are_used_once,
    attempts_at_the_same_moment_are_each_counted,
    a_success_frees_the_user_and_not_the_address,
    ended_sessions_links_and_failures_are_removed,
    no_secret_of_a_user_is_in_the_audit,
);

const HOUR: i64 = 3_600_000;
const PASSWORD: &str = "$argon2id$stored";

fn user(email: &str, password: Option<&str>) -> NewUser {
    NewUser {
        id: UserId(fresh()),
        email: email.to_owned(),
        name: "Ada".to_owned(),
        password: password.map(str::to_owned),
    }
}

/// A user with a password and a role.
async fn member(kit: &Kit, account: Option<AccountId>, role: Role) -> UserId {
    let user = user(&format!("u{}@example.ng", fresh()), Some(PASSWORD));
    let id = user.id;
    let created = kit.store.users().create(user, account, role, by(NOW)).await;
    assert!(created.unwrap());
    id
}

fn hash(number: i64) -> [u8; 32] {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    hash
}

fn session() -> NewSession {
    NewSession {
        hash: hash(fresh()),
        is_signed_in: true,
        expires_at_ms: NOW + HOUR,
        client: "203.0.113.9".to_owned(),
        agent: "Firefox on Linux".to_owned(),
    }
}

async fn signed_in(kit: &Kit, user: UserId, account: Option<AccountId>) -> [u8; 32] {
    let session = session();
    let hash = session.hash;
    let added = kit.store.sessions().add(user, account, session, by(NOW));
    added.await.unwrap();
    hash
}

async fn found(kit: &Kit, hash: &[u8; 32]) -> Option<OpenSession> {
    kit.store.sessions().find(hash, NOW).await.unwrap()
}

fn link(purpose: LinkPurpose, user: Option<UserId>) -> Link {
    Link {
        hash: hash(fresh()),
        purpose,
        user,
        account: None,
        role: None,
        created_at_ms: NOW,
        expires_at_ms: NOW + purpose.lifetime_ms(),
        used_at_ms: None,
    }
}

async fn consume(kit: &Kit, hash: [u8; 32], effect: LinkUse, at_ms: i64) -> LinkUsed {
    let links = kit.store.one_time_links();
    links.consume(hash, effect, None, by(at_ms)).await.unwrap()
}

async fn an_address_belongs_to_one_user(kit: &Kit) {
    let account = kit.account(0).await;
    let users = kit.store.users();
    for expected in [true, false] {
        let one = user("ada@example.ng", None);
        let created = users.create(one, Some(account), Role::Owner, by(NOW));
        assert_eq!(created.await.unwrap(), expected);
    }
    let found = users.find_by_email("ada@example.ng").await.unwrap();
    let found = found.unwrap();
    assert_eq!((found.user.name.as_str(), found.password), ("Ada", None));
    assert_eq!(users.find_by_email("Ada@example.ng").await.unwrap(), None);
    let listed = users.list(None, 10).await.unwrap();
    assert_eq!(listed, std::slice::from_ref(&found.user));
    let memberships = kit.store.members().of_user(found.user.id).await.unwrap();
    assert_eq!(memberships[0].account, Some(account));
    assert_eq!(memberships[0].account_name, "Example");
}

async fn a_session_is_found_until_it_ends(kit: &Kit) {
    let account = kit.account(0).await;
    let user = member(kit, Some(account), Role::Developer).await;
    let hash = signed_in(kit, user, Some(account)).await;
    let open = found(kit, &hash).await.unwrap();
    assert_eq!((open.session.user, open.role), (user, Role::Developer));
    assert_eq!(open.account_name, "Example");
    let sessions = kit.store.sessions();
    let late = sessions.find(&hash, NOW + HOUR).await.unwrap();
    assert_eq!(late, None);
    sessions.seen(hash, NOW + 1, NOW + 2 * HOUR).await.unwrap();
    let moved = sessions.find(&hash, NOW + HOUR).await.unwrap();
    assert_eq!(moved.unwrap().session.seen_at_ms, NOW + 1);
    assert_eq!(sessions.of_user(user, NOW).await.unwrap().len(), 1);
    assert!(sessions.end(hash).await.unwrap());
    assert!(!sessions.end(hash).await.unwrap());
    assert_eq!(found(kit, &hash).await, None);
}

async fn a_session_of_a_disabled_or_removed_user_is_refused(kit: &Kit) {
    let account = Some(kit.account(0).await);
    let (disabled, removed) = (
        member(kit, account, Role::Viewer).await,
        member(kit, account, Role::Viewer).await,
    );
    let hashes = [
        signed_in(kit, disabled, account).await,
        signed_in(kit, removed, account).await,
    ];
    let edit = Edit::Status(UserStatus::Disabled);
    let edited = kit.store.users().edit(disabled, edit, None, by(NOW)).await;
    assert!(edited.unwrap());
    let gone = kit
        .store
        .members()
        .set_role(removed, account, None, by(NOW));
    assert_eq!(gone.await.unwrap(), MemberChanged::Yes);
    for hash in hashes {
        assert_eq!(found(kit, &hash).await, None);
    }
    // A session that begins later is refused as well.
    let late = signed_in(kit, disabled, account).await;
    assert_eq!(found(kit, &late).await, None);
}

async fn a_new_role_ends_the_sessions_in_its_account(kit: &Kit) {
    let (one, other) = (kit.account(0).await, kit.account(0).await);
    let user = member(kit, Some(one), Role::Viewer).await;
    let invited = kit.store.users().find(user).await.unwrap().unwrap().user;
    let mut link = link(LinkPurpose::Invitation, None);
    (link.account, link.role) = (Some(other), Some(Role::Viewer));
    let hash = link.hash;
    let again = NewUser {
        id: UserId(fresh()),
        email: invited.email,
        name: String::new(),
        password: None,
    };
    let links = kit.store.one_time_links();
    let invited = links.invite(again, link, 9, by(NOW)).await.unwrap();
    assert_eq!(invited, Invited::Yes(user));
    let joined = consume(kit, hash, LinkUse::Join, NOW).await;
    assert_eq!(joined, LinkUsed::Yes(user, Some(other)));

    let here = signed_in(kit, user, Some(one)).await;
    let there = signed_in(kit, user, Some(other)).await;
    let role = Some(Role::Owner);
    let changed = kit.store.members().set_role(user, Some(one), role, by(NOW));
    assert_eq!(changed.await.unwrap(), MemberChanged::Yes);
    assert_eq!(found(kit, &here).await, None);
    assert_eq!(found(kit, &there).await.unwrap().role, Role::Viewer);
}

async fn a_new_password_ends_the_other_sessions(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    let (kept, ended) = (
        signed_in(kit, user, None).await,
        signed_in(kit, user, None).await,
    );
    let edit = Edit::Password("new".to_owned());
    let edited = kit
        .store
        .users()
        .edit(user, edit, Some(kept), by(NOW))
        .await;
    assert!(edited.unwrap());
    assert!(found(kit, &kept).await.is_some());
    assert_eq!(found(kit, &ended).await, None);
    let now = kit.store.users().find(user).await.unwrap().unwrap();
    assert_eq!(now.password.as_deref(), Some("new"));
}

async fn a_password_that_was_replaced_begins_no_session(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    let (users, sessions) = (kit.store.users(), kit.store.sessions());
    let add = async |checked| {
        let session = session();
        let hash = session.hash;
        let added = sessions.add_checked(checked, None, session, by(NOW));
        let added = added.await.unwrap();
        assert_eq!(found(kit, &hash).await.is_some(), added);
        added
    };
    let read = async || users.find(user).await.unwrap().unwrap();
    assert!(add(read().await).await);
    for edit in [
        Edit::Password("$argon2id$other".to_owned()),
        Edit::Status(UserStatus::Disabled),
    ] {
        let checked = read().await;
        assert!(users.edit(user, edit, None, by(NOW)).await.unwrap());
        assert!(!add(checked).await);
    }
}

async fn a_renewed_session_has_another_secret(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    let half = NewSession {
        is_signed_in: false,
        ..session()
    };
    let (old, new) = (half.hash, hash(fresh()));
    let sessions = kit.store.sessions();
    sessions.add(user, None, half, by(NOW)).await.unwrap();
    assert!(!found(kit, &old).await.unwrap().session.is_signed_in);
    let end_ms = NOW + 2 * HOUR;
    for expected in [true, false] {
        let renewed = sessions.renew((old, new), None, end_ms, by(NOW)).await;
        assert_eq!(renewed.unwrap(), expected);
    }
    assert_eq!(found(kit, &old).await, None);
    let open = found(kit, &new).await.unwrap().session;
    assert!(open.is_signed_in && open.expires_at_ms == end_ms);
}

async fn the_session_unused_longest_gives_way(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    let first = signed_in(kit, user, None).await;
    let mut last = first;
    for later in 1..=i64::try_from(MAX_SESSIONS).unwrap() {
        let one = session();
        last = one.hash;
        let added = kit.store.sessions().add(user, None, one, by(NOW + later));
        added.await.unwrap();
    }
    assert_eq!(found(kit, &first).await, None);
    assert!(found(kit, &last).await.is_some());
    let left = kit.store.sessions().of_user(user, NOW).await.unwrap();
    assert_eq!(left.len(), MAX_SESSIONS);
}

async fn the_last_owner_and_the_last_operator_stay(kit: &Kit) {
    let account = Some(kit.account(0).await);
    let (one, other) = (
        member(kit, account, Role::Owner).await,
        member(kit, account, Role::Owner).await,
    );
    let set = async |user, account, role| {
        let members = kit.store.members();
        members
            .set_role(user, account, role, by(NOW))
            .await
            .unwrap()
    };
    // Two owners who leave at the same moment do not both leave.
    let (first, second) = tokio::join!(set(one, account, None), set(other, account, None));
    let mut both = [first, second];
    both.sort_by_key(|changed| *changed != MemberChanged::Yes);
    assert_eq!(both, [MemberChanged::Yes, MemberChanged::Last]);
    let operator = member(kit, None, Role::Operator).await;
    assert_eq!(set(operator, None, None).await, MemberChanged::Last);
    assert_eq!(set(operator, account, None).await, MemberChanged::NoMember);
    assert!(kit.store.members().has_operator().await.unwrap());
}

async fn a_link_is_used_once_whoever_is_first(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    let one = link(LinkPurpose::Reset, Some(user));
    let hash = one.hash;
    let links = kit.store.one_time_links();
    links.add(one, by(NOW)).await.unwrap();
    let mut tasks = JoinSet::new();
    for at_ms in 0..8 {
        let store = kit.store.clone();
        tasks.spawn(async move {
            let effect = LinkUse::Reset(format!("password {at_ms}"));
            let links = store.one_time_links();
            links
                .consume(hash, effect, Some(session()), by(NOW + at_ms))
                .await
        });
    }
    let results: Vec<LinkUsed> = tasks
        .join_all()
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let count = |expected| results.iter().filter(|one| **one == expected).count();
    assert_eq!(count(LinkUsed::Yes(user, None)), 1);
    assert_eq!(count(LinkUsed::NotOpen(LinkState::Used)), 7);
    // The link of the one that came first began the only session.
    let sessions = kit.store.sessions().of_user(user, NOW).await.unwrap();
    assert_eq!(sessions.len(), 1);
}

async fn a_link_is_refused_after_its_end_and_for_another_purpose(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    let one = link(LinkPurpose::Reset, Some(user));
    let (hash, end_ms) = (one.hash, one.expires_at_ms);
    kit.store.one_time_links().add(one, by(NOW)).await.unwrap();
    let reset = || LinkUse::Reset("new".to_owned());
    let table = [
        (self::hash(fresh()), reset(), NOW, LinkUsed::Unknown),
        (hash, LinkUse::Demo, NOW, LinkUsed::Unknown),
        (hash, LinkUse::Join, NOW, LinkUsed::Unknown),
        (hash, reset(), end_ms, LinkUsed::NotOpen(LinkState::Expired)),
        (hash, reset(), end_ms - 1, LinkUsed::Yes(user, None)),
    ];
    for (hash, effect, at_ms, expected) in table {
        assert_eq!(consume(kit, hash, effect, at_ms).await, expected);
    }
}

async fn one_operator_is_set_up_once(kit: &Kit) {
    let (one, other) = (
        link(LinkPurpose::SetUp, None),
        link(LinkPurpose::SetUp, None),
    );
    let hashes = [one.hash, other.hash];
    for link in [one, other] {
        kit.store.one_time_links().add(link, by(NOW)).await.unwrap();
    }
    let first = user("ada@example.ng", Some(PASSWORD));
    let id = first.id;
    let used = consume(kit, hashes[0], LinkUse::SetUp(first), NOW).await;
    assert_eq!(used, LinkUsed::Yes(id, None));
    let second = user("uche@example.ng", Some(PASSWORD));
    let used = consume(kit, hashes[1], LinkUse::SetUp(second), NOW).await;
    assert_eq!(used, LinkUsed::Refused);
    let operators = kit.store.members().of_account(None, 10).await.unwrap();
    assert_eq!(operators.len(), 1);
}

async fn an_invitation_makes_a_member_when_it_is_accepted(kit: &Kit) {
    let account = Some(kit.account(0).await);
    let (links, members) = (kit.store.one_time_links(), kit.store.members());
    let invited = user("uche@example.ng", None);
    let id = invited.id;
    let mut invitation = link(LinkPurpose::Invitation, None);
    (invitation.account, invitation.role) = (account, Some(Role::Developer));
    let hash = invitation.hash;
    let invite = links.invite(invited, invitation.clone(), 9, by(NOW)).await;
    assert_eq!(invite.unwrap(), Invited::Yes(id));
    assert_eq!(members.of_account(account, 9).await.unwrap(), []);
    let open = links.invitations(account, NOW, 9).await.unwrap();
    assert_eq!((open.len(), open[0].role), (1, Role::Developer));
    // Without a password nobody joins, and nothing is used up.
    assert_eq!(
        consume(kit, hash, LinkUse::Join, NOW).await,
        LinkUsed::Refused
    );
    let join = LinkUse::JoinWithPassword("Uche".to_owned(), PASSWORD.to_owned());
    let joined = consume(kit, hash, join, NOW).await;
    assert_eq!(joined, LinkUsed::Yes(id, account));
    let joined = members.of_account(account, 9).await.unwrap();
    assert_eq!(
        (joined[0].user.name.as_str(), joined[0].role),
        ("Uche", Role::Developer)
    );
    assert_eq!(links.invitations(account, NOW, 9).await.unwrap(), []);
    let again = user("uche@example.ng", None);
    invitation.hash = self::hash(fresh());
    let invite = links.invite(again, invitation, 9, by(NOW)).await;
    assert_eq!(invite.unwrap(), Invited::Member);
}

async fn an_account_has_as_many_members_as_allowed(kit: &Kit) {
    let account = Some(kit.account(0).await);
    member(kit, account, Role::Owner).await;
    let links = kit.store.one_time_links();
    let invite = async |email: &str| {
        let mut one = link(LinkPurpose::Invitation, None);
        (one.account, one.role) = (account, Some(Role::Viewer));
        let invited = links.invite(user(email, None), one, 2, by(NOW)).await;
        invited.unwrap()
    };
    assert!(matches!(invite("a@example.ng").await, Invited::Yes(_)));
    assert_eq!(invite("b@example.ng").await, Invited::Full);
    // The same invitation again replaces the first one.
    let Invited::Yes(again) = invite("a@example.ng").await else {
        panic!("it was refused");
    };
    assert!(links.withdraw(again, account, by(NOW)).await.unwrap());
    assert!(!links.withdraw(again, account, by(NOW)).await.unwrap());
    assert!(matches!(invite("b@example.ng").await, Invited::Yes(_)));
}

async fn a_reset_takes_the_place_of_the_one_before(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    let links = kit.store.one_time_links();
    let both = [
        link(LinkPurpose::Reset, Some(user)),
        link(LinkPurpose::Reset, Some(user)),
    ];
    for one in both.clone() {
        links.add(one, by(NOW)).await.unwrap();
    }
    assert_eq!(links.find(&both[0].hash).await.unwrap(), None);
    let second = links.find(&both[1].hash).await.unwrap();
    assert_eq!(second.as_ref(), Some(&both[1]));
}

async fn a_step_and_a_recovery_code_are_used_once(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    let users = kit.store.users();
    let codes = |count: usize| vec!["code".to_owned(); count];
    let table = [
        (Edit::ConfirmSecondFactor(5, codes(3)), false),
        (Edit::RecoveryCodes(codes(3)), false),
        (Edit::NewSecondFactor(vec![1; 20]), true),
        (Edit::ConfirmSecondFactor(5, codes(3)), true),
        (Edit::ConfirmSecondFactor(6, codes(3)), false),
        (Edit::NewSecondFactor(vec![2; 20]), false),
        (Edit::UseStep(5), false),
        (Edit::UseStep(6), true),
        (Edit::UseStep(6), false),
        (Edit::UseRecoveryCode(codes(3), codes(2)), true),
        (Edit::UseRecoveryCode(codes(3), codes(2)), false),
        // New codes are not replaced by what is left of as many old ones.
        (Edit::RecoveryCodes(vec!["new".to_owned(); 2]), true),
        (Edit::UseRecoveryCode(codes(2), codes(1)), false),
        (Edit::RemoveSecondFactor, true),
        (Edit::UseStep(7), false),
    ];
    for (edit, expected) in table {
        let edited = users.edit(user, edit.clone(), None, by(NOW)).await.unwrap();
        assert_eq!(edited, expected, "{edit:?}");
    }
    let now = users.find(user).await.unwrap().unwrap();
    assert_eq!((now.totp_secret, now.totp_step), (None, None));
    assert_eq!(now.recovery_codes, codes(0));
}

fn attempt(email: &str, address: &str) -> Attempt {
    Attempt::new(email, address.parse().unwrap())
}

async fn attempts_at_the_same_moment_are_each_counted(kit: &Kit) {
    let mut tasks = JoinSet::new();
    for host in 0..20 {
        let store = kit.store.clone();
        tasks.spawn(async move {
            let one = attempt("ada@example.ng", &format!("203.0.113.{host}"));
            store.sign_in_failures().count(one, NOW).await.unwrap()
        });
    }
    let waits = tasks.join_all().await;
    // Five are free, and the sixth makes the next wait.
    assert_eq!(waits.iter().filter(|&&wait_ms| wait_ms == 0).count(), 6);
    let failures = kit.store.sign_in_failures();
    let elsewhere = attempt("ada@example.ng", "198.51.100.1");
    assert_eq!(failures.count(elsewhere.clone(), NOW).await.unwrap(), 1_000);
    assert_eq!(failures.count(elsewhere, NOW + 1_000).await.unwrap(), 0);
    let other = attempt("uche@example.ng", "203.0.113.1");
    assert_eq!(failures.count(other, NOW).await.unwrap(), 0);
}

async fn a_success_frees_the_user_and_not_the_address(kit: &Kit) {
    let failures = kit.store.sign_in_failures();
    let address = "203.0.113.9";
    for number in 0..20 {
        let one = attempt(&format!("u{number}@example.ng"), address);
        assert_eq!(failures.count(one, NOW).await.unwrap(), 0);
    }
    // The own success of a stranger gives back no more than its own attempt.
    for _ in 0..3 {
        let own = attempt("mallory@example.ng", address);
        assert_eq!(failures.count(own.clone(), NOW).await.unwrap(), 0);
        failures.succeeded(own).await.unwrap();
    }
    let last = attempt("ada@example.ng", address);
    assert_eq!(failures.count(last.clone(), NOW).await.unwrap(), 0);
    assert_eq!(failures.count(last, NOW).await.unwrap(), 1_000);
    let user = attempt("u0@example.ng", "198.51.100.1");
    failures.succeeded(user.clone()).await.unwrap();
    for _ in 0..6 {
        assert_eq!(failures.count(user.clone(), NOW).await.unwrap(), 0);
    }
    assert_eq!(failures.count(user, NOW).await.unwrap(), 1_000);
}

async fn ended_sessions_links_and_failures_are_removed(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    signed_in(kit, user, None).await;
    let one = link(LinkPurpose::Reset, Some(user));
    let links_end_ms = one.expires_at_ms + 7 * 24 * HOUR;
    kit.store.one_time_links().add(one, by(NOW)).await.unwrap();
    let failed = attempt("ada@example.ng", "203.0.113.9");
    kit.store
        .sign_in_failures()
        .count(failed, NOW)
        .await
        .unwrap();
    let counts = async || {
        kit.numbers(
            "select (select count(*) from sessions) * 100
                 + (select count(*) from one_time_links) * 10
                 + (select count(*) from sign_in_failures)",
        )
        .await[0]
    };
    for (now_ms, expected) in [
        (NOW + HOUR - 1, 112),
        (NOW + HOUR, 12),
        (NOW + FORGOTTEN_AFTER_MS - 1, 12),
        (NOW + FORGOTTEN_AFTER_MS, 10),
        (links_end_ms - 1, 10),
        (links_end_ms, 0),
    ] {
        while kit.store.users().remove_ended(now_ms).await.unwrap() {}
        assert_eq!(counts().await, expected, "{}", now_ms - NOW);
    }
}

async fn no_secret_of_a_user_is_in_the_audit(kit: &Kit) {
    let user = member(kit, None, Role::Operator).await;
    for edit in [
        Edit::Name("Ada 08031234567".to_owned()),
        Edit::Password("hash of a password".to_owned()),
        Edit::NewSecondFactor(b"secret of a factor".to_vec()),
        Edit::ConfirmSecondFactor(1, vec!["hash of a code".to_owned()]),
        Edit::RecoveryCodes(vec!["hash of a code".to_owned()]),
        Edit::UseRecoveryCode(vec!["hash of a code".to_owned()], Vec::new()),
        Edit::RemoveSecondFactor,
        Edit::Status(UserStatus::Disabled),
        Edit::Status(UserStatus::Active),
    ] {
        let edited = kit.store.users().edit(user, edit, None, by(NOW)).await;
        assert!(edited.unwrap());
    }
    let rows = "select verb || object || before || after from audit order by number";
    let rows = kit.texts(rows).await;
    assert_eq!(rows.len(), 9);
    for row in rows {
        let secrets = [
            "hash of",
            "secret of",
            PASSWORD,
            "example.ng",
            "08031234567",
        ];
        assert!(!secrets.iter().any(|secret| row.contains(secret)), "{row}");
    }
}
