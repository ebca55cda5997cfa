//! Alerts about low balances: told once when a balance falls below a threshold.

use crate::context::Context;
use crate::mail::Mail;
use domain::alert::AlertTarget;
use std::sync::Arc;
use store::DueMail;

/// Alerts and mails of one step.
const STEP: u32 = 100;
/// Delay before a mail that was not sent is tried again, and the time after which it is given up.
const RETRY_MS: i64 = 300_000;
const GIVEN_UP_MS: i64 = 86_400_000;

/// Tells the alerts of the buckets of this node, and sends the mails that are due.
pub(crate) async fn tell(context: &Arc<Context>) -> database::Result<()> {
    let alerts = context.store.alerts();
    let mut has_told = false;
    for bucket in context.my_buckets() {
        for crossed in alerts.crossed(bucket, STEP).await? {
            let (now_ms, random) = (context.clock.now_ms(), context.random.bytes());
            has_told |= alerts.tell(crossed, now_ms, random).await?;
        }
    }
    if has_told {
        context.callbacks.wake();
    }
    send_mails(context).await
}

async fn send_mails(context: &Arc<Context>) -> database::Result<()> {
    let live = context.live.load_full();
    let Some(settings) = &live.mail else {
        return Ok(());
    };
    let now_ms = context.clock.now_ms();
    let alerts = context.store.alerts();
    for due in alerts.take_mails(now_ms, now_ms + RETRY_MS, STEP).await? {
        let DueMail { alert, balance } = due;
        let told_at_ms = alert.told_at_ms.unwrap_or(now_ms);
        let AlertTarget::Email(email) = &alert.target else {
            continue;
        };
        let text = format!(
            "The balance of your SMS wallet is {balance} NGN, which is below {} NGN.\n\n\
             You get the next mail about this after the balance was above it again.\n",
            alert.threshold
        );
        let mail = Mail {
            to: email,
            subject: "Your SMS balance is low",
            text: &text,
        };
        let sent = settings.send(mail).await;
        if let Err(error) = &sent {
            tracing::warn!(alert.id = alert.id, %error, "alert: mail not sent");
        }
        if sent.is_ok() || now_ms - told_at_ms >= GIVEN_UP_MS {
            alerts.finish_mail(&alert.id, told_at_ms).await?;
        }
    }
    Ok(())
}
