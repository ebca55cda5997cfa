//! What a release before has written is read as it was meant.

use super::doubt::doubt;
use super::kit::{Kit, Sending, delivered, report, sending, twins};

twins!(
    what_was_in_doubt_before_an_upgrade_is_so_after_it,
    deliveries_before_an_upgrade_are_the_same_after_it
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
const FORMER: &str = "create table former as select bucket, message_id, recipient, status, leg,
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
    for statement in FORMER
        .split(';')
        .chain(upgrade.trim().split_terminator(';'))
    {
        kit.plant(statement).await;
    }
    assert_eq!(kit.texts(&all).await, before);
}
