//! Parts that the pages of accounts and of their sender IDs share.

use super::super::failure::Failure;
use super::super::visitor::Visitor;
use console::parts::{Badge, Cell, Column, Empty, Table, Tone};
use console::screens::Part;
use domain::{AccountId, AccountStatus, Verification};
use engine::operators::RegisteredSender;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The address of the list of accounts.
pub(super) const ACCOUNTS: &str = "/operator/accounts";
/// The address of the approval queue of sender IDs.
pub(super) const SENDERS: &str = "/operator/sender-ids";

/// Returns the address of the page of an account.
pub(super) fn path(id: AccountId) -> String {
    format!("{ACCOUNTS}/{id}")
}

/// Returns the account in the path.
pub(super) fn account(visitor: &Visitor) -> Result<AccountId, Failure> {
    visitor.param("id").parse().map_err(|_| Failure::NotFound)
}

/// Returns the badge of an account.
pub(super) fn status(status: AccountStatus) -> Badge {
    match status {
        AccountStatus::Active => Badge::new(Tone::Good, "Active"),
        AccountStatus::Pending => Badge::new(Tone::Waiting, "Pending"),
        AccountStatus::Dormant => Badge::new(Tone::Warning, "Dormant"),
        AccountStatus::Restricted => Badge::new(Tone::Warning, "Restricted"),
        AccountStatus::Disabled => Badge::new(Tone::Bad, "Disabled"),
    }
}

/// Returns the badge of the verification of an owner.
pub(super) fn verification(verification: Verification) -> Badge {
    match verification {
        Verification::Unverified => Badge::new(Tone::Plain, "Unverified"),
        Verification::ContactVerified => Badge::new(Tone::Waiting, "Contact verified"),
        Verification::Verified => Badge::new(Tone::Good, "Verified"),
    }
}

/// Returns the query that names a sender ID.
pub(super) fn query(one: &RegisteredSender) -> String {
    let name = utf8_percent_encode(&one.sender.name, NON_ALPHANUMERIC);
    format!("account={}&name={name}", one.account)
}

/// Returns the address of the page of a sender ID.
pub(super) fn sender_href(one: &RegisteredSender) -> String {
    format!("{SENDERS}/one?{}", query(one))
}

/// Returns a section with rows.
pub(super) fn rows(
    visitor: &Visitor,
    (title, lead): (&str, &str),
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    empty: &str,
) -> Part {
    Part {
        title: title.to_owned(),
        lead: lead.to_owned(),
        table: Some(Table {
            label: title.to_owned(),
            columns,
            rows,
            now_ms: visitor.now_ms(),
        }),
        empty: Some(Empty::new(empty, "They are listed here.")),
        form: None,
    }
}
