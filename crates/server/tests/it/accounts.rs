//! Who may do what, and how soon a command is seen (decisions.md, "Sender IDs and accounts").

use crate::kit::http::Request;
use crate::kit::{MTN, Ogene, SENDER, operator, to, until};
use domain::token::Terms;
use domain::{AccountStatus, Component, SenderStatus};
use engine::admin;
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test]
async fn an_account_may_do_what_its_status_says() {
    let ogene = Ogene::start().await;
    let table = [
        (AccountStatus::Active, [200, 200, 200, 200]),
        (AccountStatus::Pending, [403, 403, 200, 200]),
        (AccountStatus::Restricted, [403, 200, 403, 200]),
        (AccountStatus::Dormant, [401, 401, 401, 401]),
        (AccountStatus::Disabled, [401, 401, 401, 401]),
    ];
    for (status, expected) in table {
        let customer = ogene.customer("100").await;
        ogene.set_status(&customer, status).await;
        let read = |path: &str| Request::get(path).bearer(&customer.token);
        let send = |path: &str| {
            Request::post(path)
                .bearer(&customer.token)
                .json(&to(MTN, "Hello"))
        };
        let requests = [
            send("/api/v2/sms"),
            read("/api/v2/balance"),
            send("/api/sandbox/v2/sms"),
            read("/api/sandbox/v2/balance"),
        ];
        let mut statuses = Vec::new();
        for request in &requests {
            statuses.push(ogene.ask(request).await.status);
        }
        assert_eq!(statuses, expected, "{status:?}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn what_an_operator_changes_is_seen_within_a_second() {
    let ogene = Ogene::start().await;
    let fields = to(MTN, "Hello");
    let code = async || ogene.send(fields.clone()).await.code();
    let seen = async |wanted: &str| {
        let since = Instant::now();
        until(wanted, async || (code().await == wanted).then_some(())).await;
        assert!(
            since.elapsed() < Duration::from_secs(1),
            "{wanted}: {:?}",
            since.elapsed()
        );
    };
    assert_eq!(code().await, "API-0000");
    let (store, operator) = (ogene.store().await, operator());
    let set = async |status| {
        let set = admin::set_sender_status(&store, &operator, ogene.shop.id, SENDER, status, None);
        set.await.expect("set");
    };
    for (status, wanted) in [
        (AccountStatus::Restricted, "API-1007"),
        (AccountStatus::Dormant, "API-1003"),
        (AccountStatus::Disabled, "API-1002"),
        (AccountStatus::Active, "API-2012"),
    ] {
        admin::set_status(&store, &operator, ogene.shop.id, status, None)
            .await
            .expect("set");
        seen(wanted).await;
    }
    set(SenderStatus::Suspended).await;
    seen("API-2011").await;
    set(SenderStatus::Approved).await;
    seen("API-2012").await;
    // Credit is read at the send, and a new token works at once.
    let before = ogene.total().await;
    ogene.credit(&ogene.shop, "7", Component::MainBalance).await;
    assert_eq!(ogene.total().await.to_string(), (before + 7.0).to_string());
    let (_, token) =
        admin::create_token(&store, &operator, ogene.shop.id, "second", Terms::default())
            .await
            .expect("made");
    let answer = ogene
        .ask(&Request::get("/api/v2/balance").bearer(&token))
        .await;
    assert_eq!(answer.status, 200);
    store.close().await;
    ogene.end().await;
}
