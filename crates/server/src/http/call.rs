//! The one extractor: who calls, whether they may, and what they ask for, in the check order of
//! docs/spec/interface.md, section 4: token, account status, rate limit, and only then the request itself. Load shedding
//! refuses a send before its body is read while the accept queue is full.

use super::body::room::Place;
use super::codes::Coded;
use super::envelope::SUCCESS;
use super::error::Failure;
use super::fields::{Fields, ReportFields};
use super::{Api, body, client, observe, token};
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::HeaderName;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use domain::{Environment, Refusal, SendFields};
use engine::{Caller, Rate, RateKind};
use serde::Serialize;
use std::sync::Arc;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");

/// A request whose caller is known, may do this, and is within the rate limit.
pub(super) struct Call {
    pub(super) api: Arc<Api>,
    pub(super) caller: Arc<Caller>,
    rate: Rate,
}

impl Call {
    /// The answer to what the engine said: an envelope or a failure, with the headers of the rate limit.
    pub(super) fn answer<T: Coded + Serialize>(
        &self,
        outcome: Result<T, impl Into<Failure>>,
    ) -> Response {
        match outcome {
            Ok(mut envelope) => {
                let code = envelope.code();
                *code = self.api.codes.of(SUCCESS);
                with_rate(Json(envelope).into_response(), &self.rate)
            }
            Err(failure) => self.refuse(failure),
        }
    }

    /// The answer to what cannot be done, with the headers of the rate limit.
    pub(super) fn refuse(&self, failure: impl Into<Failure>) -> Response {
        let response = failure.into().answer(self.api.shape, &self.api.codes);
        let response = of_caller(response, &self.caller);
        with_rate(response, &self.rate)
    }

    /// The world that the request belongs to.
    pub(super) fn environment(&self) -> Environment {
        self.api.environment
    }
}

/// A call that reads account, wallet or sender IDs.
pub(super) struct Reading(pub(super) Call);

impl FromRequest<Arc<Api>> for Reading {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        Entry::of(request)
            .enter(api, RateKind::Read)
            .await
            .map(Self)
    }
}

/// A call that reads a delivery report.
pub(super) struct ReadingReport {
    pub(super) call: Call,
    entry: Entry,
}

impl ReadingReport {
    /// The path of the request.
    pub(super) fn path(&self) -> &str {
        self.entry.parts.uri.path()
    }

    /// The fields that name the report: those of the query string, and those of the body where it is needed to know which
    /// message is meant, as some clients send it with a GET.
    pub(super) async fn fields(&mut self, is_named: bool) -> Result<ReportFields, Refusal> {
        let query = std::mem::take(&mut self.entry.query);
        if let Some(fault) = query.fault {
            return Err(fault);
        }
        let query = query.report;
        if is_named || query.message_id.is_some() {
            return Ok(query);
        }
        let (body, _place) = self.entry.body_fields(&self.call.api).await?;
        if let Some(fault) = body.fault {
            return Err(fault);
        }
        Ok(ReportFields {
            message_id: body.report.message_id,
            page: body.report.page.or(query.page),
            per_page: body.report.per_page.or(query.per_page),
        })
    }
}

impl FromRequest<Arc<Api>> for ReadingReport {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, RateKind::Report).await?;
        Ok(Self { call, entry })
    }
}

/// A call that sends, with the fields from wherever they came.
pub(super) struct Sending {
    pub(super) call: Call,
    pub(super) fields: SendFields,
    /// The room for its body, held until it is answered.
    pub(super) place: Place,
}

impl FromRequest<Arc<Api>> for Sending {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, RateKind::Send).await?;
        match entry.send_fields(api).await {
            Ok((fields, place)) => Ok(Self {
                call,
                fields,
                place,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// A request on its way in. Its body is read at most once: early when nothing else can hold the token,
/// else when its turn comes. That of a refused request is thrown away.
struct Entry {
    parts: Parts,
    query: Fields,
    body: Option<Body>,
    /// Boxed, as most tell their token before.
    early: Option<Box<(Fields, Place)>>,
}

impl Entry {
    fn of(request: Request) -> Self {
        let (parts, body) = request.into_parts();
        let query = body::read_query(&parts);
        Self {
            parts,
            query,
            body: Some(body),
            early: None,
        }
    }

    async fn enter(&mut self, api: &Arc<Api>, kind: RateKind) -> Result<Call, Response> {
        let outcome = self.admit(api, kind).await;
        if outcome.is_err()
            && let Some(body) = self.body.take()
        {
            body::linger(&self.parts.headers, body);
        }
        outcome
    }

    async fn admit(&mut self, api: &Arc<Api>, kind: RateKind) -> Result<Call, Response> {
        let caller = self.caller(api).await?;
        let account = &caller.customer.account;
        let standing = match kind {
            RateKind::Send => account.check_send(api.environment),
            RateKind::Report | RateKind::Read | RateKind::Recipient | RateKind::Callback => {
                account.check_read(api.environment)
            }
        };
        let counted = api.engine.check_rate(&caller, api.environment, kind).await;
        let mut rate = counted.map_err(|error| {
            of_caller(Failure::from(error).answer(api.shape, &api.codes), &caller)
        })?;
        let too_many = rate.refused.take();
        let mut refused = standing.err().or(too_many);
        if kind == RateKind::Send && refused.is_none() {
            refused = api.engine.check_room().err();
        }
        let call = Call {
            api: Arc::clone(api),
            caller,
            rate,
        };
        match refused {
            None => Ok(call),
            Some(refusal) => Err(call.refuse(refusal)),
        }
    }

    /// Finds whose the token is.
    async fn caller(&mut self, api: &Api) -> Result<Arc<Caller>, Response> {
        let token = self.token(api).await;
        let token = token.map_err(|failure| failure.answer(api.shape, &api.codes))?;
        let client = client::address(&self.parts, &api.settings.load().trusted_proxies);
        let found = api.engine.caller(token.as_deref(), client).await;
        found.map_err(|error| {
            let response = Failure::from(error).answer(api.shape, &api.codes);
            let known = token.and_then(|token| api.engine.refused_caller(&token));
            match known {
                Some(caller) => of_caller(response, &caller),
                None => response,
            }
        })
    }

    /// Finds the token. With none in header or query, a body that cannot be read holds none.
    async fn token(&mut self, api: &Api) -> Result<Option<String>, Failure> {
        let mut token = token::before_body(&self.parts.headers, &self.query);
        if token.is_none() {
            let (fields, place) = self.read_body(api).await.map_err(unread)?;
            token = token::of(&fields);
            if let (None, Some(fault)) = (&token, &fields.fault) {
                return Err(unread(fault.clone()).into());
            }
            self.early = Some(Box::new((fields, place)));
        }
        Ok(token)
    }

    async fn send_fields(&mut self, api: &Api) -> Result<(SendFields, Place), Refusal> {
        let (body, place) = self.body_fields(api).await?;
        let query = std::mem::take(&mut self.query);
        Ok((body.over(query)?, place))
    }

    /// The fields of the body of a caller who is known.
    async fn body_fields(&mut self, api: &Api) -> Result<(Fields, Place), Refusal> {
        if let Some(early) = self.early.take() {
            return Ok(*early);
        }
        let mut place = api.rooms.known.place();
        let limits = api.settings.load().body;
        let fields = match self.body.take() {
            Some(body) => body::read(&self.parts, body, limits, &mut place).await?,
            None => Fields::default(),
        };
        Ok((fields, place))
    }

    /// The fields of the body of a caller who is not known yet.
    async fn read_body(&mut self, api: &Api) -> Result<(Fields, Place), Refusal> {
        let mut place = api.rooms.unknown.place();
        let limits = api.settings.load().body;
        let fields = match self.body.take() {
            Some(body) => body::read(&self.parts, body, limits, &mut place).await?,
            None => Fields::default(),
        };
        Ok((fields, place))
    }
}

/// What is told when no token is found where the body, which may hold one, was not read.
fn unread(refusal: Refusal) -> Refusal {
    match refusal {
        // For want of room.
        refusal @ Refusal::Unavailable { .. } => refusal,
        fault => Refusal::TokenUnread(fault.to_string()),
    }
}

/// Leaves with a refusal whose request it was, for the log.
fn of_caller(mut response: Response, caller: &Arc<Caller>) -> Response {
    let refused = observe::Refused(Arc::clone(caller));
    response.extensions_mut().insert(refused);
    response
}

fn with_rate(mut response: Response, rate: &Rate) -> Response {
    let headers = response.headers_mut();
    headers.insert(LIMIT, rate.limit.into());
    headers.insert(REMAINING, rate.remaining.into());
    response
}
