//! The limits of the sandbox. It charges nothing, so its recipients and callbacks have rate limits
//! of their own.

use crate::admit::rate::Rates;
use crate::context::clock::Clock;
use crate::error::Error;
use crate::settings::SandboxLimits;
use domain::rate::{RateKey, RateKind};
use domain::{Component, Draft, Environment, Money, Purse, Refusal, SandboxOutcome, Simulated};

/// Counts the recipients and callbacks of a sandbox draft, or refuses all of it. A live draft is
/// not counted.
pub(crate) async fn count(
    draft: &Draft,
    limits: SandboxLimits,
    rates: &Rates,
    clock: &Clock,
) -> Result<(), Error> {
    check_size(draft, limits)?;
    for (kind, what, limit) in counted(draft, limits) {
        let key = RateKey {
            account: draft.account,
            environment: Environment::Sandbox,
            kind,
            token: None,
        };
        let rate = rates
            .count_many(key, limit, recipients(draft), clock)
            .await?;
        if let Some(Refusal::RateLimited { retry_after_s, .. }) = rate.refused {
            let refusal = Refusal::SandboxLimited {
                what,
                limit,
                retry_after_s,
            };
            return Err(refusal.into());
        }
    }
    Ok(())
}

/// Refuses a sandbox draft that alone is over a limit.
pub(crate) fn check_size(draft: &Draft, limits: SandboxLimits) -> Result<(), Refusal> {
    let too_many = counted(draft, limits).find(|(_, _, limit)| recipients(draft) > *limit);
    match too_many {
        Some((_, what, limit)) => Err(Refusal::SandboxTooMany { what, limit }),
        None => Ok(()),
    }
}

fn recipients(draft: &Draft) -> u32 {
    u32::try_from(draft.recipients.len()).unwrap_or(u32::MAX)
}

/// Returns what a sandbox draft counts, with the limits. The stricter limit is first, so that its
/// refusal uses nothing of the other.
fn counted(
    draft: &Draft,
    limits: SandboxLimits,
) -> impl Iterator<Item = (RateKind, Simulated, u32)> {
    let callbacks = draft.callback_url.is_some().then_some((
        RateKind::Callback,
        Simulated::Callbacks,
        limits.callbacks_per_minute,
    ));
    let recipients = (
        RateKind::Recipient,
        Simulated::Recipients,
        limits.recipients_per_minute,
    );
    let is_counted = draft.environment == Environment::Sandbox;
    let all = callbacks.into_iter().chain([recipients]);
    all.filter(move |_| is_counted)
}

/// Refuses a sandbox draft with a steering number that asks for a refusal. `limit` is the rate that
/// the refusal names.
pub(crate) fn steer(draft: &Draft, limit: u32) -> Result<(), Refusal> {
    if draft.environment == Environment::Live {
        return Ok(());
    }
    let refused =
        draft
            .recipients
            .iter()
            .find_map(|recipient| match recipient.sandbox_outcome()? {
                SandboxOutcome::RefuseFunds => Some(Refusal::InsufficientFunds {
                    needed: draft.cost,
                    available: Money::ZERO,
                }),
                SandboxOutcome::RefuseUnavailable => {
                    Some(Refusal::Unavailable { retry_after_s: 1 })
                }
                SandboxOutcome::RefuseRate => Some(Refusal::RateLimited {
                    limit,
                    retry_after_s: 60,
                }),
                SandboxOutcome::Delivered
                | SandboxOutcome::Undelivered
                | SandboxOutcome::Expired
                | SandboxOutcome::Rejected
                | SandboxOutcome::Pending
                | SandboxOutcome::Failed => None,
            });
    refused.map_or(Ok(()), Err)
}

/// Returns the simulated wallet. Its balance never changes, since the sandbox charges nothing.
pub(crate) fn purse() -> Purse {
    Purse::from_iter([(Component::SmsWallet, Money::from_naira(10_000))])
}
