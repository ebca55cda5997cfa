//! The messages of a sub-account, as its parent reads them.

use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::messages::{self, Place, filter};
use super::recipient;
use super::shared::exported;
use super::sub_account_parts::{path, queries_of, sub_account};
use console::Section;
use console::parts::Empty;
use engine::SubAccount;

/// Returns the address of the list.
fn messages_of(sub: &SubAccount) -> String {
    format!("{}/messages", path(sub.account.id))
}

/// `GET /console/sub-accounts/{id}/messages`.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let sub = sub_account(&visitor).await?;
    let queries = queries_of(&visitor, &sub).await?;
    let path = messages_of(&sub);
    let place = Place {
        title: format!("Messages of {}", sub.account.name),
        section: Section::SubAccounts,
        export: format!("{path}.csv"),
        path,
        empty: Empty::new(
            "No messages yet",
            "A message of the sub-account appears here as soon as it is accepted.",
        ),
    };
    messages::listed(&visitor, &queries, place).await
}

/// `GET /console/sub-accounts/{id}/messages.csv`, with the filters of the list.
pub(super) async fn export(visitor: Visitor) -> Answered {
    let sub = sub_account(&visitor).await?;
    let queries = queries_of(&visitor, &sub).await?;
    let export = queries.export_recipients(&filter(visitor.query()))?;
    exported(export, "recipients.csv").await
}

/// `GET /console/sub-accounts/{id}/messages/{message}`. A parent changes no message of it.
pub(super) async fn message(visitor: Visitor) -> Answered {
    let sub = sub_account(&visitor).await?;
    let queries = queries_of(&visitor, &sub).await?;
    let message = queries.message(visitor.param("message")).await?;
    let (list, nothing) = (messages_of(&sub), (Vec::new(), Vec::new()));
    let place = (list.as_str(), Section::SubAccounts);
    messages::shown(&visitor, &queries, place, message, nothing).await
}

/// `GET /console/sub-accounts/{id}/messages/{message}/{recipient}`.
pub(super) async fn one(visitor: Visitor) -> Answered {
    let sub = sub_account(&visitor).await?;
    let queries = queries_of(&visitor, &sub).await?;
    let (list, id) = (messages_of(&sub), visitor.param("message"));
    let place = (list.as_str(), Section::SubAccounts);
    recipient::shown(&visitor, &queries, place, id).await
}
