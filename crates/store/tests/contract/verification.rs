//! `verify`: it finds no fault in a sound database, and each fault in others.

use domain::dnd::DndNumbers;
use domain::opt_out::OptOut;
use domain::otp::{CodeKind, NewOtp, OtpId, OtpMessage, OtpText};
use domain::{Environment, Gateway};
use std::sync::Arc;
use store::{
    Accepted, Batch, CarrierReport, Expiry, MessageKey, NewMessage, Outcome, Progress, QueueState,
    Requested, StopKind,
};
use storekit::{
    Kit, NOW, Sending, backup, backup_planner, by, delivered, keyed, message_id, number, report,
    sending, taken, twins, two_legs, undelivered,
};
use uuid::Uuid;

twins!(
    a_sound_database_has_no_violations,
    a_wallet_that_is_not_the_sum_of_its_entries_is_found,
    a_wallet_below_nothing_is_found,
    entries_without_a_wallet_are_found,
    a_message_not_charged_its_cost_is_found,
    a_sandbox_message_with_entries_is_found,
    a_message_that_gave_back_more_than_it_was_charged_is_found,
    a_recipient_refunded_more_than_its_charge_is_found,
    a_refund_without_a_final_status_is_found,
    deliveries_beyond_the_recipients_are_found,
    a_recipient_that_is_lost_is_found,
    a_cost_that_is_not_the_sum_of_the_charges_is_found,
    a_part_of_a_page_and_pages_that_the_text_has_not_are_found,
    a_recipient_that_nobody_gave_up_is_found,
    a_recipient_that_waits_beyond_its_time_is_found,
    verify_finds_outcomes_without_times_and_the_reverse,
    doubt_of_nobody_is_found,
    a_callback_before_the_outcome_is_found,
    receipts_for_nobody_are_found,
    deliveries_without_their_message_are_found,
    a_refund_that_is_owed_is_found,
    an_entry_that_the_audit_has_lost_is_found,
    an_answer_that_names_the_message_of_another_is_found,
    a_kept_answer_that_is_no_success_is_found,
    a_cancelled_recipient_without_its_whole_refund_is_found,
    a_cancelled_recipient_that_a_carrier_has_is_found,
    a_cancelled_recipient_of_a_message_that_goes_on_is_found,
    a_recipient_sent_before_its_time_is_found,
    a_paused_message_that_is_sent_or_held_by_a_node_is_found,
    a_pause_that_holds_recipients_of_a_carrier_is_found,
    a_message_that_waits_for_no_resume_is_found,
    a_stop_of_a_message_that_goes_on_is_found,
    a_one_time_password_of_another_is_found,
    a_one_time_password_with_surplus_attempts_is_found,
    an_inbound_message_of_no_account_is_found,
    opt_outs_that_were_not_counted_are_found,
    a_block_of_dnd_with_a_wrong_count_is_found,
    a_ledger_and_an_audit_that_can_be_changed_are_found,
);

async fn violations(kit: &Kit) -> Vec<String> {
    kit.store.upkeep().verify().await.unwrap().violations
}

fn hex(message: &NewMessage) -> String {
    message.id.0.simple().to_string()
}

/// Returns a message id as a literal of the database.
fn literal(kit: &Kit, message: &NewMessage) -> String {
    let hex = hex(message);
    if kit.is_sqlite() {
        format!("x'{hex}'")
    } else {
        format!("'\\x{hex}'::bytea")
    }
}

/// Makes a wrong ledger entry of so many naira.
async fn enter(kit: &Kit, message: &NewMessage, recipient: u64, kind: &str, naira: i64) {
    let account = message.draft.account;
    let (bucket, id) = (kit.store.bucket_of(account).0, literal(kit, message));
    let amount = naira * 10_000;
    kit.plant(&format!(
        "insert into ledger (bucket, account_id, subject, recipient, kind, component, amount, created_at_ms)
         values ({bucket}, {account}, {id}, {recipient}, '{kind}', 'sms_wallet', {amount}, {NOW});
         update wallets set sms_wallet = sms_wallet + {amount} where account_id = {account}",
    ))
    .await;
}

async fn a_sound_database_has_no_violations(kit: &Kit) {
    let id = kit.account(1_000).await;
    let refunding = Sending {
        recipients: 5,
        ..sending(id)
    }
    .message(&kit.store);
    kit.submit(&refunding).await;
    let [one, two, ..] = refunding.draft.recipients[..] else {
        unreachable!()
    };
    kit.report(report(vec![], vec![delivered(one), undelivered(two)]))
        .await;
    let dual = Sending {
        first_number: 20,
        ..two_legs(id)
    }
    .message(&kit.store);
    kit.submit(&dual).await;
    kit.report(report(vec![], vec![delivered(dual.draft.recipients[0])]))
        .await;
    let sandbox = Sending {
        environment: Environment::Sandbox,
        first_number: 30,
        ..sending(id)
    };
    kit.submit(&sandbox.message(&kit.store)).await;
    kit.accept(&sending(id).message(&kit.store)).await;
    let verification = kit.store.upkeep().verify().await.unwrap();
    assert_eq!(verification.violations, Vec::<String>::new());
    assert_eq!(verification.wallets, 1);
    assert_eq!(verification.messages, 4);
    assert_eq!(verification.deliveries, 7);
    assert_eq!(
        verification.entries, 6,
        "a credit, three charges, a refund, an unused leg"
    );
}

async fn a_wallet_that_is_not_the_sum_of_its_entries_is_found(kit: &Kit) {
    for column in domain::Component::ALL.map(domain::Component::as_str) {
        let id = kit.account(10).await;
        kit.plant(&format!(
            "update wallets set {column} = {column} + 1 where account_id = {id}"
        ))
        .await;
        let sentence = format!("the wallet of account {id} is not the sum of its ledger entries");
        assert!(violations(kit).await.contains(&sentence), "{column}");
    }
    assert_eq!(violations(kit).await.len(), 6);
}

async fn a_wallet_below_nothing_is_found(kit: &Kit) {
    for column in domain::Component::ALL.map(domain::Component::as_str) {
        let id = kit.account(10).await;
        let bucket = kit.store.bucket_of(id).0;
        // The tables refuse this, though the sums would be right.
        let unchecked = if kit.is_sqlite() {
            "pragma ignore_check_constraints = on".to_owned()
        } else {
            // The check of this component names two columns.
            let check = match column {
                "universal_wallet" => "wallets_check".to_owned(),
                _ => format!("wallets_{column}_check"),
            };
            format!("alter table wallets drop constraint {check}")
        };
        kit.plant(&format!(
            "{unchecked};
             insert into ledger (bucket, account_id, subject, recipient, kind, component, amount, created_at_ms)
             values ({bucket}, {id}, '', 0, 'charge', '{column}', -200000, {NOW});
             update wallets set {column} = {column} - 200000 where account_id = {id}"
        ))
        .await;
        let sentence = format!("the wallet of account {id} has a negative component");
        assert!(violations(kit).await.contains(&sentence), "{column}");
    }
    assert_eq!(violations(kit).await.len(), 6);
}

async fn entries_without_a_wallet_are_found(kit: &Kit) {
    let id = kit.account(10).await;
    kit.plant(&format!("delete from wallets where account_id = {id}"))
        .await;
    let sentence = format!("account {id} has ledger entries but no wallet");
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_message_not_charged_its_cost_is_found(kit: &Kit) {
    let message = sending(kit.account(10).await).message(&kit.store);
    kit.accept(&message).await;
    kit.plant("update messages set cost = cost - 1").await;
    let sentence = format!(
        "the live message {} was not charged exactly its cost",
        hex(&message)
    );
    assert!(violations(kit).await.contains(&sentence));
}

async fn a_sandbox_message_with_entries_is_found(kit: &Kit) {
    let base = Sending {
        environment: Environment::Sandbox,
        ..sending(kit.account(10).await)
    };
    let message = base.message(&kit.store);
    kit.accept(&message).await;
    enter(kit, &message, 0, "charge", -1).await;
    let sentence = format!("the sandbox message {} has ledger entries", hex(&message));
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_message_that_gave_back_more_than_it_was_charged_is_found(kit: &Kit) {
    let message = sending(kit.account(10).await).message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    kit.report(report(vec![], vec![undelivered(to)])).await;
    enter(kit, &message, to.digits() + 1, "refund", 1).await;
    let sentence = format!(
        "the message {} was refunded more than it was charged",
        hex(&message)
    );
    assert!(violations(kit).await.contains(&sentence));
}

async fn a_recipient_refunded_more_than_its_charge_is_found(kit: &Kit) {
    let message = Sending {
        recipients: 2,
        ..sending(kit.account(100).await)
    }
    .message(&kit.store);
    kit.submit(&message).await;
    let to = message.draft.recipients[0];
    kit.report(report(vec![], vec![undelivered(to)])).await;
    enter(kit, &message, to.digits(), "unused_leg", 1).await;
    let sentence = format!(
        "a recipient of message {} was refunded more than it was charged",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_refund_without_a_final_status_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    enter(
        kit,
        &message,
        message.draft.recipients[0].digits(),
        "refund",
        6,
    )
    .await;
    let sentence = format!(
        "a recipient of message {} was refunded without a final status",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn deliveries_beyond_the_recipients_are_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    kit.plant(
        "insert into deliveries (bucket, message_id, recipient, status, leg, pages, charge, carrier, submitted_at_s)
             select bucket, message_id, recipient + 1, status, leg, pages, charge, carrier, submitted_at_s
             from deliveries",
    )
    .await;
    let sentence = format!(
        "message {} has more deliveries than recipients",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_recipient_that_is_lost_is_found(kit: &Kit) {
    let sentence = |message: &NewMessage| {
        format!(
            "a recipient of message {} has no outcome, and no batch will send to it",
            hex(message)
        )
    };
    let waiting = sending(kit.account(100).await).message(&kit.store);
    kit.accept(&waiting).await;
    kit.plant("delete from batches").await;
    assert_eq!(violations(kit).await, [sentence(&waiting)]);
    let sent = Sending {
        recipients: 2,
        first_number: 20,
        ..sending(kit.account(100).await)
    }
    .message(&kit.store);
    kit.submit(&sent).await;
    assert_eq!(violations(kit).await, [sentence(&waiting)]);
    let number = sent.draft.recipients[0].digits();
    kit.plant(&format!(
        "delete from deliveries where recipient = {number}"
    ))
    .await;
    assert!(violations(kit).await.contains(&sentence(&sent)));
}

async fn a_cost_that_is_not_the_sum_of_the_charges_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    let sentence = format!(
        "the cost of message {} is not what its recipients were charged",
        hex(&message)
    );
    kit.plant("update batches set charge = charge + 1").await;
    assert_eq!(violations(kit).await, [sentence.as_str()], "as it waits");
    kit.plant("update batches set charge = charge - 1").await;
    let claimed = kit.claim(1).await;
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!(violations(kit).await, Vec::<String>::new());
    kit.plant("update deliveries set charge = charge + 1").await;
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_part_of_a_page_and_pages_that_the_text_has_not_are_found(kit: &Kit) {
    let message = Sending {
        pages: 2,
        ..two_legs(kit.account(100).await)
    }
    .message(&kit.store);
    kit.submit(&message).await;
    let sentence = format!(
        "a recipient of message {} pays for part of a page, or for more pages than its text has",
        hex(&message)
    );
    let sound = "pages = 2, charge = 100000, reserve = 40000";
    for (planted, found) in [
        ("charge = 100001", true),
        ("reserve = 40001", true),
        ("pages = 0", true),
        ("pages = 4", true),
        // The sender ID takes a page, and is not added for all recipients.
        ("pages = 1", false),
    ] {
        kit.plant(&format!("update deliveries set {planted}")).await;
        let is_found = violations(kit).await.contains(&sentence);
        assert_eq!(is_found, found, "{planted}");
        kit.plant(&format!("update deliveries set {sound}")).await;
    }
    assert_eq!(violations(kit).await, Vec::<String>::new());
}

/// The time is long after that of current sends.
const LATER: i64 = NOW + 2 * 86_400_000;

async fn give_up_later(kit: &Kit) {
    let expiry = Expiry {
        gateway: Gateway::DirectRefund,
        over_before_ms: LATER - 86_400_000,
        now_ms: LATER,
        planner: backup_planner(),
    };
    kit.expire(&expiry).await;
}

async fn a_recipient_that_nobody_gave_up_is_found(kit: &Kit) {
    let account = kit.account(100).await;
    let [in_time, late] = [1, 2].map(|first_number| {
        let one = sending(account);
        Sending {
            first_number,
            ..one
        }
        .message(&kit.store)
    });
    kit.submit(&in_time).await;
    let claimed = kit.accept_and_claim(&late).await;
    assert_eq!(violations(kit).await, Vec::<String>::new(), "not swept yet");
    give_up_later(kit).await;
    let taken = report(vec![taken(&claimed[0])], vec![]);
    kit.report(CarrierReport {
        now_ms: LATER,
        ..taken
    })
    .await;
    assert_eq!(violations(kit).await, Vec::<String>::new(), "sent after it");
    give_up_later(kit).await;
    kit.plant(&format!(
        "update deliveries set status = 'sent', settled_at_s = null
         where submitted_at_s = {NOW} / 1000"
    ))
    .await;
    let sentence = format!(
        "a recipient of message {} has no outcome, and has been passed by the sweep that gives up",
        hex(&in_time)
    );
    assert!(violations(kit).await.contains(&sentence));
}

async fn a_recipient_that_waits_beyond_its_time_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    assert_eq!(violations(kit).await, Vec::<String>::new(), "not swept yet");
    give_up_later(kit).await;
    let sentence = format!(
        "a recipient of message {} waits to be sent to, though those are given up that were long after it",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
    kit.plant("update batches set claimed_by = 7").await;
    assert_eq!(violations(kit).await, Vec::<String>::new(), "in hand");
}

async fn verify_finds_outcomes_without_times_and_the_reverse(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let sentence = format!(
        "a recipient of message {} was settled without an outcome or its time",
        hex(&message)
    );
    for planted in [
        format!("settled_at_s = {}", NOW / 1_000),
        "settled_at_s = null, status = 'delivrd'".to_owned(),
        format!("settled_at_s = {}, status = 'gone'", NOW / 1_000),
    ] {
        kit.plant(&format!("update deliveries set {planted}")).await;
        assert_eq!(violations(kit).await, [sentence.as_str()], "{planted}");
    }
}

async fn doubt_of_nobody_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let sentence = format!(
        "a recipient of message {} is in doubt and nobody knows with whom, or is not and somebody does",
        hex(&message)
    );
    for planted in ["status = 'in_doubt'", "status = 'sent', doubts = '1:1:mtn'"] {
        kit.plant(&format!("update deliveries set {planted}")).await;
        assert_eq!(violations(kit).await, [sentence.as_str()], "{planted}");
    }
}

async fn a_callback_before_the_outcome_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    kit.plant(
        "insert into outbox (bucket, state, account_id, destination, due_at_ms, event_id, kind, subject, recipient,
             payload, attempts, claimed_by, claimed_until_ms)
         select bucket, 'due', 1, 'https://a.example', 1, message_id, 'delivery_status', message_id, recipient,
             'delivrd', 0, 0, 0 from deliveries",
    )
    .await;
    let sentence = format!(
        "a callback or receipt of message {} has an outcome that its recipient does not have",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn receipts_for_nobody_are_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    kit.plant(
        "insert into outbox (bucket, state, account_id, destination, due_at_ms, event_id, kind, subject, recipient,
             payload, attempts, claimed_by, claimed_until_ms)
         select bucket, 'due', 1, 'smpp:nobody', 1, message_id, 'receipt', message_id, recipient, 'delivrd 1 0', 0, 0, 0
         from deliveries",
    )
    .await;
    kit.plant("update deliveries set status = 'delivrd', settled_at_s = submitted_at_s")
        .await;
    let sentence = "receipts wait for the SMPP user smpp:nobody, which does not exist";
    assert_eq!(violations(kit).await, [sentence]);
}

async fn deliveries_without_their_message_are_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    kit.plant("delete from messages").await;
    let sentence = format!(
        "message {} is missing, but its deliveries are not",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_refund_that_is_owed_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    kit.plant("update deliveries set status = 'undeliv', settled_at_s = submitted_at_s")
        .await;
    let sentence = format!(
        "a refund is missing for a live recipient of message {}",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn an_entry_that_the_audit_has_lost_is_found(kit: &Kit) {
    kit.account(10).await;
    let made = kit.store.audit().list(None, None, 10).await.unwrap().len();
    // The last entry leaves no gap.
    kit.plant(if kit.is_sqlite() {
        "drop trigger audit_loses_nothing; delete from audit where number = 2"
    } else {
        "drop trigger audit_keeps_entries on audit; delete from audit where number = 2"
    })
    .await;
    let sentence = format!("the audit does not have exactly the {made} entries that were made");
    assert!(violations(kit).await.contains(&sentence));
}

async fn an_inbound_message_of_no_account_is_found(kit: &Kit) {
    let insert = |id: u8, account: i64| {
        let digits = format!("{id:032x}");
        let id = if kit.is_sqlite() {
            format!("x'{digits}'")
        } else {
            format!("decode('{digits}', 'hex')")
        };
        format!(
            "insert into inbound_messages (inbound_id, account_id, carrier, number, sender,
                 keyword, complete, received_at_ms)
             values ({id}, {account}, 'mtn', '32811', '2348031234567', '', true, 1)"
        )
    };
    kit.plant(&insert(1, 0)).await;
    assert!(violations(kit).await.is_empty(), "the operator has it");
    kit.plant(&insert(2, 77)).await;
    let sentence = "inbound messages belong to account 77, which does not exist";
    assert_eq!(violations(kit).await, [sentence]);
}

async fn opt_outs_that_were_not_counted_are_found(kit: &Kit) {
    let account = kit.account(0).await;
    let opt_out = OptOut {
        id: message_id(NOW),
        account,
        recipient: number(1),
        sender: None,
        reason: None,
        created_at_ms: NOW,
    };
    let opt_outs = kit.store.opt_outs();
    let added = opt_outs.add(account, (vec![opt_out], None), None, by(NOW));
    assert!(matches!(added.await.unwrap(), Outcome::Made(_)));
    assert_eq!(violations(kit).await, [""; 0]);
    kit.plant("delete from opt_outs").await;
    let expected = format!(
        "account {} has another number of opt-outs than was counted",
        account.0
    );
    assert_eq!(violations(kit).await, [expected]);
}

async fn a_block_of_dnd_with_a_wrong_count_is_found(kit: &Kit) {
    let mut numbers = DndNumbers::default();
    assert!(numbers.insert(number(1)));
    let blocks = numbers.into_blocks();
    let block = blocks[0].0;
    kit.store.dnd().add(blocks, 1, by(NOW)).await.unwrap();
    assert_eq!(violations(kit).await, [""; 0]);
    kit.plant("update dnd_blocks set numbers = 2").await;
    let expected =
        format!("the block {block} of DND has another number of numbers than was counted");
    assert_eq!(violations(kit).await, [expected]);
}

async fn a_ledger_and_an_audit_that_can_be_changed_are_found(kit: &Kit) {
    let sentence = |table| {
        format!("the entries of the {table} can be changed or removed: no trigger refuses it")
    };
    let planted: &[(&str, &str)] = if kit.is_sqlite() {
        &[
            ("ledger", "drop trigger ledger_keeps_entries"),
            ("audit", "drop trigger audit_loses_nothing"),
        ]
    } else {
        &[
            (
                "ledger",
                "alter table ledger disable trigger ledger_keeps_entries",
            ),
            ("audit", "drop trigger audit_keeps_entries on audit"),
        ]
    };
    for (place, (table, planted)) in planted.iter().enumerate() {
        kit.plant(planted).await;
        let found = violations(kit).await;
        assert_eq!(found.len(), place + 1, "{found:?}");
        assert!(found.contains(&sentence(table)), "{found:?}");
    }
}

async fn an_answer_that_names_the_message_of_another_is_found(kit: &Kit) {
    let id = kit.account(100).await;
    let message = keyed(sending(id).message(&kit.store), "one", 1);
    kit.accept(&message).await;
    assert_eq!(violations(kit).await, Vec::<String>::new());
    kit.plant("update idempotency_keys set account_id = account_id + 1600")
        .await;
    let sentence = format!(
        "the answer of an idempotency key names message {}, which belongs to another account or environment",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_kept_answer_that_is_no_success_is_found(kit: &Kit) {
    let id = kit.account(100).await;
    kit.accept(&keyed(sending(id).message(&kit.store), "one", 1))
        .await;
    kit.plant("update idempotency_keys set status = 402").await;
    let sentence =
        format!("an idempotency key of account {id} keeps the answer of a refused request");
    assert_eq!(violations(kit).await, [sentence]);
}

/// Accepts a message and cancels it.
async fn cancelled(kit: &Kit) -> NewMessage {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    let key = MessageKey {
        account: message.draft.account,
        environment: message.draft.environment,
        message: message.id,
    };
    let changes = kit.store.changes();
    let requested = changes.request(key, StopKind::Cancel, NOW, None).await;
    let Requested::Stopping(stop) = requested.unwrap().unwrap().unwrap() else {
        panic!("it has an effect");
    };
    assert_eq!(violations(kit).await, Vec::<String>::new(), "as it begins");
    while !changes.step(&stop, NOW).await.unwrap().is_done {}
    assert_eq!(violations(kit).await, Vec::<String>::new(), "as it goes on");
    let finished = changes.finish_cancel(stop.bucket, stop.message, NOW);
    assert!(finished.await.unwrap());
    assert_eq!(violations(kit).await, Vec::<String>::new(), "as it ends");
    message
}

async fn a_cancelled_recipient_without_its_whole_refund_is_found(kit: &Kit) {
    let message = cancelled(kit).await;
    let sentence = format!(
        "a live recipient of message {} was cancelled, and is not refunded whole",
        hex(&message)
    );
    let unguard = if kit.is_sqlite() {
        "drop trigger ledger_keeps_entries"
    } else {
        "alter table ledger disable trigger ledger_keeps_entries"
    };
    kit.plant(unguard).await;
    kit.plant("update ledger set amount = amount - 10000 where kind = 'refund'")
        .await;
    assert!(violations(kit).await.contains(&sentence));
}

async fn a_cancelled_recipient_that_a_carrier_has_is_found(kit: &Kit) {
    let message = cancelled(kit).await;
    kit.plant("update deliveries set leg = 1").await;
    let sentence = format!(
        "a recipient of message {} was cancelled, and a carrier has it",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_cancelled_recipient_of_a_message_that_goes_on_is_found(kit: &Kit) {
    let message = cancelled(kit).await;
    kit.plant("update messages set cancelled_at_ms = null")
        .await;
    let sentence = format!(
        "a recipient of message {} was cancelled, and the message was not",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_recipient_sent_before_its_time_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let due = |shift_ms: i64| {
        let at_ms = NOW + shift_ms;
        format!("update messages set due_at_ms = {at_ms}, paused_for_ms = 60000")
    };
    kit.plant(&due(60_000)).await;
    assert_eq!(violations(kit).await, Vec::<String>::new(), "a pause");
    kit.plant(&due(600_000)).await;
    let sentence = format!(
        "a recipient of message {} was handed to a carrier before its time",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_paused_message_that_is_sent_or_held_by_a_node_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.plant(&format!("update messages set paused_at_ms = {NOW}"))
        .await;
    let held = format!(
        "message {} is paused, and a node has unsent recipients of it",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [held]);
    kit.report(report(vec![taken(&claimed[0])], vec![])).await;
    assert_eq!(violations(kit).await, Vec::<String>::new(), "sent before");
    kit.plant("update messages set paused_at_ms = paused_at_ms - 600000")
        .await;
    let sent = format!(
        "message {} is paused, and a carrier got some of it since",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sent]);
}

async fn a_pause_that_holds_recipients_of_a_carrier_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let first = &message.batches[0];
    let to = first.recipients[0];
    let second = backup(first.bucket, message.id, to, first.charge, first.reserve);
    let progress = Progress {
        again: vec![Batch {
            state: QueueState::Paused,
            ..second
        }],
        ..taken(&claimed[0])
    };
    kit.plant(&format!("update messages set paused_at_ms = {NOW}"))
        .await;
    kit.report(report(vec![progress], vec![])).await;
    let sentence = format!(
        "a recipient of message {} waits for a resume, and a carrier has it",
        hex(&message)
    );
    assert_eq!(violations(kit).await, std::slice::from_ref(&sentence));
    kit.report(report(vec![], vec![delivered(to)])).await;
    let ended = format!(
        "message {} waits for a resume, and all its recipients have ended",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence, ended]);
}

async fn a_message_that_waits_for_no_resume_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    kit.plant("update batches set claimed_by = -2").await;
    let sentence = format!(
        "message {} waits for a resume and is not paused",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

async fn a_stop_of_a_message_that_goes_on_is_found(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    kit.plant("insert into stops select bucket, message_id, false, 1 from messages")
        .await;
    let sentence = format!(
        "message {} is being stopped, and is not paused meanwhile",
        hex(&message)
    );
    assert_eq!(violations(kit).await, [sentence]);
}

/// Makes a one-time password. Returns its id in hexadecimal digits.
async fn one_time_password(kit: &Kit) -> String {
    let id = OtpId(Uuid::from_u128(7));
    let mut message = sending(kit.account(100).await).message(&kit.store);
    let draft = Arc::make_mut(&mut message.draft);
    draft.otp = Some(OtpMessage {
        text: OtpText {
            id,
            kind: CodeKind::Numeric,
            length: 6,
        },
        first: Some(NewOtp { max_attempts: 2 }),
        expires_at_ms: NOW + 600_000,
        fingerprint: draft.fingerprint,
        number_limit: 5,
    });
    let accepted = kit.accept(&message).await;
    assert!(matches!(accepted, Accepted::Yes { .. }), "{accepted:?}");
    assert_eq!(violations(kit).await, Vec::<String>::new());
    id.0.simple().to_string()
}

async fn a_one_time_password_of_another_is_found(kit: &Kit) {
    let id = one_time_password(kit).await;
    let sentence =
        format!("the one-time password {id} belongs to another account, environment or message");
    for planted in [
        "update otps set sandbox = not sandbox",
        "update otps set sandbox = not sandbox, account_id = account_id + 1600",
        "update otps set account_id = account_id - 1600; update messages set otp_id = null",
    ] {
        kit.plant(planted).await;
        let found = violations(kit).await;
        assert!(found.contains(&sentence), "{planted}: {found:?}");
    }
}

async fn a_one_time_password_with_surplus_attempts_is_found(kit: &Kit) {
    let id = one_time_password(kit).await;
    let sentence = format!(
        "the one-time password {id} had more attempts than it may have, or has two outcomes"
    );
    for planted in [
        "update otps set wrong_attempts = 3",
        "update otps set wrong_attempts = 2, verified = true, cancelled = true",
    ] {
        kit.plant(planted).await;
        assert_eq!(violations(kit).await, [sentence.as_str()], "{planted}");
    }
}
