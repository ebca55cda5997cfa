//! `GET /delivery-reports` and its aliases (docs/spec/interface.md, section 6.3).

use crate::format::LagosTime;
use crate::http::extract::call::report::ReadingReport;
use crate::http::extract::fields::ReportFields;
use crate::http::respond::envelope::{Envelope, sandbox_mark};
use axum::response::Response;
use domain::{Environment, Refusal};
use engine::DeliveryReport;
use serde::Serialize;
use utoipa::ToSchema;

/// Reads the report of the message that the query string names.
pub(crate) async fn report(reading: ReadingReport) -> Response {
    read(reading, None).await
}

/// Reads the report of the message that the path ends with. An id needs no decoding. A segment that
/// needs it is no id.
pub(crate) async fn report_of(reading: ReadingReport) -> Response {
    let message_id = reading.path().rsplit('/').next().map(str::to_owned);
    read(reading, message_id).await
}

async fn read(mut reading: ReadingReport, message_id: Option<String>) -> Response {
    let fields = reading.fields(message_id.is_some()).await;
    let call = reading.call;
    let wanted = match fields.and_then(|fields| Wanted::of(fields, message_id)) {
        Ok(wanted) => wanted,
        Err(refusal) => return call.refuse(refusal),
    };
    let Wanted {
        message_id,
        page,
        per_page,
    } = wanted;
    let environment = call.environment();
    let report = call.admission.report(&message_id, page, per_page).await;
    call.answer(report.map(|report| ReportData::answer(report, environment)))
}

/// The default number of recipients on a page (section 4).
const DEFAULT_PER_PAGE: u32 = 100;
/// Maximum recipients on a page. A larger number counts as this one.
const MAX_PER_PAGE: u32 = 1000;

/// The page of a report that is asked for.
#[derive(Debug, Eq, PartialEq)]
struct Wanted {
    message_id: String,
    page: u32,
    per_page: u32,
}

impl Wanted {
    fn of(fields: ReportFields, path_id: Option<String>) -> Result<Self, Refusal> {
        let given = |text: Option<String>| text.map(|text| text.trim().to_owned());
        let counted = |name, text: Option<String>| {
            counting_from_one(name, given(text).as_deref().unwrap_or_default())
        };
        let page = counted("page", fields.page)?.unwrap_or(1);
        let per_page = counted("per_page", fields.per_page)?.unwrap_or(DEFAULT_PER_PAGE);
        let named = given(fields.message_id).filter(|id| !id.is_empty());
        let message_id = path_id.or(named).ok_or_else(|| {
            malformed("`message_id` is missing: give the message_id that the send answered.")
        })?;
        Ok(Self {
            message_id,
            page,
            per_page: per_page.min(MAX_PER_PAGE),
        })
    }
}

/// Reads a number from 1. Returns `None` for an empty text. A number beyond 32 bits counts as the
/// largest, behind the last recipient of any message.
fn counting_from_one(name: &str, text: &str) -> Result<Option<u32>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    let all_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if all_digits {
        text.parse().unwrap_or(u64::MAX)
    } else {
        0
    };
    if number == 0 {
        return Err(malformed(&format!(
            "`{name}` must be a whole number from 1."
        )));
    }
    Ok(Some(u32::try_from(number).unwrap_or(u32::MAX)))
}

fn malformed(message: &str) -> Refusal {
    Refusal::Malformed(message.to_owned())
}

/// The report of a message.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReportData {
    /// The message of the report.
    message_id: String,
    /// The reference of the send.
    #[schema(required = true)]
    customer_reference: Option<String>,
    /// The time for which it is scheduled, quiet hours included; null for a message that was due at once.
    #[schema(required = true)]
    scheduled_for: Option<LagosTime>,
    /// `scheduled`, `sending` or `completed`. Take any other value as not completed.
    #[schema(example = "completed")]
    state: &'static str,
    summary: Summary,
    /// One page of recipients, in the order of the send.
    reports: Vec<RecipientReport>,
    pagination: Pagination,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

/// The numbers of recipients by status.
#[derive(Serialize, ToSchema)]
pub(crate) struct Summary {
    /// All recipients.
    pub(crate) total: u64,
    /// Delivered recipients.
    pub(crate) delivered: u64,
    /// Recipients without a final outcome.
    pub(crate) pending: u64,
    /// Recipients that were not delivered.
    pub(crate) failed: u64,
}

/// The status of one recipient.
#[derive(Serialize, ToSchema)]
pub(crate) struct RecipientReport {
    /// The number in international format.
    #[schema(example = "2348031234567")]
    recipient: String,
    /// `sent awaiting status`, `delivrd`, `undeliv`, `expired`, `rejectd` or `failed`. Take any other
    /// value as not delivered.
    #[schema(example = "delivrd")]
    delivery_status: &'static str,
}

/// The page of the report.
#[derive(Serialize, ToSchema)]
pub(crate) struct Pagination {
    /// The number of this page.
    current_page: u32,
    /// Recipients on a page.
    per_page: u32,
    /// Recipients on all pages.
    total: u64,
    /// The last page with recipients.
    last_page: u32,
}

impl ReportData {
    pub(crate) fn answer(report: DeliveryReport, environment: Environment) -> Envelope<Self> {
        let reports = report
            .reports
            .into_iter()
            .map(|(recipient, delivery_status)| RecipientReport {
                recipient: recipient.to_string(),
                delivery_status,
            });
        let data = Self {
            message_id: report.message_id.to_string(),
            customer_reference: report.customer_reference,
            scheduled_for: report.scheduled_for_ms.map(|at_ms| LagosTime { at_ms }),
            state: report.state.as_str(),
            summary: Summary {
                total: report.total,
                delivered: report.delivered,
                pending: report.pending,
                failed: report.failed,
            },
            reports: reports.collect(),
            pagination: Pagination {
                current_page: report.page,
                per_page: report.per_page,
                total: report.total,
                last_page: report.last_page,
            },
            sandbox: sandbox_mark(environment),
        };
        Envelope::new("Delivery report retrieved.", data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::extract::fields::{Bounds, Fields};
    use crate::http::extract::form;

    fn read(query: &str, path_id: Option<String>) -> Result<Wanted, Refusal> {
        let fields = form::read(Fields::default(), query.as_bytes(), &Bounds::new(1));
        match fields.fault {
            Some(fault) => Err(fault),
            None => Wanted::of(fields.report, path_id),
        }
    }

    #[test]
    fn a_page_is_counted_from_one_and_holds_at_most_a_thousand() {
        let table = [
            ("", Some((1, 100))),
            ("page=&per_page=", Some((1, 100))),
            ("page=3&per_page=10", Some((3, 10))),
            ("per_page=1001", Some((1, 1000))),
            ("per_page=99999999999999999999999", Some((1, 1000))),
            ("page=999999", Some((999_999, 100))),
            ("page=0", None),
            ("page=-1", None),
            ("page=1.5", None),
            ("page=two", None),
            ("page=1e3", None),
            ("page=%2B1", None),
            ("page=0010", Some((10, 100))),
            ("page=2&page=3", None),
            ("+page=2&%20per_page=10&page=2", Some((2, 10))),
            ("page=+3+&per_page=%2010", Some((3, 10))),
            ("page=4294967296", Some((u32::MAX, 100))),
            ("page=99999999999999999999999", Some((u32::MAX, 100))),
            ("per_page=0", None),
            ("per_page=-5", None),
        ];
        for (query, expected) in table {
            let wanted = read(query, Some("id".to_owned()));
            assert_eq!(
                wanted.ok().map(|w| (w.page, w.per_page)),
                expected,
                "{query:?}"
            );
        }
    }

    #[test]
    fn a_message_is_named_by_path_or_query() {
        let id = |query, path: Option<&str>| {
            read(query, path.map(str::to_owned))
                .ok()
                .map(|wanted| wanted.message_id)
        };
        assert_eq!(id("message_id=a", None).as_deref(), Some("a"));
        assert_eq!(id("message_id=a", Some("b")).as_deref(), Some("b"));
        assert_eq!(
            id("message_id=+a%20&message_id=a", None).as_deref(),
            Some("a")
        );
        assert_eq!(id("message_id=&message_id=a", None).as_deref(), Some("a"));
        assert_eq!(id("message_id=a&message_id=b", None), None);
        assert_eq!(id("message_id=", None), None);
        assert_eq!(id("", None), None);
    }
}
