//! The shared fields of an account's messages are kept once (decision 0025), and each message is read back whole.

use super::kit::{Kit, NOW, Sending, report, sending, spread, twins, undelivered};
use domain::{AccountId, Gateway};
use std::collections::HashMap;
use store::{Accepted, NewMessage, Store};

/// Most profiles of an account.
const MOST: usize = 32;

twins!(
    messages_that_agree_share_a_profile_and_say_what_was_sent,
    messages_beyond_the_profiles_of_an_account_say_it_themselves,
    a_send_that_is_refused_makes_no_profile,
    a_process_that_starts_finds_the_profiles_that_are_there,
);
spread!(
    messages_that_agree_share_a_profile_and_say_what_was_sent,
    messages_beyond_the_profiles_of_an_account_say_it_themselves,
);

/// A message whose outcomes are POSTed to that path.
fn to_path(account: AccountId, path: &str) -> Sending {
    Sending {
        callback_url: Some(format!("https://ada.example.ng/{path}").leak()),
        ..sending(account)
    }
}

/// The profile of each message, in the order in which they were sent; `-` for one that has none.
async fn profiles(kit: &Kit) -> Vec<String> {
    let sql = "select coalesce(cast(profile as text), '-') from messages order by message_id";
    kit.texts(sql).await
}

async fn accepted(store: &Store, message: &NewMessage) {
    let answers = store.accept(NOW, vec![message.clone()]).await.unwrap();
    assert!(matches!(answers[..], [Accepted::Yes { .. }]), "{answers:?}");
}

/// Sends all of them, one after the other so that their ids are in order, and has them end.
async fn live_through(kit: &Kit, store: &Store, messages: &[NewMessage]) {
    for message in messages {
        accepted(store, message).await;
    }
    end(kit, messages).await;
}

/// Fails each message: the submit and the callback must match the send.
async fn end(kit: &Kit, messages: &[NewMessage]) {
    let claimed = kit.claim(messages.len()).await;
    let sent: HashMap<_, _> = messages.iter().map(|new| (new.id, &new.draft)).collect();
    assert_eq!(claimed.len(), messages.len());
    for claimed in &claimed {
        let draft = sent[&claimed.batch.message];
        let content = (&claimed.content.sender, claimed.content.gateway);
        assert_eq!(content, (&draft.sender, draft.gateway));
    }
    let taken = claimed.iter().map(super::kit::taken).collect();
    let failed = messages
        .iter()
        .map(|message| undelivered(message.draft.recipients[0]));
    let (settled, _) = kit.report(report(taken, failed.collect())).await;
    let mut told: Vec<(_, Option<String>)> = settled
        .callbacks
        .iter()
        .map(|callback| (callback.message, Some(callback.url.to_string())))
        .collect();
    told.sort();
    let mut expected: Vec<_> = messages
        .iter()
        .filter(|message| message.draft.callback_url.is_some())
        .map(|message| (message.id, message.draft.callback_url.clone()))
        .collect();
    expected.sort();
    assert_eq!(told, expected);
}

async fn messages_that_agree_share_a_profile_and_say_what_was_sent(kit: &Kit) {
    let (ours, theirs) = (kit.account(1_000).await, kit.account(1_000).await);
    let without = Sending {
        first_number: 4,
        ..sending(ours)
    };
    let over = Sending {
        gateway: Gateway::DirectCorporate,
        first_number: 5,
        ..to_path(ours, "a")
    };
    let numbered = |first_number, sending| Sending {
        first_number,
        ..sending
    };
    let all = [
        numbered(1, to_path(ours, "a")),
        numbered(2, to_path(ours, "b")),
        numbered(3, to_path(ours, "a")),
        without,
        over,
        numbered(6, to_path(ours, "b")),
    ];
    let all: Vec<NewMessage> = all
        .iter()
        .map(|sending| sending.message(&kit.store))
        .collect();
    live_through(kit, &kit.store, &all).await;
    // Who is the first of a profile says it all: it is made once that is accepted.
    assert_eq!(profiles(kit).await, ["-", "-", "0", "-", "-", "1"]);
    // Another account has its own.
    live_through(kit, &kit.store, &[to_path(theirs, "a").message(&kit.store)]).await;
    assert_eq!(
        kit.numbers("select count(*) from profiles").await,
        [5],
        "of both"
    );
    assert_eq!(
        kit.numbers(
            "select count(*) from messages where (gateway is null) <> (profile is not null)"
        )
        .await,
        [0]
    );
}

async fn messages_beyond_the_profiles_of_an_account_say_it_themselves(kit: &Kit) {
    let account = kit.account(1_000).await;
    let message = |place: usize| {
        let sending = Sending {
            first_number: place,
            ..to_path(account, &place.to_string())
        };
        sending.message(&kit.store)
    };
    let mut all: Vec<NewMessage> = (1..=MOST + 3).map(message).collect();
    // A message keeps its profile.
    let mut again = message(2);
    let number = MOST + 4;
    std::sync::Arc::make_mut(&mut again.draft).recipients = vec![super::kit::number(number)];
    again.batches[0].recipients = vec![super::kit::number(number)];
    all.push(again);
    live_through(kit, &kit.store, &all).await;
    let mut expected = vec!["-"; MOST + 3];
    expected.push("1");
    assert_eq!(profiles(kit).await, expected);
    let made = kit.numbers("select count(*) from profiles").await;
    assert_eq!(made, [i64::try_from(MOST).unwrap()]);
}

async fn a_send_that_is_refused_makes_no_profile(kit: &Kit) {
    let account = kit.account(10).await;
    let dear = Sending {
        price: 11,
        ..to_path(account, "dear")
    };
    let answers = [to_path(account, "a"), dear].map(|sending| sending.message(&kit.store));
    let answers = kit.store.accept(NOW, answers.into()).await.unwrap();
    assert!(
        matches!(answers[..], [Accepted::Yes { .. }, Accepted::No(_)]),
        "{answers:?}"
    );
    let urls = kit.texts("select callback_url from profiles").await;
    assert_eq!(urls, ["https://ada.example.ng/a"]);
}

async fn a_process_that_starts_finds_the_profiles_that_are_there(kit: &Kit) {
    let account = kit.account(1_000).await;
    let numbered = |first_number, path| Sending {
        first_number,
        ..to_path(account, path)
    };
    let before = [numbered(1, "a"), numbered(2, "b")];
    let before = before.map(|sending| sending.message(&kit.store));
    live_through(kit, &kit.store, &before).await;
    let started = kit.restarted().await;
    let after = [
        numbered(3, "b"),
        numbered(4, "c"),
        numbered(5, "a"),
        numbered(6, "c"),
    ];
    let after = after.map(|sending| sending.message(&kit.store));
    live_through(kit, &started, &after).await;
    // The first has the account looked up; nothing is made twice.
    assert_eq!(profiles(kit).await, ["-", "-", "-", "-", "0", "2"]);
    assert_eq!(kit.numbers("select count(*) from profiles").await, [3]);
    started.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_two_nodes_send_at_once_says_what_was_sent() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let other = kit.restarted().await;
    let account = kit.account(1_000).await;
    let message = |first_number: usize, path: String| {
        let sending = Sending {
            first_number,
            ..to_path(account, &path)
        };
        sending.message(&kit.store)
    };
    let mut all = Vec::new();
    for round in 0..8 {
        // Each finds the number that it gives out taken by the other, as often as not.
        let ours = message(4 * round + 1, format!("ours/{round}"));
        let theirs = message(4 * round + 2, format!("theirs/{round}"));
        tokio::join!(accepted(&kit.store, &ours), accepted(&other, &theirs));
        let again = message(4 * round + 3, format!("theirs/{round}"));
        let crossed = message(4 * round + 4, format!("ours/{round}"));
        tokio::join!(accepted(&kit.store, &again), accepted(&other, &crossed));
        all.extend([ours, theirs, again, crossed]);
    }
    end(&kit, &all).await;
    let twice = "select count(*) from profiles group by callback_url having count(*) > 1";
    assert_eq!(kit.numbers(twice).await, [] as [i64; 0]);
    other.close().await;
    kit.finish().await;
}
