//! Reads the body of a request, in whatever form it comes, within limits of size, time and memory.

pub(super) mod room;

use self::room::{Place, Rooms};
use super::fields::{Bounds, Fields};
use super::{form, json};
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::{Refusal, SendFields};
use http_body_util::{BodyExt, Limited};
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// How much, and for how long, is still read of a body that nobody wants.
const LINGER_BYTES: usize = 64 << 20;
const LINGER_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest body that is understood on the thread that serves its connection.
const MAX_INLINE_BYTES: usize = 256 << 10;
/// Larger ones are understood a few at a time, so that they leave processors to everything else.
static PARSING: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, usize::from);
    Semaphore::new(processors.div_ceil(2))
});

/// What is read of a body.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Its size (API-2017 above it).
    pub bytes: usize,
    /// How long it may take to arrive.
    pub time: Duration,
    /// Recipients that a send may have, which bounds how many fields are read.
    pub recipients: usize,
}

impl Limits {
    fn too_large(self) -> Refusal {
        Refusal::BodyTooLarge {
            limit_bytes: self.bytes,
        }
    }
}

/// Reads a send from whatever a request holds, without asking who calls: what `fuzz/` tries with anything.
pub async fn read_send(request: Request, limits: Limits) -> Result<SendFields, Refusal> {
    let (parts, body) = request.into_parts();
    let mut place = Rooms::new(usize::MAX, 1).known.place();
    let fields = read(&parts, body, limits, &mut place).await?;
    fields.over(read_query(&parts))
}

/// Reads the fields of a body, for which `place` has room as long as they are kept. An empty one has none, whatever
/// its content type says.
pub(super) async fn read(
    parts: &Parts,
    body: Body,
    limits: Limits,
    place: &mut Place,
) -> Result<Fields, Refusal> {
    let bytes = collect(&parts.headers, body, limits, place).await?;
    Ok(understand(&parts.headers, bytes, limits).await)
}

/// Understands a body that has come. A large one takes milliseconds, in which nothing else would run on its thread: it is
/// understood on a thread where others do not wait for it.
pub(super) async fn understand(headers: &HeaderMap, bytes: Vec<u8>, limits: Limits) -> Fields {
    if bytes.trim_ascii().is_empty() {
        return Fields::default();
    }
    let form = match Form::of(headers) {
        Ok(form) => form,
        Err(unknown) => return Fields::unread(unknown),
    };
    if bytes.len() <= MAX_INLINE_BYTES {
        return form.read(bytes, limits.recipients).await;
    }
    // The semaphore is never closed.
    let _turn = PARSING.acquire().await;
    let runtime = Handle::current();
    let reading = move || runtime.block_on(form.read(bytes, limits.recipients));
    let read = tokio::task::spawn_blocking(reading).await;
    read.unwrap_or_else(|_| Fields::unread(Refusal::Unavailable { retry_after_s: 1 }))
}

/// Reads the query string, which the head of a request bounds.
pub(super) fn read_query(parts: &Parts) -> Fields {
    let query = parts.uri.query().unwrap_or_default();
    form::read(query.as_bytes(), &Bounds::new(query.len()))
}

/// What a body is, by its content type.
#[derive(Debug, Eq, PartialEq)]
enum Form {
    Json,
    UrlEncoded,
    Multipart(String),
}

impl Form {
    /// Reads the fields of a request with so many recipients at most.
    async fn read(self, bytes: Vec<u8>, max_recipients: usize) -> Fields {
        let bounds = Bounds::new(max_recipients);
        match self {
            Self::Json => read_json(&bytes, &bounds),
            Self::UrlEncoded => form::read(&bytes, &bounds),
            Self::Multipart(boundary) => {
                // Boxed, as every other request would carry it as well.
                let read = Box::pin(form::read_multipart(bytes.into(), boundary, bounds)).await;
                read.unwrap_or_else(|_| {
                    // The fault may name a field, and that is the caller's own text.
                    let told = "The multipart form could not be read. Check that it is whole, and its boundary.";
                    Fields::unread(Refusal::Malformed(told.to_owned()))
                })
            }
        }
    }

    /// A body without a content type is taken for JSON: nothing else is sent without one.
    fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
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
            _ => Err(Refusal::Malformed(
                "The Content-Type is not known. Use application/json, \
                 application/x-www-form-urlencoded or multipart/form-data."
                    .to_owned(),
            )),
        }
    }
}

/// Collects the body, unless it says or shows that it is too large, or there is no room for it.
pub(super) async fn collect(
    headers: &HeaderMap,
    mut body: Body,
    limits: Limits,
    place: &mut Place,
) -> Result<Vec<u8>, Refusal> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced
        .is_some_and(|length| usize::try_from(length).map_or(true, |length| length > limits.bytes))
    {
        linger(headers, body);
        return Err(limits.too_large());
    }
    let whole = gather(&mut body, limits, place);
    let gathered = tokio::time::timeout(limits.time, whole).await;
    let Ok(gathered) = gathered else {
        return Err(Refusal::Malformed(
            "The request body took too long. Send it again.".to_owned(),
        ));
    };
    if gathered.is_err() {
        // It has begun to come, also where the client had waited for `100 Continue`.
        read_on(body);
    }
    gathered
}

/// Room is taken for what has come, and not for what is announced: who announces much and sends little takes little.
async fn gather(body: &mut Body, limits: Limits, place: &mut Place) -> Result<Vec<u8>, Refusal> {
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
        place.hold(length)?;
        whole.extend_from_slice(&data);
    }
    Ok(whole)
}

/// Reads on, within limits, and throws away what a client still sends after its refusal. A connection
/// that is closed with bytes unread is reset, and most clients would see that instead of the answer.
pub(super) fn linger(headers: &HeaderMap, body: Body) {
    // Who waits for `100 Continue` has sent nothing yet, and reading would ask for it.
    if !headers.contains_key(header::EXPECT) {
        read_on(body);
    }
}

fn read_on(body: Body) {
    if body.is_end_stream() {
        return;
    }
    tokio::spawn(tokio::time::timeout(LINGER_TIMEOUT, async move {
        let mut body = Limited::new(body, LINGER_BYTES);
        while let Some(Ok(_)) = body.frame().await {}
    }));
}

fn read_json(bytes: &[u8], bounds: &Bounds) -> Fields {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Fields::unread(not_utf8());
    };
    // Some Windows clients begin with a byte order mark.
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut fields = Fields::default();
    let Err(fault) = json::read(text, bounds, &mut fields) else {
        return fields;
    };
    if let Some(exceeded) = bounds.exceeded() {
        // What is behind is not read, not even for a token.
        return Fields {
            api_token: fields.api_token,
            ..Fields::unread(exceeded)
        };
    }
    let fault = without_value(&fault.to_string());
    let told = format!("The JSON body could not be read: {fault}.");
    let anew = Bounds::new(bounds.max_recipients());
    Fields {
        api_token: json::token(text, &anew),
        ..Fields::unread(Refusal::Malformed(told))
    }
}

/// A fault of JSON without the value that it found: that may be a number, a text or a token in the wrong place.
fn without_value(fault: &str) -> String {
    match fault.rsplit_once(", expected ") {
        Some((_found, expected)) => format!("expected {expected}"),
        None => fault.to_owned(),
    }
}

pub(super) fn not_utf8() -> Refusal {
    Refusal::Malformed("The request is not UTF-8. Encode its text as UTF-8.".to_owned())
}

#[cfg(test)]
mod tests;
