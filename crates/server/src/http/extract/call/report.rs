//! The call of a delivery report.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::fields::ReportFields;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use domain::Refusal;
use engine::Purpose;
use std::sync::Arc;

/// A call that reads a delivery report.
pub(crate) struct ReadingReport {
    pub(crate) call: Call,
    entry: Entry,
}

impl ReadingReport {
    /// Returns the path of the request.
    pub(crate) fn path(&self) -> &str {
        self.entry.parts.uri.path()
    }

    /// Returns the fields that name the report: from the query string, or else from the body.
    pub(crate) async fn fields(&mut self, is_named: bool) -> Result<ReportFields, Refusal> {
        let query = std::mem::take(&mut self.entry.query);
        if let Some(fault) = query.fault {
            return Err(fault);
        }
        let query = query.report;
        if is_named || query.message_id.is_some() {
            return Ok(query);
        }
        let (body, _permit) = self.entry.body_fields(&self.call.api).await?;
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
        let call = entry.enter(api, Purpose::Report).await?;
        Ok(Self { call, entry })
    }
}
