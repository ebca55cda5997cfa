//! The states of an account that need attention.

use crate::http::console::failure::Failure;
use crate::http::console::visitor::Visitor;
use console::figures::{counted, naira};
use console::parts::Tone;
use console::screens::{Attention, Period};
use domain::{AccountId, AccountStatus, Money, SenderStatus};
use engine::operators::PageRequest;

/// Days of spend below which a balance needs attention.
const LOW_BALANCE_DAYS: i64 = 3;
/// Maximum number of dead callbacks and sender IDs that are read.
const MAX_ROWS: u32 = 100;

/// Returns the states that need attention, the most urgent first. `spent` is the spend of a period.
pub(super) async fn read(
    visitor: &Visitor,
    account: AccountId,
    balance: Money,
    spent: (Money, Period),
) -> Result<Vec<Attention>, Failure> {
    let operations = visitor.operations();
    let page = PageRequest::new(MAX_ROWS, None);
    let (shown, _) = operations.accounts().show(account).await?;
    let dead = operations.callbacks().dead(account, &page).await?;
    let senders = operations.senders().list(Some(account), &page).await?;
    let approved = senders
        .items
        .iter()
        .any(|one| one.sender.status == SenderStatus::Approved);
    let states = [
        of_status(shown.status),
        of_balance(balance, spent),
        of_callbacks(dead.items.len()),
        (!approved).then(no_sender),
    ];
    Ok(states.into_iter().flatten().collect())
}

fn state(tone: Tone, text: String, action: &str, href: &str) -> Attention {
    Attention {
        tone,
        text,
        action: action.to_owned(),
        href: href.to_owned(),
    }
}

fn of_status(status: AccountStatus) -> Option<Attention> {
    let text = match status {
        AccountStatus::Active => return None,
        AccountStatus::Pending => "The account may only use the sandbox until it is verified.",
        AccountStatus::Dormant => "The account is dormant, so it may not send.",
        AccountStatus::Restricted => "The account is restricted, so it may read but not send.",
        AccountStatus::Disabled => "The account is disabled.",
    };
    let text = format!("{text} Ask your operator.");
    Some(state(Tone::Bad, text, "See the wallet", "/console/wallet"))
}

/// Returns the state of a balance that is empty, or that lasts for few days at the rate of a period.
fn of_balance(balance: Money, (spent, period): (Money, Period)) -> Option<Attention> {
    let wallet = |tone, text| Some(state(tone, text, "See the wallet", "/console/wallet"));
    if !balance.is_positive() {
        return wallet(
            Tone::Bad,
            "The wallet is empty, so sends are refused.".to_owned(),
        );
    }
    let days = match period {
        Period::Day => 1,
        Period::Week => 7,
        Period::Month => 30,
    };
    let lasting = balance
        .units()
        .saturating_mul(days)
        .checked_div(spent.units())?;
    let lasting = u64::try_from(lasting).ok()?;
    (lasting < LOW_BALANCE_DAYS.unsigned_abs())
        .then(|| {
            let left = match lasting {
                0 => "less than a day".to_owned(),
                days => format!("about {}", counted(days, "day")),
            };
            format!("The balance of {} lasts for {left}.", naira(balance))
        })
        .and_then(|text| wallet(Tone::Warning, text))
}

fn of_callbacks(dead: usize) -> Option<Attention> {
    let dead = u64::try_from(dead).unwrap_or(u64::MAX);
    let text = match dead {
        0 => return None,
        1 => "1 callback was given up, because your server did not take it.".to_owned(),
        many if many >= u64::from(MAX_ROWS) => {
            format!(
                "{many} callbacks or more were given up, because your server did not take them."
            )
        }
        many => format!("{many} callbacks were given up, because your server did not take them."),
    };
    Some(state(
        Tone::Bad,
        text,
        "See the callbacks",
        "/console/callbacks/dead",
    ))
}

fn no_sender() -> Attention {
    state(
        Tone::Warning,
        "No sender ID is approved yet. Messages need one.".to_owned(),
        "See the sender IDs",
        "/console/sender-ids",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balance_needs_attention_when_it_lasts_for_few_days() {
        let cases = [
            (0, 0, Period::Day, Some("The wallet is empty")),
            (100, 0, Period::Day, None),
            (100, 10, Period::Day, None),
            (100, 40, Period::Day, Some("lasts for about 2 days")),
            (100, 60, Period::Day, Some("lasts for about 1 day.")),
            (100, 101, Period::Day, Some("lasts for less than a day")),
            (100, 101, Period::Week, None),
            (100, 400, Period::Week, Some("lasts for about 1 day.")),
        ];
        for (balance, spent, period, expected) in cases {
            let [balance, spent] = [balance, spent].map(Money::from_naira);
            let found = of_balance(balance, (spent, period)).map(|one| one.text);
            let is_right = match (&found, expected) {
                (Some(text), Some(part)) => text.contains(part),
                (None, None) => true,
                _ => false,
            };
            assert!(is_right, "{balance} {spent} {found:?} {expected:?}");
        }
    }

    #[test]
    fn only_an_active_account_has_no_status_to_mend() {
        for status in AccountStatus::ALL {
            let is_active = *status == AccountStatus::Active;
            assert_eq!(of_status(*status).is_none(), is_active);
        }
    }

    #[test]
    fn callbacks_that_were_given_up_are_counted() {
        assert_eq!(of_callbacks(0), None);
        for (dead, begin) in [
            (1, "1 callback was"),
            (7, "7 callbacks were"),
            (100, "100 callbacks or more"),
        ] {
            assert!(of_callbacks(dead).unwrap().text.starts_with(begin));
        }
    }
}
