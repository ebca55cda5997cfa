//! Forms of a send, and its answers (docs/spec/interface.md, sections 2 and 6.1).

use crate::kit::http::{Request, encoded};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, Setup, to, wire, with};
use serde_json::{Value, json};
use smpp::simulator::Script;

#[tokio::test]
async fn an_accepted_send_is_answered_in_both_shapes() {
    let ogene = Ogene::start().await;
    let answer = ogene.send(to(MTN, "Your order is ready")).await;
    insta::assert_snapshot!(testkit::indented(&answer.redacted()), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Message accepted for delivery to 1 recipient.",
      "data": {
        "status": "success",
        "message": "Message Sent",
        "message_id": "[uuid]",
        "cost": 6.00,
        "currency": "NGN",
        "recipients_count": 1,
        "gateway_used": "direct-refund",
        "unicode": false,
        "page_count": 1,
        "text_changed": false,
        "removed_characters": 0,
        "scheduled_for": null,
        "state": "sending",
        "total_recipients": 1,
        "balance": 994.00
      },
      "success": true
    }
    "#);
    let all = with(
        to(
            "2348031234567,08021234567,12345,+234 805 123 4567",
            "Ẹ kú àárọ̀ 😀",
        ),
        json!({"unicode": true, "gateway": "direct-corporate", "customer_reference": "order-7"}),
    );
    insta::assert_snapshot!(testkit::indented(&ogene.send(all).await.redacted()), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Message accepted for delivery to 3 recipients; 1 invalid number was skipped.",
      "data": {
        "status": "success",
        "message": "Message Sent",
        "message_id": "[uuid]",
        "cost": 45.00,
        "currency": "NGN",
        "recipients_count": 3,
        "gateway_used": "direct-corporate",
        "unicode": true,
        "page_count": 1,
        "text_changed": false,
        "removed_characters": 0,
        "scheduled_for": null,
        "state": "sending",
        "total_recipients": 3,
        "balance": 949.00,
        "invalid_recipients": [
          "12345"
        ]
      },
      "success": true
    }
    "#);
    ogene.end().await;
}

#[tokio::test]
async fn an_accepted_send_reads_message_sent_in_every_version() {
    let ogene = Ogene::start().await;
    for path in ["/api/v1/sms/create", "/api/v2/sms", "/api/sandbox/v2/sms"] {
        let request = Request::post(path).bearer(&ogene.shop.token);
        let answer = ogene.ask(&request.json(&to(MTN, path))).await.json();
        assert_eq!(answer["success"], true, "{path}");
        assert_eq!(answer["status"], "success", "{path}");
        assert_eq!(answer["code"], "API-0000", "{path}");
        assert_eq!(answer["data"]["status"], "success", "{path}");
        assert_eq!(answer["data"]["message"], "Message Sent", "{path}");
    }
    ogene.end().await;
}

/// Returns the fields of a send as a form.
fn fields(number: &str) -> Vec<(&str, &str)> {
    vec![
        ("from", SENDER),
        ("to", number),
        ("body", "Sale & more: 50% off + gifts"),
        ("gateway", "direct-corporate"),
        ("customer_reference", "order 7"),
    ]
}

#[tokio::test]
async fn a_send_by_json_form_multipart_and_query_is_the_same() {
    let ogene = Ogene::start().await;
    let token = &ogene.shop.token;
    let object = |number| {
        let all = fields(number)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()));
        Value::Object(all.collect())
    };
    let query = |number| format!("/api/v2/sms?{}", encoded(&fields(number)));
    let post = |target: &str| Request::post(target).bearer(token);
    let ways = [
        post("/api/v2/sms").json(&object("2348030000001")),
        post("/api/v2/sms").form(&fields("2348030000002")),
        post("/api/v2/sms").multipart(&fields("2348030000003")),
        Request::get(&query("2348030000004")).bearer(token),
        post(&query("2348030000005")),
        post(&query("2348030000006")).body("text/weird", ""),
        post("/api/v2/sms/create").json(&object("2348030000007")),
        Request::get(&query("2348030000008").replace("/sms", "/sms/create")).bearer(token),
        post("/api/v2/sms").form(&fields("2348030000009")).chunked(),
        post("/api/v2/sms").body(
            "application/json; charset=utf-8",
            object("2348030000010").to_string(),
        ),
        post("/api/v2/sms").body(
            "application/vnd.api+json",
            object("2348030000011").to_string(),
        ),
    ];
    for (way, request) in ways.iter().enumerate() {
        let answer = ogene.ask(request).await;
        assert_eq!(answer.status, 200, "way {way}: {}", answer.text());
        let data = &answer.json()["data"];
        assert_eq!(
            (
                &data["cost"],
                &data["gateway_used"],
                &data["recipients_count"],
                &data["page_count"]
            ),
            (
                &json!(7.5),
                &json!("direct-corporate"),
                &json!(1),
                &json!(1)
            ),
            "way {way}"
        );
        let id = data["message_id"].as_str().expect("an id");
        assert_eq!(
            ogene.report(id).await["customer_reference"],
            "order 7",
            "way {way}"
        );
    }
    let received = ogene.received(ways.len()).await;
    assert_eq!(received.len(), ways.len());
    for message in received {
        assert_eq!(
            wire::gsm(&message.submit.short_message),
            "Sale & more: 50% off + gifts"
        );
        assert_eq!(message.submit.source.digits, SENDER);
    }
    ogene.end().await;
}

#[tokio::test]
async fn where_query_and_body_both_name_a_field_the_body_wins() {
    let ogene = Ogene::start().await;
    let query = encoded(&[
        ("body", "from the query"),
        ("gateway", "otp"),
        ("from", SENDER),
    ]);
    let request = Request::post(&format!("/api/v2/sms?{query}"))
        .bearer(&ogene.shop.token)
        .json(&json!({"to": MTN, "body": "from the body", "gateway": null}));
    let answer = ogene.ask(&request).await;
    assert_eq!(
        answer.json()["data"]["gateway_used"],
        "otp",
        "{}",
        answer.text()
    );
    let received = ogene.received(1).await;
    assert_eq!(wire::text(&received, MTN), "from the body");
    ogene.end().await;
}

#[tokio::test]
async fn recipients_may_be_a_string_an_integer_or_an_array_of_these() {
    let ogene = Ogene::start().await;
    let table = [
        (json!("2348031234567,2348021234567"), 2),
        (json!("2348031234567; 2348021234567\n2348051234567,"), 3),
        (json!(2_348_031_234_567_u64), 1),
        (json!(["2348031234567", "2348021234567"]), 2),
        (
            json!([
                2_348_031_234_567_u64,
                "08021234567",
                "2348051234567,2348091234567"
            ]),
            4,
        ),
    ];
    for (number, (given, count)) in table.into_iter().enumerate() {
        let fields = json!({"from": SENDER, "to": given, "body": format!("Text {number}")});
        let data = ogene.sent(fields).await;
        assert_eq!(data["recipients_count"], count, "{given}");
        assert_eq!(data["total_recipients"], count, "{given}");
    }
    let request = Request::post("/api/v2/sms")
        .bearer(&ogene.shop.token)
        .form(&[
            ("from", SENDER),
            ("to[]", MTN),
            ("to", AIRTEL),
            ("to[2]", GLO),
            ("body", "A list"),
        ]);
    assert_eq!(
        ogene.ask(&request).await.json()["data"]["recipients_count"],
        3
    );
    for wrong in [json!({"a": 1}), json!(true), json!(1.5), json!(-1)] {
        let answer = ogene
            .send(json!({"from": SENDER, "to": wrong, "body": "No"}))
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2000"),
            "{wrong}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn an_element_that_is_no_number_is_an_invalid_recipient() {
    let ogene = Ogene::start().await;
    let to = json!([null, 1.5, 803_123_456.7, true, [MTN], {"a": MTN}, 2_348_021_234_567.0, MTN]);
    let fields = json!({"from": SENDER, "to": to, "body": "Hello", "customer_reference": 42});
    let data = ogene.sent(fields).await;
    assert_eq!(data["recipients_count"], 2);
    assert_eq!(
        data["invalid_recipients"],
        json!([
            "null",
            "1.5 (not whole)",
            "803123456.7 (not whole)",
            "true",
            "(an array)",
            "(an object)"
        ])
    );
    let report = ogene.report(data["message_id"].as_str().expect("an id"));
    assert_eq!(report.await["customer_reference"], "42");
    for (elements, code) in [
        (json!([null]), "API-2006"),
        (json!([null, 1.5]), "API-3002"),
    ] {
        let fields = json!({"from": SENDER, "to": elements, "body": "Hello"});
        let answer = ogene.send(fields).await;
        assert_eq!((answer.status, answer.code().as_str()), (422, code));
    }
    ogene.end().await;
}

#[tokio::test]
async fn names_of_fields_may_have_white_space_before_them() {
    let ogene = Ogene::start().await;
    let query = format!("%20from={SENDER}&+to={MTN}&%0A%09body=Hello&+gateway=corporate");
    let request = Request::get(&format!("/api/v2/sms?{query}")).bearer(&ogene.shop.token);
    let answer = ogene.ask(&request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let data = &answer.json()["data"];
    assert_eq!(data["gateway_used"], "direct-corporate");
    assert_eq!(data["ignored_fields"], Value::Null);
    ogene.end().await;
}

#[tokio::test]
async fn a_text_not_sent_as_written_is_reported_in_every_version() {
    let ogene = Ogene::start().await;
    let table = [
        ("Order 5", false, (false, 0), "Order 5"),
        ("Order 5: مرحبا بك", false, (true, 7), "Order 5: "),
        ("Ẹ kú àárọ̀", false, (true, 0), "E ku aaro"),
        ("مرحبا بك", true, (false, 0), "مرحبا بك"),
    ];
    for path in ["/api/v1/sms/create", "/api/v2/sms", "/api/sandbox/v2/sms"] {
        for (number, (body, unicode, (changed, removed), _)) in (1..).zip(table) {
            let to = format!("23480300{:02}{number:03}", path.len());
            let fields = json!({"from": SENDER, "to": to, "body": body, "unicode": unicode});
            let request = Request::post(path).bearer(&ogene.shop.token).json(&fields);
            let data = ogene.ask(&request).await.json()["data"].clone();
            assert_eq!(data["text_changed"], changed, "{path} {body}");
            assert_eq!(data["removed_characters"], removed, "{path} {body}");
        }
    }
    let received = ogene.received(2 * table.len()).await;
    for (number, (.., sent)) in (1..).zip(table) {
        let to = format!("2348030011{number:03}");
        assert_eq!(wire::text(&received, &to), sent);
    }
    ogene.end().await;
}

#[tokio::test]
async fn fields_that_nothing_reads_are_named_in_the_answer() {
    let ogene = Ogene::start().await;
    let more = json!({"calback_url": "https://example.com/", "later": {"a": 1}, "nothing": null});
    for path in ["/api/v1/sms/create", "/api/v2/sms", "/api/sandbox/v2/sms"] {
        let target = format!("{path}?Gateway=otp&page=1&body=");
        let request = Request::post(&target).bearer(&ogene.shop.token);
        let request = request.json(&with(to(MTN, path), more.clone()));
        let ignored = ogene.ask(&request).await.json()["data"]["ignored_fields"].clone();
        let mut ignored: Vec<String> = serde_json::from_value(ignored).expect("names");
        ignored.sort();
        assert_eq!(
            ignored,
            ["Gateway", "calback_url", "later", "page"],
            "{path}"
        );
        let form = [
            ("from", SENDER),
            ("to", MTN),
            ("body", "Form"),
            ("to[x]", GLO),
        ];
        let request = Request::post(path).bearer(&ogene.shop.token);
        for request in [request.clone().form(&form), request.multipart(&form)] {
            let answer = ogene.ask(&request).await;
            if answer.status == 200 {
                assert_eq!(answer.json()["data"]["ignored_fields"], json!(["to[x]"]));
            } else {
                assert_eq!(answer.code(), "API-2012", "{}", answer.text());
            }
        }
    }
    let both = with(to(MTN, "Both"), json!({"gateway": "otp", "dnd": 2}));
    assert_eq!(ogene.sent(both).await["ignored_fields"], json!(["dnd"]));
    let data = ogene.sent(to(MTN, "Nothing else")).await;
    assert_eq!(data["ignored_fields"], Value::Null);
    ogene.end().await;
}

#[tokio::test]
async fn a_repeated_field_with_different_values_is_refused() {
    let ogene = Ogene::start().await;
    let send = || Request::post("/api/v2/sms").bearer(&ogene.shop.token);
    let fields = [("from", SENDER), ("to", MTN), ("body", "a"), ("body", "b")];
    let twice = format!(r#"{{"from":"{SENDER}","to":"{MTN}","body":"a","body":"b"}}"#);
    let query = encoded(&fields);
    let requests = [
        send().form(&fields),
        send().multipart(&fields),
        send().body("application/json", twice),
        Request::post(&format!("/api/v2/sms?{query}")).bearer(&ogene.shop.token),
        Request::get(&format!("/api/v1/sms/create?{query}")).bearer(&ogene.shop.token),
        Request::get("/api/v2/delivery-reports?message_id=a&page=1&page=2")
            .bearer(&ogene.shop.token),
    ];
    for (number, request) in requests.iter().enumerate() {
        let answer = ogene.ask(request).await;
        let found = (answer.status, answer.code());
        assert_eq!(found, (400, "API-2000".to_owned()), "{number}");
        let told = answer.json()["message"].to_string();
        assert!(told.contains("given more than once"), "{number}: {told}");
    }
    let same = [
        ("from", SENDER),
        ("to", MTN),
        ("to", GLO),
        ("body", "a"),
        ("body", "a"),
    ];
    let answer = ogene.ask(&send().form(&same)).await;
    assert_eq!(
        answer.json()["data"]["recipients_count"],
        2,
        "{}",
        answer.text()
    );
    ogene.end().await;
}

#[tokio::test]
async fn every_spelling_of_a_number_is_stored_as_thirteen_digits() {
    let ogene = Ogene::start().await;
    let spellings = [
        "2348031234567",
        "+2348031234568",
        "002348031234569",
        "08031234570",
        "8031234571",
        "23408031234572",
        "(0803) 123-45.73",
        "+234 803 123 4574",
        "0803\u{A0}123\u{A0}4575",
        "0803\u{2011}123\u{2010}4576",
        "\u{202A}+234\u{202F}803\u{2060}123\t4577\u{202C}",
        "\u{FEFF}0803\u{200B}1234578\u{200E}",
        "09101234579",
    ];
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": spellings, "body": "Hello"}))
        .await;
    let report = ogene.report(&id).await;
    let reports = report["reports"].as_array().expect("a list");
    let recipients: Vec<_> = reports
        .iter()
        .map(|one| one["recipient"].as_str().expect("text"))
        .collect();
    let mut expected: Vec<_> = (67..79).map(|last| format!("23480312345{last}")).collect();
    expected.push("2349101234579".to_owned());
    assert_eq!(recipients, expected);
    ogene.end().await;
}

#[tokio::test]
async fn invalid_recipients_are_named_and_duplicates_collapse() {
    let ogene = Ogene::start().await;
    let list =
        "2348031234567,08031234567,+234 803 123 4567,447911123456,2341234567,banana,2348000000001";
    let data = ogene.sent(to(list, "Hello")).await;
    assert_eq!(data["recipients_count"], 1);
    assert_eq!(data["cost"], 6.0);
    assert_eq!(
        data["invalid_recipients"],
        json!(["447911123456", "2341234567", "banana", "2348000000001"])
    );
    ogene.received(1).await;
    ogene.end().await;
}

#[tokio::test]
async fn unknown_fields_are_ignored_and_null_is_absent() {
    let ogene = Ogene::start().await;
    let fields = json!({
        "from": SENDER, "to": MTN, "body": "Hello", "gateway": null, "unicode": null, "append_sender": null,
        "callback_url": null, "customer_reference": null, "dnd": null, "api_token": null,
        "surprise": {"deep": [1, {"er": null}]}, "type": "plain", "": [],
    });
    let id = ogene.sent_id(fields).await;
    assert_eq!(ogene.report(&id).await["customer_reference"], Value::Null);
    for field in ["from", "to", "body"] {
        let answer = ogene
            .send(with(to(MTN, "Hello"), json!({field: null})))
            .await;
        let code = answer.code();
        assert!(
            ["API-2001", "API-2002", "API-2003"].contains(&code.as_str()),
            "{field}: {code}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_gateway_is_chosen_by_name_by_number_or_by_dnd() {
    let ogene = Ogene::start().await;
    let table = [
        (json!({}), "direct-refund"),
        (json!({"gateway": ""}), "direct-refund"),
        (json!({"gateway": 0}), "direct-refund"),
        (json!({"gateway": "0"}), "direct-refund"),
        (json!({"gateway": 1}), "direct-refund"),
        (json!({"gateway": "2"}), "direct-corporate"),
        (json!({"gateway": 6}), "direct-corporate"),
        (json!({"gateway": "7"}), "international"),
        (json!({"gateway": 8}), "otp"),
        (json!({"gateway": "direct-refund"}), "direct-refund"),
        (json!({"gateway": "direct-corporate"}), "direct-corporate"),
        (json!({"gateway": "otp"}), "otp"),
        (json!({"gateway": "dual-backup"}), "dual-backup"),
        (json!({"gateway": "international"}), "international"),
        (json!({"dnd": 1}), "direct-refund"),
        (json!({"dnd": 2}), "direct-corporate"),
        (json!({"dnd": "3"}), "direct-corporate"),
        (json!({"dnd": 6}), "direct-corporate"),
        (json!({"dnd": "4"}), "dual-backup"),
        (json!({"dnd": 5}), "dual-backup"),
        (json!({"gateway": "otp", "dnd": 2}), "otp"),
    ];
    for (number, (more, gateway)) in table.into_iter().enumerate() {
        let data = ogene
            .sent(with(to(MTN, &format!("Text {number}")), more.clone()))
            .await;
        assert_eq!(data["gateway_used"], gateway, "{more}");
    }
    for more in [
        json!({"gateway": 3}),
        json!({"gateway": "premium"}),
        json!({"dnd": 7}),
        json!({"dnd": true}),
    ] {
        let answer = ogene.send(with(to(MTN, "No"), more.clone())).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2009"),
            "{more}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn booleans_and_numbers_may_come_as_text_but_texts_are_texts() {
    let ogene = Ogene::start().await;
    let written = [
        (json!(true), true),
        (json!("true"), true),
        (json!(1), true),
        (json!("1"), true),
        (json!(false), false),
        (json!("0"), false),
        (json!(""), false),
        (json!(0), false),
    ];
    for (number, (unicode, expected)) in written.into_iter().enumerate() {
        let fields = with(
            to(MTN, &format!("Ẹ kú {number}")),
            json!({"unicode": unicode}),
        );
        assert_eq!(ogene.sent(fields).await["unicode"], expected, "{unicode}");
    }
    let wrong = [
        json!({"unicode": "maybe"}),
        json!({"unicode": 2}),
        json!({"unicode": []}),
        json!({"append_sender": "sometimes"}),
        json!({"append_sender": 4}),
        json!({"body": 12345}),
        json!({"body": ["a"]}),
        json!({"from": 12345}),
        json!({"callback_url": 7}),
        json!({"customer_reference": {}}),
        json!({"customer_reference": "x".repeat(256)}),
        json!({"gateway": []}),
    ];
    for more in wrong {
        let answer = ogene.send(with(to(MTN, "No"), more.clone())).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2000"),
            "{more}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_gsm_text_is_plain_even_if_unicode_was_requested() {
    let ogene = Ogene::start().await;
    let data = ogene
        .sent(with(to(MTN, "Café £5 [ok] €"), json!({"unicode": true})))
        .await;
    assert_eq!(
        (&data["unicode"], &data["cost"]),
        (&json!(false), &json!(6.0))
    );
    let received = ogene.received(1).await;
    assert_eq!(wire::text(&received, MTN), "Café £5 [ok] €");
    ogene.end().await;
}

#[tokio::test]
async fn the_sender_is_appended_always_where_it_is_replaced_or_never() {
    let ogene = Setup::new()
        .carrier("hosted", Script::default())
        .set("carriers.hosted.rewrites_sender", "true")
        .set(
            "gateways.direct-refund.carriers",
            r#"{ airtel = ["hosted"], default = ["mtn"] }"#,
        )
        .start()
        .await;
    let both = [MTN, AIRTEL];
    let table = [
        (json!("none"), [false, false]),
        (json!(1), [false, false]),
        (json!("hosted"), [false, true]),
        (json!("2"), [false, true]),
        (json!(0), [false, true]),
        (json!(null), [false, true]),
        (json!("all"), [true, true]),
        (json!(3), [true, true]),
    ];
    for (number, (append, suffixed)) in table.into_iter().enumerate() {
        let body = format!("Text {number}");
        let fields = json!({"from": SENDER, "to": both, "body": body, "append_sender": append});
        assert_eq!(ogene.sent(fields).await["cost"], 12.0);
        let of_mtn = ogene.received_by("mtn", number + 1).await;
        let of_hosted = ogene.received_by("hosted", number + 1).await;
        for ((received, number), suffixed) in [(of_mtn, MTN), (of_hosted, AIRTEL)]
            .into_iter()
            .zip(suffixed)
        {
            let suffix = if suffixed { " - AdaStores" } else { "" };
            let last = received.last().expect("a message");
            assert_eq!(last.submit.destination.digits, number);
            assert_eq!(
                wire::gsm(&last.submit.short_message),
                format!("{body}{suffix}"),
                "{append}"
            );
        }
    }
    // The suffix makes the second page, and a recipient without it is not charged for it.
    let body = "x".repeat(155);
    let data = ogene
        .sent(json!({"from": SENDER, "to": both, "body": body}))
        .await;
    assert_eq!(
        (&data["page_count"], &data["cost"]),
        (&json!(2), &json!(18.0))
    );
    ogene.end().await;
}

#[tokio::test]
async fn plain_text_loses_control_characters_but_no_line_ends() {
    let ogene = Ogene::start().await;
    let body = "A\u{0}B\u{7}C\r\nD\u{1B}E\u{7F}F\u{85}G";
    ogene.sent(to(MTN, body)).await;
    let received = ogene.received(1).await;
    assert_eq!(wire::text(&received, MTN), "ABC\r\nDEFG");
    let body = body.replace('\0', "");
    ogene
        .sent(with(to(AIRTEL, &body), json!({"unicode": true})))
        .await;
    let received = ogene.received(2).await;
    assert_eq!(wire::text(&received, AIRTEL), body, "as written");
    for blank in ["\u{0}", " \n\t", "\u{200B}", "😀😀", "你好", ""] {
        let answer = ogene.send(to(MTN, blank)).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (422, "API-2002"),
            "{blank:?}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_nul_that_would_be_kept_is_refused() {
    let ogene = Ogene::start().await;
    let nul = "A\u{0}B";
    for fields in [
        json!({"body": nul, "unicode": true}),
        json!({"customer_reference": nul}),
        json!({"callback_url": "https://example.ng/\u{0}"}),
    ] {
        let answer = ogene.send(with(to(MTN, "Hello"), fields.clone())).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2000"),
            "{fields}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn what_is_not_utf_8_is_refused_wherever_it_stands() {
    let ogene = Ogene::start().await;
    let token = &ogene.shop.token;
    let post = || Request::post("/api/v2/sms").bearer(token);
    let multipart =
        b"--cut\r\nContent-Disposition: form-data; name=\"body\"\r\n\r\n\xE9\r\n--cut--\r\n";
    let requests = [
        post().body("application/json", b"{\"body\": \"\xFF\"}".as_slice()),
        post().body("application/x-www-form-urlencoded", b"body=\xE9".as_slice()),
        post().body("application/x-www-form-urlencoded", b"body=%E9".as_slice()),
        post().body("multipart/form-data; boundary=cut", multipart.as_slice()),
        Request::get("/api/v2/sms?body=%FF").bearer(token),
    ];
    for (number, request) in requests.iter().enumerate() {
        let answer = ogene.ask(request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2000"),
            "{number}: {}",
            answer.text()
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_body_that_cannot_be_understood_is_malformed() {
    let ogene = Ogene::start().await;
    let post = || Request::post("/api/v2/sms").bearer(&ogene.shop.token);
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let requests = [
        post().body("application/json", "{"),
        post().body("application/json", "[]"),
        post().body("application/json", "\"text\""),
        post().body("application/json", "null"),
        post().body("application/json", "{\"body\": \"a\"} trailing"),
        post().body("application/json", deep),
        post().body("text/plain", "from=AdaStores"),
        post().body("application/xml", "<sms/>"),
        post().body("", "x"),
        post().body("multipart/form-data", "--cut--"),
        post().body("multipart/form-data; boundary=cut", "no boundary at all"),
        post().body(
            "multipart/form-data; boundary=cut",
            "--cut\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n",
        ),
    ];
    for (number, request) in requests.iter().enumerate() {
        let answer = ogene.ask(request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2000"),
            "{number}: {}",
            answer.text()
        );
    }
    // A byte order mark, which some Windows clients write, is no fault.
    let marked = format!("\u{FEFF}{}", to(MTN, "Hello"));
    assert_eq!(
        ogene
            .ask(&post().body("application/json", marked))
            .await
            .status,
        200
    );
    ogene.end().await;
}

#[tokio::test]
async fn international_numbers_use_only_their_gateway() {
    let ogene = Ogene::start().await;
    let answer = ogene.send(to("447911123456", "Hello")).await;
    assert_eq!((answer.status, answer.code().as_str()), (422, "API-2006"));
    let abroad = with(
        to("+44 7911 123456, 2348031234567", "Hello"),
        json!({"gateway": "international"}),
    );
    let data = ogene.sent(abroad).await;
    assert_eq!(
        (&data["recipients_count"], &data["cost"]),
        (&json!(2), &json!(50.0))
    );
    let received = ogene.received(2).await;
    assert_eq!(wire::text(&received, "447911123456"), "Hello");
    ogene.end().await;
}

#[tokio::test]
async fn each_network_is_charged_its_own_price_and_unicode_another() {
    let ogene = Setup::new()
        .set("gateways.direct-refund.price", r#""4.0625""#)
        .set("gateways.direct-refund.unicode_price", r#""9.50""#)
        .set(
            "gateways.direct-refund.prices",
            r#"{ airtel = { price = "5.00", unicode_price = "11.25" } }"#,
        )
        .start()
        .await;
    let table = [
        (MTN, "plain", false, "4.0625"),
        (AIRTEL, "plain", false, "5.00"),
        (GLO, "ẹ", true, "9.50"),
        (AIRTEL, "ẹ", true, "11.25"),
        (
            "2348031234567,2348021234567,2348051234567",
            "all",
            false,
            "13.125",
        ),
    ];
    for (number, body, unicode, cost) in table {
        let fields = with(to(number, body), json!({"unicode": unicode}));
        let answer = ogene.send(fields).await;
        let written = format!("\"cost\":{cost},");
        assert!(
            answer.text().contains(&written),
            "{written}: {}",
            answer.text()
        );
    }
    assert_eq!(ogene.total().await.to_string(), "957.0625");
    ogene.end().await;
}
