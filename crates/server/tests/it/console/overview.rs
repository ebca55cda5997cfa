//! The overview of a customer.

use super::{Browser, member};
use crate::kit::http::Request;
use crate::kit::{AIRTEL, GLO, MTN, Ogene, to, with};
use domain::user::role::Role;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn the_overview_has_the_numbers_of_its_account_alone() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Fresh tomatoes <b>today</b>")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    for path in [
        "/console/",
        "/console/?period=7d&measure=delivered",
        "/console/?period=30d&measure=spend",
    ] {
        let page = viewer.get(path).await;
        assert_eq!(page.status, 200);
        for part in [
            "Fresh tomatoes &#60;b&#62;",
            "100.0 %",
            "MTN",
            "Numbers as a table",
        ] {
            assert!(page.text().contains(part), "{path} {part}: {}", page.text());
        }
        assert!(
            !page.text().contains("\"/console/send\""),
            "a viewer sends nothing"
        );
    }
    let part = viewer.get("/console/?period=7d&part=numbers").await;
    let is_part = part.text().contains("id=\"numbers\"") && !part.text().contains("<html");
    assert!(is_part, "{}", part.text());
    let other = ogene.customer("5.00").await;
    let (mut owner, _) = member(&ogene, Some(other.id), Role::Owner).await;
    let page = owner.get("/console/").await;
    let shown = ["No messages yet", "₦5<small>.00", "/console/send"];
    for part in shown {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    assert!(!page.text().contains("Fresh tomatoes"));
    ogene.end().await;
}

/// The overview has the numbers that the usage of the API has, which is counted anew each time.
async fn agrees(ogene: &Ogene, viewer: &mut Browser, recipients: u64) {
    let page = viewer.get("/console/?period=7d&part=numbers").await;
    let usage = ogene.read("/usage?by=gateway").await;
    let groups = usage["data"]["items"].as_array().expect("a list").clone();
    let sum = |name: &str| {
        groups
            .iter()
            .filter_map(|one| one[name].as_u64())
            .sum::<u64>()
    };
    assert_eq!(sum("recipients"), recipients, "{usage}");
    for (label, name) in [
        ("Sent", "recipients"),
        ("Delivered", "delivered"),
        ("Failed", "failed"),
    ] {
        let shown = format!(
            "{label}</span> <span class=\"figure-value\">{}</span>",
            sum(name)
        );
        assert!(page.text().contains(&shown), "{shown}: {}", page.text());
    }
    let money = |name: &str| {
        groups
            .iter()
            .filter_map(|one: &Value| one[name].as_f64())
            .sum::<f64>()
    };
    let spend = format!("₦{:.2}", money("cost") - money("refunded")).replace('.', "<small>.");
    assert!(
        page.text().contains(&format!(">{spend}</small>")),
        "{spend}: {}",
        page.text()
    );
    let (_, networks) = page.text().split_once("By network").expect("networks");
    let networks = networks.split("By gateway").next().unwrap_or_default();
    let shown = networks.split("<span class=\"num\">").skip(1);
    let counted = shown.filter_map(|rest| rest.split(' ').next()?.parse::<u64>().ok());
    assert_eq!(counted.sum::<u64>(), recipients, "{}", page.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overview_that_is_asked_for_again_counts_each_message_once() {
    let ogene = Ogene::start().await;
    let (mut viewer, _) = member(&ogene, Some(ogene.shop.id), Role::Viewer).await;
    let first = ogene.sent_id(to(MTN, "The first")).await;
    let in_an_hour = (Timestamp::now() + 1.hour()).to_string();
    let later = with(to(AIRTEL, "Later"), json!({ "send_at": in_an_hour }));
    let later = ogene.sent_id(later).await;
    assert_eq!(ogene.outcome(&first).await, ["delivrd"]);
    agrees(&ogene, &mut viewer, 2).await;
    // Counts older than some seconds are remembered: one message is settled, one still changes.
    for _ in 0..2 {
        ogene.clock.set(ogene.clock.now_ms() + 10_000);
        agrees(&ogene, &mut viewer, 2).await;
    }
    let third = ogene.sent_id(to(GLO, "The third")).await;
    assert_eq!(ogene.outcome(&third).await, ["delivrd"]);
    agrees(&ogene, &mut viewer, 3).await;
    let cancel = Request::post(&format!("/api/v2/messages/{later}/cancel"));
    assert_eq!(
        ogene.ask(&cancel.bearer(&ogene.shop.token)).await.status,
        200
    );
    for after_ms in [0, 10_000, 10_000, 400_000] {
        ogene.clock.set(ogene.clock.now_ms() + after_ms);
        agrees(&ogene, &mut viewer, 3).await;
    }
    ogene.end().await;
}
