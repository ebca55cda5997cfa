//! What the service says of itself is so.

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
                ![404, 405].contains(&status) || path.contains("{message_id}"),
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
