//! Alerts about low balances: told once when a balance falls below a threshold.

use crate::context::Context;
use crate::mail::{Mail, MailSettings};
use domain::alert::AlertTarget;
use std::sync::Arc;
use store::DueMail;
use tokio::task::JoinSet;

/// Alerts of one step.
const STEP: u32 = 100;
/// Mails of one step. They are sent at once, so that they end long before another node may take
/// them again.
const MAILS: u32 = 8;
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
    let Some(settings) = context.live().mail.clone() else {
        return Ok(());
    };
    let now_ms = context.clock.now_ms();
    let taken = context.store.alerts();
    let taken = taken.take_mails(now_ms, now_ms + RETRY_MS, MAILS).await?;
    let mut sent = JoinSet::new();
    for due in taken {
        let (context, settings) = (Arc::clone(context), settings.clone());
        sent.spawn(async move { send_mail(&context, &settings, due, now_ms).await });
    }
    let mut all = Ok(());
    while let Some(one) = sent.join_next().await {
        all = all.and(one.unwrap_or(Ok(())));
    }
    all
}

async fn send_mail(
    context: &Context,
    settings: &MailSettings,
    due: DueMail,
    now_ms: i64,
) -> database::Result<()> {
    let DueMail { alert, balance } = due;
    let told_at_ms = alert.told_at_ms.unwrap_or(now_ms);
    let AlertTarget::Email(email) = &alert.target else {
        return Ok(());
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
        let alerts = context.store.alerts();
        alerts.finish_mail(&alert.id, told_at_ms).await?;
    }
    Ok(())
}
