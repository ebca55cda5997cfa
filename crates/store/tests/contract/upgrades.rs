//! Data of an earlier release is read correctly.

use super::doubt::doubt;
use super::kit::{
    CARRIER, Kit, NOW, Sending, by, delivered, naira, report, sending, twins, undelivered,
};
use domain::DeliveryStatus;
use store::{CarrierReport, NewMessage, Progress};

twins!(
    what_was_in_doubt_before_an_upgrade_is_so_after_it,
    deliveries_before_an_upgrade_are_the_same_after_it,
    receipts_find_their_pages_after_an_upgrade_as_before,
    what_paid_before_an_upgrade_is_paid_back_after_it,
    entries_and_messages_before_an_upgrade_are_the_same_after_it,
    what_was_spent_before_an_upgrade_is_counted_after_it
);

async fn what_was_in_doubt_before_an_upgrade_is_so_after_it(kit: &Kit) {
    let base = Sending {
        pages: 3,
        ..sending(kit.account(100).await)
    };
    doubt(kit, &base).await;
    let upgrade = if kit.is_sqlite() {
        include_str!("../../migrations/sqlite/0012_doubts_by_leg.sql")
    } else {
        include_str!("../../migrations/postgres/0012_doubts_by_leg.sql")
    };
    let before = "drop index deliveries_in_doubt;
        alter table deliveries drop column doubts;
        alter table deliveries add column copy_carrier text;
        update deliveries set copy_carrier = 'glo', delivered_first = 2";
    let (_, upgrade) = upgrade.split_once('\n').unwrap();
    for statement in before
        .split(';')
        .chain(upgrade.trim().split_terminator(';'))
    {
        kit.plant(statement).await;
    }
    assert_eq!(
        kit.texts("select doubts from deliveries").await,
        ["1:5:mtn,glo"]
    );
}

/// How deliveries were stored until they took less room.
const FORMER: &str = "drop view messages_in_full;
    drop table parts;
    create table parts (bucket bigint not null, carrier text not null, carrier_id text not null, message_id BYTES not null,
        recipient bigint not null, leg bigint not null, page bigint not null, home bigint not null default 0);
    create table former as select bucket, message_id, recipient, status, leg,
        coalesce(failed_legs, 0) as failed_legs, pages, coalesce(delivered_first, 0) as delivered_first,
        coalesce(delivered_second, 0) as delivered_second, coalesce(gave_up, false) as gave_up,
        coalesce(suffixed, false) as suffixed, charge, coalesce(reserve, 0) as reserve, carrier,
        cast(submitted_at_s as bigint) * 1000 + 789 as submitted_at_ms,
        cast(settled_at_s as bigint) * 1000 + 789 as settled_at_ms, error, doubts
    from deliveries;
    drop table deliveries;
    alter table former rename to deliveries";

async fn deliveries_before_an_upgrade_are_the_same_after_it(kit: &Kit) {
    let id = kit.account(100).await;
    let ended = sending(id).message(&kit.store);
    kit.submit(&ended).await;
    kit.report(report(vec![], vec![delivered(ended.draft.recipients[0])]))
        .await;
    kit.submit(&sending(id).message(&kit.store)).await;
    doubt(
        kit,
        &Sending {
            pages: 3,
            ..sending(id)
        },
    )
    .await;
    kit.plant("update deliveries set suffixed = true, gave_up = true, failed_legs = 1, delivered_second = 3, reserve = 7
        where status = 'delivrd'").await;
    let columns = "recipient, status, leg, pages, charge, carrier, submitted_at_s, settled_at_s, delivered_first, \
        delivered_second, failed_legs, reserve, error, doubts, gave_up, suffixed";
    let told: Vec<String> = columns
        .split(", ")
        .map(|column| format!("coalesce(cast({column} as text), '-')"))
        .collect();
    let all = format!(
        "select {} from deliveries order by message_id, recipient",
        told.join(" || ' ' || ")
    );
    let before = kit.texts(&all).await;
    assert_eq!(before.len(), 3);
    let upgrade = if kit.is_sqlite() {
        include_str!("../../migrations/sqlite/0015_rows_that_fit.sql")
    } else {
        include_str!("../../migrations/postgres/0014_rows_that_fit.sql")
    };
    let octets = if kit.is_sqlite() { "blob" } else { "bytea" };
    let former = FORMER.replace("BYTES", octets);
    for statement in former
        .split(';')
        .chain(upgrade.trim().split_terminator(';'))
    {
        kit.plant(statement).await;
    }
    assert_eq!(kit.texts(&all).await, before);
}

/// How ids end, which says how they are cut: to the last sign where that is a letter or a digit.
const ENDS: [&str; 4] = ["1", "2", "A", "é"];

/// Stores the pages of a message as they were before they shared rows.
async fn put_back_rows_of_pages(kit: &Kit, message: &NewMessage, rows: &[String]) {
    let octets = message.id.0.simple();
    let (octets, kind) = if kit.is_sqlite() {
        (format!("x'{octets}'"), "blob")
    } else {
        (format!("decode('{octets}', 'hex')"), "bytea")
    };
    let (_, former) = FORMER.split_once("create table parts").unwrap();
    let (former, _) = former.split_once(';').unwrap();
    kit.run(&format!(
        "drop table parts; create table parts {}; insert into parts (bucket, carrier, carrier_id, message_id,
         recipient, leg, page, home) values {}",
        former.replace("BYTES", kind),
        rows.join(", ").replace("BYTES", &octets)
    ))
    .await
    .unwrap();
}

async fn receipts_find_their_pages_after_an_upgrade_as_before(kit: &Kit) {
    let base = Sending {
        recipients: ENDS.len() + 1,
        pages: 2,
        ..sending(kit.account(1_000).await)
    };
    let message = base.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    let id = |place: usize, page: usize| match ENDS.get(place) {
        Some(end) => format!("90{page}{end}"),
        None => page.to_string(),
    };
    let mut rows = Vec::new();
    let mut told = Vec::new();
    for claimed in claimed {
        let mut progress = Progress::of(claimed);
        for recipient in progress.batch.recipients.clone() {
            let place = rows.len() / 2;
            for page in 1..=2 {
                rows.push(format!(
                    "(0, '{CARRIER}', '{}', BYTES, {}, 1, {page}, {})",
                    id(place, page),
                    recipient.digits(),
                    progress.batch.bucket.0
                ));
            }
            let ids = (1..=2).map(|page| id(place, page)).collect();
            progress.submitted.push((recipient, ids));
        }
        told.push(progress);
    }
    kit.report(report(told, vec![])).await;
    put_back_rows_of_pages(kit, &message, &rows).await;
    kit.run(if kit.is_sqlite() {
        include_str!("../../migrations/sqlite/0017_pages_by_stem.sql")
    } else {
        include_str!("../../migrations/postgres/0017_pages_by_stem.sql")
    })
    .await
    .unwrap();
    // The ids that end in 1, 2 and A share a row for each page; ids of one character share one for both.
    assert_eq!(kit.numbers("select count(*) from parts").await, [5]);
    for page in 1..=2 {
        let receipts = (0..=ENDS.len()).map(|place| {
            let mut receipt = delivered(message.draft.recipients[place]);
            receipt.carrier_id = id(place, page);
            receipt
        });
        let heard = CarrierReport {
            now_ms: NOW + 1,
            ..report(vec![], receipts.collect())
        };
        assert_eq!(kit.report(heard).await.1, 0, "parked");
    }
    assert_eq!(
        kit.statuses(&message).await,
        [Some(DeliveryStatus::Delivered); ENDS.len() + 1]
    );
}

async fn what_paid_before_an_upgrade_is_paid_back_after_it(kit: &Kit) {
    let account = kit.account(100).await;
    let message = sending(account).message(&kit.store);
    kit.submit(&message).await;
    let paid = kit.balance(account).await;
    assert_eq!(
        kit.texts("select paid_from from messages").await,
        ["sms_wallet"]
    );
    // A component that paid all was stored with what it paid.
    kit.run("update messages set paid_from = 'sms_wallet:' || cost")
        .await
        .unwrap();
    let receipts = vec![undelivered(message.draft.recipients[0])];
    kit.report(report(vec![], receipts)).await;
    assert_eq!(kit.balance(account).await, naira(100));
    assert!(paid < naira(100));
}

/// How PostgreSQL stored them until wide columns stood first.
const OUT_OF_ORDER: &str = "drop view messages_in_full;
    create view messages_in_full as select 1;
    create table former as select bucket, message_id, account_id, sandbox, gateway, refund_undelivered, two_legs, sender,
        body, callback_url, customer_reference, cost, cast(page_count as bigint) as page_count, paid_from, recipients,
        callbacks_ended, profile from messages;
    drop table messages;
    alter table former rename to messages;
    create table former as select bucket, account_id, subject, recipient, kind, component, amount, created_at_ms, reference
        from ledger;
    drop table ledger;
    alter table former rename to ledger";

/// How the ledger of SQLite was stored until entries lay by their messages.
const BY_ACCOUNT: &str = "drop trigger ledger_keeps_entries;
    drop trigger ledger_loses_nothing;
    drop index ledger_credits;
    create table former (bucket bigint not null, account_id bigint not null, subject blob not null,
        recipient bigint not null, kind text not null, component text not null, amount bigint not null,
        created_at_ms bigint not null, reference text,
        primary key (bucket, account_id, subject, recipient, kind, component)) without rowid;
    insert into former select * from ledger;
    drop table ledger;
    alter table former rename to ledger;
    create unique index ledger_credits on ledger (bucket, account_id, reference) where kind = 'credit';
    create trigger ledger_keeps_entries before update on ledger
    begin select raise(abort, 'the ledger is append-only'); end;
    create trigger ledger_loses_nothing before delete on ledger
    begin select raise(abort, 'the ledger is append-only'); end;";

/// Puts the ledger back as it was stored before, and upgrades it: all must be as it was, and the ledger only added to.
async fn upgrade_ledger(kit: &Kit, back_and_up: [&str; 2], all: &str, before: Vec<String>) {
    for statements in back_and_up {
        kit.run(statements).await.unwrap();
    }
    assert_eq!(kit.texts(all).await, before);
    for change in ["delete from ledger", "update ledger set amount = 0"] {
        assert!(kit.run(change).await.is_err(), "it is only added to");
    }
}

async fn entries_of_sqlite_are_the_same_after_an_upgrade(kit: &Kit) {
    for _ in 0..2 {
        let message = sending(kit.account(100).await).message(&kit.store);
        kit.submit(&message).await;
    }
    let all = "select quote(bucket) || quote(account_id) || quote(subject) || quote(recipient) || quote(kind)
            || quote(component) || quote(amount) || quote(created_at_ms) || quote(reference)
        from ledger union all
        select sql from sqlite_schema where tbl_name = 'ledger' and sql is not null order by 1";
    let before = kit.texts(all).await;
    assert_eq!(
        before.len(),
        4 + 4,
        "two credits, two charges; how they are kept"
    );
    let upgrade = include_str!("../../migrations/sqlite/0020_ledger_by_message.sql");
    upgrade_ledger(kit, [BY_ACCOUNT, upgrade], all, before).await;
}

async fn entries_and_messages_before_an_upgrade_are_the_same_after_it(kit: &Kit) {
    if kit.is_sqlite() {
        return entries_of_sqlite_are_the_same_after_an_upgrade(kit).await;
    }
    // It came later, and goes with the former table.
    kit.run("drop index messages_of_sandbox").await.unwrap();
    let account = kit.account(100).await;
    let message = sending(account).message(&kit.store);
    kit.submit(&message).await;
    kit.accept(&sending(account).message(&kit.store)).await;
    let all = "select cast(to_jsonb(l) as text) from ledger l union all
        select cast(to_jsonb(m) as text) from messages m union all
        select cast(to_jsonb(f) as text) from messages_in_full f union all
        select indexdef from pg_indexes where schemaname = current_schema()
            and tablename in ('ledger', 'messages') order by 1";
    let before = kit.texts(all).await;
    assert_eq!(
        before.len(),
        3 + 2 + 2 + 3,
        "a credit, two sends, three keys"
    );
    let upgrade = include_str!("../../migrations/postgres/0020_columns_in_order.sql");
    upgrade_ledger(kit, [OUT_OF_ORDER, upgrade], all, before).await;
}

async fn what_was_spent_before_an_upgrade_is_counted_after_it(kit: &Kit) {
    let (unlimited, limited, idle) = (
        kit.account(100).await,
        kit.account(100).await,
        kit.account(100).await,
    );
    let set = kit.store.set_daily_limit(limited, Some(naira(90)), by(NOW));
    assert!(set.await.unwrap());
    for account in [unlimited, limited] {
        for (first_number, day, recipients) in [(1, 1, 4), (50, 0, 2), (90, 0, 1)] {
            let accepted_at_ms = NOW - day * 86_400_000;
            let message = Sending {
                recipients,
                first_number,
                accepted_at_ms,
                ..sending(account)
            };
            let message = message.message(&kit.store);
            kit.store
                .accept(accepted_at_ms, vec![message])
                .await
                .unwrap();
        }
    }
    // As releases before did it.
    kit.plant("update wallets set spent_day = 0, spent_today = 0 where limit_per_day is null")
        .await;
    let upgrade = include_str!("../../migrations/sqlite/0021_spent_by_all.sql");
    let postgres = include_str!("../../migrations/postgres/0022_spent_by_all.sql");
    assert_eq!(upgrade, postgres, "both say the same");
    kit.run(upgrade).await.unwrap();
    for (account, spent) in [(unlimited, 18), (limited, 18), (idle, 0)] {
        let spending = kit.store.spending(account).await.unwrap().unwrap();
        assert_eq!(spending.spent_by(NOW), naira(spent));
    }
}
