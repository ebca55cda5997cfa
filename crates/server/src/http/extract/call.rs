//! The extractor of calls. It checks a request in the order of docs/spec/interface.md, section 4:
//! token, account status, rate limit, and then the request itself. Load shedding refuses a send
//! before its body is read while the accept queue is full.

pub(crate) mod changes;
pub(crate) mod object;
pub(crate) mod otp;
pub(crate) mod personalised;
pub(crate) mod report;

use super::body::{Expected, memory::BodyPermit};
use super::drain::drain;
use super::fields::Fields;
use super::list::ListFields;
use super::{body, client, form, scope, token};
use crate::http::context::Api;
use crate::http::respond::codes::{Coded, Codes};
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::{Failure, Shape};
use crate::http::respond::log_fields::Refused;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use domain::idempotency::{self, IdempotencyKey};
use domain::personalised::Rows;
use domain::{Environment, Refusal, SendFields};
use engine::{
    Admission, Caller, Changed, Credentials, CustomerQueries, KeyedAnswer, NotAdmitted, Purpose,
    Rate, StoredAnswer,
};
use serde::Serialize;
use std::sync::Arc;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
/// The header of a repeated answer.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A request that was admitted.
pub(crate) struct Call {
    pub(crate) admission: Admission,
    api: Arc<Api>,
}

impl Call {
    /// Returns the answer for the engine's result: an envelope or a failure, with the headers of
    /// the rate limit.
    pub(crate) fn answer<T: Coded + Serialize>(
        &self,
        outcome: Result<T, impl Into<Failure>>,
    ) -> Response {
        match outcome {
            Ok(envelope) => {
                let body = self.api.codes.written(envelope);
                let response = ([(header::CONTENT_TYPE, JSON)], body).into_response();
                with_rate(response, self.admission.rate())
            }
            Err(failure) => self.refuse(failure),
        }
    }

    /// Returns the stored answer of the same request under the same key.
    pub(crate) fn replay(&self, kept: StoredAnswer) -> Response {
        let status = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::OK);
        let headers = [
            (header::CONTENT_TYPE, JSON),
            (REPLAYED, HeaderValue::from_static("true")),
        ];
        let response = (status, headers, kept.body).into_response();
        with_rate(response, self.admission.rate())
    }

    /// Returns the key of a change, with the function that writes the stored answer.
    pub(crate) fn keyed<T: 'static, D: Serialize + 'static>(
        &self,
        key: Option<IdempotencyKey>,
        answer: impl Fn(&T) -> Envelope<D> + Send + Sync + 'static,
    ) -> Option<KeyedAnswer<T>> {
        let codes = self.codes().clone();
        key.map(|key| KeyedAnswer {
            key,
            write: Arc::new(move |made: &T| codes.written(answer(made))),
        })
    }

    /// Returns the answer to a change, or the stored one of the same request under its key.
    pub(crate) fn changed<T, D: Serialize>(
        &self,
        changed: Result<Changed<T>, engine::Error>,
        answer: impl Fn(&T) -> Envelope<D>,
    ) -> Response {
        match changed {
            Ok(Changed::First(made)) => self.answer(Ok::<_, engine::Error>(answer(&made))),
            Ok(Changed::Replay(kept)) => self.replay(kept),
            Err(error) => self.refuse(error),
        }
    }

    /// Returns the codes of the installation.
    pub(crate) fn codes(&self) -> &Codes {
        &self.api.codes
    }

    /// Returns the answer of a failure, with the headers of the rate limit.
    pub(crate) fn refuse(&self, failure: impl Into<Failure>) -> Response {
        let response = failure.into().answer(self.api.shape, &self.api.codes);
        let response = of_caller(response, self.admission.caller(), &self.api);
        with_rate(response, self.admission.rate())
    }

    /// Adds the headers of the rate limit to an answer that is no envelope.
    pub(crate) fn with_headers(&self, response: Response) -> Response {
        with_rate(response, self.admission.rate())
    }

    /// Returns the environment: live or sandbox.
    pub(crate) fn environment(&self) -> Environment {
        self.api.environment
    }

    /// Returns the shape of answers that the caller's client reads.
    pub(crate) fn shape(&self) -> Shape {
        self.api.shape
    }
}

/// A call that reads the account, the wallet or the sender IDs.
pub(crate) struct Reading(pub(crate) Call);

impl FromRequest<Arc<Api>> for Reading {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        Entry::of(request).enter(api, Purpose::Read).await.map(Self)
    }
}

/// A call that reads a list, or an item that its path names.
pub(crate) struct Listing {
    pub(crate) call: Call,
    uri: Uri,
    fault: Option<Refusal>,
}

impl Listing {
    /// Returns the fields of the query string.
    pub(crate) fn fields(&self) -> Result<ListFields, Refusal> {
        match &self.fault {
            Some(fault) => Err(fault.clone()),
            None => ListFields::read(self.uri.query().unwrap_or_default()),
        }
    }

    /// Returns the fields, and the queries of the account or of the sub-account that they name.
    pub(crate) async fn queries(&self) -> Result<(ListFields, CustomerQueries), Failure> {
        let fields = self.fields()?;
        let queries = self.call.admission.queries();
        let queries = queries
            .of_sub_account(fields.sub_account_id.as_deref())
            .await?;
        Ok((fields, queries))
    }

    /// Returns the part of the path at a place from its end, from 0.
    pub(crate) fn part(&self, from_end: usize) -> Result<String, Refusal> {
        let part = self.uri.path().rsplit('/').nth(from_end);
        form::of_path(part.unwrap_or_default())
    }
}

impl FromRequest<Arc<Api>> for Listing {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Read).await?;
        Ok(Self {
            call,
            uri: entry.parts.uri,
            fault: entry.query.fault,
        })
    }
}

/// A call that sends. Its fields are from the body and the query string.
pub(crate) struct Sending {
    pub(crate) call: Call,
    pub(crate) fields: SendFields,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for Sending {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Send).await?;
        let fields = entry.send_fields(api).await;
        match fields.and_then(|read| Ok((read, entry.idempotency_key()?))) {
            Ok(((fields, permit), key)) => Ok(Self {
                call,
                fields,
                key,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// A call that asks for the price of a send.
pub(crate) struct Quoting {
    pub(crate) call: Call,
    pub(crate) fields: SendFields,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for Quoting {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Quote).await?;
        match entry.send_fields(api).await {
            Ok((fields, permit)) => Ok(Self {
                call,
                fields,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// An incoming request. Its body is read at most once: early if only the body can hold the token,
/// else after the checks. The body of a refused request is discarded.
struct Entry {
    parts: Parts,
    query: Fields,
    expected: Expected,
    body: Option<Body>,
    /// The fields that were read early. They are boxed, as most requests have the token in the
    /// head.
    early: Option<Box<(Fields, BodyPermit)>>,
}

impl Entry {
    fn of(request: Request) -> Self {
        Self::expecting(request, Expected::Fields)
    }

    fn expecting(request: Request, expected: Expected) -> Self {
        let (parts, body) = request.into_parts();
        let query = body::read_query(&parts, expected);
        Self {
            parts,
            query,
            expected,
            body: Some(body),
            early: None,
        }
    }

    async fn enter(&mut self, api: &Arc<Api>, purpose: Purpose) -> Result<Call, Response> {
        let outcome = self.admit(api, purpose).await;
        if outcome.is_err()
            && let Some(body) = self.body.take()
        {
            drain(&self.parts.headers, body);
        }
        outcome
    }

    async fn admit(&mut self, api: &Arc<Api>, purpose: Purpose) -> Result<Call, Response> {
        let token = self.token(api).await;
        let token = token.map_err(|failure| failure.answer(api.shape, &api.codes))?;
        let credentials = Credentials {
            token: token.as_deref(),
            client: client::address(&self.parts, &api.settings.load().trusted_proxies),
            permitting: scope::permitting(&self.parts.method, self.parts.uri.path()),
        };
        let admitted = api.engine.admit(credentials, api.environment, purpose);
        match admitted.await {
            Ok(admission) => Ok(Call {
                admission,
                api: Arc::clone(api),
            }),
            Err(refused) => Err(not_admitted(refused, api)),
        }
    }

    /// Finds the token. If head and query have none, an unreadable body has none either.
    async fn token(&mut self, api: &Api) -> Result<Option<String>, Failure> {
        let mut token = token::before_body(&self.parts.headers, &self.query);
        if token.is_none() {
            let (fields, permit) = self.read_body(api).await.map_err(unread)?;
            token = token::of(&fields);
            if let (None, Some(fault)) = (&token, &fields.fault) {
                return Err(unread(fault.clone()).into());
            }
            self.early = Some(Box::new((fields, permit)));
        }
        Ok(token)
    }

    fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, Refusal> {
        let values = self.parts.headers.get_all(idempotency::HEADER);
        IdempotencyKey::read(values.iter().map(HeaderValue::as_bytes))
    }

    async fn send_fields(&mut self, api: &Api) -> Result<(SendFields, BodyPermit), Refusal> {
        let (body, permit) = self.body_fields(api).await?;
        let query = std::mem::take(&mut self.query);
        Ok((body.over(query)?, permit))
    }

    /// Returns the fields and the rows of a personalised send. Without rows there are no
    /// recipients.
    async fn personalised_fields(
        &mut self,
        api: &Api,
    ) -> Result<(SendFields, Rows, BodyPermit), Refusal> {
        let (mut body, permit) = self.body_fields(api).await?;
        let rows = body.rows.take().unwrap_or_else(|| Rows::new(0));
        let query = std::mem::take(&mut self.query);
        Ok((body.over(query)?, rows, permit))
    }

    /// Returns the fields of the body of a caller who is known.
    async fn body_fields(&mut self, api: &Api) -> Result<(Fields, BodyPermit), Refusal> {
        if let Some(early) = self.early.take() {
            return Ok(*early);
        }
        let mut permit = api.memory.known.permit();
        let limits = api.settings.load().body;
        let fields = match self.body.take() {
            Some(body) => body::read(&self.parts, body, self.expected, limits, &mut permit).await?,
            None => Fields::default(),
        };
        Ok((fields, permit))
    }

    /// Returns the fields of the body of a caller who is not known yet.
    async fn read_body(&mut self, api: &Api) -> Result<(Fields, BodyPermit), Refusal> {
        let mut permit = api.memory.unknown.permit();
        let limits = api.settings.load().body;
        let fields = match self.body.take() {
            Some(body) => body::read(&self.parts, body, self.expected, limits, &mut permit).await?,
            None => Fields::default(),
        };
        Ok((fields, permit))
    }
}

/// Returns the refusal without a token if the body, which may hold one, was not read.
fn unread(refusal: Refusal) -> Refusal {
    match refusal {
        // There was no memory for the body.
        refusal @ Refusal::Unavailable { .. } => refusal,
        fault => Refusal::TokenUnread(fault.to_string()),
    }
}

/// Returns the answer to a request that was not admitted, with its rate limit if it was counted.
fn not_admitted(refused: NotAdmitted, api: &Api) -> Response {
    let mut response = Failure::from(refused.error).answer(api.shape, &api.codes);
    if let Some(caller) = &refused.caller {
        response = of_caller(response, caller, api);
    }
    match &refused.rate {
        Some(rate) => with_rate(response, rate),
        None => response,
    }
}

/// Adds the caller to the response of a refusal, for the log.
fn of_caller(mut response: Response, caller: &Arc<Caller>, api: &Api) -> Response {
    let refused = Refused(Arc::clone(caller), api.engine.request_log().clone());
    response.extensions_mut().insert(refused);
    response
}

fn with_rate(mut response: Response, rate: &Rate) -> Response {
    let headers = response.headers_mut();
    headers.insert(LIMIT, rate.limit.into());
    headers.insert(REMAINING, rate.remaining.into());
    response
}
