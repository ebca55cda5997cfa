//! `/api/v1/sms/create` (docs/spec/interface.md, section 7).

use crate::kit::http::{Request, encoded};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, to, wire};
use serde_json::json;

const PATH: &str = "/api/v1/sms/create";

#[tokio::test]
async fn a_success_has_the_shape_of_v1() {
    let ogene = Ogene::start().await;
    let request = Request::post(PATH)
        .bearer(&ogene.shop.token)
        .json(&to(MTN, "Hello"));
    insta::assert_snapshot!(testkit::indented(&ogene.ask(&request).await.redacted()), @r#"
    200 {
      "success": true,
      "status": "success",
      "code": "API-0000",
      "message": "Message accepted for delivery to 1 recipient.",
      "data": {
        "status": "success",
        "message": "Message Sent",
        "message_id": "[uuid]",
        "total_recipients": 1,
        "cost": 6.00,
        "balance": 994.00,
        "currency": "NGN",
        "gateway_used": "direct-refund",
        "text_changed": false,
        "removed_characters": 0
      }
    }
    "#);
    ogene.end().await;
}

#[tokio::test]
async fn an_error_has_the_envelope_of_v2_and_what_old_clients_read() {
    let ogene = Ogene::start().await;
    let post = || Request::post(PATH);
    let requests = [
        post(),
        post().bearer(&ogene.shop.token),
        post()
            .bearer(&ogene.shop.token)
            .body("application/json", "{"),
        post().bearer(&ogene.shop.token).json(&to("123", "Hello")),
        Request::new("PUT", PATH),
        Request::get("/api/v1/other"),
    ];
    let mut lines = Vec::new();
    for request in &requests {
        lines.push(ogene.ask(request).await.redacted());
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
        401 {"status":"error","code":"API-1001","message":"No API token was given. Send it as `Authorization: Bearer <token>`, in an `api_token` header, in the query string, or as the field `api_token`.","error":{"message":"No API token was given. Send it as `Authorization: Bearer <token>`, in an `api_token` header, in the query string, or as the field `api_token`.","code":"API-1001","description":"Missing API token"},"success":false,"data":{"status":"error","message":"No API token was given. Send it as `Authorization: Bearer <token>`, in an `api_token` header, in the query string, or as the field `api_token`."}}
        400 {"status":"error","code":"API-2001","message":"The field `from` is missing: give the sender ID.","error":{"message":"The field `from` is missing: give the sender ID.","code":"API-2001","description":"Sender ID missing"},"success":false,"data":{"status":"error","message":"The field `from` is missing: give the sender ID."}}
        400 {"status":"error","code":"API-2000","message":"The JSON body could not be read: EOF while parsing an object at line 1 column 1.","error":{"message":"The JSON body could not be read: EOF while parsing an object at line 1 column 1.","code":"API-2000","description":"Malformed request"},"success":false,"data":{"status":"error","message":"The JSON body could not be read: EOF while parsing an object at line 1 column 1."}}
        422 {"status":"error","code":"API-2006","message":"The number in `to` is not a valid mobile number. Use the international format, such as 2348031234567.","error":{"message":"The number in `to` is not a valid mobile number. Use the international format, such as 2348031234567.","code":"API-2006","description":"Invalid recipient"},"success":false,"data":{"status":"error","message":"The number in `to` is not a valid mobile number. Use the international format, such as 2348031234567."}}
        405 {"status":"error","code":"API-4050","message":"This path does not answer this method. See /docs.","error":{"message":"This path does not answer this method. See /docs.","code":"API-4050","description":"Method not allowed"},"success":false,"data":{"status":"error","message":"This path does not answer this method. See /docs."}}
        404 {"status":"error","code":"API-4040","message":"There is no such path. See /docs.","error":{"message":"There is no such path. See /docs.","code":"API-4040","description":"No such path"},"success":false,"data":{"status":"error","message":"There is no such path. See /docs."}}
        "#);
    ogene.end().await;
}

#[tokio::test]
async fn every_body_form_takes_the_token_in_any_place() {
    let ogene = Ogene::start().await;
    let token = ogene.shop.token.as_str();
    let fields = |number: &'static str| {
        vec![
            ("api_token", token),
            ("from", SENDER),
            ("to", number),
            ("body", "Hello"),
            ("dnd", "2"),
            ("append_sender", "3"),
            ("customer_reference", "order 7"),
        ]
    };
    let json = json!({
        "api_token": token, "from": SENDER, "to": "2348030000004", "body": "Hello", "dnd": 2, "append_sender": 3,
    });
    let requests = [
        Request::post(PATH).form(&fields(MTN)),
        Request::post(PATH).multipart(&fields(AIRTEL)),
        Request::get(&format!("{PATH}?{}", encoded(&fields(GLO)))),
        Request::post(&format!("{PATH}?{}", encoded(&fields("2348030000003")))),
        Request::post(PATH).json(&json),
    ];
    for (number, request) in requests.iter().enumerate() {
        let answer = ogene.ask(request).await;
        assert_eq!(answer.status, 200, "{number}: {}", answer.text());
        let data = &answer.json()["data"];
        assert_eq!(data["gateway_used"], "direct-corporate", "{number}");
        let report = ogene
            .report(data["message_id"].as_str().expect("an id"))
            .await;
        assert_eq!(report["summary"]["total"], 1, "{number}");
    }
    for message in ogene.received(requests.len()).await {
        assert_eq!(
            wire::gsm(&message.submit.short_message),
            "Hello - AdaStores"
        );
    }
    ogene.end().await;
}
