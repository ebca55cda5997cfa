//! The rows of alerts.

use domain::alert::{Alert, AlertTarget};
use domain::{AccountId, Money};

pub(super) struct AlertRow {
    alert_id: String,
    account_id: i64,
    threshold: i64,
    url: Option<String>,
    email: Option<String>,
    below: bool,
    created_at_ms: i64,
    told_at_ms: Option<i64>,
    /// The balance that was told last, or the one of now.
    told_balance: Option<i64>,
}

database::from_row!(AlertRow {
    alert_id,
    account_id,
    threshold,
    url,
    email,
    below,
    created_at_ms,
    told_at_ms,
    told_balance
});

impl AlertRow {
    pub(super) fn balance(&self) -> Money {
        Money::from_units(self.told_balance.unwrap_or(0))
    }
}

/// An alert whose balance has crossed its threshold, with the balance.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Crossed {
    /// The alert before the change.
    pub alert: Alert,
    /// The balance.
    pub balance: Money,
}

impl From<AlertRow> for Alert {
    fn from(row: AlertRow) -> Self {
        let email = || AlertTarget::Email(row.email.unwrap_or_default());
        Self {
            id: row.alert_id,
            account: AccountId(row.account_id),
            threshold: Money::from_units(row.threshold),
            target: row.url.map_or_else(email, AlertTarget::Url),
            is_below: row.below,
            created_at_ms: row.created_at_ms,
            told_at_ms: row.told_at_ms,
        }
    }
}
