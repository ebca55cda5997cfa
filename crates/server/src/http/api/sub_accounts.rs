//! The sub-accounts of the account (docs/spec/sub-accounts.md).

use super::list::List;
use crate::format::{LagosTime, Naira};
use crate::http::extract::call::Listing;
use crate::http::extract::call::object::Adding;
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use domain::resale::{SubAccountChangeFields, SubAccountFields, TransferFields};
use engine::{ListPage, SubAccount, Transfer, sub_accounts};
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Lists the sub-accounts.
pub(crate) async fn list(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.sub_accounts(fields.page()).await?;
        Ok::<_, Failure>(list_answer(found, environment))
    };
    call.answer(found.await)
}

/// Reads one sub-account.
pub(crate) async fn read(listing: Listing) -> Response {
    let call = &listing.call;
    let found = async {
        let queries = call.admission.queries();
        let found = queries.sub_account(&listing.part(0)?).await?;
        Ok::<_, Failure>(read_answer(&found))
    };
    call.answer(found.await)
}

/// Makes a sub-account.
pub(crate) async fn make(adding: Adding<SubAccountFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    // A stored answer does not have the text of the token.
    let keyed = call.keyed(key, |made: &SubAccount| made_answer(made, None));
    let made = sub_accounts::make(&call.admission, &fields, keyed).await;
    call.changed(made, |made| {
        made_answer(&made.account, Some(made.token.clone()))
    })
}

/// Changes a sub-account.
pub(crate) async fn change(adding: Adding<SubAccountChangeFields>) -> Response {
    let id = adding.part(0);
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    let keyed = call.keyed(key, changed_answer);
    let changed = async {
        let id = id?;
        sub_accounts::change(&call.admission, &id, &fields, keyed).await
    };
    call.changed(changed.await, changed_answer)
}

/// Moves money between the account and a sub-account.
pub(crate) async fn transfer(adding: Adding<TransferFields>) -> Response {
    let id = adding.part(1);
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    let keyed = call.keyed(key, transferred_answer);
    let made = async {
        let id = id?;
        sub_accounts::transfer(&call.admission, &id, &fields, keyed).await
    };
    call.changed(made.await, transferred_answer)
}

/// Returns the envelope of a page of sub-accounts.
pub(crate) fn list_answer(
    found: ListPage<SubAccount>,
    environment: Environment,
) -> Envelope<List<SubAccountItem>> {
    let item = |account| SubAccountItem::new(&account, None);
    let list = List::new(found, environment, item);
    Envelope::new("Sub-accounts retrieved.", list)
}

/// Returns the envelope of one sub-account.
pub(crate) fn read_answer(account: &SubAccount) -> Envelope<SubAccountItem> {
    Envelope::new("Sub-account retrieved.", SubAccountItem::new(account, None))
}

/// Returns the envelope of a sub-account that was made.
pub(crate) fn made_answer(account: &SubAccount, token: Option<String>) -> Envelope<SubAccountItem> {
    Envelope::new(
        "Sub-account made. Its token is shown only here.",
        SubAccountItem::new(account, token),
    )
}

/// Returns the envelope of a sub-account that was changed.
pub(crate) fn changed_answer(account: &SubAccount) -> Envelope<SubAccountItem> {
    Envelope::new("Sub-account changed.", SubAccountItem::new(account, None))
}

/// Returns the envelope of a transfer.
pub(crate) fn transferred_answer(transfer: &Transfer) -> Envelope<TransferItem> {
    let request = &transfer.request;
    let item = TransferItem {
        transfer_id: transfer.id.to_string(),
        sub_account_id: transfer.account.to_string(),
        amount: Naira(request.amount),
        direction: request.direction.as_str(),
        reference: request.reference.clone(),
        created_at: LagosTime {
            at_ms: transfer.created_at_ms,
        },
    };
    Envelope::new("Money transferred.", item)
}

/// A sub-account.
#[derive(Serialize, ToSchema)]
pub(crate) struct SubAccountItem {
    /// Its `user_id`.
    #[schema(example = "1882399170363392")]
    sub_account_id: String,
    /// Its first token in the first answer to the request that made it, null anywhere else.
    #[schema(required = true)]
    token: Option<String>,
    /// The name of the business or person.
    name: String,
    /// Its e-mail address.
    #[schema(example = "ada@example.com")]
    email: String,
    /// `active` or `disabled`, or another status that the operator set.
    #[schema(example = "active")]
    status: &'static str,
    /// The amount that it may spend in a day, or null.
    #[schema(required = true)]
    daily_limit: Option<Naira>,
    /// The prices that the parent set, by gateway. Over others it pays what its parent pays.
    prices: BTreeMap<&'static str, PriceItem>,
    /// The balance of its wallet, all components together.
    balance: Naira,
    /// The time of its creation.
    created_at: LagosTime,
}

/// The prices of a page.
#[derive(Serialize, ToSchema)]
pub(crate) struct PriceItem {
    /// The price of a page.
    price: Naira,
    /// The price of a Unicode page.
    unicode_price: Naira,
}

impl SubAccountItem {
    fn new(sub: &SubAccount, token: Option<String>) -> Self {
        let account = &sub.account;
        let prices = sub.prices.iter().map(|(gateway, price)| {
            let item = PriceItem {
                price: Naira(price.plain),
                unicode_price: Naira(price.unicode),
            };
            (gateway.as_str(), item)
        });
        Self {
            sub_account_id: account.id.to_string(),
            token,
            name: account.name.clone(),
            email: account.email.clone(),
            status: account.status.as_str(),
            daily_limit: sub.per_day.map(Naira),
            prices: prices.collect(),
            balance: Naira(sub.balance),
            created_at: LagosTime {
                at_ms: account.created_at_ms,
            },
        }
    }
}

/// A transfer between an account and its sub-account.
#[derive(Serialize, ToSchema)]
pub(crate) struct TransferItem {
    /// The id of the transfer.
    transfer_id: String,
    /// The sub-account.
    sub_account_id: String,
    /// The amount.
    amount: Naira,
    /// `to_sub` or `from_sub`.
    #[schema(example = "to_sub")]
    direction: &'static str,
    /// The reference of the parent.
    reference: String,
    /// The time of the transfer.
    created_at: LagosTime,
}
