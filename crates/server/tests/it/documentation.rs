//! The documents that the service serves are right.

use crate::kit::http::Request;
use crate::kit::{Ogene, Setup};
use serde_json::Value;

#[tokio::test]
async fn every_documented_path_is_routed_and_documents_its_refusals() {
    let ogene = Ogene::start().await;
    let document = ogene.ask(&Request::get("/openapi.json")).await.json();
    let paths = document["paths"].as_object().expect("paths");
    let interface = [
        "/sms",
        "/balance",
        "/delivery-reports",
        "/sender-ids",
        "/account",
    ];
    for path in interface {
        for root in ["/api/v2", "/api/sandbox/v2"] {
            assert!(paths.contains_key(&format!("{root}{path}")), "{root}{path}");
        }
    }
    assert!(paths.contains_key("/api/v1/sms/create"));
    for (path, operations) in paths {
        let target = path.replace("{message_id}", "01a1ee56-5e00-7707-8707-070707070707");
        for (method, operation) in operations.as_object().expect("operations") {
            let method = method.to_uppercase();
            if !["GET", "POST"].contains(&method.as_str()) {
                continue;
            }
            let answer = ogene.ask(&Request::new(&method, &target)).await;
            let expected = if path.starts_with("/api/") { 401 } else { 200 };
            assert_eq!(answer.status, expected, "{method} {path}");
            let documented = &operation["responses"][expected.to_string()];
            assert_ne!(documented, &Value::Null, "{method} {path}");
            let known = Request::new(&method, &target).bearer(&ogene.shop.token);
            let status = ogene.ask(&known).await.status;
            assert!(
                ![404, 405].contains(&status) || (status == 404 && path.contains('{')),
                "{method} {path}: {status}"
            );
            assert_ne!(
                operation["responses"][status.to_string()],
                Value::Null,
                "{method} {path}: {status}"
            );
        }
    }
    ogene.end().await;
}

#[tokio::test]
async fn machines_and_people_find_their_pages() {
    let ogene = Ogene::start().await;
    ogene.bound("mtn", 2).await;
    for (path, content) in [
        ("/healthz", "text/plain"),
        ("/readyz", "text/plain"),
        ("/metrics", "text/plain"),
        ("/openapi.json", "application/json"),
        ("/docs", "text/html"),
    ] {
        let answer = ogene.ask(&Request::get(path)).await;
        assert_eq!(answer.status, 200, "{path}");
        let kind = answer.header("content-type").expect("a type");
        assert!(kind.starts_with(content), "{path}: {kind}");
    }
    let page = ogene.ask(&Request::get("/docs")).await;
    for third_party in ["http://", "//cdn", "https://"] {
        assert!(
            !page.text().contains(&format!("src=\"{third_party}")),
            "nothing of third parties"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_metrics_tell_neither_numbers_nor_texts_nor_tokens() {
    let ogene = Setup::new().start().await;
    let id = ogene
        .sent_id(crate::kit::to(crate::kit::MTN, "Confidential"))
        .await;
    ogene.outcome(&id).await;
    let metrics = ogene.ask(&Request::get("/metrics")).await;
    assert!(
        metrics.text().contains("ogene_messages_accepted_total"),
        "{}",
        metrics.text()
    );
    for secret in [crate::kit::MTN, "Confidential", &ogene.shop.token, &id] {
        assert!(!metrics.text().contains(secret), "{secret}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn every_metric_says_what_it_counts() {
    let ogene = Setup::new().start().await;
    let id = ogene.sent_id(crate::kit::to(crate::kit::MTN, "Hi")).await;
    ogene.outcome(&id).await;
    let metrics = ogene.ask(&Request::get("/metrics")).await;
    let lines = metrics.text().lines();
    let names: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    assert!(names.contains(&"ogene_submits_total"), "{names:?}");
    for name in names {
        let help = format!("# HELP {name} ");
        assert!(metrics.text().contains(&help), "{name}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_document_describes_this_installation() {
    let ogene = Setup::new()
        .set("limits.sends_per_minute", "1234")
        .set("limits.max_recipients", "77")
        .set("limits.max_body", "\"2MiB\"")
        .set("gateways.direct-refund.price", "\"4.25\"")
        .set("gateways.direct-refund.unicode_price", "\"9.5\"")
        .set("gateways.direct-refund.prices", "{ glo = \"5.00\" }")
        .without("gateways.international")
        .start()
        .await;
    let document = ogene.ask(&Request::get("/openapi.json")).await.json();
    let own = &document["x-installation"];
    assert_eq!(own["limits"]["sends_per_minute"], 1234);
    assert_eq!(own["limits"]["max_recipients"], 77);
    let gateways = own["gateways"].as_array().expect("gateways");
    let names: Vec<_> = gateways.iter().map(|one| &one["gateway"]).collect();
    let expected = ["direct-refund", "direct-corporate", "otp", "dual-backup"];
    assert_eq!(names, expected);
    assert_eq!(gateways[0]["price"], "4.25");
    assert_eq!(gateways[0]["unicode_price"], "9.50");
    assert_eq!(gateways[0]["networks"][0]["network"], "glo");
    assert_eq!(gateways[3]["price"], "7.50", "the dearer leg's");

    let send = &document["paths"]["/api/v2/sms"]["post"];
    let about = send["description"].as_str().expect("a description");
    assert!(about.contains("1,234 sends"), "{about}");
    let body = send["requestBody"]["description"].as_str().expect("a body");
    assert!(body.contains("2 MiB"), "{body}");
    let fields = &document["components"]["schemas"]["SendRequest"]["properties"];
    assert_eq!(fields["gateway"]["enum"], serde_json::json!(expected));
    let to = fields["to"]["description"].as_str().expect("a description");
    assert!(to.contains("At most 77"), "{to}");
    ogene.end().await;
}

#[tokio::test]
async fn shorter_values_than_the_document_allows_are_refused() {
    let ogene = Ogene::start().await;
    let document = ogene.ask(&Request::get("/openapi.json")).await.json();
    let fields = &document["components"]["schemas"]["SendRequest"]["properties"];
    let shortest = |field: &Value| (field["minLength"].clone(), field["minItems"].clone());
    let none = Value::Null;
    for name in ["from", "body"] {
        assert_eq!(shortest(&fields[name]), (1.into(), none.clone()), "{name}");
    }
    let to = &fields["to"]["oneOf"];
    assert_eq!(shortest(&to[0]), (1.into(), none.clone()));
    assert_eq!(shortest(&to[1]), (none, 1.into()));
    for (field, value) in [
        ("from", serde_json::json!("")),
        ("body", serde_json::json!("")),
        ("to", serde_json::json!("")),
        ("to", serde_json::json!([])),
        ("to", serde_json::json!([""])),
    ] {
        let mut message = crate::kit::to(crate::kit::MTN, "Long enough");
        message[field] = value.clone();
        let answer = ogene.send(message).await;
        assert!(
            [400, 422].contains(&answer.status),
            "{field} {value}: {}",
            answer.text()
        );
    }
    let sent = ogene
        .send(
            serde_json::json!({ "from": crate::kit::SENDER, "to": [crate::kit::MTN], "body": "x" }),
        )
        .await;
    assert_eq!(sent.status, 200, "{}", sent.text());
    ogene.end().await;
}
