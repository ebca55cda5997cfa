//! The changes of one sub-account.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::sub_account_parts::{LIVE_ONLY, accounts, id, may_change, parent, path, sub_account};
use console::figures::naira;
use domain::resale::{Direction, PriceFields, SubAccountChangeFields, TransferFields};

/// `POST /console/sub-accounts/{id}/status`.
pub(super) async fn set_status(visitor: Visitor, fields: Form) -> Answered {
    let change = SubAccountChangeFields {
        status: Some(fields.get("status").to_owned()),
        ..SubAccountChangeFields::default()
    };
    changed(&visitor, change, "The status was changed.").await
}

/// `POST /console/sub-accounts/{id}/limit`. An empty limit is none.
pub(super) async fn set_limit(visitor: Visitor, fields: Form) -> Answered {
    let change = SubAccountChangeFields {
        daily_limit: Some(fields.get("daily_limit").to_owned()),
        ..SubAccountChangeFields::default()
    };
    changed(&visitor, change, "The daily limit was changed.").await
}

/// `POST /console/sub-accounts/{id}/price`. An empty price removes it.
pub(super) async fn set_price(visitor: Visitor, fields: Form) -> Answered {
    let given = |name: &str| {
        let text = fields.get(name).trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let prices = PriceFields {
        price: given("price"),
        unicode_price: given("unicode_price"),
    };
    let text = match prices.price {
        Some(_) => "The price was changed. It counts within a second.",
        None => "The sub-account pays your own price over this gateway now.",
    };
    let change = SubAccountChangeFields {
        prices: vec![(fields.get("gateway").to_owned(), prices)],
        ..SubAccountChangeFields::default()
    };
    changed(&visitor, change, text).await
}

/// `POST /console/sub-accounts/{id}/transfer`. The name is read first, so that nothing can fail between
/// the transfer and its notice.
pub(super) async fn transfer(visitor: Visitor, fields: Form) -> Answered {
    let sub = sub_account(&visitor).await?;
    let (parent, id, name) = (sub.parent, sub.account.id, sub.account.name);
    if !may_change(&visitor) {
        return Ok(visitor.refused(&path(id), LIVE_ONLY));
    }
    let given = |name: &str| fields.find(name).map(str::to_owned);
    let transfer = TransferFields {
        amount: given("amount"),
        direction: given("direction"),
        reference: given("reference"),
    };
    let made = accounts(&visitor).transfer(parent, id, &transfer).await;
    let text = made.as_ref().map_or_else(
        |_| String::new(),
        |made| {
            let amount = naira(made.request.amount);
            match made.request.direction {
                Direction::ToSub => format!("{amount} went to {name}."),
                Direction::FromSub => format!("{amount} came back from {name}."),
            }
        },
    );
    visitor.after(made, &path(id), &text)
}

async fn changed(visitor: &Visitor, change: SubAccountChangeFields, text: &str) -> Answered {
    let (parent, id) = (parent(visitor)?, id(visitor)?);
    if !may_change(visitor) {
        return Ok(visitor.refused(&path(id), LIVE_ONLY));
    }
    let changed = accounts(visitor).change(parent, id, &change).await;
    visitor.after(changed, &path(id), text)
}
