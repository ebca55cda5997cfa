//! The numbers of the overview, from the usage of the account.

use super::super::shared::queries;
use super::attention;
use crate::http::console::failure::Failure;
use crate::http::console::visitor::Visitor;
use console::figures::capitalised;
use console::screens::{Latest, Measure, Outcome, OverviewNumbers, Period, Slot};
use domain::search::{FilterFields, UsageBy};
use domain::time::lagos_time;
use domain::{Money, OTHER_NETWORK, day_begins_at, lagos_day};
use engine::{Message, PageFields, Usage};

/// The number of messages in the list of the latest.
const LATEST: &str = "5";
/// Longest begin of a text in the list of the latest.
const MAX_TEXT_CHARACTERS: usize = 120;

/// Reads the numbers of a period.
pub(super) async fn read(
    visitor: &Visitor,
    period: Period,
    measure: Measure,
) -> Result<OverviewNumbers, Failure> {
    let (account, now_ms) = (visitor.account()?, visitor.now_ms());
    let queries = queries(visitor)?;
    let begins = begins(period, now_ms);
    let since_ms = begins.first().copied().unwrap_or(now_ms);
    let by = match period {
        Period::Day => UsageBy::Hour,
        Period::Week | Period::Month => UsageBy::Day,
    };
    let usage = queries.usage_overview(since_ms, by).await?;
    let newest = PageFields {
        limit: Some(LATEST),
        cursor: None,
    };
    let latest = queries.messages(&FilterFields::default(), newest).await?;
    let balance = queries.balance().await?.total();
    let slots: Vec<Slot> = begins
        .into_iter()
        .map(|at_ms| slot(period, at_ms, &usage.times))
        .collect();
    let spend: Money = slots.iter().map(|slot| slot.spend).sum();
    Ok(OverviewNumbers {
        now_ms,
        period,
        measure,
        balance,
        attention: attention::read(visitor, account, balance, (spend, period)).await?,
        slots,
        networks: outcomes(usage.networks, network_name),
        gateways: outcomes(usage.gateways, str::to_owned),
        latest: latest.items.into_iter().map(message).collect(),
        counted_since_ms: usage.counted_since_ms,
        networks_since_ms: usage.networks_since_ms,
    })
}

/// Returns the begins of the hours or days of a period, oldest first. The last is not over.
fn begins(period: Period, now_ms: i64) -> Vec<i64> {
    let length_ms = period.slot_ms();
    let last_ms = match period {
        Period::Day => now_ms - now_ms.rem_euclid(length_ms),
        Period::Week | Period::Month => day_begins_at(lagos_day(now_ms)),
    };
    let count = i64::try_from(period.slots()).unwrap_or(0);
    (0..count)
        .rev()
        .map(|back| last_ms - back * length_ms)
        .collect()
}

/// Returns the numbers of an hour or day. The key of its usage is the begin of its time.
fn slot(period: Period, at_ms: i64, times: &[Usage]) -> Slot {
    let time = lagos_time(at_ms);
    let length = match period {
        Period::Day => "2026-11-29 16".len(),
        Period::Week | Period::Month => "2026-11-29".len(),
    };
    let begin = time.get(..length).unwrap_or(&time);
    let found = times.iter().find(|usage| usage.key.starts_with(begin));
    found.map_or(
        Slot {
            at_ms,
            ..Slot::default()
        },
        |usage| Slot {
            at_ms,
            sent: usage.recipients,
            delivered: usage.delivered,
            failed: usage.failed,
            spend: usage.cost - usage.refunded,
        },
    )
}

/// Returns the outcomes, the largest first.
fn outcomes(usage: Vec<Usage>, name: fn(&str) -> String) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = usage
        .into_iter()
        .map(|usage| Outcome {
            name: name(&usage.key),
            sent: usage.recipients,
            delivered: usage.delivered,
            failed: usage.failed,
        })
        .collect();
    outcomes.sort_by_key(|one| std::cmp::Reverse(one.sent));
    outcomes
}

/// Returns the name of a network as people write it.
fn network_name(key: &str) -> String {
    match key {
        "mtn" | "t2" => key.to_uppercase(),
        OTHER_NETWORK => "Other networks".to_owned(),
        _ => capitalised(key),
    }
}

fn message(message: Message) -> Latest {
    let text = match message.body {
        Some(body) => body.chars().take(MAX_TEXT_CHARACTERS).collect(),
        None => "The text was removed".to_owned(),
    };
    Latest {
        id: message.id.to_string(),
        sender: message.sender,
        text,
        at_ms: message.created_at_ms,
        recipients: message.recipients,
        delivered: message.delivered,
        failed: message.failed,
        cost: message.cost - message.refunded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 29 November 2026, 17:06:42 in Lagos.
    const NOW_MS: i64 = 1_795_968_402_000;

    #[test]
    fn a_period_ends_with_the_current_hour_or_day_of_lagos() {
        let cases = [
            (Period::Day, "2026-11-28 18:00:00", "2026-11-29 17:00:00"),
            (Period::Week, "2026-11-23 00:00:00", "2026-11-29 00:00:00"),
            (Period::Month, "2026-10-31 00:00:00", "2026-11-29 00:00:00"),
        ];
        for (period, first, last) in cases {
            let begins = begins(period, NOW_MS);
            assert_eq!(begins.len(), period.slots());
            let ends = [begins[0], begins[begins.len() - 1]].map(lagos_time);
            assert_eq!(ends, [first, last]);
        }
    }

    #[test]
    fn a_network_has_the_name_that_people_write() {
        let cases = [
            ("mtn", "MTN"),
            ("t2", "T2"),
            ("airtel", "Airtel"),
            (OTHER_NETWORK, "Other networks"),
            ("", ""),
        ];
        for (key, name) in cases {
            assert_eq!(network_name(key), name);
        }
    }

    #[test]
    fn an_hour_or_day_has_the_usage_of_its_time() {
        let usage = |key: &str, recipients| Usage {
            key: key.to_owned(),
            recipients,
            cost: Money::from_naira(9),
            refunded: Money::from_naira(2),
            ..Usage::default()
        };
        let hours = [
            usage("2026-11-29 16:00:00", 1),
            usage("2026-11-29 17:00:00", 2),
        ];
        let found = slot(Period::Day, NOW_MS, &hours);
        assert_eq!((found.sent, found.spend), (2, Money::from_naira(7)));
        let days = [usage("2026-11-28", 3), usage("2026-11-29", 4)];
        assert_eq!(slot(Period::Week, NOW_MS, &days).sent, 4);
        assert_eq!(slot(Period::Week, NOW_MS, &[]).sent, 0);
    }
}
