//! The calls that add, change or remove an object of the account: sender IDs, tokens, secrets, SMPP
//! users, routes and answers of inbound messages, opt-outs, alerts, top-ups and sub-accounts.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::body::Expected;
use crate::http::extract::body::memory::BodyPermit;
use crate::http::extract::fields::Fields;
use crate::http::extract::form;
use crate::http::extract::object_body::{ObjectBody, scalar};
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use domain::Refusal;
use domain::alert::AlertFields;
use domain::callback::request::{ReplayFields, SecretFields};
use domain::idempotency::IdempotencyKey;
use domain::inbound::{AnswerChange, RouteFields};
use domain::opt_out::{OptOutFields, OptOutRequest};
use domain::payment::TopUpFields;
use domain::resale::{PriceFields, SubAccountChangeFields, SubAccountFields, TransferFields};
use domain::sender_request::SenderFields;
use domain::smpp_user::SmppUserFields;
use domain::token::TokenFields;
use engine::Purpose;
use serde_json::Value;
use std::sync::Arc;

/// The raw fields of an object.
pub(crate) trait ObjectFields: Send + Sized {
    /// Takes them out of the fields of a request.
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal>;
}

impl ObjectFields for SenderFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            sender_id: body.text("sender_id")?,
            purpose: body.text("purpose")?,
        })
    }
}

impl ObjectFields for RouteFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            number: body.scalar("number")?,
            keyword: body.text("keyword")?,
            url: body.text("url")?,
            smpp_user: body.text("smpp_user")?,
        })
    }
}

impl ObjectFields for AnswerChange {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            stop: body.replacement("stop")?,
            start: body.replacement("start")?,
            help: body.replacement("help")?,
        })
    }
}

impl ObjectFields for TokenFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            name: body.text("name")?,
            scopes: body.list("scopes")?,
            expires_at: body.text("expires_at")?,
            allow: body.list("allow")?,
            per_minute: body.scalar("per_minute")?,
        })
    }
}

impl ObjectFields for AlertFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            threshold: body.scalar("threshold")?,
            url: body.text("url")?,
            email: body.text("email")?,
        })
    }
}

impl ObjectFields for TopUpFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            amount: body.scalar("amount")?,
            provider: body.text("provider")?,
            return_url: body.text("return_url")?,
        })
    }
}

impl ObjectFields for SmppUserFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            sandbox: body.scalar("sandbox")?,
            binds: body.scalar("binds")?,
            per_second: body.scalar("per_second")?,
            window: body.scalar("window")?,
            allow: body.list("allow")?,
            gateway: body.scalar("gateway")?,
            vendor_statuses: body.scalar("vendor_statuses")?,
            latin_1: body.scalar("latin_1")?,
        })
    }
}

impl ObjectFields for SecretFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        let overlap = body.scalar("overlap")?;
        Ok(Self { overlap })
    }
}

impl ObjectFields for ReplayFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        let message_id = body.text("message_id")?;
        Ok(Self { message_id })
    }
}

impl ObjectFields for SubAccountFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            name: body.text("name")?,
            email: body.text("email")?,
        })
    }
}

impl ObjectFields for SubAccountChangeFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        // A limit that is null or blank is removed.
        let removes_limit = body.has("daily_limit");
        let daily_limit = body.scalar("daily_limit")?;
        let prices = body.object("prices")?.into_iter();
        let prices = prices.map(|(gateway, price)| Ok((gateway, price_fields(price)?)));
        Ok(Self {
            status: body.text("status")?,
            daily_limit: daily_limit.or(removes_limit.then(String::new)),
            prices: prices.collect::<Result<_, Refusal>>()?,
        })
    }
}

/// Takes a price: an amount, an object of two amounts, or null.
fn price_fields(value: Value) -> Result<PriceFields, Refusal> {
    let fault = || {
        let text = "A price in `prices` must be an amount, an object with `price` and `unicode_price`, or null.";
        Refusal::Malformed(text.to_owned())
    };
    match value {
        Value::Null => Ok(PriceFields::default()),
        Value::Object(mut fields) => {
            let mut amount = |name: &str| match fields.remove(name) {
                None | Some(Value::Null) => Ok(None),
                Some(value) => scalar(value).map(Some).ok_or_else(fault),
            };
            Ok(PriceFields {
                price: amount("price")?,
                unicode_price: amount("unicode_price")?,
            })
        }
        value => Ok(PriceFields {
            price: Some(scalar(value).ok_or_else(fault)?),
            unicode_price: None,
        }),
    }
}

impl ObjectFields for TransferFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            amount: body.scalar("amount")?,
            direction: body.text("direction")?,
            reference: body.text("reference")?,
        })
    }
}

/// A call that adds the object with these fields.
pub(crate) struct Adding<F> {
    pub(crate) call: Call,
    /// The path of the request.
    path: String,
    pub(crate) fields: F,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl<F: ObjectFields> FromRequest<Arc<Api>> for Adding<F> {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::expecting(request, Expected::Object);
        let call = entry.enter(api, Purpose::Read).await?;
        let found = read::<F>(&mut entry, api).await;
        match found.and_then(|found| Ok((found, entry.idempotency_key()?))) {
            Ok(((fields, permit), key)) => Ok(Self {
                call,
                path: entry.parts.uri.path().to_owned(),
                fields,
                key,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

impl<F> Adding<F> {
    /// Returns the part of the path that is so far from its end.
    pub(crate) fn part(&self, from_end: usize) -> Result<String, Refusal> {
        let part = self.path.rsplit('/').nth(from_end);
        form::of_path(part.unwrap_or_default())
    }
}

impl ObjectFields for OptOutFields {
    fn of(body: &mut ObjectBody) -> Result<Self, Refusal> {
        Ok(Self {
            recipient: body.scalar("recipient")?,
            sender: body.scalar("sender")?,
            reason: body.text("reason")?,
        })
    }
}

/// A call that adds one opt-out, or those of a CSV.
pub(crate) struct AddingOptOuts {
    pub(crate) call: Call,
    pub(crate) requests: Vec<OptOutRequest>,
    /// `true` if they are from a CSV.
    pub(crate) is_table: bool,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for AddingOptOuts {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::expecting(request, Expected::OptOuts);
        let call = entry.enter(api, Purpose::Read).await?;
        let found = read_opt_outs(&mut entry, api).await;
        match found.and_then(|found| Ok((found, entry.idempotency_key()?))) {
            Ok(((requests, is_table, permit), key)) => Ok(Self {
                call,
                requests,
                is_table,
                key,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

async fn read_opt_outs(
    entry: &mut Entry,
    api: &Api,
) -> Result<(Vec<OptOutRequest>, bool, BodyPermit), Refusal> {
    let (mut body, permit) = entry.body_fields(api).await?;
    if let Some(requests) = body.opt_outs.take() {
        return Ok((requests, true, permit));
    }
    let fields: OptOutFields = fields(entry, body)?;
    Ok((vec![OptOutRequest::read(&fields)?], false, permit))
}

async fn read<F: ObjectFields>(entry: &mut Entry, api: &Api) -> Result<(F, BodyPermit), Refusal> {
    let (body, permit) = entry.body_fields(api).await?;
    Ok((fields(entry, body)?, permit))
}

/// Returns the fields of an object, from the body and the query string.
fn fields<F: ObjectFields>(entry: &mut Entry, mut body: Fields) -> Result<F, Refusal> {
    let mut query = std::mem::take(&mut entry.query);
    if let Some(fault) = body.fault.take().or(query.fault.take()) {
        return Err(fault);
    }
    let (body, query) = (
        body.object.take().unwrap_or_default(),
        query.object.take().unwrap_or_default(),
    );
    let mut body = (*body).over(*query);
    F::of(&mut body)
}

/// A call that removes the object that its path names.
pub(crate) struct Removing {
    pub(crate) call: Call,
    /// The last part of the path.
    pub(crate) id: String,
    pub(crate) key: Option<IdempotencyKey>,
}

impl FromRequest<Arc<Api>> for Removing {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Read).await?;
        let read = || {
            if let Some(fault) = entry.query.fault.clone() {
                return Err(fault);
            }
            let last = entry.parts.uri.path().rsplit('/').next();
            Ok((
                form::of_path(last.unwrap_or_default())?,
                entry.idempotency_key()?,
            ))
        };
        match read() {
            Ok((id, key)) => Ok(Self { call, id, key }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}
