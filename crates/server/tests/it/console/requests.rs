//! The request log of the console.

use super::member;
use crate::kit::http::Request;
use crate::kit::{MTN, Ogene, SENDER, to, until, with};
use domain::user::role::Role;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_is_logged_for_its_account_alone() {
    let ogene = Ogene::start().await;
    ogene.sent_id(to(MTN, "An accepted one")).await;
    let unknown = with(to(MTN, "A secret text"), json!({ "from": "Unknown" }));
    let refused = Request::send(&ogene.shop.token, &unknown).header("X-Request-Id", "my-request-1");
    let refused = ogene.ask(&refused).await;
    assert!(refused.status >= 400, "{}", refused.text());
    let (code, reason) = (refused.code(), refused.json()["message"].clone());
    let path = format!("/api/v2/messages/0/recipients/{MTN}");
    let missing = ogene
        .ask(&Request::get(&path).bearer(&ogene.shop.token))
        .await;
    assert_eq!(missing.status, 404);
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    let list = until("both are logged", async || {
        let list = viewer.get("/console/requests").await;
        assert_eq!(list.status, 200, "{}", list.text());
        let is_whole =
            list.text().contains("my-request-1") && list.text().contains("/recipients/{recipient}");
        is_whole.then_some(list)
    })
    .await;
    for absent in [MTN, "A secret text", SENDER, ogene.shop.token.as_str()] {
        assert!(!list.text().contains(absent), "{absent}: {}", list.text());
    }
    let id = list
        .text()
        .split("/console/requests/")
        .find(|part| part.contains("my-request-1\""));
    let id = id
        .and_then(|part| part.split('"').next())
        .expect("a link")
        .to_owned();
    let page = viewer.get(&format!("/console/requests/{id}")).await;
    assert_eq!(page.status, 200);
    let reason = reason
        .as_str()
        .expect("a message")
        .split(['\'', '"', '<', '&'])
        .next();
    for part in [
        &code,
        reason.expect("a text"),
        "curl -X POST",
        "-d &#39;{&#34;body&#34;:",
        SENDER,
        "/api/sandbox/v2/",
        "my-request-1",
        &ogene.shop.token_id,
    ] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let other = ogene.customer("5.00").await;
    let (mut rival, _) = member(&ogene, Some(other.id), Role::Owner).await;
    let theirs = rival.get("/console/requests").await;
    assert!(
        theirs.text().contains("No request was refused"),
        "{}",
        theirs.text()
    );
    for id in [id.as_str(), "0.x", "x", "1"] {
        let path = format!("/console/requests/{id}");
        assert_eq!(rival.get(&path).await.status, 404, "{path}");
    }
    ogene.end().await;
}
