//! Texts and references of the recipients of personalised messages.

use domain::{Recipient, RecipientText, RecipientTexts};
use std::collections::HashMap;
use std::sync::Arc;
use store::{Body, CallbackEvent, CallbackRoom, CarrierReport, NewMessage, OriginKey};
use storekit::{Kit, Sending, delivered, report, sending, twins};

twins!(
    a_claim_reads_the_texts_of_its_recipients,
    recipients_far_apart_get_their_texts,
    a_callback_has_the_reference_of_its_recipient,
    texts_and_references_go_with_their_message,
);

const URL: &str = "https://shop.example.ng/sms";
const ORIGIN: &str = "https://shop.example.ng:443";
const OWN: &str = "row-2";

fn text_of(recipient: Recipient) -> String {
    format!("Dear \"{recipient}\", ẹ kú àárọ̀")
}

fn has_own(recipient: Recipient) -> bool {
    recipient.digits().is_multiple_of(2)
}

/// Returns a message in which each recipient has a text, and each second one a reference.
fn personalised(kit: &Kit, sending: &Sending) -> NewMessage {
    let mut message = sending.message(&kit.store);
    let recipients = message.draft.recipients.clone();
    let texts: Vec<String> = recipients.iter().copied().map(text_of).collect();
    let both = recipients.iter().zip(&texts);
    let all = both.map(|(&recipient, text)| RecipientText {
        recipient,
        text,
        customer_reference: has_own(recipient).then_some(OWN),
    });
    let texts: RecipientTexts = all.collect();
    Arc::make_mut(&mut message.draft).texts = Some(Arc::new(texts));
    message
}

async fn a_claim_reads_the_texts_of_its_recipients(kit: &Kit) {
    let all = Sending {
        recipients: 450,
        ..sending(kit.account(10_000).await)
    };
    kit.accept(&personalised(kit, &all)).await;
    let mut found = HashMap::new();
    while found.len() < 450 {
        for claimed in kit.claim(70).await {
            let Body::Personalised(texts) = &claimed.content.body else {
                panic!("one text for all");
            };
            assert_eq!(texts.len(), claimed.batch.recipients.len());
            found.extend(texts.clone());
        }
    }
    assert!(found.iter().all(|(to, text)| *text == text_of(*to)));
}

async fn recipients_far_apart_get_their_texts(kit: &Kit) {
    let id = kit.account(10_000).await;
    let all = Sending {
        recipients: 450,
        ..sending(id)
    };
    let message = personalised(kit, &all);
    kit.accept(&message).await;
    let mut known = message.draft.recipients.clone();
    known.sort_unstable();
    let wanted = [known[449], known[0], known[150], Recipient::from_digits(1)];
    let texts = kit.store.recipients().texts(id, message.id, &wanted);
    let texts = texts.await.unwrap();
    let known = wanted[..3].iter().map(|&to| (to, text_of(to)));
    assert_eq!(texts, known.collect());
}

async fn a_callback_has_the_reference_of_its_recipient(kit: &Kit) {
    let id = kit.account(10_000).await;
    let all = Sending {
        recipients: 4,
        callback_url: Some(URL),
        ..sending(id)
    };
    let message = personalised(kit, &all);
    kit.submit(&message).await;
    let receipts = message.draft.recipients.iter().map(|&to| delivered(to));
    let report = CarrierReport {
        callback_room: CallbackRoom {
            live: 2,
            sandbox: 0,
        },
        ..report(vec![], receipts.collect())
    };
    let (settled, _) = kit.report(report).await;
    // The settle claims two callbacks, and two wait in the outbox.
    let mut callbacks = settled.callbacks;
    assert_eq!(callbacks.len(), 2);
    let of: OriginKey = (
        kit.store.bucket_of(id),
        id,
        domain::Environment::Live,
        ORIGIN.to_owned(),
    );
    let now_ms = storekit::NOW + 1;
    let (node, until_ms) = (storekit::NODE, now_ms + 30_000);
    let waiting = kit.store.outbox().claim(of, now_ms, 10, node, until_ms);
    callbacks.extend(waiting.await.unwrap());
    assert_eq!(callbacks.len(), 4);
    for callback in callbacks {
        let expected = if has_own(callback.recipient) {
            OWN
        } else {
            "order-1"
        };
        let CallbackEvent::Delivery {
            customer_reference, ..
        } = callback.event
        else {
            panic!("{callback:?}");
        };
        assert_eq!(customer_reference.as_deref(), Some(expected));
    }
}

async fn texts_and_references_go_with_their_message(kit: &Kit) {
    let all = Sending {
        recipients: 250,
        ..sending(kit.account(10_000).await)
    };
    let message = personalised(kit, &all);
    kit.submit(&message).await;
    let count = async |table: &str| kit.numbers(&format!("select count(*) from {table}")).await[0];
    assert_eq!(count("recipient_texts").await, 3);
    assert_eq!(count("recipient_references").await, 125);
    let before_ms = storekit::NOW + 86_400_000;
    let remove_texts = async || {
        for bucket in kit.store.buckets() {
            let step = kit.store.retention().remove_texts(bucket, before_ms, None);
            step.await.unwrap();
        }
    };
    remove_texts().await;
    assert_eq!(count("recipient_texts").await, 3, "it is not settled");
    let receipts = message.draft.recipients.iter().map(|&to| delivered(to));
    kit.report(report(vec![], receipts.collect())).await;
    remove_texts().await;
    assert_eq!(count("recipient_texts").await, 0);
    assert_eq!(count("recipient_references").await, 125);
    let mut left = 1;
    while left > 0 {
        for bucket in kit.store.buckets() {
            let step = kit
                .store
                .retention()
                .remove_messages(bucket, before_ms, None);
            step.await.unwrap();
        }
        left = count("messages").await;
    }
    assert_eq!(count("recipient_references").await, 0);
}
