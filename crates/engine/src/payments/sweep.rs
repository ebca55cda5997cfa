//! The search for payments that nobody reported.

use super::confirm::confirm;
use crate::context::metrics::payments as measures;
use crate::context::payments::Payments;
use crate::context::{Context, FAILURE_PAUSE};
use database::Outage;
use domain::payment::{TopUp, TopUpState};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Maximum number of top-ups that are asked for at once.
const STEP: u32 = 16;
/// The search looks this many times in a period, so that nodes share the work.
const LOOKS: u32 = 5;
const MIN_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Asks for unpaid top-ups until it is aborted.
pub(crate) async fn run(context: Arc<Context>) {
    let outage = Outage::of("unpaid top-ups cannot be checked");
    loop {
        if outage.note(look(&context).await).is_none() {
            sleep(FAILURE_PAUSE).await;
        }
        let payments = Arc::clone(&context.live().payments);
        payments.providers.iter().for_each(|one| one.sweep());
        let pause = payments.settings.sweep / LOOKS;
        sleep(pause.clamp(MIN_PAUSE, MAX_PAUSE)).await;
    }
}

/// Checks each watched top-up that was not checked in this period. Each step takes the settings of
/// the moment, since a slow provider can make this last as long as there are top-ups.
async fn look(context: &Arc<Context>) -> database::Result<()> {
    loop {
        let payments = Arc::clone(&context.live().payments);
        let period_ms = i64::try_from(payments.settings.sweep.as_millis()).unwrap_or(i64::MAX);
        let now_ms = context.clock.now_ms();
        let top_ups = context.store.top_ups();
        let taken = top_ups.take_watched(now_ms - period_ms, now_ms, STEP);
        let taken = taken.await?;
        let is_last = taken.len() < STEP as usize;
        let mut checks = JoinSet::new();
        for top_up in taken {
            let (context, payments) = (Arc::clone(context), Arc::clone(&payments));
            checks.spawn(async move { check(&context, &payments, top_up).await });
        }
        while let Some(checked) = checks.join_next().await {
            checked.unwrap_or(Ok(()))?;
        }
        if is_last {
            return Ok(());
        }
    }
}

/// Asks for the payment of a top-up, and ends the time to pay if it is over. While the provider does
/// not answer, the time is twice as long, so that no payment is missed.
async fn check(context: &Arc<Context>, payments: &Payments, top_up: TopUp) -> database::Result<()> {
    let asked = match payments.provider(&top_up.provider) {
        Some(provider) => confirm(context, provider, &top_up).await.is_ok(),
        None => false,
    };
    if is_over(&top_up, asked, context.clock.now_ms()) {
        let is_expired = context.store.top_ups().expire(top_up.id).await?;
        if is_expired {
            measures::top_up(&top_up.provider, TopUpState::Expired);
        }
    }
    Ok(())
}

fn is_over(top_up: &TopUp, is_answered: bool, now_ms: i64) -> bool {
    let lifetime_ms = top_up.expires_at_ms - top_up.created_at_ms;
    let last_ms = top_up.expires_at_ms + if is_answered { 0 } else { lifetime_ms };
    now_ms >= last_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::payment::{NewTopUp, Percent, Priced, TopUpId};
    use domain::{AccountId, Component, Environment, Money};

    #[test]
    fn a_silent_provider_delays_the_end_of_the_time_to_pay() {
        let top_up = NewTopUp {
            id: TopUpId::new(1_000, [7; 10]),
            account: AccountId(1),
            environment: Environment::Live,
            provider: "paystack".to_owned(),
            price: Priced {
                amount: Money::from_naira(1_000),
                vat: Money::ZERO,
                vat_rate: Percent::default(),
                bonus: Money::ZERO,
                component: Component::UniversalWallet,
            },
            checkout_url: String::new(),
            return_url: None,
            expires_ms: 500,
        };
        let top_up = TopUp::new(top_up, 1_000);
        for (is_answered, now_ms, expected) in [
            (true, 1_499, false),
            (true, 1_500, true),
            (false, 1_999, false),
            (false, 2_000, true),
        ] {
            let is_over = is_over(&top_up, is_answered, now_ms);
            assert_eq!(is_over, expected, "{is_answered} {now_ms}");
        }
    }
}
