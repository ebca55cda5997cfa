//! Reads fields from query strings, URL-encoded forms and multipart forms.

use super::body::not_utf8;
use super::fields::{Fields, Name};
use axum::body::{Body, Bytes};
use multer::Multipart;

/// Why a text is none.
#[derive(Debug, Eq, PartialEq)]
struct NotUtf8;

/// Reads a query string or a URL-encoded form. Recipients add up, whether `to` or `to[]` repeats; of other equal names the
/// last wins.
pub(super) fn read(encoded: &[u8]) -> Fields {
    let mut fields = Fields::default();
    for pair in encoded.split(|&byte| byte == b'&') {
        let mut halves = pair.splitn(2, |&byte| byte == b'=');
        let name = decoded(halves.next().unwrap_or_default());
        let value = decoded(halves.next().unwrap_or_default());
        keep(&mut fields, name, value);
    }
    fields
}

/// Reads a multipart form whose body is at hand.
pub(super) async fn read_multipart(body: Bytes, boundary: String) -> Result<Fields, String> {
    let mut fields = Fields::default();
    let mut parts = Multipart::new(Body::from(body).into_data_stream(), boundary);
    while let Some(part) = parts
        .next_field()
        .await
        .map_err(|fault| fault.to_string())?
    {
        let name = part.name().unwrap_or_default().to_owned();
        let value = part.bytes().await.map_err(|fault| fault.to_string())?;
        let value = String::from_utf8(value.into()).map_err(|_| NotUtf8);
        keep(&mut fields, Ok(name), value);
    }
    Ok(fields)
}

/// Keeps a value under its name; in place of one that is no text nothing, and the fault.
fn keep(fields: &mut Fields, name: Result<String, NotUtf8>, value: Result<String, NotUtf8>) {
    if name.is_err() || value.is_err() {
        fields.fault = Some(not_utf8());
    }
    if let Ok(name) = name {
        set(fields, &name, value.unwrap_or_default());
    }
}

/// Sets the field of that name.
fn set(fields: &mut Fields, name: &str, value: String) {
    let name = if is_list_element(name) {
        Name::To
    } else {
        Name::of(name)
    };
    match fields.slot(name) {
        Some(Some(list)) if name == Name::To => {
            list.push(',');
            list.push_str(&value);
        }
        Some(slot) => *slot = Some(value),
        None => {}
    }
}

/// Whether a name is `to[]`, or `to[0]` as some languages number the elements.
fn is_list_element(name: &str) -> bool {
    name.strip_prefix("to[")
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Undoes percent-encoding and `+`. A percent sign without two digits stands for itself, as browsers
/// have it; what is not UTF-8 is refused rather than replaced, since it would be sent.
fn decoded(encoded: &[u8]) -> Result<String, NotUtf8> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'+', _) => bytes.push(b' '),
            (b'%', &[high, low, ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                bytes.push(hex_digit(high) << 4 | hex_digit(low));
                rest = &after[2..];
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| NotUtf8)
}

const fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.wrapping_sub(b'A').wrapping_add(10),
    }
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

    #[test]
    fn recipients_repeat_and_other_names_are_taken_once() {
        let fields = read(b"to[]=1&to%5B%5D=2&to[7]=3&to[x]=4&from=A&from=B&other=&&=");
        assert_eq!(fields.send.to.as_deref(), Some("1,2,3"));
        assert_eq!(fields.send.from.as_deref(), Some("B"));
        let fields = read(b"to=1,2&to[]=3&to=4");
        assert_eq!(fields.send.to.as_deref(), Some("1,2,3,4"));
    }
}
