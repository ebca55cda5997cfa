//! Failures, and their answers in the envelope of every error (docs/spec/interface.md, section
//! 5.2).

mod kinds;

pub(crate) use kinds::{ErrorCode, examples, kind};
use kinds::{RETRY_AFTER_S, retry_after_s};

use super::codes::Codes;
use super::log_fields::{Code, Message};
use super::request_id;
use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::Refusal;
use engine::Outage;
use serde::Serialize;
use std::borrow::Cow;
use utoipa::ToSchema;

/// Counts requests that fail while the database is unreachable.
static UNAVAILABLE: Outage = Outage::of("the store cannot take requests");
/// `X-RateLimit-Reset`: seconds until the limit resets.
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The clients that an answer is written for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shape {
    /// The envelopes of the interface.
    V2,
    /// The same envelopes with the fields that clients of `/api/v1` read.
    V1,
}

/// A failure of ours. Its cause is in the log under the request id, never in the answer.
pub(crate) const OURS: ErrorCode = ErrorCode {
    code: "API-5001",
    status: StatusCode::INTERNAL_SERVER_ERROR,
    description: "Server error",
};
pub(crate) const OURS_MESSAGE: &str = "Something went wrong on our side. Retry, and name the X-Request-Id of this answer if it stays.";

/// The reason for an error.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The caller can correct the request.
    Refused(Refusal),
    /// The fault is ours.
    Ours,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Our own failures are logged here and nowhere else.
impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::Refused(refusal) => Self::Refused(refusal),
            engine::Error::Store(cause) if cause.is_unavailable() => {
                if let Some(unlogged) = UNAVAILABLE.is_to_log() {
                    tracing::warn!(
                        request.id = request_id::current(),
                        error = chain(&cause),
                        unlogged,
                        "store: unavailable, requests get 503 (logged at most once a minute)"
                    );
                }
                Self::Refused(Refusal::Unavailable {
                    retry_after_s: RETRY_AFTER_S,
                })
            }
            engine::Error::Store(cause) => {
                tracing::error!(
                    request.id = request_id::current(),
                    error = chain(&cause),
                    "store: request failed"
                );
                if cause.is_unknown() {
                    return Self::Refused(Refusal::ChangeUnknown {
                        retry_after_s: RETRY_AFTER_S,
                    });
                }
                Self::Ours
            }
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

impl Failure {
    pub(crate) fn kind(&self) -> ErrorCode {
        match self {
            Self::Refused(refusal) => kind(refusal),
            Self::Ours => OURS,
        }
    }

    /// Counts a failure that is answered.
    pub(crate) fn count(&self) {
        let kind = self.kind();
        metrics::counter!("ogene_http_refusals_total", "code" => kind.code, "reason" => kind.description)
            .increment(1);
    }

    /// Returns the answer, in the shape and with the codes that the caller's clients read.
    pub(crate) fn answer(&self, shape: Shape, codes: &Codes) -> Response {
        let kind = self.kind();
        self.count();
        let envelope = self.envelope(shape);
        let message = Message(envelope.message.clone());
        let envelope = envelope.with(codes);
        let mut response = (kind.status, Json(envelope)).into_response();
        response.extensions_mut().insert(Code(kind.code));
        response.extensions_mut().insert(message);
        let headers = response.headers_mut();
        if kind.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Self::Refused(refusal) = self
            && let Some(retry_after_s) = retry_after_s(refusal)
        {
            headers.insert(header::RETRY_AFTER, retry_after_s.into());
            if kind.status == StatusCode::TOO_MANY_REQUESTS {
                headers.insert(RESET, retry_after_s.into());
            }
        }
        response
    }

    pub(crate) fn envelope(&self, shape: Shape) -> ErrorEnvelope {
        let ErrorCode {
            code, description, ..
        } = self.kind();
        let message = match self {
            Self::Refused(refusal) => refusal.to_string(),
            Self::Ours => OURS_MESSAGE.to_owned(),
        };
        let legacy = match shape {
            Shape::V2 => None,
            Shape::V1 => Some(LegacyError {
                success: false,
                data: LegacyErrorData {
                    status: "error",
                    message: message.clone(),
                },
            }),
        };
        ErrorEnvelope {
            status: "error",
            code: Cow::Borrowed(code),
            message: message.clone(),
            error: ErrorBody {
                message,
                code: Cow::Borrowed(code),
                description,
                details: self.details(),
            },
            legacy,
        }
    }

    /// Returns the rows that cannot be sent.
    fn details(&self) -> Option<Vec<RowDetail>> {
        let Self::Refused(Refusal::Rows(faults)) = self else {
            return None;
        };
        let details = faults.named().iter().map(|fault| RowDetail {
            row: fault.row,
            field: fault.field.clone(),
            reason: fault.reason.as_str(),
        });
        Some(details.collect())
    }
}

/// The envelope of every error.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorEnvelope {
    /// Always `error`.
    #[schema(example = "error")]
    status: &'static str,
    /// The code to branch on.
    #[schema(example = "API-2012", value_type = String)]
    code: Cow<'static, str>,
    /// The same as `error.message`, for clients that read it here.
    message: String,
    error: ErrorBody,
    #[serde(flatten)]
    #[schema(ignore)]
    legacy: Option<LegacyError>,
}

impl ErrorEnvelope {
    /// Returns the same envelope with the codes of the installation, also in the message.
    pub(crate) fn with(mut self, codes: &Codes) -> Self {
        let code = match self.code {
            Cow::Borrowed(code) => codes.of(code),
            written @ Cow::Owned(_) => written,
        };
        self.error.code.clone_from(&code);
        self.code = code;
        let legacy = self.legacy.as_mut().map(|legacy| &mut legacy.data.message);
        for message in [&mut self.message, &mut self.error.message]
            .into_iter()
            .chain(legacy)
        {
            if let Cow::Owned(written) = codes.within(message) {
                *message = written;
            }
        }
        self
    }
}

/// The error.
#[derive(Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    /// The fault and the way to mend it, for people.
    message: String,
    /// The same code again.
    #[schema(example = "API-2012", value_type = String)]
    code: Cow<'static, str>,
    /// A short label.
    #[schema(example = "Duplicate message")]
    description: &'static str,
    /// The first hundred rows of a personalised send that cannot be sent (API-2020). Absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    details: Option<Vec<RowDetail>>,
}

/// A row of a personalised send that cannot be sent.
#[derive(Serialize, ToSchema)]
pub(crate) struct RowDetail {
    /// The number of the row, from 1. The header of a CSV is not counted.
    #[schema(example = 3)]
    row: u32,
    /// The variable, or `body` for the text, or `customer_reference`.
    #[schema(example = "name")]
    field: String,
    /// The reason: `missing`, `unknown`, `too_long`, `empty`, `not_permitted` or `prohibited`.
    #[schema(example = "missing")]
    reason: &'static str,
}

/// The fields that clients of `/api/v1` read of an error.
#[derive(Serialize)]
struct LegacyError {
    success: bool,
    data: LegacyErrorData,
}

#[derive(Serialize)]
struct LegacyErrorData {
    status: &'static str,
    message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the code, status and label of each row.
    fn rows() -> Vec<String> {
        examples()
            .iter()
            .map(|refusal| {
                let ErrorCode {
                    code,
                    status,
                    description,
                } = kind(refusal);
                format!("{code} {} {description}", status.as_u16())
            })
            .collect()
    }

    /// The code, status and label of each row.
    const ROWS: &[&str] = &[
        "API-1001 401 Missing API token",
        "API-1001 401 Missing API token",
        "API-1001 401 Invalid API token",
        "API-3004 429 Rate limit exceeded",
        "API-1007 403 API access restricted",
        "API-1007 403 API access restricted",
        "API-1007 403 API access restricted",
        "API-1002 401 Account disabled",
        "API-1003 401 Account dormant",
        "API-1007 403 API access restricted",
        "API-1007 403 API access restricted",
        "API-2000 400 Malformed request",
        "API-2001 400 Sender ID missing",
        "API-2002 422 Message text missing",
        "API-2003 400 Recipient missing",
        "API-2004 400 Malformed sender ID",
        "API-2006 422 Invalid recipient",
        "API-2007 404 Unknown message",
        "API-2007 404 Unknown route",
        "API-2007 404 Unknown opt-out",
        "API-3004 429 Too many opt-outs",
        "API-2007 404 Unknown number",
        "API-2007 404 Unknown token",
        "API-2007 404 Unknown SMPP user",
        "API-3004 429 Too many SMPP users",
        "API-3004 429 Too many tokens",
        "API-2007 404 Unknown top-up",
        "API-2007 404 Unknown alert",
        "API-3004 429 Too many alerts",
        "API-2000 400 Unknown payment provider",
        "API-3004 429 Too many unpaid top-ups",
        "API-3006 502 Payment provider does not answer",
        "API-2007 404 Unknown secret",
        "API-3004 429 Too many secrets",
        "API-2007 404 Unknown sub-account",
        "API-1007 403 API access restricted",
        "API-3004 429 Too many sub-accounts",
        "API-2019 409 Stopped by the operator",
        "API-2022 422 Price below the own",
        "API-3001 402 Daily limit reached",
        "API-2016 422 Reference used for another transfer",
        "API-2019 409 Keyword taken",
        "API-2019 409 Route of the operator",
        "API-3004 429 Too many routes",
        "API-2008 422 Message too long",
        "API-2009 400 Unknown gateway",
        "API-2010 422 Prohibited content",
        "API-2011 403 Sender ID not approved",
        "API-2012 409 Duplicate message",
        "API-2013 422 Message not permitted on this route",
        "API-2013 422 Message not permitted on this route",
        "API-2014 422 Too many recipients",
        "API-2015 400 Unusable callback URL",
        "API-2016 422 Key used with another request",
        "API-2017 413 Request body too large",
        "API-2018 409 Request still being handled",
        "API-2019 409 Too late",
        "API-3004 429 Too many one-time passwords to a number",
        "API-3004 429 One-time password sent a moment ago",
        "API-3004 429 No more resends",
        "API-2020 422 Rows that cannot be sent",
        "API-2021 422 Every recipient has opted out or is on DND",
        "API-2023 431 Request head too large",
        "API-3001 402 Insufficient wallet balance",
        "API-3002 422 No valid recipient",
        "API-3004 429 Rate limit exceeded",
        "API-3004 429 Daily spend limit reached",
        "API-3004 429 Too many messages to a number",
        "API-3004 429 Block of numbers paused",
        "API-2014 422 Too many recipients",
        "API-3004 429 Sandbox limit reached",
        "API-3004 429 Too many pending sender IDs",
        "API-4040 404 No such path",
        "API-4050 405 Method not allowed",
        "API-5003 503 Service unavailable",
        "API-5003 503 Outcome unknown",
        "API-5003 503 Outcome unknown",
        "API-5003 503 Change under way",
    ];

    #[test]
    fn each_example_has_the_code_status_and_label_of_its_row() {
        assert_eq!(rows(), ROWS);
    }

    #[test]
    fn a_change_is_unknown_when_the_disk_failed_at_its_commit() {
        let failed = database::Failure::Other("disk I/O error".to_owned());
        let failure = Failure::from(engine::Error::from(database::Error::Unsynced(failed)));
        let kind = failure.kind();
        let shown = (kind.code, kind.status.as_u16(), kind.description);
        assert_eq!(shown, ("API-5003", 503, "Outcome unknown"));
    }

    #[test]
    fn an_error_has_the_envelope_of_section_5_2() {
        let failure = Failure::from(Refusal::FromMissing);
        let text = serde_json::to_string(&failure.envelope(Shape::V2)).unwrap();
        insta::assert_snapshot!(testkit::indented(&text), @r#"
        {
          "status": "error",
          "code": "API-2001",
          "message": "The field `from` is missing: give the sender ID.",
          "error": {
            "message": "The field `from` is missing: give the sender ID.",
            "code": "API-2001",
            "description": "Sender ID missing"
          }
        }
        "#);
    }

    #[test]
    fn the_envelope_of_v1_has_the_older_fields_too() {
        let failure = Failure::from(Refusal::FromMissing);
        let text = serde_json::to_string(&failure.envelope(Shape::V1)).unwrap();
        insta::assert_snapshot!(testkit::indented(&text), @r#"
        {
          "status": "error",
          "code": "API-2001",
          "message": "The field `from` is missing: give the sender ID.",
          "error": {
            "message": "The field `from` is missing: give the sender ID.",
            "code": "API-2001",
            "description": "Sender ID missing"
          },
          "success": false,
          "data": {
            "status": "error",
            "message": "The field `from` is missing: give the sender ID."
          }
        }
        "#);
    }

    #[test]
    fn our_own_failures_hide_their_cause() {
        let text = serde_json::to_string(&Failure::Ours.envelope(Shape::V2)).unwrap();
        insta::assert_snapshot!(testkit::indented(&text), @r#"
        {
          "status": "error",
          "code": "API-5001",
          "message": "Something went wrong on our side. Retry, and name the X-Request-Id of this answer if it stays.",
          "error": {
            "message": "Something went wrong on our side. Retry, and name the X-Request-Id of this answer if it stays.",
            "code": "API-5001",
            "description": "Server error"
          }
        }
        "#);
    }

    #[test]
    fn temporary_refusals_have_a_retry_after_header() {
        for (refusal, seconds) in [
            (
                Refusal::RateLimited {
                    limit: 60,
                    retry_after_s: 7,
                },
                "7",
            ),
            (Refusal::Unavailable { retry_after_s: 3 }, "3"),
        ] {
            let codes = Codes::default();
            let response = Failure::from(refusal).answer(Shape::V2, &codes);
            assert_eq!(response.headers()[header::RETRY_AFTER], seconds);
        }
    }
}
