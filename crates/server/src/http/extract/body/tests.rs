//! Tests of one send in every form of body.

use super::*;

fn up_to(bytes: usize) -> BodyLimits {
    BodyLimits {
        bytes,
        time: Duration::from_secs(30),
        recipients: 10,
    }
}

async fn read_whole(parts: &Parts, body: Body, limits: BodyLimits) -> Result<Fields, Refusal> {
    let mut permit = BodyMemory::new(1 << 20, 1).known.permit();
    read(parts, body, Expected::Fields, limits, &mut permit).await
}

async fn read_as(content_type: Option<&str>, body: impl Into<Body>) -> Result<Fields, Refusal> {
    match read_with_fault(content_type, body).await {
        Fields {
            fault: Some(fault), ..
        } => Err(fault),
        fields => Ok(fields),
    }
}

async fn read_with_fault(content_type: Option<&str>, body: impl Into<Body>) -> Fields {
    let mut request = Request::builder().uri("/");
    if let Some(content_type) = content_type {
        request = request.header(header::CONTENT_TYPE, content_type);
    }
    let (parts, body) = request.body(body.into()).unwrap().into_parts();
    read_whole(&parts, body, up_to(1 << 20)).await.unwrap()
}

async fn json(body: &str) -> Result<Fields, Refusal> {
    read_as(Some("application/json"), body.to_owned()).await
}

const BOUNDARY: &str = "multipart/form-data; boundary=X";
const MULTIPART: &str = "--X\r\nContent-Disposition: form-data; name=\"from\"\r\n\r\nAda\r\n\
    --X\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n2348031234567\r\n\
    --X\r\nContent-Disposition: form-data; name=\"body\"\r\n\r\nẸ kú\r\n\
    --X\r\nContent-Disposition: form-data; name=\"api_token\"\r\n\r\nT\r\n--X--\r\n";

#[tokio::test]
async fn a_send_reads_the_same_from_every_form() {
    let expected = Fields {
        api_token: Some("T".to_owned()),
        send: SendFields {
            from: Some("Ada".to_owned()),
            to: Some("2348031234567".to_owned()),
            body: Some("Ẹ kú".to_owned()),
            ..SendFields::default()
        },
        ..Fields::default()
    };
    let object = r#"{"from":"Ada","to":"2348031234567","body":"Ẹ kú","api_token":"T"}"#;
    let marked = format!("\u{FEFF}{object}");
    let form = "from=Ada&to=2348031234567&body=%E1%BA%B8+k%C3%BA&api_token=T";
    let table = [
        (Some("application/json"), object),
        (Some("application/json; charset=utf-8"), object),
        (Some("Application/JSON"), object),
        (Some("text/json"), object),
        (Some("application/vnd.api+json"), object),
        (Some("application/json"), &marked),
        (None, object),
        (Some("application/x-www-form-urlencoded"), form),
        (
            Some("application/x-www-form-urlencoded; charset=UTF-8"),
            form,
        ),
        (Some(BOUNDARY), MULTIPART),
    ];
    for (content_type, body) in table {
        let fields = read_as(content_type, body.to_owned()).await;
        assert_eq!(fields.as_ref(), Ok(&expected), "{content_type:?}");
    }
}

#[tokio::test]
async fn an_empty_body_has_no_fields_under_any_content_type() {
    for content_type in [
        None,
        Some("application/json"),
        Some("text/plain"),
        Some(BOUNDARY),
    ] {
        for body in ["", " \r\n"] {
            assert_eq!(
                read_as(content_type, body).await,
                Ok(Fields::default()),
                "{content_type:?}"
            );
        }
    }
}

#[tokio::test]
async fn recipients_may_be_a_string_an_integer_or_an_array_of_these() {
    let table = [
        (r#""1,2""#, Some("1,2")),
        ("2348031234567", Some("2348031234567")),
        ("2348031234567.0", Some("2348031234567")),
        (r#"["1",2,"3,4",5.0,2.348e3]"#, Some("1,2,3,4,5,2348")),
        ("[]", Some("")),
        ("null", None),
    ];
    for (to, expected) in table {
        let fields = json(&format!(r#"{{"to":{to}}}"#)).await.unwrap();
        assert_eq!(fields.send.to.as_deref(), expected, "{to}");
    }
    for to in ["true", "1.5", "{}", "-1", "-1.0"] {
        assert!(json(&format!(r#"{{"to":{to}}}"#)).await.is_err(), "{to}");
    }
}

#[tokio::test]
async fn an_element_that_is_no_number_refuses_no_other() {
    let elements =
        r#"[null,true,803123456.7,-8031234567,-2e9,[8031234567],{"a":[1]},"08031234567"]"#;
    let read = json(&format!(r#"{{"to":{elements}}}"#)).await.unwrap();
    let to = read.send.to.unwrap();
    let list = domain::read_recipients(&to, domain::parse_international, 10).unwrap();
    assert_eq!((list.valid.len(), list.invalid_count), (1, 7), "{to}");
    insta::assert_snapshot!(list.invalid.join("; "), @"null; true; 803123456.7 (not whole); -8031234567 (negative); -2000000000 (not whole); (an array); (an object)");
}

#[tokio::test]
async fn a_reference_may_be_a_number_that_is_kept_exactly() {
    for (value, text) in [
        ("42", "42"),
        ("-7", "-7"),
        ("1.5", "1.5"),
        ("1e3", "1000"),
        ("18446744073709551615", "18446744073709551615"),
    ] {
        let fields = json(&format!(r#"{{"customer_reference":{value}}}"#)).await;
        let reference = fields.unwrap().send.customer_reference;
        assert_eq!(reference.as_deref(), Some(text), "{value}");
    }
    for value in ["98446744073709551615", "1e300", "true", "[]", "{}"] {
        let fields = json(&format!(r#"{{"customer_reference":{value}}}"#)).await;
        assert!(fields.is_err(), "{value}");
    }
}

#[tokio::test]
async fn a_repeated_field_is_one_value_or_a_fault_in_every_form() {
    let part = |value: &str| {
        format!("--X\r\nContent-Disposition: form-data; name=\"body\"\r\n\r\n{value}\r\n")
    };
    let forms = [
        (
            "application/json",
            r#"{"body":"a","to":1,"body":"OTHER","to":"2","from":null}"#,
        ),
        (
            "application/x-www-form-urlencoded",
            "body=a&to=1&body=OTHER&to=2",
        ),
    ];
    for (content_type, form) in forms {
        let same = read_as(Some(content_type), form.replace("OTHER", "a"))
            .await
            .unwrap();
        assert_eq!(same.send.body.as_deref(), Some("a"), "{content_type}");
        assert_eq!(same.send.to.as_deref(), Some("1,2"), "{content_type}");
        let different = read_as(Some(content_type), form.replace("OTHER", "b")).await;
        assert!(different.is_err(), "{content_type}");
    }
    let same = part("a").repeat(2) + "--X--\r\n";
    assert!(read_as(Some(BOUNDARY), same).await.is_ok());
    let different = part("a") + &part("b") + "--X--\r\n";
    assert!(read_as(Some(BOUNDARY), different).await.is_err());
}

#[tokio::test]
async fn too_many_fields_end_the_reading_in_every_form() {
    let whole = |head: &str, piece: &str, tail: &str| {
        let times = ((9 << 20) - head.len() - tail.len()) / piece.len();
        [head, &piece.repeat(times), tail].concat()
    };
    let part = "--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n";
    let bodies = [
        ("application/x-www-form-urlencoded", whole("", "&", "")),
        (BOUNDARY, whole("", part, "--X--\r\n")),
        ("application/json", whole("{", r#""a":1,"#, r#""b":1}"#)),
        ("application/json", whole("{", r#""body":"","#, r#""b":1}"#)),
        ("application/json", whole(r#"{"x":["#, "1,", "1]}")),
        ("application/json", whole(r#"{"x":["#, "[],", "1]}")),
        (
            "application/json",
            whole(r#"{"x":{"#, r#""":0,"#, r#""":0}}"#),
        ),
        ("application/json", whole(r#"{"to":["#, "1,", "1]}")),
        ("application/json", whole(r#"{"to":[["#, "1,", "1]]}")),
    ];
    for (content_type, body) in bodies {
        let start: String = body.chars().take(40).collect();
        let (parts, body) = Request::builder()
            .header(header::CONTENT_TYPE, content_type)
            .body(Body::from(body))
            .unwrap()
            .into_parts();
        let mut permit = BodyMemory::new(usize::MAX, 1).known.permit();
        let read = read(&parts, body, Expected::Fields, up_to(10 << 20), &mut permit).await;
        let message = read.unwrap().fault.map(|fault| fault.to_string());
        let message = message.unwrap_or_default();
        let expected = [
            "The request has more than 10000 fields beside its recipients.",
            "At most 10 recipients are allowed in a request. Split the list.",
        ];
        assert!(expected.contains(&message.as_str()), "{start}: {message}");
    }
}

#[tokio::test]
async fn a_large_body_is_understood_beside_the_thread_that_serves() {
    let form = format!("body={}", "%41".repeat(3 << 20));
    let headers = HeaderMap::from_iter([(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/x-www-form-urlencoded"),
    )]);
    let mut parsed = std::pin::pin!(parse(
        &headers,
        form.into(),
        Expected::Fields,
        up_to(10 << 20)
    ));
    let first =
        std::future::poll_fn(|context| std::task::Poll::Ready(parsed.as_mut().poll(context)));
    assert!(first.await.is_pending(), "the thread is free at once");
    assert_eq!(parsed.await.send.body.map(|body| body.len()), Some(3 << 20));
}

#[tokio::test]
async fn numbers_and_booleans_have_any_type_and_texts_are_strings() {
    for (value, text) in [
        ("true", "true"),
        ("1", "1"),
        ("\"1\"", "1"),
        ("-1", "-1"),
        ("2.0", "2"),
    ] {
        for name in ["unicode", "append_sender", "dnd", "gateway"] {
            let mut fields = json(&format!(r#"{{"{name}":{value}}}"#)).await.unwrap();
            let slot = fields
                .slot(crate::http::extract::fields::Name::of(name))
                .unwrap();
            assert_eq!(slot.as_deref(), Some(text), "{name} {value}");
        }
    }
    for name in ["from", "body", "callback_url"] {
        for value in ["1", "true", "1.5", "[]", "{}", "[\"a\"]"] {
            assert!(
                json(&format!(r#"{{"{name}":{value}}}"#)).await.is_err(),
                "{name} {value}"
            );
        }
    }
}

#[tokio::test]
async fn null_is_absent_and_unknown_is_noted() {
    let fields = json(
        r#"{" from":"A","from":null,"body":null,"x":[{"y":[1,-1,2.5,true,null,"z"]}],"send_at":null}"#,
    );
    let fields = fields.await.unwrap();
    assert_eq!(fields.send.from.as_deref(), Some("A"));
    assert_eq!(fields.send.body, None);
    assert_eq!(fields.send.ignored, ["x"]);
}

#[tokio::test]
async fn the_body_wins_over_the_query_field_by_field() {
    let body = json(r#"{"from":"B","body":null}"#).await.unwrap();
    let query = form::read(
        Fields::default(),
        b"from=Q&body=Q&to=1&x=1&page=2",
        &Bounds::new(1),
    );
    let send = body.over(query).unwrap();
    let fields = (
        send.from.as_deref(),
        send.body.as_deref(),
        send.to.as_deref(),
    );
    assert_eq!(fields, (Some("B"), Some("Q"), Some("1")));
    assert_eq!(send.ignored, ["x", "page"]);
}

#[tokio::test]
async fn what_is_not_understood_is_refused_with_what_to_do() {
    let deep = format!(r#"{{"x":{}"#, "[".repeat(100_000));
    let table: [(&str, Vec<u8>); 9] = [
        ("application/json", b"{".to_vec()),
        ("application/json", b"[]".to_vec()),
        ("application/json", br#"{"body":1}"#.to_vec()),
        ("application/json", b"{\"body\":\"\xFF\"}".to_vec()),
        ("application/json", deep.into_bytes()),
        ("application/x-www-form-urlencoded", b"body=%FF".to_vec()),
        ("multipart/form-data", b"--X--".to_vec()),
        (BOUNDARY, b"--X\r\nnonsense".to_vec()),
        ("text/plain", b"hello".to_vec()),
    ];
    let mut messages = Vec::new();
    for (content_type, body) in table {
        match read_as(Some(content_type), body).await {
            Err(Refusal::Malformed(message)) => messages.push(message),
            other => panic!("{content_type}: {other:?}"),
        }
    }
    insta::assert_snapshot!(messages.join("\n"), @r#"
    The JSON body could not be read: EOF while parsing an object at line 1 column 1.
    The JSON body could not be read: expected an object with the fields of the request at line 1 column 0.
    The JSON body could not be read: expected a string in `body` at line 1 column 9.
    The request is not UTF-8. Encode its text as UTF-8.
    The JSON body could not be read: recursion limit exceeded at line 1 column 132.
    The request is not UTF-8. Encode its text as UTF-8.
    The Content-Type of the multipart form has no boundary.
    The multipart form could not be read. Check that it is whole, and its boundary.
    The Content-Type is not known. Use application/json, application/x-www-form-urlencoded or multipart/form-data.
    "#);
}

#[tokio::test]
async fn a_token_is_found_whatever_is_wrong_with_the_fields_beside_it() {
    let part = |name: &str, value: &[u8]| {
        let head = format!("--X\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        [head.as_bytes(), value, b"\r\n"].concat()
    };
    let multipart = [
        part("body", b"\xFF"),
        part("api_token", b"T"),
        b"--X--".to_vec(),
    ];
    let table: [(&str, Vec<u8>); 6] = [
        (
            "application/json",
            br#"{"body":["x",{}],"api_token":"T"}"#.to_vec(),
        ),
        (
            "application/json",
            br#"{"api_token":"T","to":[[1]],"from":1}"#.to_vec(),
        ),
        (
            "application/json",
            b"\xEF\xBB\xBF{\"unicode\":{},\"api_token\":\"T\"}".to_vec(),
        ),
        (
            "application/x-www-form-urlencoded",
            b"body=%FF&api_token=T".to_vec(),
        ),
        (
            "application/x-www-form-urlencoded",
            b"api_token=T&%FF=x".to_vec(),
        ),
        (BOUNDARY, multipart.concat()),
    ];
    for (content_type, body) in table {
        let fields = read_with_fault(Some(content_type), body).await;
        assert_eq!(fields.api_token.as_deref(), Some("T"), "{content_type}");
        assert!(fields.fault.is_some(), "{content_type}");
        assert!(fields.over(Fields::default()).is_err(), "{content_type}");
    }
    for broken in [r#"{"api_token":"T","#, r#"{"api_token":["T"]}"#, r#"["T"]"#] {
        let fields = read_with_fault(Some("application/json"), broken).await;
        assert_eq!(fields.api_token, None, "{broken}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_whether_or_not_it_says_so() {
    let (parts, ()) = Request::builder()
        .header(header::CONTENT_LENGTH, "11")
        .body(())
        .unwrap()
        .into_parts();
    let announced = read_whole(&parts, Body::empty(), up_to(10)).await;
    assert_eq!(announced, Err(Refusal::BodyTooLarge { limit_bytes: 10 }));

    let (parts, ()) = Request::builder().body(()).unwrap().into_parts();
    let shown = read_whole(&parts, Body::from(vec![b' '; 11]), up_to(10)).await;
    assert_eq!(shown, Err(Refusal::BodyTooLarge { limit_bytes: 10 }));
    assert_eq!(
        read_whole(&parts, Body::from(vec![b' '; 10]), up_to(10)).await,
        Ok(Fields::default())
    );
}
