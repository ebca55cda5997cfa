//! The body of a request in any form, within limits of size, time and memory.

pub(crate) mod memory;

use self::memory::{BodyMemory, BodyPermit};
use super::drain::{drain, drain_rest};
use super::fields::{Bounds, Fields};
use super::form::not_utf8;
use super::object_body::{MAX_OBJECT_BYTES, ObjectBody};
use super::{form, json};
use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::opt_out;
use domain::personalised::read_csv;
use domain::{Refusal, SendFields};
use http_body_util::BodyExt;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// The largest body that is parsed on the thread of its connection.
const MAX_INLINE_BYTES: usize = 256 << 10;
/// The largest CSV of opt-outs in bytes.
const MAX_CSV_BYTES: usize = 4 << 20;
/// Larger bodies are parsed a few at a time, so that they leave processors for other work.
static PARSING: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, usize::from);
    Semaphore::new(processors.div_ceil(2))
});

/// The limits of a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Maximum size. A larger body is refused with API-2017.
    pub bytes: usize,
    /// The time in which it must arrive.
    pub time: Duration,
    /// Maximum recipients of a send, which bounds the number of fields that are read.
    pub recipients: usize,
}

impl BodyLimits {
    fn too_large(self) -> Refusal {
        Refusal::BodyTooLarge {
            limit_bytes: self.bytes,
        }
    }
}

/// The content of a body apart from fields.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expected {
    /// Nothing.
    Fields,
    /// The rows of a personalised send, as JSON or CSV.
    Rows,
    /// The fields of an object that the request adds.
    Object,
    /// The fields of an opt-out, or a CSV of opt-outs.
    OptOuts,
}

impl Expected {
    /// Returns the limits of a body with this content.
    fn within(self, limits: BodyLimits) -> BodyLimits {
        match self {
            Self::Fields | Self::Rows => limits,
            Self::Object => BodyLimits {
                bytes: limits.bytes.min(MAX_OBJECT_BYTES),
                ..limits
            },
            Self::OptOuts => BodyLimits {
                bytes: limits.bytes.min(MAX_CSV_BYTES),
                ..limits
            },
        }
    }

    /// Returns the fields before they are read.
    fn fields(self) -> Fields {
        match self {
            Self::Fields | Self::Rows => Fields::default(),
            Self::Object | Self::OptOuts => Fields::of_object(),
        }
    }
}

/// Reads a send from any form of request, without a check of the caller. `fuzz/` calls it with
/// random requests.
pub async fn read_send(request: Request, limits: BodyLimits) -> Result<SendFields, Refusal> {
    let (parts, body) = request.into_parts();
    let mut permit = BodyMemory::new(usize::MAX, 1).known.permit();
    let fields = read(&parts, body, Expected::Fields, limits, &mut permit).await?;
    fields.over(read_query(&parts, Expected::Fields))
}

/// Reads the fields of a body. Its memory is counted by `permit`, which is kept as long as the
/// fields are. An empty body has no fields, whatever its content type.
pub(crate) async fn read(
    parts: &Parts,
    body: Body,
    expected: Expected,
    limits: BodyLimits,
    permit: &mut BodyPermit,
) -> Result<Fields, Refusal> {
    let limits = expected.within(limits);
    let bytes = collect(&parts.headers, body, limits, permit).await?;
    Ok(parse(&parts.headers, bytes, expected, limits).await)
}

/// Parses a body. A large one takes milliseconds and would block its thread, so it is parsed on a
/// blocking thread.
pub(crate) async fn parse(
    headers: &HeaderMap,
    bytes: Vec<u8>,
    expected: Expected,
    limits: BodyLimits,
) -> Fields {
    if bytes.trim_ascii().is_empty() {
        return expected.fields();
    }
    let form = match Form::of(headers, expected) {
        Ok(form) => form,
        Err(unknown) => return Fields::unread(unknown),
    };
    if bytes.len() <= MAX_INLINE_BYTES {
        return form.read(bytes, expected, limits.recipients).await;
    }
    // The semaphore is never closed.
    let _turn = PARSING.acquire().await;
    let runtime = Handle::current();
    let reading = move || runtime.block_on(form.read(bytes, expected, limits.recipients));
    let read = tokio::task::spawn_blocking(reading).await;
    read.unwrap_or_else(|_| Fields::unread(Refusal::Unavailable { retry_after_s: 1 }))
}

/// Reads the query string. The limit of the head bounds its length.
pub(crate) fn read_query(parts: &Parts, expected: Expected) -> Fields {
    let query = parts.uri.query().unwrap_or_default();
    form::read(
        expected.fields(),
        query.as_bytes(),
        &Bounds::new(query.len()),
    )
}

/// The form of a body, by its content type.
#[derive(Debug, Eq, PartialEq)]
enum Form {
    Json,
    UrlEncoded,
    Multipart(String),
    Csv,
}

impl Form {
    /// Reads the fields of a request with a maximum number of recipients.
    async fn read(self, bytes: Vec<u8>, expected: Expected, max_recipients: usize) -> Fields {
        let bounds = match expected {
            Expected::Rows => Bounds::with_rows(max_recipients),
            Expected::Fields | Expected::Object | Expected::OptOuts => Bounds::new(max_recipients),
        };
        match self {
            Self::Csv if expected == Expected::OptOuts => read_opt_outs(&bytes),
            _ if expected == Expected::OptOuts && bytes.len() > MAX_OBJECT_BYTES => {
                Fields::unread(Refusal::BodyTooLarge {
                    limit_bytes: MAX_OBJECT_BYTES,
                })
            }
            Self::Json if matches!(expected, Expected::Object | Expected::OptOuts) => {
                read_object(&bytes)
            }
            Self::Json => read_json(&bytes, &bounds),
            Self::UrlEncoded => form::read(expected.fields(), &bytes, &bounds),
            Self::Csv => match read_csv(&bytes, max_recipients) {
                Ok(rows) => Fields {
                    rows: Some(rows),
                    ..Fields::default()
                },
                Err(refusal) => Fields::unread(refusal),
            },
            Self::Multipart(boundary) => {
                let into = (expected.fields(), bounds);
                // The future is boxed, as every other request would have room for it as well.
                let read = Box::pin(form::read_multipart(bytes.into(), boundary, into)).await;
                read.unwrap_or_else(|_| {
                    // The fault may name a field, which is text of the caller.
                    let message = "The multipart form could not be read. Check that it is whole, and its boundary.";
                    Fields::unread(Refusal::Malformed(message.to_owned()))
                })
            }
        }
    }

    /// Returns the form of a body. A body without a content type counts as JSON, because only JSON
    /// is sent without one.
    fn of(headers: &HeaderMap, expected: Expected) -> Result<Self, Refusal> {
        let Some(value) = headers.get(header::CONTENT_TYPE) else {
            return Ok(Self::Json);
        };
        let value = value.to_str().unwrap_or_default();
        let essence = value
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        match essence.as_str() {
            "application/json" | "text/json" => Ok(Self::Json),
            "application/x-www-form-urlencoded" => Ok(Self::UrlEncoded),
            "multipart/form-data" => {
                multer::parse_boundary(value)
                    .map(Self::Multipart)
                    .map_err(|_| {
                        Refusal::Malformed(
                            "The Content-Type of the multipart form has no boundary.".to_owned(),
                        )
                    })
            }
            other if other.starts_with("application/") && other.ends_with("+json") => {
                Ok(Self::Json)
            }
            "text/csv" if matches!(expected, Expected::Rows | Expected::OptOuts) => Ok(Self::Csv),
            _ if expected == Expected::Rows => Err(Refusal::Malformed(
                "The Content-Type is not known. Use application/json or text/csv.".to_owned(),
            )),
            _ => Err(Refusal::Malformed(
                "The Content-Type is not known. Use application/json, \
                 application/x-www-form-urlencoded or multipart/form-data."
                    .to_owned(),
            )),
        }
    }
}

/// Collects the body, unless it is too large or there is no memory for it.
pub(crate) async fn collect(
    headers: &HeaderMap,
    mut body: Body,
    limits: BodyLimits,
    permit: &mut BodyPermit,
) -> Result<Vec<u8>, Refusal> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced
        .is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limits.bytes))
    {
        drain(headers, body);
        return Err(limits.too_large());
    }
    let whole = gather(&mut body, limits, permit);
    let gathered = tokio::time::timeout(limits.time, whole).await;
    let Ok(gathered) = gathered else {
        return Err(Refusal::Malformed(
            "The request body took too long. Send it again.".to_owned(),
        ));
    };
    if gathered.is_err() {
        // The body has begun to arrive, also if the client had waited for `100 Continue`.
        drain_rest(body);
    }
    gathered
}

/// Collects the body. Memory is taken for received bytes, not for announced ones, so that an
/// announcement takes none.
async fn gather(
    body: &mut Body,
    limits: BodyLimits,
    permit: &mut BodyPermit,
) -> Result<Vec<u8>, Refusal> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            Refusal::Malformed("The request body ended early. Send it again.".to_owned())
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let length = whole.len() + data.len();
        if length > limits.bytes {
            return Err(limits.too_large());
        }
        permit.hold(length)?;
        whole.extend_from_slice(&data);
    }
    Ok(whole)
}

/// Returns the text of a JSON body. Some Windows clients begin with a byte order mark.
fn json_text(bytes: &[u8]) -> Result<&str, Refusal> {
    let text = std::str::from_utf8(bytes).map_err(|_| not_utf8())?;
    Ok(text.strip_prefix('\u{FEFF}').unwrap_or(text))
}

/// Returns the refusal of a JSON body.
fn json_fault(fault: &serde_json::Error) -> Refusal {
    let fault = without_value(&fault.to_string());
    Refusal::Malformed(format!("The JSON body could not be read: {fault}."))
}

fn read_object(bytes: &[u8]) -> Fields {
    let read = json_text(bytes).and_then(|text| {
        serde_json::from_str::<ObjectBody>(text).map_err(|fault| json_fault(&fault))
    });
    match read {
        Ok(mut object) => Fields {
            api_token: object.take_token(),
            object: Some(Box::new(object)),
            ..Fields::default()
        },
        Err(refusal) => Fields::unread(refusal),
    }
}

fn read_opt_outs(bytes: &[u8]) -> Fields {
    match opt_out::read_csv(bytes) {
        Ok(requests) => Fields {
            opt_outs: Some(requests),
            ..Fields::of_object()
        },
        Err(refusal) => Fields::unread(refusal),
    }
}

fn read_json(bytes: &[u8], bounds: &Bounds) -> Fields {
    let text = match json_text(bytes) {
        Ok(text) => text,
        Err(refusal) => return Fields::unread(refusal),
    };
    let mut fields = Fields::default();
    let Err(fault) = json::read(text, bounds, &mut fields) else {
        return fields;
    };
    if let Some(refusal) = fields.row_fault.take() {
        return Fields {
            api_token: fields.api_token,
            ..Fields::unread(refusal)
        };
    }
    if let Some(exceeded) = bounds.exceeded() {
        // The rest is not read, not even for a token.
        return Fields {
            api_token: fields.api_token,
            ..Fields::unread(exceeded)
        };
    }
    let anew = Bounds::new(bounds.max_recipients());
    Fields {
        api_token: json::token(text, &anew),
        ..Fields::unread(json_fault(&fault))
    }
}

/// Returns a fault of JSON without the value that it found. The value may be a number, a text or a
/// token in the wrong place.
fn without_value(fault: &str) -> String {
    match fault.rsplit_once(", expected ") {
        Some((_found, expected)) => format!("expected {expected}"),
        None => fault.to_owned(),
    }
}

#[cfg(test)]
mod tests;
