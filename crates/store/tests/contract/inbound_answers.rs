//! The commands of subscribers, and the answers to them.

use domain::inbound::{AnswerChange, AnswerTexts, Command, InboundMessage};
use domain::{AccountId, Recipient};
use std::collections::HashSet;
use store::{ArrivedPage, Kept, KeptPages, Outcome, SubscriberCommand, WaitingAnswer};
use storekit::{Kit, NOW, by, fresh, message_id, number, twins};

twins!(
    a_command_takes_effect_with_its_message,
    an_answer_waits_until_it_is_removed,
    a_change_of_answers_keeps_the_other_texts,
);

/// Keeps a message of a subscriber with a command to an account.
async fn command(
    kit: &Kit,
    account: AccountId,
    index: usize,
    command: Command,
) -> (Kept, InboundMessage) {
    // Each message arrives once.
    let id = fresh();
    let mut fingerprint = [0; 16];
    fingerprint[..8].copy_from_slice(&id.to_be_bytes());
    let page = ArrivedPage {
        id,
        carrier: "mtn".to_owned(),
        sender: number(index).to_string(),
        number: "32811".to_owned(),
        reference: fresh(),
        total: 1,
        page: 1,
        data_coding: 0,
        octets: b"STOP".to_vec(),
        received_at_ms: NOW,
        fingerprint,
        connection: fresh(),
    };
    let pages = KeptPages {
        pages: vec![page.clone()],
        ..KeptPages::default()
    };
    let kept = kit.store.inbound_pages().keep(domain::NodeId(1), pages);
    kept.await.unwrap();
    let message = InboundMessage {
        id: message_id(NOW),
        account: Some(account),
        route: None,
        carrier: "mtn".to_owned(),
        number: "32811".to_owned(),
        sender: number(index).to_string(),
        keyword: String::new(),
        complete: true,
        in_reply_to: None,
        received_at_ms: NOW,
        body: Some("STOP".to_owned()),
    };
    let command = SubscriberCommand {
        account,
        recipient: number(index),
        command,
        word: "stop".to_owned(),
        at_ms: NOW,
    };
    let inbound = kit.store.inbound_messages();
    let kept = inbound.keep(message.clone(), vec![page.id], (None, Some(command)));
    (kept.await.unwrap(), message)
}

async fn opted_out(kit: &Kit, account: AccountId) -> HashSet<Recipient> {
    let recipients = (0..5).map(number).collect();
    let opt_outs = kit.store.opt_outs();
    let found = opt_outs.of_recipients(account, "Ogene", recipients);
    found.await.unwrap()
}

async fn set(kit: &Kit, account: AccountId, change: AnswerChange) -> AnswerTexts {
    let answers = kit.store.inbound_answers();
    let set = answers.set_texts(account, change, None, by(NOW));
    match set.await.unwrap() {
        Outcome::Made(texts) => texts,
        other => panic!("{other:?}"),
    }
}

async fn a_command_takes_effect_with_its_message(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    for expected in [1, 1] {
        let (kept, _) = command(kit, one, 1, Command::Stop).await;
        assert_eq!(kept, Kept::Message, "no answer is set");
        let opted_out = opted_out(kit, one).await;
        assert_eq!(opted_out.len(), expected);
        assert!(opted_out.contains(&number(1)));
    }
    command(kit, one, 2, Command::Help).await;
    command(kit, two, 1, Command::Start).await;
    assert_eq!(opted_out(kit, one).await.len(), 1);
    let listed = kit.store.opt_outs().list(one, None, 9).await.unwrap();
    assert_eq!(listed[0].reason.as_deref(), Some("STOP"));
    assert!(!kit.store.opt_outs().were_used(two).await.unwrap());
    command(kit, one, 1, Command::Start).await;
    assert_eq!(opted_out(kit, one).await, HashSet::new());
    let verified = kit.store.upkeep().verify().await.unwrap();
    assert_eq!(verified.violations, [""; 0]);
}

async fn an_answer_waits_until_it_is_removed(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let stop = AnswerChange {
        stop: Some("You are out.".to_owned()),
        ..AnswerChange::default()
    };
    set(kit, one, stop).await;
    let (kept, message) = command(kit, one, 1, Command::Stop).await;
    assert_eq!(kept, Kept::WithAnswer);
    let (kept, _) = command(kit, two, 1, Command::Stop).await;
    assert_eq!(kept, Kept::Message, "another account has no answer");
    let answers = kit.store.inbound_answers();
    let waiting = async |behind| answers.waiting(behind, 9).await.unwrap();
    let expected = WaitingAnswer {
        inbound: message.id,
        account: one,
        number: "32811".to_owned(),
        recipient: number(1),
        body: "You are out.".to_owned(),
        kept_at_ms: NOW,
    };
    assert_eq!(waiting(None).await, [expected]);
    assert_eq!(waiting(Some(message.id)).await, []);
    assert!(answers.remove(message.id).await.unwrap());
    assert!(!answers.remove(message.id).await.unwrap());
    assert_eq!(waiting(None).await, []);
}

async fn a_change_of_answers_keeps_the_other_texts(kit: &Kit) {
    let account = kit.account(0).await;
    let answers = kit.store.inbound_answers();
    assert_eq!(
        answers.texts(account).await.unwrap(),
        AnswerTexts::default()
    );
    let change = |stop: Option<&str>, help: Option<&str>| AnswerChange {
        stop: stop.map(str::to_owned),
        start: None,
        help: help.map(str::to_owned),
    };
    let revision = "select value from marks where name = 'revision'";
    let before = kit.numbers(revision).await;
    set(kit, account, change(Some("Out"), Some("Call us"))).await;
    let texts = set(kit, account, change(None, Some(""))).await;
    let expected = AnswerTexts {
        stop: "Out".to_owned(),
        ..AnswerTexts::default()
    };
    assert_eq!(texts, expected);
    assert_eq!(answers.texts(account).await.unwrap(), expected);
    let after = kit.numbers(revision).await;
    assert_eq!(after, before, "no node reads its accounts again");
    let entries = "select after from audit where verb = 'inbound.answers' order by number";
    let entries = kit.texts(entries).await;
    assert_eq!(entries.len(), 2);
    assert!(!entries.concat().contains("Out"), "the audit has no texts");
}
