//! Receipts that no SMPP user takes: after three days they are dead. The receipts of a revoked user
//! are dead at once.

use crate::context::Context;
use domain::smpp_receipt::KEPT_MS;
use domain::smpp_user::SmppUser;
use std::sync::Arc;

/// Maximum number of receipts in one commit.
const RECEIPTS: u32 = 500;

/// Ends the receipts of the buckets of this node that have waited too long. Only users with receipts
/// are read, so that revoked users without any cost nothing.
pub(crate) async fn end_waiting(context: &Arc<Context>) -> database::Result<()> {
    let (outbox, users) = (context.store.outbox(), context.store.smpp_users());
    for bucket in context.my_buckets() {
        for system_id in outbox.users_waiting(bucket).await? {
            if let Some((user, _)) = users.find(&system_id).await? {
                end_of(context, &user).await?;
            }
        }
    }
    Ok(())
}

async fn end_of(context: &Context, user: &SmppUser) -> database::Result<()> {
    let outbox = context.store.outbox();
    let of = outbox.of_user(user);
    if !context.nodes.is_mine(of.0) {
        return Ok(());
    }
    let (before_ms, reason) = match user.revoked_at_ms {
        Some(_) => (i64::MAX, "the user is revoked"),
        None => (
            context.clock.now_ms() - KEPT_MS,
            "the user has not taken them for 72 hours",
        ),
    };
    let mut ended = 0;
    loop {
        let step = outbox.end_waiting(of.clone(), before_ms, RECEIPTS).await?;
        ended += step;
        if step < u64::from(RECEIPTS) {
            break;
        }
    }
    if ended > 0 {
        tracing::warn!(
            smpp.system_id = user.system_id,
            receipts = ended,
            reason,
            "SMPP receipts: dead"
        );
    }
    Ok(())
}
