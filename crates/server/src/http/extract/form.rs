//! Reads fields from query strings, URL-encoded forms and multipart forms.

use super::fields::{Bounds, Fields, Name};
use axum::body::{Body, Bytes};
use domain::Refusal;
use multer::Multipart;
use percent_encoding::percent_decode;

/// The reason why a value is no text.
#[derive(Debug, Eq, PartialEq)]
struct NotUtf8;

/// Reads a query string or a URL-encoded form into fields. Repeated recipients are added, as `to` or
/// as `to[]`.
pub(crate) fn read(mut fields: Fields, encoded: &[u8], bounds: &Bounds) -> Fields {
    for pair in encoded.split(|&byte| byte == b'&') {
        let mut halves = pair.splitn(2, |&byte| byte == b'=');
        let name = decoded(halves.next().unwrap_or_default());
        if !is_within(bounds, name.as_deref(), &mut fields) {
            break;
        }
        if !pair.is_empty() {
            let value = decoded(halves.next().unwrap_or_default());
            keep(&mut fields, name, value);
        }
    }
    fields
}

/// Passes the pairs of a query string to a function.
pub(crate) fn read_with(
    encoded: &[u8],
    bounds: &Bounds,
    mut found: impl FnMut(&str, String),
) -> Result<(), Refusal> {
    for pair in encoded.split(|&byte| byte == b'&') {
        if bounds.other().is_err() {
            return Err(bounds.exceeded().unwrap_or_else(not_utf8));
        }
        let mut halves = pair.splitn(2, |&byte| byte == b'=');
        let mut next = || decoded(halves.next().unwrap_or_default()).map_err(|NotUtf8| not_utf8());
        let (name, value) = (next()?, next()?);
        found(&name, value);
    }
    Ok(())
}

/// Reads a part of a path.
pub(crate) fn of_path(encoded: &str) -> Result<String, Refusal> {
    let text = percent_decode(encoded.as_bytes()).decode_utf8();
    text.map(std::borrow::Cow::into_owned)
        .map_err(|_| not_utf8())
}

/// Reads a multipart form from a complete body.
pub(crate) async fn read_multipart(
    body: Bytes,
    boundary: String,
    (mut fields, bounds): (Fields, Bounds),
) -> Result<Fields, String> {
    let mut parts = Multipart::new(Body::from(body).into_data_stream(), boundary);
    while let Some(part) = parts
        .next_field()
        .await
        .map_err(|fault| fault.to_string())?
    {
        let name = part.name().unwrap_or_default().to_owned();
        if !is_within(&bounds, Ok(&name), &mut fields) {
            break;
        }
        let value = part.bytes().await.map_err(|fault| fault.to_string())?;
        let value = String::from_utf8(value.into()).map_err(|_| NotUtf8);
        keep(&mut fields, Ok(name), value);
    }
    Ok(fields)
}

/// Counts a field. Records the fault if there are too many.
fn is_within(bounds: &Bounds, name: Result<&str, &NotUtf8>, fields: &mut Fields) -> bool {
    let counted = match name.map(name_of) {
        Ok(Name::To) => bounds.recipient(),
        _ => bounds.other(),
    };
    if counted.is_err() {
        fields.fault = bounds.exceeded();
    }
    counted.is_ok()
}

/// Stores a value under its name. A value that is no text is recorded as a fault.
fn keep(fields: &mut Fields, name: Result<String, NotUtf8>, value: Result<String, NotUtf8>) {
    if name.is_err() || value.is_err() {
        fields.fail(not_utf8());
    }
    let Ok(name) = name else { return };
    match name_of(&name) {
        Name::Unknown => match &mut fields.object {
            Some(object) => object.add(&name, value.unwrap_or_default()),
            None => fields.ignore(&name),
        },
        // A token is stored despite other faults.
        known => fields.keep(known, value.unwrap_or_default()),
    }
}

/// Parses a name in a form. `to[]` is a recipient, and so is `to[0]`, as some languages number the
/// elements.
fn name_of(name: &str) -> Name {
    let is_element = name
        .trim_start()
        .strip_prefix("to[")
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit()));
    if is_element { Name::To } else { Name::of(name) }
}

/// Returns the refusal of bytes that are no text.
pub(super) fn not_utf8() -> Refusal {
    Refusal::Malformed("The request is not UTF-8. Encode its text as UTF-8.".to_owned())
}

/// Decodes `+` and percent-encoding. A percent sign without two digits stays, as in browsers. Bytes
/// that are not UTF-8 are refused, since a replacement character would be sent.
fn decoded(encoded: &[u8]) -> Result<String, NotUtf8> {
    let space_for_plus = |&byte: &u8| if byte == b'+' { b' ' } else { byte };
    let spaced: Vec<u8> = encoded.iter().map(space_for_plus).collect();
    let text = percent_decode(&spaced).decode_utf8().map_err(|_| NotUtf8)?;
    Ok(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_undone_as_browsers_encode_it() {
        let table: [(&[u8], Result<&str, NotUtf8>); 7] = [
            (b"a+b%20c", Ok("a b c")),
            (b"%e1%BA%b9", Ok("\u{1EB9}")),
            (b"100%", Ok("100%")),
            (b"5%zz", Ok("5%zz")),
            ("\u{1EB9}".as_bytes(), Ok("\u{1EB9}")),
            (b"%E9", Err(NotUtf8)),
            (b"\xE9", Err(NotUtf8)),
        ];
        for (encoded, text) in table {
            assert_eq!(decoded(encoded), text.map(str::to_owned), "{encoded:?}");
        }
    }

    fn read(encoded: &[u8]) -> Fields {
        super::read(Fields::default(), encoded, &Bounds::new(10))
    }

    #[test]
    fn recipients_repeat_and_other_names_are_taken_once() {
        let fields = read(b"to[]=1&to%5B%5D=2&to[7]=3&to[x]=4&from=A&from=A&other=&&=");
        assert_eq!(fields.send.to.as_deref(), Some("1,2,3"));
        assert_eq!(fields.send.from.as_deref(), Some("A"));
        assert_eq!(fields.fault, None);
        let fields = read(b"to=1,2&to[]=3&to=4");
        assert_eq!(fields.send.to.as_deref(), Some("1,2,3,4"));
    }

    #[test]
    fn a_name_that_repeats_with_another_value_is_a_fault() {
        for name in [
            "body",
            "from",
            "unicode",
            "callback_url",
            "message_id",
            "page",
            "api_token",
        ] {
            let fields = read(format!("{name}=1&to=2&{name}=2").as_bytes());
            let message = fields
                .fault
                .map(|fault| fault.to_string())
                .unwrap_or_default();
            assert!(
                message.starts_with(&format!("`{name}` is given more than once")),
                "{name}: {message}"
            );
        }
        for same in ["gateway=+otp&gateway=otp", "page=&page=2", "from=A&from="] {
            assert_eq!(read(same.as_bytes()).fault, None, "{same}");
        }
        let fields = read(b"api_token=T&api_token=U");
        assert_eq!(
            fields.api_token.as_deref(),
            Some("T"),
            "the caller is judged first"
        );
    }

    #[test]
    fn white_space_before_a_name_is_dropped() {
        let fields = read(b"%20from=A&+to=1&%C2%A0%09body=B&%0A to[]=2");
        assert_eq!(fields.send.from.as_deref(), Some("A"));
        assert_eq!(fields.send.to.as_deref(), Some("1,2"));
        assert_eq!(fields.send.body.as_deref(), Some("B"));
        assert_eq!(fields.send.ignored, [""; 0]);
    }

    #[test]
    fn names_that_nothing_reads_are_kept_within_bounds() {
        let token = domain::token::make(&[7; domain::token::RANDOM_BYTES]).unwrap();
        let names: Vec<_> = (0..30).map(|number| format!("field{number}=x")).collect();
        let long = format!("{}=1&{}", "\u{1EB9}".repeat(100), names.join("&"));
        let ignored = read(long.as_bytes()).send.ignored;
        assert_eq!(ignored.len(), 20);
        assert_eq!(ignored[0], "\u{1EB9}".repeat(64));
        let form = format!("calback_url=x&calback_url=y&=&sendat=&{token}=&{token}");
        let ignored = read(form.as_bytes()).send.ignored;
        assert_eq!(ignored, ["calback_url", "sendat"]);
    }

    #[test]
    fn more_fields_than_a_request_can_mean_are_not_read() {
        let refused = |encoded: &[u8]| read(encoded).fault.map(|fault| fault.to_string());
        let message = "The request has more than 10000 fields beside its recipients.";
        for piece in ["&", "a&", "a=b&", "=&"] {
            let nine_mib = piece.repeat((9 << 20) / piece.len());
            assert_eq!(
                refused(nine_mib.as_bytes()).as_deref(),
                Some(message),
                "{piece}"
            );
        }
        let list = "to[]=1&".repeat(1 << 20);
        assert_eq!(
            read(list.as_bytes()).fault,
            Some(domain::Refusal::TooManyRecipients { limit: 10 })
        );
        // Somewhat too many are for the checks of a send, in their turn.
        assert_eq!(read("to[]=1&".repeat(20).as_bytes()).fault, None);
    }
}
