//! Limits of size and rate, and duplicates (docs/spec/interface.md, section 5.3; docs/spec/sending.md, section 7).

use crate::kit::http::{Request, try_ask};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, Setup, to, with};
use domain::SenderStatus;
use serde_json::{Value, json};

#[tokio::test]
async fn ten_mebibytes_are_read_and_one_octet_more_is_refused() {
    let ogene = Ogene::start().await;
    let padded = |size: usize| {
        let mut body = to(MTN, "Hello").to_string().into_bytes();
        body.resize(size, b' ');
        Request::post("/api/v2/sms")
            .bearer(&ogene.shop.token)
            .body("application/json", body)
    };
    let limit = 10 << 20;
    for request in [
        padded(limit + 1),
        padded(limit + 1).chunked(),
        padded(3 * limit).chunked(),
    ] {
        let answer = ogene.ask(&request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (413, "API-2017"),
            "{}",
            answer.text()
        );
    }
    let answer = ogene.ask(&padded(limit).chunked()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = ogene.ask(&padded(limit)).await;
    assert_eq!(
        answer.code(),
        "API-2012",
        "read as well, and known: {}",
        answer.text()
    );
    ogene.end().await;
}

#[tokio::test]
async fn ten_thousand_recipients_are_accepted_and_one_more_is_refused() {
    let ogene = Setup::new().set("carriers.mtn.window", "500").start().await;
    let rich = ogene.customer("100000").await;
    let numbers = |count: u64| {
        (0..count)
            .map(|i| json!(2_348_030_000_000 + i))
            .collect::<Vec<_>>()
    };
    let send = |count| {
        Request::send(
            &rich.token,
            &with(to("", "Hello"), json!({"to": numbers(count)})),
        )
    };
    let answer = ogene.ask(&send(10_001)).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (422, "API-2014"),
        "{}",
        answer.text()
    );
    let answer = ogene.ask(&send(10_000)).await;
    let data = &answer.json()["data"];
    assert_eq!(
        (&data["recipients_count"], &data["cost"]),
        (&json!(10_000), &json!(60_000.0))
    );
    let id = data["message_id"].as_str().expect("an id");
    crate::kit::until("all receipts are answered", async || {
        (ogene.smsc().stats().answered == 10_000).then_some(())
    })
    .await;
    let read = Request::get(&format!("/api/v2/delivery-reports/{id}")).bearer(&rich.token);
    let summary = ogene.ask(&read).await.json()["data"]["summary"].clone();
    let expected = json!({"total": 10_000, "delivered": 10_000, "pending": 0, "failed": 0});
    assert_eq!(summary, expected);
    assert_eq!(ogene.smsc().stats().submits, 10_000);
    ogene.end().await;
}

#[tokio::test]
async fn a_text_of_1530_characters_is_sent_and_a_longer_one_is_not() {
    let ogene = Ogene::start().await;
    let data = ogene.sent(to(MTN, &"x".repeat(1530))).await;
    assert_eq!(
        (&data["page_count"], &data["cost"]),
        (&json!(10), &json!(60.0))
    );
    // Received characters count, also if they are removed: each emoji is one.
    let emoji = with(to(MTN, &"😀".repeat(1530)), json!({"unicode": true}));
    assert_eq!(ogene.sent(emoji).await["page_count"], 46);
    for body in ["x".repeat(1531), "😀".repeat(1531)] {
        let answer = ogene.send(to(MTN, &body)).await;
        assert_eq!((answer.status, answer.code().as_str()), (422, "API-2008"));
    }
    ogene.end().await;
}

#[tokio::test]
async fn requests_over_a_limit_get_429_with_the_reset_time() {
    let ogene = Setup::new()
        .set("limits.sends_per_minute", "3")
        .set("limits.reports_per_minute", "2")
        .set("limits.reads_per_minute", "1")
        .start()
        .await;
    let shop = ogene.shop.token.as_str();
    let request = |root: &str, path: &str| Request::get(&format!("{root}{path}")).bearer(shop);
    // The sandbox and each kind have counts of their own. A refused request of a caller counts too.
    let table = [
        ("/sms", 3, 400),
        ("/delivery-reports", 2, 400),
        ("/balance", 1, 200),
    ];
    for root in ["/api/v2", "/api/sandbox/v2"] {
        for (path, limit, status) in table {
            for count in 1..=limit {
                let answer = ogene.ask(&request(root, path)).await;
                assert_eq!(answer.status, status, "{path}: {}", answer.text());
                assert_eq!(
                    answer.header("x-ratelimit-limit"),
                    Some(limit.to_string().as_str())
                );
                let left = (limit - count).to_string();
                assert_eq!(
                    answer.header("x-ratelimit-remaining"),
                    Some(left.as_str()),
                    "{path}"
                );
                assert_eq!(answer.header("retry-after"), None);
            }
            let answer = ogene.ask(&request(root, path)).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (429, "API-3004"),
                "{path}"
            );
            assert_eq!(answer.header("x-ratelimit-remaining"), Some("0"));
            let wait: u64 = answer
                .header("retry-after")
                .expect("a wait")
                .parse()
                .expect("seconds");
            assert!((1..=61).contains(&wait), "{wait}");
            assert_eq!(
                answer.header("x-ratelimit-reset"),
                answer.header("retry-after")
            );
        }
    }
    assert_eq!(
        ogene.ask(&request("/api/v2", "/sender-ids")).await.status,
        429,
        "all other reads count together"
    );
    assert_eq!(ogene.ask(&request("/api/v2", "/account")).await.status, 429);
    // Aliases and v1 are the same sends. The form of a request is not checked before the limit.
    let legacy = Request::post("/api/v1/sms/create")
        .bearer(shop)
        .body("text/plain", "x");
    let answer = ogene.ask(&legacy).await;
    assert_eq!(
        (answer.status, answer.json()["success"].as_bool()),
        (429, Some(false))
    );
    let other = ogene.customer("10").await;
    let answer = ogene
        .ask(&Request::send(&other.token, &to(MTN, "Hello")))
        .await;
    assert_eq!(answer.status, 200, "each account has its own window");
    ogene.end().await;
}

#[tokio::test]
async fn the_same_text_to_the_same_recipients_is_a_duplicate() {
    let ogene = Ogene::start().await;
    let three = json!([MTN, AIRTEL, GLO]);
    ogene
        .sent(json!({"from": SENDER, "to": three, "body": "Sale ‘today’"}))
        .await;
    ogene
        .sender(&ogene.shop, "AdaFoods", false, SenderStatus::Approved)
        .await;
    crate::kit::until("the sender ID is seen", async || {
        (ogene.read("/sender-ids").await["data"]["total"] == 2).then_some(())
    })
    .await;
    let same = [
        json!({}),
        json!({"to": [GLO, AIRTEL, MTN]}),
        json!({"to": "08051234567, 08021234567, +2348031234567, 08031234567, junk"}),
        json!({"from": "AdaFoods"}),
        json!({"gateway": "direct-corporate"}),
        json!({"append_sender": "all"}),
        json!({"customer_reference": "other"}),
        json!({"body": "Sale 😀 'today'"}),
    ];
    let fields = |more: Value| {
        with(
            json!({"from": SENDER, "to": three, "body": "Sale 'today'"}),
            more,
        )
    };
    for more in same {
        let answer = ogene.send(fields(more.clone())).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (409, "API-2012"),
            "{more}"
        );
    }
    let sandbox = Request::post("/api/sandbox/v2/sms")
        .bearer(&ogene.shop.token)
        .json(&fields(json!({})));
    assert_eq!(
        ogene.ask(&sandbox).await.status,
        200,
        "the sandbox has a window of its own"
    );
    assert_eq!(ogene.ask(&sandbox).await.code(), "API-2012");
    let other = ogene.customer("100").await;
    let theirs = Request::send(&other.token, &fields(json!({})));
    assert_eq!(ogene.ask(&theirs).await.status, 200, "so has every account");
    for different in [
        json!({"to": [MTN, AIRTEL]}),
        json!({"body": "Sale 'today'."}),
        json!({"body": "Sale 'Today'"}),
    ] {
        ogene.sent(fields(different)).await;
    }
    assert_eq!(
        ogene.total().await.to_string(),
        "934",
        "duplicates are not charged"
    );
    ogene.end().await;
}

#[tokio::test]
async fn of_fifty_equal_sends_at_once_exactly_one_is_accepted() {
    let ogene = Ogene::start().await;
    let sends = (0..50).map(|number| {
        // The numbers are written differently, and the send is still the same.
        let list = if number % 2 == 0 {
            [MTN, AIRTEL]
        } else {
            [AIRTEL, MTN]
        };
        let request = Request::send(
            &ogene.shop.token,
            &json!({"from": SENDER, "to": list, "body": "Once"}),
        );
        let address = ogene.address;
        tokio::spawn(async move { try_ask(address, &request).await.expect("an answer").status })
    });
    let mut statuses = Vec::new();
    for send in sends.collect::<Vec<_>>() {
        statuses.push(send.await.expect("no panic"));
    }
    statuses.sort_unstable();
    assert_eq!(statuses[0], 200);
    assert!(
        statuses[1..].iter().all(|status| *status == 409),
        "{statuses:?}"
    );
    assert_eq!(ogene.total().await.to_string(), "988");
    assert_eq!(ogene.received(2).await.len(), 2);
    ogene.end().await;
}

#[tokio::test]
async fn a_refused_send_never_arms_the_window() {
    let ogene = Ogene::start().await;
    let poor = ogene.customer("5").await;
    let request = Request::send(&poor.token, &to(MTN, "Hello"));
    for _ in 0..3 {
        assert_eq!(ogene.ask(&request).await.code(), "API-3001");
    }
    ogene
        .credit(&poor, "1", domain::Component::PromoBonus)
        .await;
    assert_eq!(ogene.ask(&request).await.status, 200);
    assert_eq!(ogene.ask(&request).await.code(), "API-2012");
    ogene.end().await;
}

#[tokio::test]
async fn two_sends_at_once_never_spend_the_same_naira() {
    let ogene = Ogene::start().await;
    let poor = ogene.customer("60").await;
    let sends = (0..40).map(|number| {
        let request = Request::send(&poor.token, &to(MTN, &format!("Text {number}")));
        let address = ogene.address;
        tokio::spawn(async move { try_ask(address, &request).await.expect("an answer") })
    });
    let mut accepted = 0;
    for send in sends.collect::<Vec<_>>() {
        let answer = send.await.expect("no panic");
        match answer.status {
            200 => accepted += 1,
            status => assert_eq!((status, answer.code().as_str()), (402, "API-3001")),
        }
    }
    assert_eq!(accepted, 10);
    ogene.received(10).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_flood_of_fields_without_a_token_ends_early() {
    let ogene = Ogene::start().await;
    let times = |piece: &str| piece.repeat((9 << 20) / piece.len());
    let part = "--X\r\n\r\n\r\n";
    let bodies = [
        ("application/x-www-form-urlencoded", times("&")),
        ("multipart/form-data; boundary=X", times(part) + "--X--"),
        (
            "application/json",
            format!("{{{}\"\":0}}", times("\"\":0,")),
        ),
    ];
    for (content_type, body) in bodies {
        let request = Request::post("/api/v2/sms").body(content_type, body);
        let answer = ogene.ask(&request).await;
        let told = answer.text();
        assert_eq!((answer.status, answer.code().as_str()), (401, "API-1001"));
        assert!(
            told.contains("more than 10000 fields"),
            "{content_type}: {told}"
        );
    }
    ogene.end().await;
}
