//! Operations without a path, and the codes that all of them share.

use super::answers::{self, Name};
use super::parameters::signature_headers;
use crate::http::docs::installation::{Installation, count};
use crate::http::respond::error::Shape;
use domain::Environment;
use serde_json::Value;
use utoipa::openapi::path::{Callback, HttpMethod, OperationBuilder, PathItem};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, Ref, Required, Response, ResponseBuilder};

pub(super) const LIVE: &str = "Live";
pub(super) const SANDBOX: &str = "Sandbox";

/// Codes that every operation can answer.
pub(super) const COMMON: [&str; 7] = [
    "API-1001", "API-1002", "API-1003", "API-1007", "API-2023", "API-3004", "API-5003",
];

/// An operation without a path.
pub(super) struct Draft {
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) about: String,
    pub(super) codes: &'static [&'static str],
    pub(super) success: Response,
}

impl Draft {
    /// Builds the operation. `variant` distinguishes operations that differ only in path or method.
    pub(super) fn build(self, variant: &str, environment: Environment) -> OperationBuilder {
        let (tag, prefix) = match environment {
            Environment::Live => (LIVE, ""),
            Environment::Sandbox => (SANDBOX, "sandbox_"),
        };
        let operation = OperationBuilder::new()
            .tag(tag)
            .operation_id(Some(format!("{prefix}{}{variant}", self.id)))
            .summary(Some(self.summary))
            .description(Some(self.about))
            .response("200", self.success)
            .build();
        let codes = [&COMMON, self.codes].concat();
        answers::with_failures(operation, &codes, Shape::V2).into()
    }
}

/// A request that the service makes to a URL of the customer.
pub(super) struct CallbackDraft {
    pub(super) id: String,
    pub(super) summary: &'static str,
    /// The sentence that says when it is sent.
    pub(super) sent: &'static str,
    /// The sentence by which a receiver knows a repetition.
    pub(super) repeated: &'static str,
    pub(super) schema: Name,
    pub(super) example: Option<Value>,
}

impl CallbackDraft {
    /// Builds the callback to the URL that a field of the request has.
    pub(super) fn build(self, field: &str) -> Callback {
        let about = format!(
            "{} An answer 2xx ends it. Network errors, time-outs, 408, 425, 429 and 5xx are retried over two days. {}",
            self.sent, self.repeated
        );
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name(self.schema)))
            .example(self.example)
            .build();
        let body = RequestBodyBuilder::new()
            .content("application/json", content)
            .required(Some(Required::True))
            .build();
        let operation = OperationBuilder::new()
            .operation_id(Some(self.id))
            .summary(Some(self.summary))
            .description(Some(about))
            .parameters(Some(signature_headers()))
            .request_body(Some(body))
            .response("200", ResponseBuilder::new().description("Taken").build());
        let item = PathItem::new(HttpMethod::Post, operation);
        [(format!("{{$request.body#/{field}}}"), item.into())].into()
    }
}

/// Returns the limit of an operation as a sentence.
pub(super) fn at_most(limit: u32, what: &str) -> String {
    let limit = count(usize::try_from(limit).unwrap_or(usize::MAX));
    format!("At most {limit} {what} in any 60 seconds.")
}

/// Returns the description of an operation that counts as a read.
pub(super) fn of_reads(about: &str, installation: &Installation) -> String {
    let limit = at_most(installation.limits.reads_per_minute, "reads");
    format!("{about} {limit}")
}
